"""``Workspace``: memory of a device for the blocks of one thread, kept from block to block."""

from __future__ import annotations

import math
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..bindless_images.device_limits import limit
from ..bindless_images.result_arrays import empty_result
from ..model.arrays import Array, DType
from ..model.aspects import Aspect
from ..ndimage.images import Images
from ..ndimage.source import element_of
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray, usm_empty
from . import staging
from .staging import in_memory_of, is_pinned, is_staged, pool_of, staged_empty

__all__ = ["Workspace"]

_EXTENTS = {1: ("image1d_max_width",), 2: ("image2d_max_height", "image2d_max_width"),
            3: ("image3d_max_depth", "image3d_max_height", "image3d_max_width")}  # fmt: skip
_OF_DEVICE = 16  # the part of a device's memory that the texels of a block may take: 1/16
_BYTE = np.dtype(np.uint8)
_MOST_ROWS = 256
_LAST = "last displacements"  # the part of these that belongs to the last axis
_STORED = frozenset(map(np.dtype, ("i1", "u1", "i2", "u2", "i4", "u4", "f2", "f4")))  # as images have them


class Workspace:
    """Images and arrays, which the commands of an in-order queue use one after the other.

    Parameters
    ----------
    queue : Queue
        In order, of one thread.

    Attributes
    ----------
    images : Images
        Image memory.
    most_bytes : float
        Bytes of the device that a block may take.
    extents : dict[int, tuple[float, ...]]
        Most texels of an image along its axes, by their number.
    is_staged : bool
        Whether values go to the host by way of device memory and pinned memory.
    rows : dict[tuple[object, ...], Any]
        Blocks that come again, by what identifies them: see ``block``.
    arrays : dict[tuple[str, tuple[int, ...], np.dtype], UsmArray]
        Device memory without values, by a name, a shape and a dtype: the same as that of the last array of this name
        where it is large enough.
    """

    def __init__(self, queue: Queue) -> None:
        self.queue = queue
        self.images = Images(queue)
        self.most_bytes = _bound(queue, "global_mem_size") / _OF_DEVICE
        self.extents = {dims: tuple(_bound(queue, name) for name in names) for dims, names in _EXTENTS.items()}
        self.is_staged = is_staged(queue)
        self._pinned = pool_of(queue)
        self.rows: dict[tuple[object, ...], Any] = {}
        self.arrays = _Arrays(queue)
        self._own: Array | None = None  # texels that were copied for the block that is computed

    @cached_property
    def shares_memory(self) -> bool:
        """Whether the device works in the memory of the host."""
        return self.queue.device.has(Aspect.usm_system_allocations)

    def empty_like(self, array: Any, shape: tuple[int, ...]) -> Any:
        """An array without values, of the library and the dtype of another; on the host as ``on_way`` wants it."""
        if isinstance(array, np.ndarray) and array.dtype in _STORED:
            empty = partial(staged_empty, self.queue) if self.is_staged else empty_result
            self._own = empty(shape, array.dtype)
            return self._own
        return np.empty_like(array, shape=shape)

    def vectors(self, coords: Array) -> UsmArray:
        """Displacements (axes, N) in device memory, as pictures read them: from the last axis on."""
        self.queue.memcpy(self.arrays["displacements", coords.shape, coords.dtype], coords)
        return self.arrays[_LAST, coords.shape, coords.dtype]

    def uploaded(self, name: str, array: Array) -> UsmArray:
        """A copy of an array in the device memory of a name."""
        target = self.arrays[name, array.shape, array.dtype]
        self.queue.memcpy(target, np.ascontiguousarray(array))
        return target

    def values(self, shape: tuple[int, ...], dtype: DType) -> UsmArray | None:
        """Device memory for values that go to pinned memory; None where they are few, or computed in the host's."""
        is_large = self.is_staged and math.prod(shape) * dtype.itemsize >= staging.SMALLEST
        return self.arrays["values", shape, dtype] if is_large and dtype in _STORED else None

    def on_way(self, array: Any) -> Any:
        """An array as copies to the device want it: in pinned memory, with elements that images store.

        Of a workspace that is staged, and many bytes.
        """
        if not isinstance(array, np.ndarray) or array.dtype.kind not in "iuf":
            return array
        dtype = array.dtype if array.dtype in _STORED else element_of(array.dtype)
        if dtype not in _STORED or (dtype == array.dtype and is_pinned(array)):
            return array
        staging = self._pinned.empty(self.queue, array.shape, dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            np.copyto(staging, array, "unsafe")
        self._own = staging
        return staging

    def result(self, texels: Any, shape: tuple[int, ...], dtype: DType) -> Array:
        """Memory of the host for values, that of the texels where nobody else sees it: the queue has read them."""
        own, self._own = self._own, None
        result = None if own is None or own is not texels else in_memory_of(own, shape, dtype)
        if result is None:
            result = self._pinned.empty(self.queue, shape, dtype) if self.is_staged else empty_result(shape, dtype)
        return result

    def add_row(self, key: tuple[object, ...], row: object) -> None:
        """Add a block that comes again."""
        if len(self.rows) >= _MOST_ROWS:
            self.rows.clear()
        self.rows[key] = row

    def close(self) -> None:
        """Frees everything."""
        self.rows.clear()
        self.images.close()
        self.arrays.close()


class _Arrays(dict[tuple[str, tuple[int, ...], DType], UsmArray]):
    """``Workspace.arrays``: a missing array is made. Copies and launches know those that are there."""

    def __init__(self, queue: Queue) -> None:
        super().__init__()
        self._queue = queue
        self._memory: dict[str, UsmArray] = {}

    def __missing__(self, key: tuple[str, tuple[int, ...], DType]) -> UsmArray:
        name, shape, dtype = key
        if name == _LAST:
            whole = self["displacements", shape, dtype]
            array = UsmArray(whole._owner, shape[1:], dtype, None, whole.nbytes - whole.nbytes // shape[0])
        else:
            array = UsmArray(self._room(name, math.prod(shape) * dtype.itemsize)._owner, shape, dtype)
        self[key] = array
        return array

    def _room(self, name: str, nbytes: int) -> UsmArray:
        """The memory of a name; other memory ends what lies in the old one."""
        memory = self._memory.get(name)
        if memory is None or memory.nbytes < nbytes or len(self) >= _MOST_ROWS:
            self.clear()
        if memory is None or memory.nbytes < nbytes:
            self._memory.pop(name, None)
            memory = None  # ends before the next one begins
            step = 1 << max(nbytes.bit_length() - 4, 0)
            memory = self._memory[name] = usm_empty((-(-nbytes // step) * step,), _BYTE, self._queue)
        return memory

    def close(self) -> None:
        """Free the memory."""
        self.clear()
        self._memory.clear()


def _bound(queue: Queue, name: str) -> float:
    bound = limit(queue.device, name)
    return math.inf if bound is None else bound
