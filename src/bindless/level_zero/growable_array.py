"""``GrowableArray``: device memory that grows without moving, on reserved addresses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import SupportsIndex

import numpy as np
import numpy.typing as npt

from ..core.lock import Lock
from ..model.arrays import DType
from ..model.enums import UsmKind
from ..model.errors import InvalidError, MemoryAllocationError
from ..model.image_descriptor import integer
from ..model.message_values import shown
from ..model.single_owner import SingleOwner
from ..sycl.device.device_context import resolve
from ..sycl.queue.queue import Queue
from ..sycl.usm.allocation import Allocation
from ..sycl.usm.array import UsmArray, array_shape, element_dtype
from .virtual_memory import PhysicalMemory, VirtualRange

__all__ = ["GrowableArray"]


class GrowableArray(SingleOwner):
    """Rows in device memory whose number grows. The address stays, so that earlier views, and kernels that know it,
    stay valid; memory is put behind the addresses as it is needed, half as much again each time.

    Parameters
    ----------
    dtype : DTypeLike
        Of an element.
    where : object
        A queue, or a device and a context.
    capacity : SupportsIndex
        Rows at most, for which addresses are reserved; they cost no memory.
    row_shape : SupportsIndex | Sequence[SupportsIndex], default ()
        Elements of a row by dimension; () for a one-dimensional array.

    Attributes
    ----------
    capacity : SupportsIndex
        Rows at most.
    dtype, row_shape
        As given.

    Raises
    ------
    InvalidError
        An argument is none.
    MemoryAllocationError
        There is no room for so many addresses.
    FeatureNotSupportedError
        The driver has no virtual memory.
    """

    __slots__ = ("__weakref__", "_length", "_lock", "_memory", "_range", "_row_bytes", "capacity", "dtype", "row_shape")

    def __init__(
        self,
        dtype: npt.DTypeLike,
        *where: object,
        capacity: SupportsIndex,
        row_shape: SupportsIndex | Sequence[SupportsIndex] = (),
    ) -> None:
        device, context = resolve(where)
        self.dtype: DType = element_dtype(dtype)
        self.row_shape: tuple[int, ...] = array_shape(row_shape)
        rows = integer("capacity", capacity)
        self._row_bytes = math.prod(self.row_shape) * self.dtype.itemsize
        if rows < 1 or self._row_bytes < 1:
            raise InvalidError(
                f"capacity={shown(capacity)}, row_shape={shown(row_shape)}: both have at least one element"
            )
        self._range = VirtualRange(rows * self._row_bytes, device, context)
        self.capacity = rows
        self._memory = Allocation(
            context, device, UsmKind.device, self._range.address, 0, owned=False, lender=self._range._resource
        )
        self._length = 0
        self._lock = Lock()

    def __len__(self) -> int:
        return self._length

    @property
    def address(self) -> int:
        """Of the first element; it stays. Raises ``InvalidError`` once it was closed."""
        self._memory.require_open()
        return self._memory.address

    @property
    def nbytes_mapped(self) -> int:
        """Bytes of memory behind it so far."""
        return sum(size for _, size in self._range.mapped)

    @property
    def array(self) -> UsmArray:
        """Its rows so far, an array of shape ``(len(self), *row_shape)``. It stays valid when this one grows."""
        self._memory.require_open()
        return UsmArray(self._memory, (self._length, *self.row_shape), self.dtype)

    def resize(self, rows: SupportsIndex) -> None:
        """Sets the number of rows; new ones are not initialised. Fewer rows keep their memory for later.

        Parameters
        ----------
        rows : SupportsIndex
            Rows, 0 to ``capacity``.

        Raises
        ------
        InvalidError
            Below 0 or above ``capacity``, or it was closed.
        MemoryAllocationError
            There is not enough memory; nothing has changed.
        """
        length = integer("rows", rows)
        self._memory.require_open()
        if not 0 <= length <= self.capacity:
            raise InvalidError(
                f"rows={shown(rows)}: the array has addresses for 0 to {self.capacity} rows; reserve more"
            )
        with self._lock:
            self._map(length * self._row_bytes)
            self._length = length

    def _map(self, nbytes: int) -> None:
        """Has memory behind so many bytes at least; the lock is held."""
        mapped = self.nbytes_mapped
        if nbytes <= mapped:
            return
        place = self._range.device, self._range.context
        needed = nbytes - mapped
        growth = min(max(needed, mapped // 2), self._range.nbytes - mapped)
        try:
            more = PhysicalMemory(growth, *place)
        except MemoryAllocationError:
            if growth == needed:
                raise
            more = PhysicalMemory(needed, *place)
        self._range.map(more, mapped, nbytes=min(more.nbytes, self._range.nbytes - mapped))
        self._memory.nbytes = self.nbytes_mapped

    def append(self, values: npt.ArrayLike, queue: Queue | None = None) -> UsmArray:
        """Adds rows from the host, and waits for their copy.

        Parameters
        ----------
        values : ArrayLike
            Of shape ``(rows, *row_shape)``, or one row of shape ``row_shape``.
        queue : Queue, optional
            That copies; None is one of the package's own.

        Returns
        -------
        UsmArray
            The new rows, a view.

        Raises
        ------
        InvalidError
            Another shape, or more than ``capacity`` rows.
        MemoryAllocationError
            There is not enough memory.
        """
        data = np.ascontiguousarray(values, self.dtype)
        if data.shape == self.row_shape or (self.row_shape == () and data.shape == (1,)):
            data = data.reshape(1, *self.row_shape)
        if data.shape[1:] != self.row_shape or data.ndim != 1 + len(self.row_shape):
            raise InvalidError(f"values of shape {data.shape}: rows are of shape {self.row_shape}")
        before = self._length
        self.resize(before + len(data))
        added = self.array[before:]
        return added.copy_from(data, queue) if len(data) else added

    def close(self) -> None:
        """Frees the memory and the addresses, also of views, after the work that uses them."""
        self._memory.close()

    def __enter__(self) -> GrowableArray:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<GrowableArray {self.dtype} {(self._length, *self.row_shape)}, capacity {self.capacity}>"
