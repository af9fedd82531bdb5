"""The area filter: every output pixel is the mean of the part of the input that it covers.

It is the box filter where sizes divide, and weighs the pixels at the borders by the covered part where
they do not. ``Image`` makes the levels of mipmaps and reduced images with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..model.channels import Channel
from .row_blocks import in_blocks

__all__ = ["precision", "shrink", "sums_need_double", "to_storage"]

_LONG_SUM = 64  # pixels of one mean from which on single precision loses digits that count


def shrink(pixels: npt.NDArray[Any], shape: Sequence[int]) -> npt.NDArray[Any]:
    """The means of the areas that the pixels of a smaller image cover.

    Parameters
    ----------
    pixels : NDArray[Any]
        Shape (axes of ``shape``..., further axes), of any dtype.
    shape : Sequence[int]
        New sizes of the first axes, none larger than the old ones.

    Returns
    -------
    NDArray[Any]
        float32, or float64 for 32-bit integers and 64-bit floats; not rounded.
    """
    dtype = precision(pixels.dtype)
    for axis, size in enumerate(shape):
        if size != pixels.shape[axis]:
            pixels = _shrink_axis(pixels, axis, size, dtype)
    return pixels.astype(dtype, copy=False)


def precision(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of means of pixels of a dtype."""
    precise = dtype.itemsize >= 4 and dtype != np.float32
    return np.dtype(np.float64 if precise else np.float32)


def sums_need_double(length: int, size: int) -> bool:
    """Whether the sums behind ``size`` means of ``length`` pixels are taken in double precision, whatever the means."""
    return _taps(length, size) > _LONG_SUM


def _taps(length: int, size: int) -> int:
    """The most pixels that a mean may be of."""
    return -(-length // size) + (length % size != 0)


def _shrink_axis(pixels: npt.NDArray[Any], axis: int, size: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """The same along one axis."""
    length = pixels.shape[axis]
    taps = _taps(length, size)
    total = np.dtype(np.float64) if sums_need_double(length, size) else dtype
    mean = _box_mean if length % size == 0 else _area_mean
    result = np.empty((*pixels.shape[:axis], size, *pixels.shape[axis + 1 :]), dtype)

    def fill(start: int, stop: int) -> None:
        """Rows of the result: where rows are shrunk, each from several; else each from its own."""
        if axis == 0:
            result[start:stop] = mean(pixels, 0, size, start, stop, total)
        else:
            result[start:stop] = mean(pixels[start:stop], axis, size, 0, size, total)

    in_blocks(fill, len(result), taps * result[0].size)
    return result


def _box_mean(
    pixels: npt.NDArray[Any], axis: int, size: int, start: int, stop: int, dtype: np.dtype[Any]
) -> npt.NDArray[Any]:
    """Means start..stop of ``size`` along an axis whose length they divide."""
    step = pixels.shape[axis] // size
    every: list[slice] = [slice(None)] * pixels.ndim
    mean: npt.NDArray[Any] | None = None
    for tap in range(step):
        every[axis] = slice(start * step + tap, stop * step, step)
        part = pixels[tuple(every)]
        mean = part.astype(dtype) if mean is None else np.add(mean, part, out=mean)
    assert mean is not None
    np.divide(mean, dtype.type(step), out=mean)
    return mean


def _area_mean(
    pixels: npt.NDArray[Any], axis: int, size: int, start: int, stop: int, dtype: np.dtype[Any]
) -> npt.NDArray[Any]:
    """Means start..stop of ``size`` along an axis of any length. Overlaps are counted in 1 / size of a pixel."""
    length = pixels.shape[axis]
    begin = np.arange(start, stop, dtype=np.int64) * length
    first = begin // size
    along = [1] * pixels.ndim
    along[axis] = stop - start
    mean: npt.NDArray[Any] | None = None
    for tap in range(int(((begin + length - 1) // size - first).max()) + 1):
        index = first + tap
        overlap = np.minimum((index + 1) * size, begin + length) - np.maximum(index * size, begin)
        weight = (np.maximum(overlap, 0) / length).astype(dtype).reshape(along)
        part = np.take(pixels, np.minimum(index, length - 1), axis=axis) * weight
        mean = part if mean is None else np.add(mean, part, out=mean)
    assert mean is not None
    return mean


def to_storage(
    values: npt.NDArray[Any], channel: Channel, *, codes: bool, out: npt.NDArray[Any] | None = None
) -> npt.NDArray[Any]:
    """Values as an array of the channel's storage dtype: integers are rounded to the nearest, halves to even.

    Parameters
    ----------
    values : NDArray[Any]
        What a device function read, or means of stored codes; computed with in their own precision.
    channel : Channel
        The channel type to store.
    codes : bool
        Whether the values of normalized channels are stored codes rather than 0..1 or -1..1.
    out : NDArray[Any], optional
        Where they go; default a new array.
    """
    result = np.empty(values.shape, channel.storage) if out is None else out
    if channel.storage.kind == "f" or values.dtype == channel.storage:
        result[...] = values
        return result
    limits = np.iinfo(channel.storage.name)
    lowest = -limits.max if channel.normalized and limits.min < 0 else limits.min
    number = values * values.dtype.type(limits.max if channel.normalized and not codes else 1)
    np.rint(number, out=number)
    np.clip(number, lowest, limits.max, out=number)
    result[...] = number
    return result
