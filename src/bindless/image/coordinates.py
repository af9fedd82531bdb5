"""Coordinates of whole pictures: cube faces and panoramas; units of normalized coordinates.

Everywhere the centre of pixel (i, j) is (i + 0.5, j + 0.5), x comes first and varies fastest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..model.arrays import Array
from ..model.sampler import fraction_bits

__all__ = [
    "cube_directions",
    "normalized_units",
    "panorama_coordinates",
]

FloatArray = npt.NDArray[np.float32]


def normalized_units(sizes: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """Return divisor and summand that normalize pixel coordinates to 0..1.

    Texture units cut 0..1 to a fixed number of bits, which depends on the size. Half of the last bit makes that a
    rounding.

    Parameters
    ----------
    sizes : Sequence[int]
        Pixels along x, y, z.
    """
    plane = max(sizes[:2])
    bits = [fraction_bits(size) for size in (plane, plane, *sizes[2:])][: len(sizes)]
    return np.array(sizes, np.float32), np.array([0.5 / 2**number for number in bits], np.float32)


def cube_directions(size: int) -> FloatArray:
    """Directions through the centres of the pixels of a cubemap's faces.

    Faces are +x, -x, +y, -y, +z, -z, with the orientation of their rows and columns that graphics APIs share.

    Returns
    -------
    FloatArray
        Shape (6, size, size, 3): face, row, column; the largest component is 1 or -1.
    """
    ramp = (2 * np.arange(size) + 1) / size - 1
    s, t = np.meshgrid(ramp, ramp)
    one = np.ones_like(s)
    faces = ((one, -t, -s), (-one, -t, s), (s, one, t), (s, -one, -t), (s, -t, one), (-s, -t, -one))
    return np.stack([np.stack(face, -1) for face in faces]).astype(np.float32)


def panorama_coordinates(directions: Array, width: int, height: int) -> FloatArray:
    """Pixel coordinates of directions in an equirectangular panorama of width x height pixels.

    The middle of the panorama looks along -z, its right quarter along +x, its top row along +y.
    """
    x, y, z = np.moveaxis(np.asarray(directions, np.float64), -1, 0)
    u = 0.5 + np.arctan2(x, -z) / (2 * np.pi)
    v = np.arctan2(np.hypot(x, z), y) / np.pi
    return np.stack([u * width, np.clip(v * height, 0.5, height - 0.5)], -1).astype(np.float32)
