"""A tiled floor to the horizon: mipmaps with trilinear filtering on the left, anisotropic filtering on the right.

A distant pixel covers a long, thin strip of the floor. Trilinear filtering reads a mipmap level that is coarse enough
for the strip's length, which blurs; an anisotropic sampler takes several samples of a finer level along the strip.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from common import Array, load_kernels, main, reductions, sampled_image

import bindless as bl

SCENE = np.dtype(
    [*((name, np.float32, 4) for name in ("right", "up", "forward")),
     *((name, np.float32) for name in ("height", "tile", "haze", "_unused"))]
)  # fmt: skip
TRILINEAR = bl.BindlessImageSampler("repeat", "normalized", "linear", mipmap_filtering="linear")
ANISOTROPIC = bl.BindlessImageSampler("repeat", "normalized", "linear", mipmap_filtering="linear", max_anisotropy=16)


def tiles(pixels: int = 256) -> npt.NDArray[np.float32]:
    """Return two by two tiles of marble and slate with joints, float32 (pixels, pixels, 4)."""
    y, x = np.mgrid[:pixels, :pixels] / pixels
    veins = np.sin(2 * np.pi * (3 * x + 2 * y) + 3 * np.sin(2 * np.pi * (x - 2 * y)) + 2 * np.sin(2 * np.pi * 5 * y))
    dark = (x < 0.5) ^ (y < 0.5)
    joint = np.minimum(np.minimum(x % 0.5, y % 0.5), np.minimum(0.5 - x % 0.5, 0.5 - y % 0.5)) < 0.008
    shade = np.where(dark[..., None], (0.20, 0.24, 0.30), (0.86, 0.82, 0.75)) * (1 + 0.10 * veins[..., None])
    shade[joint] = (0.42, 0.38, 0.33)
    return np.dstack([shade, np.ones_like(x)]).astype(np.float32)


def scene(pitch: float = 14.0, turn: float = 24.0) -> npt.NDArray[np.void]:
    """Return the camera, tilted down by the pitch and turned about the vertical; angles in degrees."""
    pitch, turn = np.radians(pitch), np.radians(turn)
    level = np.array([np.sin(turn), 0, np.cos(turn)])
    made = np.zeros((), SCENE)
    made["right"][:3] = np.cos(turn), 0, -np.sin(turn)
    made["up"][:3] = np.sin(pitch) * level + (0, np.cos(pitch), 0)
    made["forward"][:3] = 1.6 * (np.cos(pitch) * level - (0, np.sin(pitch), 0))
    made["height"], made["tile"], made["haze"] = 1.6, 2.0, 0.012
    return made


def render(queue: bl.Queue, size: int) -> Array:
    """Render the picture, float32 (size, 2 * size, 4)."""
    kernel = load_kernels(queue, "ground_plane.cl").get_kernel("draw")
    levels = reductions(tiles())
    desc = bl.ImageDescriptor(2 * size, size)
    picture = np.empty(desc.shape, np.float32)
    with (
        sampled_image(queue, levels, TRILINEAR) as trilinear,
        sampled_image(queue, levels, ANISOTROPIC) as anisotropic,
        bl.ImageMem(desc, queue) as memory,
    ):
        target = bl.create_image(memory, desc, queue)
        drawn = queue.parallel_for((size, 2 * size), kernel, trilinear, anisotropic, scene(), target)
        queue.ext_oneapi_copy(memory, picture, depends_on=[drawn]).wait_and_throw()
        bl.destroy_image_handle(target, queue)
    return picture


if __name__ == "__main__":
    main(render, __doc__, size=400)
