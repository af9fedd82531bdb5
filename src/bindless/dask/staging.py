"""``staged_empty``: numpy arrays in pinned host memory, which drivers copy without copies of their own.

Pinned memory takes milliseconds to allocate, so the memory of a dropped array serves the next one of about its size.
"""

from __future__ import annotations

import math
import os
import weakref
from collections import deque
from typing import NamedTuple

import numpy as np

from ..bindless_images.result_arrays import empty_result
from ..core.lock import Lock
from ..core.ownership import after_fork
from ..model.arrays import Array, DType
from ..model.enums import UsmKind
from ..model.errors import MemoryAllocationError
from ..sycl.device.context import Context
from ..sycl.queue.queue import Queue
from ..sycl.usm import usm_empty
from ..sycl.usm.allocation import Lease

__all__ = ["SMALLEST", "in_memory_of", "is_pinned", "is_staged", "pool_of", "staged_empty"]


# Bytes of all pinned arrays of a process: at most, and the part of the machine's memory.
_MOST_BYTES, _OF_HOST = 4 << 30, 8
SMALLEST = 1 << 18  # bytes of one
_BYTE = np.dtype(np.uint8)


def is_staged(queue: Queue) -> bool:
    """Whether copies between host and device are faster with pinned memory."""
    return queue._backend.traits.copies_pinned_quicker


def staged_empty(queue: Queue, shape: tuple[int, ...], dtype: DType) -> Array:
    """Like ``np.empty``, in pinned memory; small arrays, and those beyond the limit of all, in ordinary memory."""
    return pool_of(queue).empty(queue, shape, dtype) if is_staged(queue) else empty_result(shape, dtype)


def pool_of(queue: Queue) -> _Pool:
    """The pinned memory of a queue's context."""
    pool = _pools.get(queue.context)
    return _pools.setdefault(queue.context, _Pool()) if pool is None else pool


def is_pinned(array: Array) -> bool:
    """Whether it lies in pinned memory that ``staged_empty`` gave, without gaps."""
    base = array.base
    while isinstance(base, np.ndarray):
        base = base.base
    return array.flags.c_contiguous and isinstance(base, _Staged)


def in_memory_of(array: Array, shape: tuple[int, ...], dtype: DType) -> Array | None:
    """An array in the pinned memory of another; None where that is not pinned, too small, or more than twice as large.

    Parameters
    ----------
    array : Array
        As ``staged_empty`` gave it.
    """
    nbytes = math.prod(shape) * dtype.itemsize
    if type(array.base) is not _Staged or not nbytes <= array.nbytes <= 2 * nbytes:
        return None
    return array.reshape(-1).view(np.uint8)[:nbytes].view(dtype).reshape(shape)


class _Memory(NamedTuple):
    """Pinned memory; with the lease it lasts as long as arrays use it, whatever ends before."""

    nbytes: int
    address: int
    lease: Lease


class _Pool:
    """Pinned memory of a context.

    Attributes
    ----------
    free : dict[int, deque[_Memory]]
        Memory that no array uses, by its bytes. Arrays end in any thread at any moment: they append without a lock.
    """

    def __init__(self) -> None:
        self.free: dict[int, deque[_Memory]] = {}
        self._lock = Lock()
        self._bytes, self._most = 0, _most_bytes()

    def empty(self, queue: Queue, shape: tuple[int, ...], dtype: DType) -> Array:
        """See ``staged_empty``."""
        nbytes = math.prod(shape) * dtype.itemsize
        if nbytes < SMALLEST:
            return empty_result(shape, dtype)
        step = 1 << max(nbytes.bit_length() - 4, 0)  # sizes of an eighth apart are as good as equal
        size = -(-nbytes // step) * step
        memory: _Memory | None = None
        for other in sorted([other for other in tuple(self.free) if size <= other <= 2 * size]):
            try:
                memory = self.free[other].pop()
                break
            except IndexError:  # it has none
                continue
        else:
            memory = self._new(queue, size)
        return empty_result(shape, dtype) if memory is None else np.asarray(_Staged(self, memory, shape, dtype))

    def _new(self, queue: Queue, size: int) -> _Memory | None:
        """New memory; None where the limit is reached or there is none."""
        dropped = []
        with self._lock:
            self.free.setdefault(size, deque())
            for other, row in list(self.free.items()):
                while row and self._bytes + size > self._most:
                    dropped.append(row.pop())
                    self._bytes -= other
            if self._bytes + size > self._most:
                return None
            self._bytes += size
        del dropped
        try:
            memory = usm_empty((size,), _BYTE, queue, kind=UsmKind.host)
            return _Memory(size, memory.address, memory._owner.lease())
        except MemoryAllocationError:
            with self._lock:
                self._bytes -= size
            return None


def _most_bytes() -> int:
    try:
        host = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return _MOST_BYTES
    return min(_MOST_BYTES, host // _OF_HOST)


class _Staged:
    """The memory of an array: the base of it and of its views. It returns to the pool with the last of them.

    At interpreter exit, memory that arrays still use is left to the end of the process.
    """

    __slots__ = ("__array_interface__", "_memory", "_row")

    def __init__(self, pool: _Pool, memory: _Memory, shape: tuple[int, ...], dtype: DType) -> None:
        self._memory, self._row = memory, pool.free[memory.nbytes]
        address = (memory.address, False)
        self.__array_interface__ = {"version": 3, "shape": shape, "typestr": dtype.str, "data": address}

    def __del__(self) -> None:
        if hasattr(self, "__array_interface__"):  # else its constructor was interrupted
            self._row.append(self._memory)


_pools: weakref.WeakKeyDictionary[Context, _Pool] = weakref.WeakKeyDictionary()
after_fork(_pools.clear)
