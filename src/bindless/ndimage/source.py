"""``Source``: the input of a call, with its channels in the last axis."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..image.array_library import AnyArray, Library, library_of, view
from ..image.default_queue import queue_of_array
from ..model.arrays import Array, DType
from ..model.errors import ArgumentError, InvalidError
from ..model.message_values import shown
from ..sampling.packing import After
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray
from .casting import cast
from .errors import left_to_scipy

__all__ = ["ELEMENTS", "Input", "axis_of", "element_of", "elements_of", "native", "source_of", "wait_unless_ordered"]

_INT32, _UINT32, _FLOAT32 = np.dtype(np.int32), np.dtype(np.uint32), np.dtype(np.float32)
ELEMENTS = frozenset(map(np.dtype, ("i1", "u1", "i2", "u2", "i4", "u4", "f2", "f4")))  # that images have


class Input(NamedTuple):
    """The input of a call.

    Attributes
    ----------
    queue : Queue
        Computes the result.
    value : Any
        The input as the caller gave it.
    pixels : AnyArray
        Shape (..., channels).
    shape : tuple[int, ...]
        Of the input, without channels.
    dtype : np.dtype
        Of the input, in native byte order.
    channel_axis : int | None
        The axis of the channels in the input, if it has one; not negative.
    on_device : bool
        Whether the input lies on a device.
    library : Library | None
        Of the input.
    """

    queue: Queue
    value: Any
    pixels: AnyArray
    shape: tuple[int, ...]
    dtype: DType
    channel_axis: int | None
    on_device: bool
    library: Library | None


def source_of(function: str, value: Any, channel_axis: object, queue: Queue | None) -> Input:
    """The input of a call.

    Raises
    ------
    ArgumentError
        No array of numbers, or one without elements.
    FeatureNotSupportedError
        Complex numbers.
    """
    if queue is None:
        queue = queue_of_array(value)
    elif not isinstance(queue, Queue):
        raise InvalidError(f"queue={shown(queue)} is no Queue: bindless.Queue(...) makes one")
    array = view("input", value, queue)
    if array.dtype.kind == "c":
        raise left_to_scipy(function, f"input of {array.dtype}")
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        raise ArgumentError(f"input has dtype {array.dtype}; it is made of real numbers of at most 64 bits")
    axis = None if channel_axis is None else axis_of("channel_axis", channel_axis, array.ndim)
    on_device = isinstance(array, UsmArray)
    pixels = array[..., None] if axis is None else _move(array, axis)
    shape = tuple(pixels.shape[:-1])
    if not shape:
        raise ArgumentError(f"input has shape {array.shape}: it has at least one axis that is interpolated")
    if 0 in pixels.shape:
        raise ArgumentError(f"input has shape {array.shape}: it has no elements")
    dtype = array.dtype if array.dtype.isnative else native(array.dtype)
    return Input(queue, value, pixels, shape, dtype, axis, on_device, library_of(value))


def wait_unless_ordered(queue: Queue, after: After) -> None:
    """Waits for commands in a queue out of order, where later ones would not come after them by themselves."""
    if not queue._stream.in_order:
        for event in after:
            event.wait()


def axis_of(name: str, value: Any, ndim: int) -> int:
    """The number of an axis, not negative."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ArgumentError(f"{name}={shown(value)} is no integer")
    axis: int = value.__index__()
    if not -ndim <= axis < ndim:
        raise ArgumentError(f"{name}={axis}: the input has {ndim} axes")
    return axis % ndim


def _move(array: AnyArray, axis: int) -> AnyArray:
    return array.transpose(*(other for other in range(array.ndim) if other != axis), axis)


def native(dtype: DType) -> DType:
    """The dtype in native byte order: the same object where it is."""
    return dtype if dtype.isnative else dtype.newbyteorder("=")


def element_of(dtype: DType) -> DType:
    """Elements of images for those of an array: float32 for float64, uint8 for bool."""
    if dtype.kind == "b":
        return np.dtype(np.uint8)
    return _FLOAT32 if dtype.kind == "f" and dtype.itemsize == 8 else native(dtype)


def elements_of(pixels: AnyArray, cval: float) -> AnyArray:
    """The pixels with elements that images have: of 64 bits as of 32 bits, bool as uint8.

    Integers of 64 bits on a device are read on the host, which waits, for their values decide.

    Raises
    ------
    ArgumentError
        Integers that neither int32 nor uint32 holds.
    """
    dtype = pixels.dtype
    if dtype.kind in "iu" and dtype.itemsize == 8:
        return _of_32_bits(pixels.numpy() if isinstance(pixels, UsmArray) else pixels, cval)
    return pixels if isinstance(pixels, UsmArray) or dtype in ELEMENTS else cast(pixels, element_of(dtype))


def _of_32_bits(pixels: Array, cval: float) -> Array:
    low, high = min(int(pixels.min()), 0), max(int(pixels.max()), 0)
    if cval == cval:
        low, high = int(min(low, cval, key=float)), int(max(high, cval, key=float))
    for dtype in (_INT32, _UINT32):
        if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max:
            return cast(pixels, dtype)
    raise ArgumentError(
        f"input of {pixels.dtype} and cval reach from {low} to {high}, which neither int32 nor uint32 holds: give "
        'input.astype("float64"), which is computed in single precision'
    )
