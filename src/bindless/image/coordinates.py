"""Coordinates of whole pictures: pixel centres, affine and projective maps, cube faces, panoramas.

Everywhere the centre of pixel (i, j) is (i + 0.5, j + 0.5), x comes first and varies fastest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..model.errors import InvalidError
from ..model.message_values import shown
from ..model.sampler import fraction_bits

__all__ = [
    "cube_directions",
    "grid",
    "normalized_units",
    "panorama_coordinates",
    "projection_matrix",
    "warp_coordinates",
]

FloatArray = npt.NDArray[np.float32]


def grid(axes: Sequence[npt.NDArray[Any]]) -> FloatArray:
    """All combinations of coordinates along x, y, z: shape (len(z), len(y), len(x), dims), less unused axes."""
    shape = tuple(len(axis) for axis in reversed(axes))
    result = np.empty((*shape, len(axes)), np.float32)
    for index, axis in enumerate(axes):
        along = [1] * len(axes)
        along[len(axes) - 1 - index] = len(axis)
        result[..., index] = axis.reshape(along)
    return result


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


def projection_matrix(matrix: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """A 3x3 matrix from an affine one of shape (2, 3) or a projective one of shape (3, 3).

    Raises
    ------
    InvalidError
        Another shape, or entries that are not finite.
    """
    try:
        values = np.asarray(matrix, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidError(f"matrix={shown(matrix)} is not made of numbers") from None
    if values.shape not in ((2, 3), (3, 3)):
        raise InvalidError(f"matrix has shape {values.shape}; it is (2, 3), affine, or (3, 3), projective")
    if not np.logical_and.reduce(np.isfinite(values), None):
        raise InvalidError(f"matrix={values.tolist()} has entries that are not finite")
    if len(values) == 3:
        return values
    full = np.empty((3, 3))
    full[:2], full[2] = values, (0.0, 0.0, 1.0)
    return full


def warp_coordinates(
    matrix: npt.NDArray[np.float64], width: int, start: int, stop: int, *, gradients: bool
) -> tuple[FloatArray, FloatArray | None, FloatArray | None]:
    """Input coordinates of the pixel centres of rows start..stop of an output image.

    Parameters
    ----------
    matrix : NDArray[np.float64]
        (3, 3), from homogeneous output to homogeneous input coordinates.
    width : int
        Pixels of an output row.
    gradients : bool
        Whether to compute the change of the coordinates to the next column and row.

    Returns
    -------
    tuple[FloatArray, FloatArray | None, FloatArray | None]
        Three arrays of shape ((stop - start) * width, 2), the latter two None without gradients.
    """
    x = np.arange(width) + 0.5
    y = (np.arange(start, stop) + 0.5)[:, None]
    affine = not matrix[2, :2].any()
    count = (stop - start) * width
    point = np.empty((stop - start, width, 2), np.float32)
    steps = np.empty((2, stop - start, width, 2), np.float32) if gradients else None
    depth = matrix[2, 2] if affine else matrix[2, 0] * x + (matrix[2, 1] * y + matrix[2, 2])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for axis in (0, 1):
            a, b, c = matrix[axis]
            value = (a * x + (b * y + c)) / depth
            point[..., axis] = value
            if steps is not None:
                steps[0, ..., axis] = (a - value * matrix[2, 0]) / depth
                steps[1, ..., axis] = (b - value * matrix[2, 1]) / depth
    if steps is None:
        return point.reshape(count, 2), None, None
    return point.reshape(count, 2), steps[0].reshape(count, 2), steps[1].reshape(count, 2)


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


def panorama_coordinates(directions: npt.NDArray[Any], width: int, height: int) -> FloatArray:
    """Pixel coordinates of directions in an equirectangular panorama of width x height pixels.

    The middle of the panorama looks along -z, its right quarter along +x, its top row along +y.
    """
    x, y, z = np.moveaxis(np.asarray(directions, np.float64), -1, 0)
    u = 0.5 + np.arctan2(x, -z) / (2 * np.pi)
    v = np.arctan2(np.hypot(x, z), y) / np.pi
    return np.stack([u * width, np.clip(v * height, 0.5, height - 0.5)], -1).astype(np.float32)
