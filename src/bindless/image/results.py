"""Arrays for the results of ``Image``'s methods: the caller's ``out``, or a new one of the caller's library."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..bindless_images.result_arrays import empty_result
from ..bindless_images.scratch_memory import array_in, leave_array, take
from ..model.arrays import Array, DType
from ..model.aspects import Aspect
from ..model.enums import UsmKind
from ..model.errors import InvalidError
from ..sampling.packing import After
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray, usm_empty
from ..sycl.usm.array_import import foreign_array
from ..sycl.usm.strides import reach
from .array_library import OWN_TYPES, AnyArray, Library, hand_over
from .downloads import download

__all__ = ["Result", "copies_result", "leave_arrays", "overlap"]

_LARGE = 1 << 20  # bytes of values for which a copy is quicker than the kernel's own writes to the host


class Result:
    """The result of one call.

    Parameters
    ----------
    queue : Queue
        Of the image.
    out : array
        As the caller gave it, or None.
    shape : tuple[int, ...]
        Of the result.
    dtype : np.dtype
        Of the result.
    inputs : Iterable[AnyArray | None], default ()
        Arrays that the call reads.
    arrays : dict[Any, UsmArray] | None
        Memory of the device for results that go on to the host, kept for the next ones.

    Attributes
    ----------
    array : AnyArray | None
        ``out`` in place, or None.
    shape : tuple[int, ...]
        Of the result.
    is_own : bool
        Whether ``out`` is of no other library, whose stream would have to wait.

    Raises
    ------
    InvalidError
        ``out`` is no array of this shape and dtype that can be written, or shares memory with an input.
    """

    def __init__(
        self,
        queue: Queue,
        out: Any,
        shape: tuple[int, ...],
        dtype: DType,
        inputs: Iterable[AnyArray | None] = (),
        arrays: dict[Any, UsmArray] | None = None,
    ) -> None:
        self._queue, self._out, self.shape, self._dtype, self._arrays = queue, out, shape, dtype, arrays
        self.array: AnyArray | None = None
        self.is_own = type(out) in OWN_TYPES
        if out is not None:
            self.array = _checked(queue, out, shape, dtype)
            for argument in inputs:
                if argument is not None and overlap(self.array, argument):
                    raise InvalidError("out shares memory with an argument: give another array")

    @property
    def on_device(self) -> bool:
        """Whether ``out`` lies on the device."""
        return isinstance(self.array, UsmArray)

    def on_host(self) -> Array:
        """Contiguous memory of the host for the values: that of ``out`` where it lies there."""
        if isinstance(self.array, np.ndarray):
            return self.array
        return empty_result(self.shape, self._dtype)

    def in_usm(self) -> UsmArray:
        """Contiguous memory of the device for the values: that of ``out`` where it lies there.

        Large values for pinned memory are copied to it afterwards: kernels write it at a part of the bus's speed.
        """
        if not isinstance(self.array, UsmArray):
            return usm_empty(self.shape, self._dtype, self._queue)
        if not copies_result(self._queue, self.array):
            return self.array
        if self._arrays is None or not self._queue._stream.in_order:  # commands after this one would overwrite it
            return usm_empty(self.shape, self._dtype, self._queue)
        memory = self._arrays.get((self.shape, self._dtype))
        if memory is None:
            leave_arrays(self._queue, self._arrays)
            block = take(self._queue, math.prod(self.shape) * self._dtype.itemsize)
            memory = self._arrays[self.shape, self._dtype] = array_in(self._queue, block, 0, self.shape, self._dtype)
        return memory

    def deliver(self, values: AnyArray, after: After = (), library: Library | None = None) -> Any:
        """The result for the caller, from what ``on_host`` or ``in_usm`` gave.

        Parameters
        ----------
        values : AnyArray
            It, filled, on the device by commands of the queue.
        after : After
            These commands, in a queue out of order.
        library : Library | None
            Whose array it becomes; None is numpy's, or ``UsmArray``.
        """
        if self.array is None:
            return values if library is None else library(values)
        if self.array is values:
            pass
        elif isinstance(self.array, np.ndarray) and isinstance(values, np.ndarray):
            self.array[...] = values
        elif values.size:
            if isinstance(self.array, np.ndarray):
                self._queue.memcpy(self.array, values, depends_on=after).wait()
            else:
                download(self._queue, self.array, values, after)
        hand_over(self._out, self.array)
        return self._out


def leave_arrays(queue: Queue, arrays: dict[Any, UsmArray]) -> None:
    """Leaves memory that was kept for the results of an image in order to the queue's next images."""
    for array in list(arrays.values()):
        leave_array(queue, array)
    arrays.clear()


def copies_result(queue: Queue, array: object) -> bool:
    """Whether values for an array are computed in other memory, and copied: see ``Result.in_usm``."""
    return (
        type(array) is UsmArray
        and array._owner.kind is UsmKind.host
        and array.nbytes >= _LARGE
        and not queue.device.has(Aspect.usm_system_allocations)
    )


def _checked(queue: Queue, out: Any, shape: tuple[int, ...], dtype: DType) -> AnyArray:
    array: AnyArray | object = out if type(out) in OWN_TYPES else foreign_array(out, queue)
    if isinstance(array, np.ndarray):
        fits = array.flags.c_contiguous and array.flags.writeable
    elif isinstance(array, UsmArray):
        fits = array._contiguous and not array._owner.read_only
        if array._owner.context is not queue.context:
            raise InvalidError(f"out {array!r} is memory of another context than that of {queue!r}")
    else:
        raise InvalidError(f"out is a {type(out).__name__}; it is an array of {dtype} of shape {shape}")
    if tuple(array.shape) != shape or array.dtype != dtype:
        raise InvalidError(
            f"out is {array.dtype} of shape {tuple(array.shape)}; the result is {dtype} of shape {shape}"
        )
    if not fits:
        raise InvalidError("out is not C-contiguous or not writable: give a fresh array, and copy from that")
    return array


def overlap(one: AnyArray, other: AnyArray) -> bool:
    """Whether two arrays may share memory: whether the ranges of their bytes do."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.may_share_memory(one, other)
    if not one.nbytes or not other.nbytes:
        return False
    if type(one) is UsmArray and one._owner.kind is UsmKind.device and isinstance(other, np.ndarray):
        return False  # which sees no memory of devices
    if type(one) is UsmArray and type(other) is UsmArray and one._owner is not other._owner and one._contiguous:
        first, start = one._owner.address + one._offset, other._owner.address
        if start >= first + one.nbytes or start + other._owner.nbytes <= first:  # as of nearly all arrays
            return False
    (first, last), (start, end) = _place(one), _place(other)
    return first < end and start < last


def _place(array: AnyArray) -> tuple[int, int]:
    """Addresses of the first byte and of the one after the last; of the host and of devices they differ."""
    address = array.address if isinstance(array, UsmArray) else int(array.__array_interface__["data"][0])
    first, last = reach(array.shape, array.strides, array.itemsize)
    return address + first, address + last
