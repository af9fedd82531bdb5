"""``UsmArray``: unified shared memory with a shape and a dtype."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from ..model.enums import Backend, UsmKind
from ..model.errors import InvalidError
from ._allocation import Allocation
from ._usm_pointer import UsmPointer, allocate

if TYPE_CHECKING:
    from .context import Context
    from .device import Device
    from .queue import Queue

__all__ = ["UsmArray", "usm_empty"]


class UsmArray:
    """An n-dimensional array in unified shared memory; ``usm_empty`` makes one.

    Slices are views of the same memory. ``numpy()`` and ``copy_from`` move the elements to and from host arrays; host
    and shared memory can also be seen in place with ``numpy.asarray(array)``, once the work that writes it is complete.

    Attributes:
        shape: elements by dimension.
        dtype: of an element.
        nbytes: bytes of the elements.
        strides: bytes between elements by dimension.
    """

    __slots__ = ("__weakref__", "_contiguous", "_offset", "_owner", "_packed", "dtype", "nbytes", "shape", "strides")

    def __init__(
        self,
        _owner: Allocation,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        strides: tuple[int, ...] | None = None,
        _offset: int = 0,
    ) -> None:
        self._owner = _owner
        self._offset = _offset
        self.shape = shape
        self.dtype = dtype
        self.nbytes = math.prod(shape) * dtype.itemsize
        packed = _packed_strides(shape, dtype.itemsize)
        self.strides = packed if strides is None else strides
        self._contiguous = self.strides == packed or math.prod(shape) <= 1 or _same_layout(shape, self.strides, packed)
        # What a kernel receives.
        self._packed = (_owner.address + _offset).to_bytes(8, "little")

    # ------------------------------------------------------------------ shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie one after the other, the last dimension varying fastest."""
        return self._contiguous

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a UsmArray of shape ()")
        return self.shape[0]

    # ------------------------------------------------------------------ memory

    @property
    def pointer(self) -> UsmPointer:
        """Pointer to the first element."""
        self._owner.require_open()
        return UsmPointer(self._owner, self._offset)

    @property
    def address(self) -> int:
        """Of the first element. Raises ``InvalidError`` once the memory has been freed."""
        self._owner.require_open()
        return self._owner.address + self._offset

    @property
    def kind(self) -> UsmKind:
        return self._owner.kind

    @property
    def context(self) -> Context:
        return self._owner.context

    @property
    def device(self) -> Device:
        return self._owner.device

    @property
    def closed(self) -> bool:
        """Whether the memory has been freed."""
        return not self._owner.open

    def close(self) -> None:
        """Frees the memory, also of other views, after the work that uses it; a second call does nothing."""
        self._owner.close()

    def __enter__(self) -> UsmArray:
        self._owner.require_open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------------ views

    def __getitem__(self, key: Any) -> UsmArray:
        """A view: integers, slices, ``...`` and ``None``. An integer for every dimension gives shape ``()``."""
        self._owner.require_open()
        shape, strides, offset = _indexed(self.shape, self.strides, key)
        return UsmArray(self._owner, shape, self.dtype, strides, self._offset + offset)

    def reshape(self, *shape: int | Sequence[int]) -> UsmArray:
        """A view of another shape; one size may be -1.

        Raises:
            InvalidError: the sizes do not fit, or the array is not contiguous.
        """
        self._require_contiguous("reshape")
        sizes: tuple[int, ...] = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], Sequence) else shape  # type: ignore[assignment]
        known = math.prod(size for size in sizes if size != -1)
        if sizes.count(-1) == 1 and known and self.size % known == 0:
            sizes = tuple(self.size // known if size == -1 else size for size in sizes)
        if any(size < 0 for size in sizes) or math.prod(sizes) != self.size:
            raise InvalidError(f"an array of shape {self.shape} cannot be reshaped to {sizes}")
        return UsmArray(self._owner, sizes, self.dtype, None, self._offset)

    def view(self, dtype: npt.DTypeLike) -> UsmArray:
        """The same bytes as elements of another dtype; the last dimension changes with the size of an element.

        Raises:
            InvalidError: the bytes of the last dimension are no whole number of elements, or are not contiguous.
        """
        kind = element_dtype(dtype)
        if kind.itemsize == self.dtype.itemsize:
            return UsmArray(self._owner, self.shape, kind, self.strides, self._offset)
        self._require_contiguous("view")
        row = (self.shape[-1] if self.shape else 1) * self.dtype.itemsize
        if not self.shape or row % kind.itemsize:
            raise InvalidError(f"{row} bytes of the last dimension are no whole number of {kind} elements")
        return UsmArray(self._owner, (*self.shape[:-1], row // kind.itemsize), kind, None, self._offset)

    def _require_contiguous(self, what: str) -> None:
        self._owner.require_open()
        if not self._contiguous:
            raise InvalidError(
                f"{what}: this view of shape {self.shape} with strides {self.strides} is not contiguous; "
                "copy it into usm_empty first"
            )

    # ------------------------------------------------------------------ host copies

    def numpy(self, queue: Queue | None = None) -> npt.NDArray[Any]:
        """The elements in a new numpy array; waits.

        Args:
            queue: what to order the copy after; None is a queue of the package's own, which is not ordered after
                anything: wait for the work that writes the array first.
        """
        self._owner.require_open()
        if not self.size:
            return np.empty(self.shape, self.dtype)
        first, last = self._span()
        staged = np.empty(last - first, np.uint8)
        run = self._queue(queue)
        run.memcpy(staged, UsmPointer(self._owner, self._offset + first), last - first).wait()
        seen: npt.NDArray[Any] = np.ndarray(self.shape, self.dtype, staged, -first, self.strides)
        return seen if self._contiguous else seen.copy()

    def copy_from(self, array: npt.ArrayLike, queue: Queue | None = None) -> UsmArray:
        """Copies a host array in and returns itself; waits. It is converted and broadcast as numpy would.

        Args:
            array: what ``numpy.asarray`` takes; its shape can be broadcast to this one.
            queue: what to order the copy after; see ``numpy``.

        Raises:
            InvalidError: the shapes do not fit, or the conversion would lose a kind of number.
        """
        self._owner.require_open()
        source = np.asarray(array)
        if not np.can_cast(source.dtype, self.dtype, "same_kind") and not _plain_integers_fit(
            array, source, self.dtype
        ):
            raise InvalidError(f"{source.dtype} elements do not go into {self.dtype}: convert with array.astype(...)")
        try:
            values = np.broadcast_to(source, self.shape)
        except ValueError:
            raise InvalidError(f"an array of shape {source.shape} does not fit one of shape {self.shape}") from None
        values = np.ascontiguousarray(values, self.dtype).reshape(self.shape)
        if not values.size:
            return self
        run = self._queue(queue)
        flat = values.reshape(-1).view(np.uint8)
        position = 0
        events = []
        for offset, nbytes in self._runs():
            target = UsmPointer(self._owner, self._offset + offset)
            events.append(run.memcpy(target, flat[position : position + nbytes], nbytes))
            position += nbytes
        for event in events:
            event.wait()
        return self

    def _queue(self, queue: Queue | None) -> Queue:
        if queue is not None:
            if queue.context is not self.context:
                raise InvalidError(f"the queue is of another context than the array: {self.context!r}")
            return queue
        from .queue import transfer_queue

        return transfer_queue(self.context, self.device)

    def _span(self) -> tuple[int, int]:
        """First byte and the one after the last of all elements, from the first element."""
        reach = [stride * (size - 1) for size, stride in zip(self.shape, self.strides)]
        return sum(r for r in reach if r < 0), sum(r for r in reach if r > 0) + self.dtype.itemsize

    def _runs(self) -> Iterator[tuple[int, int]]:
        """(offset from the first element, bytes) of contiguous pieces, in the order of the elements."""
        inner = len(self.shape)
        run = self.dtype.itemsize
        while inner and (self.strides[inner - 1] == run or self.shape[inner - 1] == 1):
            run *= self.shape[inner - 1]
            inner -= 1
        for index in np.ndindex(*self.shape[:inner]):
            yield sum(i * stride for i, stride in zip(index, self.strides)), run

    # ------------------------------------------------------------------ protocols

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """numpy's view in place; of host and shared memory alone."""
        if self.kind is UsmKind.device:
            raise AttributeError("the host cannot reach device memory: copy it with array.numpy()")
        return {**self._interface(), "typestr": self.dtype.str, "descr": self.dtype.descr}

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Version 3; on the cuda backend alone."""
        if self.context.backend is not Backend.cuda:
            raise AttributeError(f"this memory belongs to the {self.context.backend} backend, not to CUDA")
        return {**self._interface(), "typestr": self.dtype.str, "stream": None}

    def _interface(self) -> dict[str, Any]:
        return {
            "version": 3,
            "shape": self.shape,
            "data": (self.address, False),
            "strides": None if self._contiguous else self.strides,
        }

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if self.kind is not UsmKind.device and not copy:
            seen: npt.NDArray[Any] = np.asarray(_HostView(self))
            return seen if dtype is None else seen.astype(dtype, copy=False)
        if copy is False:
            raise ValueError("device memory cannot be seen in place: a copy is needed")
        found = self.numpy()
        return found if dtype is None else found.astype(dtype, copy=False)

    def __repr__(self) -> str:
        state = ", freed" if self.closed else ""
        return f"<UsmArray {self.shape} {self.dtype} {self.kind}{state}>"


class _HostView:
    """What numpy keeps alive while it looks at host-accessible memory in place."""

    __slots__ = ("__array_interface__", "_owner")

    def __init__(self, array: UsmArray) -> None:
        self._owner = array._owner
        self.__array_interface__ = array.__array_interface__


def _plain_integers_fit(given: object, values: npt.NDArray[Any], dtype: np.dtype[Any]) -> bool:
    """Whether Python integers, which have no dtype of their own, lie in the range of an integer dtype."""
    if hasattr(given, "dtype") or values.dtype.kind not in "iu" or dtype.kind not in "iu" or not values.size:
        return False
    limits = np.iinfo(dtype)
    return bool(values.min() >= limits.min and values.max() <= limits.max)


def _packed_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    strides = []
    for size in reversed(shape):
        strides.append(itemsize)
        itemsize *= size
    return tuple(reversed(strides))


def _same_layout(shape: tuple[int, ...], strides: tuple[int, ...], packed: tuple[int, ...]) -> bool:
    """Whether the strides differ only where the size is 1, or there are no elements."""
    return 0 in shape or all(size == 1 or a == b for size, a, b in zip(shape, strides, packed))


def _indexed(
    shape: tuple[int, ...], strides: tuple[int, ...], key: Any
) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Shape, strides and byte offset of a view.

    Raises:
        InvalidError: an index that is no integer, slice, ``...`` or None, or too many of them.
        IndexError: an integer out of range.
    """
    keys = list(key) if isinstance(key, tuple) else [key]
    used = sum(item is not None and item is not Ellipsis for item in keys)
    dots = sum(item is Ellipsis for item in keys)
    if used > len(shape) or dots > 1:
        raise InvalidError(f"index {key!r} does not fit an array of shape {shape}")
    rest = [slice(None)] * (len(shape) - used)
    if dots:
        place = next(i for i, item in enumerate(keys) if item is Ellipsis)
        keys[place : place + 1] = rest
    else:
        keys += rest
    new_shape: list[int] = []
    new_strides: list[int] = []
    offset, axis = 0, 0
    for item in keys:
        if item is None:
            new_shape.append(1)
            new_strides.append(0)
            continue
        size, stride = shape[axis], strides[axis]
        axis += 1
        if isinstance(item, slice):
            start, stop, step = item.indices(size)
            count = len(range(start, stop, step))
            offset += start * stride if count else 0
            new_shape.append(count)
            new_strides.append(stride * step)
            continue
        try:
            index = operator.index(item)
        except TypeError:
            raise InvalidError(
                f"index {item!r}: views are made by integers, slices, '...' and None; copy with numpy() for more"
            ) from None
        if not -size <= index < size:
            raise IndexError(f"index {index} is out of range for dimension {axis - 1} of size {size}")
        offset += (index % size) * stride
    return tuple(new_shape), tuple(new_strides), offset


def element_dtype(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """A dtype of plain memory.

    Raises:
        InvalidError: no dtype, Python objects, or elements without size.
    """
    try:
        kind = np.dtype(dtype)
    except TypeError as error:
        raise InvalidError(f"dtype={dtype!r} is none: {error}") from None
    if kind.hasobject or kind.itemsize == 0:
        raise InvalidError(f"dtype={kind}: elements are plain memory with a size, no Python objects")
    return kind


def array_shape(shape: SupportsIndex | Sequence[SupportsIndex]) -> tuple[int, ...]:
    """A shape from an int or a sequence of them.

    Raises:
        InvalidError: a size is no integer or negative.
    """
    items = tuple(shape) if isinstance(shape, (Sequence, np.ndarray)) else (shape,)
    try:
        sizes = tuple(operator.index(item) for item in items)
    except TypeError:
        raise InvalidError(f"shape={shape!r}: it is an integer or a tuple of integers") from None
    if any(size < 0 for size in sizes):
        raise InvalidError(f"shape={sizes}: sizes are 0 or more")
    return sizes


def usm_empty(
    shape: SupportsIndex | Sequence[SupportsIndex],
    dtype: npt.DTypeLike,
    *where: object,
    kind: UsmKind | str = UsmKind.device,
    alignment: int = 0,
) -> UsmArray:
    """A new array whose elements are not initialised.

    Args:
        shape: elements by dimension; an int for one dimension.
        dtype: of an element, structured ones too.
        where: a queue, or a device and a context.
        kind: ``device``, ``host`` or ``shared``.
        alignment: of the address in bytes, a power of two; 0 for the driver's own.

    Raises:
        InvalidError: a shape, dtype, kind or place that is none.
        MemoryAllocationError: there is not enough memory.
        FeatureNotSupportedError: the device has no memory of this kind.
    """
    sizes, element = array_shape(shape), element_dtype(dtype)
    nbytes = math.prod(sizes) * element.itemsize
    return UsmArray(allocate(kind, max(nbytes, 1), where, alignment), sizes, element)
