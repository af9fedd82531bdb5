"""The area filter: every output pixel is the mean of the part of the input that it covers.

It is the box filter where sizes divide, and weighs the pixels at the borders by the covered part where
they do not. ``Image`` makes the levels of mipmaps and reduced images with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .model.channels import Channel

__all__ = ["shrink", "to_storage"]

_BLOCK = 1 << 14  # numbers rounded at a time: they stay in the processor's cache
_LONG_SUM = 64  # pixels of one mean from which on single precision loses digits that count


def shrink(pixels: npt.NDArray[Any], shape: Sequence[int]) -> npt.NDArray[Any]:
    """The means of the areas that the pixels of a smaller image cover.

    Args:
        pixels: shape (axes of ``shape``..., further axes), of any dtype.
        shape: new sizes of the first axes, none larger than the old ones.

    Returns:
        float32, or float64 for 32-bit integers and 64-bit floats; not rounded.
    """
    precise = pixels.dtype.itemsize >= 4 and pixels.dtype != np.float32
    dtype = np.dtype(np.float64 if precise else np.float32)
    for axis, size in enumerate(shape):
        if size != pixels.shape[axis]:
            pixels = _shrink_axis(pixels, axis, size, dtype)
    return pixels.astype(dtype, copy=False)


def _shrink_axis(pixels: npt.NDArray[Any], axis: int, size: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """The same along one axis. Overlaps are counted in integers, in units of 1 / size of a pixel."""
    length = pixels.shape[axis]
    start = np.arange(size, dtype=np.int64) * length
    first = start // size
    taps = int(((start + length - 1) // size - first).max()) + 1
    total = np.dtype(np.float64) if taps > _LONG_SUM else dtype
    along = [1] * pixels.ndim
    along[axis] = size
    result: npt.NDArray[Any] | None = None
    for tap in range(taps):
        index = first + tap
        overlap = np.minimum((index + 1) * size, start + length) - np.maximum(index * size, start)
        weight = (np.maximum(overlap, 0) / length).astype(total).reshape(along)
        part = np.take(pixels, np.minimum(index, length - 1), axis=axis) * weight
        result = part if result is None else np.add(result, part, out=result)
    assert result is not None
    return result.astype(dtype, copy=False)


def to_storage(values: npt.NDArray[Any], channel: Channel, *, codes: bool) -> npt.NDArray[Any]:
    """Values as an array of the channel's storage dtype: integers are rounded to the nearest, halves to even.

    Args:
        values: what a device function read, or means of stored codes.
        channel: the channel type to store.
        codes: whether the values of normalized channels are stored codes rather than 0..1 or -1..1.
    """
    if channel.storage.kind == "f":
        return values.astype(channel.storage, copy=False)
    if values.dtype == channel.storage:
        return values
    limits = np.iinfo(channel.storage.name)
    lowest = -limits.max if channel.normalized and limits.min < 0 else limits.min
    # A product of a float32 and a code is exact in double precision: it is rounded once.
    scale = limits.max if channel.normalized and not codes else 1
    source = np.ascontiguousarray(values).reshape(-1)
    result = np.empty(source.shape, channel.storage)
    scaled = np.empty(min(source.size, _BLOCK), np.float64)
    for start in range(0, source.size, _BLOCK):
        part = source[start : start + _BLOCK]
        block = scaled[: part.size]
        np.multiply(part, scale, out=block)
        np.rint(block, out=block)
        np.clip(block, lowest, limits.max, out=block)
        result[start : start + _BLOCK] = block
    return result.reshape(values.shape)
