"""How far OpenCV's results may lie from those of ``bindless.cv2``, from the bits of OpenCV's positions and weights.

OpenCV rounds the positions of maps and of warps to 1/32 of a pixel, an error of 1/64 along each axis; fixed-point steps
of affine maps add 1/1024. Where a position moves by d along an axis, a sum of texels moves by at most
d * spread / 2 * sum |w'| * sum |w|: w' are the slopes of the weights along that axis, which add to 0, w are the weights
along the other one, and the spread is the largest texel near the position less the smallest one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tests.cv2.opencv_values import expected
from tests.oracle.weights import weight

__all__ = ["CUBIC", "LINEAR", "NEAREST", "SINGLE", "STEP_OF_AFFINE", "STEP_OF_MAPS", "away", "bound", "far_from_ties"]

Array = npt.NDArray[Any]

STEP_OF_MAPS = 1 / 64
STEP_OF_AFFINE = 1 / 64 + 1 / 1024
NEAREST, LINEAR, CUBIC = range(3)
REACHES = {LINEAR: range(-1, 3), CUBIC: range(-2, 4)}  # of the texels of a position that moves by less than a pixel
SINGLE = 2.0**-24  # half of the last bit of a number near 1


def _sums() -> dict[int, tuple[float, float]]:
    """Of each interpolation, the largest sums of the sizes of slopes and of weights."""
    at = np.linspace(0, 1, 4097)
    weights = np.stack([weight("bicubic", at - tap) for tap in (-1, 0, 1, 2)])
    slopes = np.gradient(weights, at, axis=1)
    return {LINEAR: (2.0, 1.0), CUBIC: (float(abs(slopes).sum(0).max()) + 0.01, float(abs(weights).sum(0).max()))}


SUMS = _sums()


def _spread(picture: Array, places: Array, interpolation: int, border: int, values: Any = 0.0) -> Array:
    """The largest texel near each position, less the smallest one."""
    first, reach = np.floor(places), REACHES[interpolation]
    lowest: Any = np.inf
    highest: Any = -np.inf
    for x in reach:
        for y in reach:
            texels = expected(picture, first + np.array([x, y]), NEAREST, border, values)
            lowest, highest = np.minimum(lowest, texels), np.maximum(highest, texels)
    return np.asarray(highest - lowest)


def bound(
    picture: Array, places: Array, interpolation: int, border: int, step: float, values: Any = 0.0, bits: int = 15
) -> Array:
    """The largest difference of two results of which one has positions with an error of ``step``; both are rounded.

    Parameters
    ----------
    bits : int
        Those of its weights, where pixels have 8 bits.
    """
    slopes, weights = SUMS[interpolation]
    near = _spread(picture, places, interpolation, border, values)
    largest = float(np.abs(picture.astype(float)).max(initial=0)) + float(np.abs(values).max())
    taps = 16 if interpolation == CUBIC else 4
    rounding = largest * taps * SINGLE * weights**2
    if picture.dtype == np.uint8:
        rounding += largest * taps * 2.0 ** -(bits + 1)
    whole = 2 * step * near / 2 * slopes * weights + rounding
    return whole if picture.dtype.kind == "f" else np.floor(whole + 1)


def away(one: Array, other: Array) -> Array:
    """The differences, in float64."""
    assert one.shape == other.shape and one.dtype == other.dtype
    return np.abs(one.astype(float) - other.astype(float))


def far_from_ties(places: Array, step: float) -> Array:
    """Whether a position keeps its nearest pixel if it moves so far."""
    return np.asarray((np.abs(places - np.floor(places) - 0.5) > step).all(-1))
