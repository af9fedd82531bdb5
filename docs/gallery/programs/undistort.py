"""A photograph by a lens with barrel distortion, and its correction, side by side.

Brick walls show distortion well: a simulated wide-angle lens distorts a photograph of a wall (scikit-image's, CC0); the
model of Brown and Conrady then corrects it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from common import Array, load_kernels, main, photograph, reductions, sampled_image

import bindless as bl

LENS = np.dtype(
    [("focal_length", np.float32, 2), ("principal_point", np.float32, 2),
     *((name, np.float32) for name in ("k1", "k2", "k3", "p1", "p2", "_unused"))]
)  # fmt: skip
SCENE = bl.BindlessImageSampler("clamp_to_border", "normalized", "linear")
PHOTO = bl.BindlessImageSampler("clamp_to_border", "unnormalized", "linear")


def wide_angle(size: int) -> npt.NDArray[np.void]:
    """Return a lens with a sensor of size x size pixels and the typical coefficients of a cheap action camera."""
    lens = np.zeros((), LENS)
    lens["focal_length"] = 0.62 * size
    lens["principal_point"] = 0.51 * size, 0.49 * size
    lens["k1"], lens["k2"], lens["k3"] = -0.28, 0.075, -0.008
    lens["p1"], lens["p2"] = 0.002, -0.001
    return lens


def wall(size: int) -> Array:
    """Return the photograph of the wall, float32 (n, n, 4), reduced to fit a picture of this size."""
    levels = reductions(np.rot90(photograph("brick.png")).astype(np.float32) / 255)
    return min((pixels for pixels in levels if len(pixels) >= size), key=len, default=levels[0])


def render(queue: bl.Queue, size: int) -> Array:
    """Render the distorted and the corrected picture, float32 (size, 2 * size, 4)."""
    scene, lens = wall(size), wide_angle(size)
    bundle = load_kernels(queue, "undistort.cl")
    bent, straight = (bl.usm_empty((size, size, 4), np.float32, queue) for _ in range(2))
    with sampled_image(queue, [scene], SCENE) as handle:
        queue.parallel_for((size, size), bundle.get_kernel("photograph"), handle, lens, bent).wait_and_throw()
    photo = bent.numpy(queue)
    with sampled_image(queue, [photo], PHOTO) as handle:
        queue.parallel_for((size, size), bundle.get_kernel("undistort"), handle, lens, straight).wait_and_throw()
    return np.hstack([photo, straight.numpy(queue)])


if __name__ == "__main__":
    main(render, __doc__, size=512)
