"""Images in a kernel of numba-cuda: the texture instruction as inline assembly, behind an intrinsic."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from llvmlite import ir
from numba import cuda, types
from numba.cuda.extending import intrinsic
from scene import POINTS, make_scene, report

import bindless as bl

SAMPLE = bl.inline_ptx("sample_image", 2)


@intrinsic
def sample_image(typing_context: Any, handle: Any, x: Any, y: Any) -> Any:
    """sample_image(handle, x, y) -> (r, g, b, a)"""

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        colour = ir.LiteralStructType([ir.FloatType()] * 4)
        function = ir.FunctionType(colour, [ir.IntType(64), ir.FloatType(), ir.FloatType()])
        code = ir.InlineAsm(function, SAMPLE.assembly, SAMPLE.constraints)
        found = builder.call(code, arguments)
        return context.make_tuple(builder, signature.return_type, [builder.extract_value(found, k) for k in range(4)])

    return types.UniTuple(types.float32, 4)(types.uint64, types.float32, types.float32), lower


def sample(handles, which, x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        r, g, b, a = sample_image(handles[which[i]], x[i], y[i])
        out[i, 0] = r
        out[i, 1] = g
        out[i, 2] = b
        out[i, 3] = a


def main() -> float:
    with ExitStack() as owner:
        queue = owner.enter_context(bl.Queue("cuda", in_order=True))
        scene = make_scene(queue, owner)
        given = [cuda.to_device(part) for part in (scene.handles, scene.which, scene.x, scene.y)]
        out = cuda.device_array((POINTS, 4), "float32")
        cuda.jit(sample)[POINTS // 128, 128](*given, out)
        return report("numba-cuda", out.copy_to_host(), scene)


if __name__ == "__main__":
    main()
