"""Images in a kernel of NVIDIA Warp: a native function with the texture instruction.

Warp reads the types of parameters, which `from __future__ import annotations` would turn into texts.
"""

from contextlib import ExitStack

import warp as wp
from scene import POINTS, make_scene, report

import bindless as bl

# Warp has no include path for snippets: the instruction is written out, in CUDA C++'s notation of inline assembly.
SNIPPET = """
    float r, g, b, a;
    asm("tex.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
        : "=f"(r), "=f"(g), "=f"(b), "=f"(a) : "l"(image), "f"(x), "f"(y));
    return wp::vec4(r, g, b, a);
"""


@wp.func_native(SNIPPET)
def sample_image(image: wp.uint64, x: float, y: float) -> wp.vec4: ...


@wp.kernel
def sample(
    handles: wp.array(dtype=wp.uint64),
    which: wp.array(dtype=int),
    x: wp.array(dtype=float),
    y: wp.array(dtype=float),
    out: wp.array(dtype=wp.vec4),
):
    i = wp.tid()
    out[i] = sample_image(handles[which[i]], x[i], y[i])


def main() -> float:
    wp.init()  # Warp before 1.6 needs it
    with ExitStack() as owner:
        queue = owner.enter_context(bl.Queue("cuda", in_order=True))
        scene = make_scene(queue, owner)
        kinds = (wp.uint64, int, float, float)
        given = [
            wp.array(part, dtype=kind, device="cuda:0")
            for part, kind in zip((scene.handles, scene.which, scene.x, scene.y), kinds)
        ]
        out = wp.empty(POINTS, dtype=wp.vec4, device="cuda:0")
        wp.launch(sample, dim=POINTS, inputs=given, outputs=[out], device="cuda:0")
        return report("Warp", out.numpy(), scene)


if __name__ == "__main__":
    main()
