"""Images in a kernel of Triton: the texture instruction as inline assembly."""

from __future__ import annotations

from contextlib import ExitStack

import torch
import triton
import triton.language as tl
from scene import POINTS, make_scene, report

import bindless as bl

# Handles differ between lanes here, and Triton brings an assembler of its own, which may be of CUDA 12: per_lane.
SAMPLE = bl.inline_ptx("sample_image", 2, per_lane=True)
ASSEMBLY, CONSTRAINTS = tl.constexpr(SAMPLE.assembly), tl.constexpr(SAMPLE.constraints)


@triton.jit
def sample(handles, which, x, y, out, count, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < count
    # Lanes outside read the first image at 0: every lane needs a valid handle.
    image = tl.load(handles + tl.load(which + i, mask=inside, other=0))
    at_x, at_y = tl.load(x + i, mask=inside, other=0.0), tl.load(y + i, mask=inside, other=0.0)
    r, g, b, a = tl.inline_asm_elementwise(
        ASSEMBLY,
        CONSTRAINTS,
        [image, at_x, at_y],
        dtype=(tl.float32, tl.float32, tl.float32, tl.float32),
        is_pure=True,
        pack=1,
    )
    tl.store(out + 4 * i, r, mask=inside)
    tl.store(out + 4 * i + 1, g, mask=inside)
    tl.store(out + 4 * i + 2, b, mask=inside)
    tl.store(out + 4 * i + 3, a, mask=inside)


def main() -> float:
    with ExitStack() as owner:
        queue = owner.enter_context(bl.Queue("cuda", in_order=True))
        scene = make_scene(queue, owner)
        handles = torch.from_numpy(scene.handles.view("int64")).cuda()  # the same bits
        which, x, y = (torch.from_numpy(part).cuda() for part in (scene.which, scene.x, scene.y))
        out = torch.empty(POINTS, 4, device="cuda")
        sample[(triton.cdiv(POINTS, 256),)](handles, which, x, y, out, POINTS, BLOCK=256)
        return report("Triton", out.cpu().numpy(), scene)


if __name__ == "__main__":
    main()
