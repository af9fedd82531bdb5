"""Means of areas, computed independently with numpy: integers exactly, other pixels in float64 in a stated order."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["area_means", "level_below"]

Array = npt.NDArray[Any]


def overlaps(length: int, size: int) -> npt.NDArray[np.int64]:
    """(size, length): how much of each pixel each mean covers, in units of 1 / size of a pixel."""
    i, k = np.arange(size, dtype=np.int64)[:, None], np.arange(length, dtype=np.int64)
    return np.maximum(np.minimum((i + 1) * length, (k + 1) * size) - np.maximum(i * length, k * size), 0)


def area_means(pixels: Array, sizes: tuple[int, ...], *, normalized: bool = False, rounded: bool = True) -> Array:
    """Means along the first axes of an array; the others are kept.

    Parameters
    ----------
    pixels : Array
        Codes of 8 and 16 bits are summed as integers; other pixels are weighted by their shares, in float64, along
        the last of the axes first, and each axis from its first pixel to its last.
    sizes : tuple[int, ...]
        New sizes of the first axes.
    normalized : bool
        Whether the codes are normalized: the two lowest signed ones are equal.
    rounded : bool
        Whether integers are rounded, to nearest even; else means are float32.
    """
    if pixels.dtype.kind in "iu" and pixels.dtype.itemsize <= 2:
        sums = pixels.astype(np.int64)
        if normalized and pixels.dtype.kind == "i":
            sums = np.maximum(sums, -np.iinfo(pixels.dtype).max)
        divisor = 1
        for axis, size in enumerate(sizes):
            length = pixels.shape[axis]
            step = int(np.gcd(length, size))
            sums = np.moveaxis(np.tensordot(overlaps(length, size) // step, sums, (1, axis)), 0, axis).copy()
            divisor *= length // step
        if not rounded:
            return (sums / divisor).astype(np.float32)
        quotient, rest = np.divmod(sums, divisor)
        up = (2 * rest > divisor) | ((2 * rest == divisor) & (quotient % 2 == 1))
        return (quotient + up).astype(pixels.dtype)
    values = pixels.astype(np.float64)
    for axis, size in reversed(list(enumerate(sizes))):
        values = _weighted(values, size, axis)
    if not rounded:
        return values.astype(np.float32)
    if pixels.dtype.kind in "iu":
        return np.rint(values).astype(np.int64).astype(pixels.dtype)
    return values.astype(np.float32).astype(pixels.dtype)  # halves are rounded to floats first


def _weighted(values: Array, size: int, axis: int) -> Array:
    values = np.moveaxis(values, axis, 0)
    result = np.zeros((size, *values.shape[1:]))
    for i, shares in enumerate(overlaps(len(values), size) / len(values)):
        for k in np.flatnonzero(shares):
            result[i] += shares[k] * values[k]
    return np.moveaxis(result, 0, axis).copy()


def level_below(pixels: Array, dimensions: int, *, normalized: bool = False) -> Array:
    """The next level of a mipmap, half as large along each of the first axes, but one pixel at least."""
    return area_means(pixels, tuple(max(n // 2, 1) for n in pixels.shape[:dimensions]), normalized=normalized)
