"""``UsmArray``: unified shared memory with a shape and a dtype."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex

import numpy as np
import numpy.typing as npt

from ...model.arrays import Array, DType
from ...model.dlpack import DLDeviceType
from ...model.enums import UsmKind
from ...model.errors import CopyError, InvalidError, MemoryAllocationError
from ...model.host_array import as_dtype
from ...model.message_values import shown
from ...submission.command_stream import events_of_users
from ...submission.foreign_stream import place_stream_after
from ..device.queue_base import QueueBase, transfer_queue
from .allocation import Allocation
from .dlpack_export import dlpack_place, export_dlpack
from .host_values import converted
from .pointer import UsmPointer
from .strided_copy import write_elements
from .strides import indexed, packed_strides, permuted, reach, reshaped_strides, same_layout

if TYPE_CHECKING:
    from ..device.context import Context
    from ..device.device import Device

__all__ = ["UsmArray", "array_shape", "element_dtype"]


class UsmArray:
    """An n-dimensional array in unified shared memory; ``usm_empty`` makes one.

    Slices are views of the same memory. ``numpy()`` and ``copy_from`` move the elements to and from host arrays; host
    and shared memory is seen in place by ``numpy.asarray(array)``. Other libraries see the memory in place through
    DLPack and the array interfaces of CUDA and SYCL; they come after the work submitted so far that uses it. What is
    submitted here after that is to be ordered by the user, by events or by ``order_after_stream``.

    While somebody else looks at the memory, ``close()`` and ``free`` end its use here, and the memory itself ends with
    the last of the others' arrays.

    Attributes
    ----------
    shape : tuple[int, ...]
        Elements by dimension.
    dtype : np.dtype
        Of an element.
    nbytes
        Bytes of the elements.
    strides : tuple[int, ...] | None
        Bytes between elements by dimension.

    Examples
    --------
    >>> array = bindless.usm_empty((2, 2), np.int32, bindless.Queue("reference"))
    >>> array.copy_from([[1, 2], [3, 4]]).numpy()[1]
    array([3, 4], dtype=int32)
    """

    __slots__ = ("__weakref__", "_contiguous", "_offset", "_owner", "_packed", "dtype", "nbytes", "shape", "strides")

    def __init__(
        self,
        _owner: Allocation,
        shape: tuple[int, ...],
        dtype: DType,
        strides: tuple[int, ...] | None = None,
        _offset: int = 0,
    ) -> None:
        self._owner = _owner
        self._offset = _offset
        self.shape = shape
        self.dtype = dtype
        self.nbytes = math.prod(shape) * dtype.itemsize
        packed = packed_strides(shape, dtype.itemsize)
        self.strides = packed if strides is None else strides
        self._contiguous = self.strides == packed or math.prod(shape) <= 1 or same_layout(shape, self.strides, packed)
        # What a kernel receives.
        self._packed = (_owner.address + _offset).to_bytes(8, "little")

    # ------------------------------------------------------------------ shape

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
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
        """Address of the first element. Raises ``InvalidError`` once the memory has been freed."""
        self._owner.require_open()
        return self._owner.address + self._offset

    @property
    def kind(self) -> UsmKind:
        """The kind of the allocation: ``device``, ``host`` or ``shared``."""
        return self._owner.kind

    @property
    def context(self) -> Context:
        """The context of the allocation."""
        return self._owner.context

    @property
    def device(self) -> Device:
        """The device of the allocation."""
        return self._owner.device

    @property
    def read_only(self) -> bool:
        """Whether it was imported from an owner that lends it for reading alone; kernels are trusted to keep to it."""
        return self._owner.read_only

    @property
    def closed(self) -> bool:
        """Whether the memory has been freed."""
        return not self._owner.open

    def close(self) -> None:
        """Frees the memory, also of other views, after the work that uses it; a second call does nothing.

        Memory that another library looks at ends with its last array there; imported memory goes back to its owner.
        """
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
        shape, strides, offset = indexed(self.shape, self.strides, key)
        return UsmArray(self._owner, shape, self.dtype, strides, self._offset + offset)

    def __setitem__(self, key: Any, value: object) -> None:
        """Writes elements: integers, slices, ``...`` and ``None`` choose them, as for views; waits.

        The value is a number, a numpy array, a ``UsmArray`` or another library's array. It is broadcast and cast as
        numpy's ``same_kind`` rule allows. The write comes after the work submitted so far, to any queue, that uses
        the memory, and is complete when the call returns. Elements of one dtype in one context are copied on the
        device; others go through the host. Where the chosen elements lie scattered in memory of a device, the bytes
        between them are read and written back too.

        Raises
        ------
        InvalidError
            The shapes do not fit, the conversion would lose a kind of number, the memory is read-only, or the key is
            no view's.
        IndexError
            An integer out of range.
        """
        UsmArray._assign(self, key, value)

    _assign: ClassVar[Callable[[UsmArray, Any, object], None]]
    """Set by the module ``assignment``, which imports this one."""

    def reshape(self, *shape: int | Sequence[int]) -> UsmArray:
        """A view of another shape, as C order counts the elements; one size may be -1.

        Parameters
        ----------
        shape : int | Sequence[int]
            Sizes by dimension; one of them may be -1.

        Returns
        -------
        UsmArray
            A view of the same memory.

        Raises
        ------
        InvalidError
            The sizes do not fit, or no strides give these elements that shape.
        """
        self._owner.require_open()
        sizes: tuple[int, ...] = array_shape(shape[0] if len(shape) == 1 else shape, unknown=-1)  # type: ignore[arg-type]
        product = math.prod(size for size in sizes if size != -1)
        if sizes.count(-1) == 1 and product and self.size % product == 0:
            sizes = tuple(self.size // product if size == -1 else size for size in sizes)
        if any(size < 0 for size in sizes) or math.prod(sizes) != self.size:
            raise InvalidError(f"an array of shape {self.shape} cannot be reshaped to {shown(sizes)}")
        itemsize = self.dtype.itemsize
        if self._contiguous:
            return UsmArray(self._owner, sizes, self.dtype, packed_strides(sizes, itemsize), self._offset)
        strides = reshaped_strides(self.shape, self.strides, sizes, itemsize)
        if strides is None:
            raise InvalidError(
                f"reshape: this view of shape {self.shape} with strides {self.strides} is not contiguous: no view "
                f"of it has the shape {sizes}; reshape array.copy()"
            )
        return UsmArray(self._owner, sizes, self.dtype, strides, self._offset)

    def transpose(self, *axes: int) -> UsmArray:
        """A view with the dimensions in another order; without ``axes`` in the reverse.

        Parameters
        ----------
        axes : int
            The new order of the dimensions; reversed by default.

        Returns
        -------
        UsmArray
            A view of the same memory.

        Raises
        ------
        InvalidError
            Not every dimension once.
        """
        self._owner.require_open()
        order = tuple(axes[0]) if len(axes) == 1 and isinstance(axes[0], Sequence) else axes
        shape, strides = permuted(self.shape, self.strides, order)
        return UsmArray(self._owner, shape, self.dtype, strides, self._offset)

    @property
    def T(self) -> UsmArray:
        """A view with the dimensions in the reverse order."""
        return self.transpose()

    def view(self, dtype: npt.DTypeLike) -> UsmArray:
        """The same bytes as elements of another dtype; the last dimension changes with the size of an element.

        Parameters
        ----------
        dtype : DTypeLike
            dtype of the elements of the view.

        Returns
        -------
        UsmArray
            A view of the same memory.

        Raises
        ------
        InvalidError
            The bytes of the last dimension are no whole number of elements, or are not contiguous.
        """
        self._owner.require_open()
        kind = element_dtype(dtype)
        itemsize = self.dtype.itemsize
        if kind.itemsize == itemsize:
            return UsmArray(self._owner, self.shape, kind, self.strides, self._offset)
        if not self._contiguous and (self.shape[-1] == 1 or self.strides[-1] != itemsize):
            self._require_contiguous("view")
        row = (self.shape[-1] if self.shape else 1) * itemsize
        if not self.shape or row % kind.itemsize:
            raise InvalidError(f"{row} bytes of the last dimension are no whole number of {kind} elements")
        shape = (*self.shape[:-1], row // kind.itemsize)
        strides = None if self._contiguous else (*self.strides[:-1], kind.itemsize)
        return UsmArray(self._owner, shape, kind, strides, self._offset)

    def _require_contiguous(self, what: str) -> None:
        self._owner.require_open()
        if not self._contiguous:
            raise InvalidError(
                f"{what}: this view of shape {self.shape} with strides {self.strides} is not contiguous; "
                "take array.copy()"
            )

    # ------------------------------------------------------------------ copies

    def copy(self, queue: QueueBase | None = None) -> UsmArray:
        """The elements in new contiguous memory of the same kind and device; waits. See ``numpy`` for the order.

        Parameters
        ----------
        queue : Queue, optional
            The queue that copies.

        Returns
        -------
        UsmArray
            A contiguous array in new memory of the same kind.
        """
        memory = Allocation.make(self.context, self.device, self.kind, max(self.nbytes, 1))
        target = UsmArray(memory, self.shape, self.dtype)
        if not self._contiguous:
            return target.copy_from(self.numpy(queue), queue)
        if self.size:
            self._queue(queue).memcpy(target, self, depends_on=events_of_users(self._owner)).wait()
        return target

    def numpy(self, queue: QueueBase | None = None) -> Array:
        """The elements in a new numpy array; waits.

        Parameters
        ----------
        queue : Queue, optional
            What copies; None is a queue of the package's own. Either way the copy comes after the work submitted so
            far, to any queue, that uses the memory.

        Returns
        -------
        NDArray[Any]
            A new array on the host.
        """
        self._owner.require_open()
        if not self.size:
            return _host_array(self.shape, self.dtype)
        first, last = reach(self.shape, self.strides, self.dtype.itemsize)
        staged = _host_array((last - first,), np.dtype(np.uint8))
        source = UsmPointer(self._owner, self._offset + first)
        self._queue(queue).memcpy(staged, source, last - first, depends_on=events_of_users(self._owner)).wait()
        view: Array = np.ndarray(self.shape, self.dtype, staged, -first, self.strides)
        return view if self._contiguous else view.copy()

    def __copy__(self) -> UsmArray:
        return self.copy()

    def __deepcopy__(self, memo: object) -> UsmArray:
        return self.copy()

    def __reduce_ex__(self, protocol: object) -> Any:
        raise CopyError("a UsmArray cannot be pickled, for its memory is of this process: pickle what numpy() gives")

    def copy_from(self, array: npt.ArrayLike, queue: QueueBase | None = None) -> UsmArray:
        """Copies a host array in and returns itself; waits. It is converted and broadcast as numpy would.

        Parameters
        ----------
        array : ArrayLike
            What ``numpy.asarray`` takes; its shape can be broadcast to this one.
        queue : Queue, optional
            What copies; see ``numpy``.

        Returns
        -------
        UsmArray
            This array.

        Raises
        ------
        InvalidError
            The shapes do not fit, the conversion would lose a kind of number, or the memory is read-only.
        """
        self._owner.require_open()
        self._owner.require_writable("copy_from")
        write_elements(self, converted("array", array, self.shape, self.dtype), self._queue(queue))
        return self

    def _queue(self, queue: QueueBase | None) -> QueueBase:
        if queue is not None:
            if queue.context is not self.context:
                raise InvalidError(f"the queue is of another context than the array: {self.context!r}")
            return queue
        return transfer_queue(self.context, self.device)

    # ------------------------------------------------------------------ protocols

    def __dlpack__(
        self,
        *,
        stream: object = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        """A DLPack capsule of this memory in place; ``library.from_dlpack(array)`` calls it.

        Parameters
        ----------
        stream : object, optional
            On CUDA the consumer's stream, which is made to wait for the work submitted here so far that uses the
            memory: 1 the legacy default stream, 2 the thread's default stream, the address of a CUstream, or an
            object with ``__cuda_stream__``; -1 orders nothing. None means the legacy default stream, and for host and
            shared memory, which the host may read, a wait here. Elsewhere None waits here. A stream cannot wait for
            host tasks, nor for what comes after them: these are waited for here, until the driver has the work.
        max_version : tuple[int, int], optional
            Of DLPack that the consumer knows; without one of 1.0 or later the capsule is of the old form.
        dl_device : tuple[int, int], optional
            (type, number) of the device where the consumer wants it: as ``__dlpack_device__`` says, or (1, 0) for the
            host, which gets device memory as a copy and other memory in place; ``numpy.from_dlpack(array,
            device="cpu")`` asks for it.
        copy : bool, optional
            True gives new memory, False forbids that, None leaves it to need.

        Raises
        ------
        BufferError
            DLPack cannot say it: a structured dtype, strides that are no whole elements, read-only memory in the old
            form, another device, a copy that is needed and forbidden.
        InvalidError
            The memory was freed, or the stream is none.
        """
        self._owner.require_open()
        return export_dlpack(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Type and number of the device, as DLPack counts them."""
        return dlpack_place(self)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Version 3; on the cuda backend alone.

        ``stream`` is one that comes after the work submitted so far that uses the memory, or None if there is none.
        Reading it waits for host tasks among that work, and for what comes after them until the driver has it: a
        stream waits for nothing else.
        """
        if self.context._backend.traits.device_memory is not DLDeviceType.cuda:
            raise AttributeError(f"this memory belongs to the {self.context.backend} backend, not to CUDA")
        address = self.address
        before = events_of_users(self._owner)
        stream = None
        if before:
            run = self._queue(None)
            stream = run._backend.native_handle(run._native)
            place_stream_after(self.context, self.device, stream, before)
        return {**_interface(self, address), "stream": stream}

    @property
    def __sycl_usm_array_interface__(self) -> dict[str, Any]:
        """Version 1, with strides in elements and a queue of the package's own as ``syclobj``, which dpctl takes too.

        Reading it waits for the work submitted so far that uses the memory: the protocol has no way to order it.
        """
        itemsize = self.dtype.itemsize
        if any(stride % itemsize for stride in self.strides):
            raise AttributeError(f"strides {self.strides} are no multiples of {itemsize} bytes, an element")
        address = self.address
        for event in events_of_users(self._owner):
            event.wait()
        return {
            "version": 1,
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (address, self.read_only),
            "strides": None if self._contiguous else tuple(stride // itemsize for stride in self.strides),
            "offset": 0,
            "syclobj": self._queue(None),
        }

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        """Host and shared memory in place, for ``numpy.asarray``; waits for the work submitted so far that uses it."""
        self._owner.require_open()
        if self.kind is UsmKind.device:
            raise TypeError("the host does not reach device memory: array.numpy() copies it")
        for event in events_of_users(self._owner):
            event.wait()
        view: Array = np.asarray(_HostView(self))
        if dtype is not None and np.dtype(dtype) != view.dtype:
            if copy is False:
                raise ValueError(f"{self.dtype} elements are seen as {np.dtype(dtype)} only in a copy")
            return view.astype(dtype)
        return view.copy() if copy else view

    def __repr__(self) -> str:
        state = ", freed" if self.closed else ""
        return f"<UsmArray {self.shape} {self.dtype} {self.kind}{state}>"


class _HostView:
    """Base object of numpy views of host-accessible memory; keeps the memory alive."""

    __slots__ = ("__array_interface__", "_lease")

    def __init__(self, array: UsmArray) -> None:
        self._lease = array._owner.lease()
        self.__array_interface__ = _interface(array, array.address)


def _interface(array: UsmArray, address: int) -> dict[str, Any]:
    """The common keys of the array interfaces of numpy and CUDA, both version 3."""
    interface: dict[str, Any] = {
        "version": 3,
        "shape": array.shape,
        "typestr": array.dtype.str,
        "data": (address, array.read_only),
        "strides": None if array._contiguous else array.strides,
    }
    if array.dtype.fields is not None:
        interface["descr"] = array.dtype.descr
    return interface


def element_dtype(dtype: npt.DTypeLike) -> DType:
    """A dtype of plain memory.

    Raises
    ------
    InvalidError
        No dtype, Python objects, or elements without size.
    """
    kind = as_dtype("dtype", dtype)
    if kind.hasobject or kind.itemsize == 0:
        raise InvalidError(f"dtype={kind}: elements are plain memory with a size, no Python objects")
    return kind


def array_shape(shape: SupportsIndex | Sequence[SupportsIndex], unknown: int = 0) -> tuple[int, ...]:
    """A shape from an int or a sequence of them; ``unknown``: -1 where a size may be left open.

    Raises
    ------
    InvalidError
        A size is no integer or negative.
    """
    try:
        items = tuple(shape) if isinstance(shape, (Sequence, np.ndarray)) else (shape,)
        sizes = tuple(operator.index(item) for item in items)
    except TypeError:
        raise InvalidError(f"shape={shown(shape)}: it is an integer or a tuple of integers") from None
    if any(size < unknown for size in sizes):
        raise InvalidError(f"shape={shown(sizes)}: sizes are 0 or more")
    return sizes


def _host_array(shape: tuple[int, ...], dtype: DType) -> Array:
    try:
        return np.empty(shape, dtype)
    except (MemoryError, ValueError) as error:
        raise MemoryAllocationError(f"no room on the host for an array of shape {shape} and {dtype}: {error}") from None


def _array_from(pointer: UsmPointer, shape: SupportsIndex | Sequence[SupportsIndex], dtype: npt.DTypeLike) -> UsmArray:
    """``UsmPointer.array``."""
    pointer._owner.require_open()
    sizes, element = array_shape(shape), element_dtype(dtype)
    needed = math.prod(sizes) * element.itemsize
    if needed > pointer.nbytes:
        raise InvalidError(
            f"an array of shape {sizes} of {element} takes {needed} bytes, {pointer!r} has {pointer.nbytes}"
        )
    return UsmArray(pointer._owner, sizes, element, _offset=pointer._offset)


UsmPointer._array_from = staticmethod(_array_from)
