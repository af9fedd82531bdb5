"""``UsmArray.__setitem__``: elements from numbers, host arrays, other USM arrays, and arrays of other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...model.enums import UsmKind
from ...model.errors import InvalidError
from ...submission.command_stream import events_of_users
from .array import UsmArray
from .array_import import foreign_array
from .host_values import converted, require_castable
from .strided_copy import copy_elements, write_elements
from .strides import reach

if TYPE_CHECKING:
    from ..device.queue_base import QueueBase

__all__ = ["assign"]

_PATTERN_SIZES = (1, 2, 4, 8, 16)


def assign(array: UsmArray, key: Any, value: Any) -> None:
    """``array[key] = value``."""
    target = array[key]
    target._owner.require_writable("assignment")
    queue = target._queue(None)
    source = _in_place(value, queue)
    if isinstance(source, UsmArray):
        _from_array(target, source, queue)
        return
    values = converted("value", source, target.shape, target.dtype)
    if target.kind is UsmKind.host:
        np.asarray(target)[...] = values
    elif values.size and not any(values.strides) and target.is_contiguous and target.itemsize in _PATTERN_SIZES:
        queue.fill(target, values.flat[0], depends_on=events_of_users(target._owner)).wait()
    else:
        write_elements(target, values, queue)


UsmArray._assign = staticmethod(assign)


def _in_place(value: Any, queue: QueueBase) -> Any:
    """Another library's array as a ``UsmArray`` or a numpy array, where it can be seen so."""
    try:
        return foreign_array(value, queue)
    except (BufferError, RuntimeError, TypeError) as refused:  # its library refuses: numpy may get a copy
        try:
            return np.asarray(value)
        except (BufferError, RuntimeError, TypeError, ValueError):
            raise InvalidError(f"value: a {type(value).__name__} does not give its memory: {refused}") from refused


def _from_array(target: UsmArray, source: UsmArray, queue: QueueBase) -> None:
    source._owner.require_open()
    require_castable(source.dtype, target.dtype)
    strides = _broadcast(source, target.shape)
    device = source.context is target.context and source.dtype == target.dtype and not _overlap(target, source)
    if device and copy_elements(target, source, strides, queue):
        return
    write_elements(target, converted("value", source.numpy(), target.shape, target.dtype), queue)


def _broadcast(source: UsmArray, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides with which the source has another shape, as numpy broadcasts in assignments."""
    sizes, strides = list(source.shape), list(source.strides)
    while len(sizes) > len(shape) and sizes[0] == 1:
        del sizes[0], strides[0]
    missing = len(shape) - len(sizes)
    if missing < 0 or any(size not in (1, length) for size, length in zip(sizes, shape[missing:])):
        raise InvalidError(f"an array of shape {source.shape} does not fit one of shape {shape}")
    return (0,) * missing + tuple(0 if size == 1 else stride for size, stride in zip(sizes, strides))


def _overlap(one: UsmArray, other: UsmArray) -> bool:
    """Whether the bytes between their first and last elements meet."""
    (begin, end), (first, last) = (_span(array) for array in (one, other))
    return begin < last and first < end


def _span(array: UsmArray) -> tuple[int, int]:
    first, last = reach(array.shape, array.strides, array.itemsize)
    return array.address + first, array.address + last
