"""Ray casting through a volume: an electron of hydrogen in its state 4d, coloured by the sign of its wave.

The volume is a 3D image. The transfer function, which maps each value to a colour and an opacity, is a 1D image. The
texture unit interpolates both.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from common import Array, load_kernels, main, sampled_image

import bindless as bl

VOXELS = 96
STEPS = 256
VIEW = np.dtype([(name, np.float32, 4) for name in ("eye", "right", "up", "forward")])
MARCH = np.dtype([("steps", np.uint32), ("density", np.float32)])
LINEAR = bl.BindlessImageSampler("clamp_to_edge", "normalized", "linear")


def orbital(voxels: int) -> npt.NDArray[np.float32]:
    """Return the wave function of the state n = 4, l = 2, m = 0 of hydrogen, (z, y, x), with a maximum of 1.

    A square root, with the sign kept, compresses the range: the outer lobes are faint.
    """
    z, y, x = np.mgrid[-1 : 1 : voxels * 1j, -1 : 1 : voxels * 1j, -1 : 1 : voxels * 1j] * 46.0  # in Bohr radii
    r = np.sqrt(x**2 + y**2 + z**2)
    wave = (12 - r) * np.exp(-r / 4) * (3 * z**2 - r**2)
    wave /= np.abs(wave).max()
    result: npt.NDArray[np.float32] = (np.sign(wave) * np.sqrt(np.abs(wave))).astype(np.float32)
    return result


def transfer_function() -> npt.NDArray[np.float32]:
    """Return RGB and opacity, (256, 4), over values from -1 to 1: two thin shells for each sign."""
    value = np.linspace(-1, 1, 256)
    table = np.zeros((256, 4), np.float32)
    shells = ((-0.52, (0.10, 0.30, 1.0), 90), (-0.22, (0.20, 0.80, 1.0), 14), (0.22, (1.0, 0.66, 0.18), 14),
              (0.52, (1.0, 0.16, 0.10), 90))  # fmt: skip
    for centre, colour, opacity in shells:
        weight = np.exp(-(((value - centre) / 0.04) ** 2))
        weight[weight < 0.02] = 0
        table[:, :3] += weight[:, None] * np.array(colour, np.float32)
        table[:, 3] += weight * opacity
    table[:, :3] /= np.maximum(table[:, :3].max(1, keepdims=True), 1e-6)  # transparent texels do not bleed colour
    return table


def camera(turn: float, tilt: float, distance: float) -> npt.NDArray[np.void]:
    """Return a camera that looks at the middle of the cube; angles in degrees, z is up."""
    turn, tilt = np.radians(turn), np.radians(tilt)
    back = np.array([np.cos(tilt) * np.cos(turn), np.cos(tilt) * np.sin(turn), np.sin(tilt)])
    right = np.array([-np.sin(turn), np.cos(turn), 0])
    view = np.zeros((), VIEW)
    for name, vector in zip(VIEW.names or (), (distance * back, right, np.cross(back, right), -3.3 * back)):
        view[name][:3] = vector
    return view


def render(queue: bl.Queue, size: int) -> Array:
    """Render the picture, float32 (size, size, 4)."""
    kernel = load_kernels(queue, "volume_raycaster.cl").get_kernel("raycast")
    picture = bl.usm_empty((size, size, 4), np.float32, queue)
    with (
        sampled_image(queue, [orbital(VOXELS)[..., None]], LINEAR) as volume,
        sampled_image(queue, [transfer_function()], LINEAR) as transfer,
    ):
        march = np.array((STEPS, 1.0), MARCH)
        view = camera(turn=35, tilt=22, distance=4.2)
        arguments = (volume, transfer, view, march, np.float32(2 / VOXELS), picture)
        queue.parallel_for((size, size), kernel, *arguments).wait_and_throw()
    return picture.numpy(queue)


if __name__ == "__main__":
    main(render, __doc__, size=512)
