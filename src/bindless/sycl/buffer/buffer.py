"""``Buffer``: elements that migrate to the device of each command (SYCL 2020 section 4.7.2)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...model.arrays import Array, DType
from ...model.enums import AccessMode, Target
from ...model.errors import InvalidError, MemoryAllocationError
from ...model.host_array import plain
from ...model.masked_arrays import warn_of_mask
from ...model.message_values import shown
from ..usm.array import element_dtype
from .accessor import Accessor
from .byte_ranges import Region, SizesLike, buffer_shape, sizes_of
from .host_accessor import HostAccessor
from .memory_object import MemoryObject
from .storage import Storage

if TYPE_CHECKING:
    from ..queue.handler import Handler

__all__ = ["Buffer"]

_device = Target.device

_LARGEST = 2**63 - 1  # bytes


class Buffer(MemoryObject):
    """A collection of elements of one to three dimensions, stored one after the other, the last dimension fastest.

    Commands use it through accessors, which bring the newest contents to their device, on whatever backend, and put the
    commands of all queues in order.

    ``Buffer(array)`` starts with the elements of the array and, when it ends, writes them back if a command has changed
    them. Until then the array belongs to the buffer: leave it alone. A read-only array is never written.
    ``Buffer(shape, dtype)`` has no memory of the host and undefined contents.

    ``close()``, and the end of the last reference, wait only where there is something to write back, or where a command
    still reads the array.

    Parameters
    ----------
    data : ArrayLike | SizesLike
        A numpy array or another buffer of memory; or a shape.
    dtype : DTypeLike, optional
        Of an element, with a shape; structured ones too.

    Raises
    ------
    InvalidError
        Not one to three dimensions, or elements that are no plain memory.
    MemoryAllocationError
        A shape of 2**63 bytes or more.

    Notes
    -----
    SYCL 2020, 4.7.2, "Buffers".

    Examples
    --------
    >>> queue = bindless.Queue("reference")
    >>> with bindless.Buffer(np.zeros(4, np.int32)) as buffer:
    ...     event = queue.submit(lambda handler: handler.fill(buffer.get_access(handler, "write"), 3))
    ...     with buffer.get_host_access("read") as values:
    ...         print(np.asarray(values))
    [3 3 3 3]
    """

    __slots__ = ()

    def __init__(self, data: npt.ArrayLike | SizesLike, dtype: npt.DTypeLike | None = None) -> None:
        array = _as_array(data, dtype)
        if array is None:
            assert dtype is not None
            self.shape, self.dtype = buffer_shape(data, "data"), element_dtype(dtype)  # type: ignore[arg-type]
            nbytes = math.prod(self.shape) * self.dtype.itemsize
            if nbytes > _LARGEST:
                raise MemoryAllocationError(
                    f"data={shown(self.shape)}: no device has memory for so many elements of {self.dtype}"
                )
            self._start(Storage(nbytes, None, False), None)
            return
        self.shape, self.dtype = buffer_shape(array.shape), element_dtype(array.dtype)
        writable = bool(array.flags.writeable)
        origin = array if array.flags.c_contiguous else np.ascontiguousarray(array)
        self._start(Storage(array.nbytes, origin, writable), array if writable else None)

    @classmethod
    def _over(cls, storage: Storage, shape: tuple[int, ...], dtype: DType) -> Buffer:
        """A buffer of contents that lie somewhere already."""
        buffer = cls.__new__(cls)
        buffer.shape, buffer.dtype = shape, dtype
        buffer._start(storage, None)
        return buffer

    # ------------------------------------------------------------------ shape

    @property
    def is_sub_buffer(self) -> bool:
        """Whether this is a range of another buffer."""
        return self._root is not None and self._span != self._root._span

    def __len__(self) -> int:
        return self.shape[0]

    # ------------------------------------------------------------------ other buffers of the same elements

    def _part(self, shape: tuple[int, ...], dtype: DType, span: tuple[int, int]) -> Buffer:
        part = Buffer.__new__(Buffer)
        part._storage, part._root, part._final = self._storage, self._root or self, None
        part.shape, part.dtype, part._span = shape, dtype, span
        return part

    def sub_buffer(self, offset: SizesLike, shape: SizesLike) -> Buffer:
        """A range of the elements as a buffer of its own. Commands on ranges that do not overlap run concurrently.

        Parameters
        ----------
        offset : SizesLike
            First element, by dimension.
        shape : SizesLike
            Sizes, by dimension.

        Returns
        -------
        Buffer
            The sub-buffer.

        Raises
        ------
        InvalidError
            It leaves the buffer, is not contiguous, or this is a sub-buffer itself.
        """
        self._storage.require_open()
        if self.is_sub_buffer:
            raise InvalidError("sub_buffer of a sub-buffer: make it of the whole buffer, with the sum of the offsets")
        first, sizes = sizes_of(offset, "offset"), sizes_of(shape, "shape")
        if not len(first) == len(sizes) == len(self.shape):
            raise InvalidError(
                f"offset={shown(first)}, shape={shown(sizes)}: the buffer of shape {self.shape} has {len(self.shape)} "
                "dimensions"
            )
        if any(begin + size > limit for begin, size, limit in zip(first, sizes, self.shape)):
            raise InvalidError(f"offset={shown(first)}, shape={shown(sizes)} leave the buffer of shape {self.shape}")
        region = Region(self.shape, first, sizes, self.dtype.itemsize)
        if not region.is_contiguous:
            raise InvalidError(
                f"offset={first}, shape={sizes}: other elements of the buffer of shape {self.shape} lie in between; a "
                "sub-buffer is contiguous: after the first size above 1 all sizes are the buffer's"
            )
        return self._part(sizes, self.dtype, (region.begin, region.end))

    def reinterpret(self, shape: SizesLike | None = None, dtype: npt.DTypeLike | None = None) -> Buffer:
        """The same bytes as elements of another shape or type; None keeps the dtype, or makes one dimension.

        Raises
        ------
        InvalidError
            The bytes are not as many.
        """
        self._storage.require_open()
        kind = self.dtype if dtype is None else element_dtype(dtype)
        sizes = (self.nbytes // kind.itemsize,) if shape is None else buffer_shape(shape)
        if math.prod(sizes) * kind.itemsize != self.nbytes:
            raise InvalidError(
                f"{shown(sizes)} elements of {kind} take {shown(math.prod(sizes) * kind.itemsize)} bytes, the buffer "
                f"has {self.nbytes}: a reinterpreted buffer has as many"
            )
        return self._part(sizes, kind, self._span)

    # ------------------------------------------------------------------ access

    def get_access(
        self,
        handler: Handler | None,
        mode: AccessMode | str = "read_write",
        *,
        no_init: bool = False,
        range: SizesLike | None = None,
        offset: SizesLike | None = None,
        target: Target | str = _device,
    ) -> Accessor:
        """Access for the command of a group.

        Parameters
        ----------
        handler : Handler | None
            Of the group; None makes a placeholder for ``handler.require``.
        mode : AccessMode | str, default "read_write"
            ``read``, ``write`` or ``read_write``; what ``write`` does not write stays.
        no_init : bool, default False
            The contents before are of no interest, and need not be brought.
        range : SizesLike, optional
            How many elements the command touches, by dimension; None for all from the offset on.
        offset : SizesLike, optional
            The first of them, by dimension.
        target : Target | str, default _device
            ``device``; ``host_task`` for the host task of the group; ``constant_buffer``, which is deprecated in SYCL
            2020.

        Returns
        -------
        Accessor
            The accessor.

        Raises
        ------
        InvalidError
            A closed buffer, a handler whose group was submitted, no such mode, or a range outside.
        """
        if not self._storage.open:
            self._storage.require_open()
        accessor = Accessor(self, mode, no_init, range, offset, target)
        if handler is None:
            accessor.is_placeholder = True
        else:
            try:
                if handler._queue is None:
                    handler._require(accessor)  # raises
                handler._accessors.append(accessor)
            except AttributeError:
                raise InvalidError(
                    f"handler={shown(handler)}: it is what queue.submit gives its function, or None"
                ) from None
        return accessor

    def get_host_access(
        self,
        mode: AccessMode | str = "read_write",
        *,
        no_init: bool = False,
        range: SizesLike | None = None,
        offset: SizesLike | None = None,
    ) -> HostAccessor:
        """Access of the host, as a numpy array: waits for the commands that write the elements, and brings them.

        Until it is closed no command on the buffer starts; submitting some does not block.

        Parameters
        ----------
        mode, no_init, range, offset
            As of ``get_access``; the array has the shape of the range.

        Returns
        -------
        HostAccessor
            The host accessor, an array of the host.

        Raises
        ------
        Error
            A command that writes the elements failed, and its queue has no ``async_handler``.
        AccessorError
            A command to wait for waits for a host accessor that this thread holds.
        """
        self._storage.require_open()
        return HostAccessor(Accessor(self, mode, no_init, range, offset))

    def __repr__(self) -> str:
        state = "" if self._storage.open else ", closed"
        return f"<Buffer of shape {self.shape}, {self.dtype}{state}>"


def _as_array(data: object, dtype: object) -> Array | None:
    """The array that a buffer is made of, in place; None if it is a shape.

    Raises
    ------
    InvalidError
        Neither.
    """
    if dtype is not None:
        if isinstance(data, (np.ndarray, memoryview, bytes, bytearray)):
            raise InvalidError(
                f"dtype={shown(dtype)} with an array: its own is taken; convert with array.astype or .view"
            )
        return None
    if isinstance(data, np.ndarray):
        warn_of_mask(data, "data")
        return plain(data)
    try:
        view = memoryview(data)  # type: ignore[arg-type]
    except TypeError:
        pass
    else:
        return np.asarray(view)
    raise InvalidError(
        f"data: a {type(data).__name__} is no array; it is a numpy array or another buffer of memory, or give a shape "
        "and dtype="
    )
