"""Arrays of other libraries as ``UsmArray``, in place: DLPack, the array interfaces of numpy, CUDA and SYCL."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...core import ownership
from ...model.arrays import Array, DType
from ...model.aspects import Aspect
from ...model.dlpack import DLDeviceType, DLFlag, dtype_of_dlpack
from ...model.enums import Backend, UsmKind
from ...model.errors import InvalidError
from ...model.host_array import plain
from ...model.message_values import shown
from ...submission.foreign_stream import Arrival, stream_handle
from ..device.context import default_context
from ..device.device import Device
from ..device.native_stream import place_queue_after
from ..device.queue_base import QueueBase, transfer_queue
from .allocation import Allocation
from .array import UsmArray, element_dtype
from .dlpack_export import capsules
from .pointer import UsmPointer
from .strides import packed_strides, reach

__all__ = ["as_usm_array", "foreign_arguments", "foreign_array", "from_dlpack"]

_CUDA_INTERFACE = "__cuda_array_interface__"
_SYCL_INTERFACE = "__sycl_usm_array_interface__"
_CUDA_VERSIONS = (1, 2, 3)
_SYCL_VERSION = 1
# What an exporter is asked for at most.
_DLPACK_VERSION = (1, 1)
_ADDRESSES = 2**64
_LARGEST = 2**63 - 1  # bytes of an array; and no program has memory above that address, nor in the first page
_FIRST_PAGE = 4096
_LEGACY_DEFAULT_STREAM = 1
_READ_ONLY = int(DLFlag.read_only)

# Memory that DLPack says to be of a device type, by the backend that may reach it.
_BACKENDS = {
    DLDeviceType.cpu: tuple(Backend),
    DLDeviceType.cuda: (Backend.cuda,),
    DLDeviceType.cuda_host: (Backend.cuda, Backend.reference),
    DLDeviceType.cuda_managed: (Backend.cuda,),
    DLDeviceType.one_api: (Backend.level_zero, Backend.opencl),
}
_HOST_TYPES = (DLDeviceType.cpu, DLDeviceType.cuda_host)


def from_dlpack(x: Any, /, queue: QueueBase | None = None, *, copy: bool | None = None) -> UsmArray:
    """An array of another library, seen in place through DLPack.

    The exporter and this array share the memory; the exporter's stays as long as this array, its views, and the work
    that uses them. It is never freed here: ``close()`` gives it back.

    Parameters
    ----------
    x : array
        Anything with ``__dlpack__`` and ``__dlpack_device__``, or a DLPack capsule, which is consumed.
    queue : Queue, optional
        Of a device that reaches the memory. What is submitted to it from now on comes after the exporter's work on
        the array, and so do ``numpy()``, ``copy_from`` and exports; nobody waits. Other queues are to be ordered
        after that one's events. None is a queue of the device where the memory lies (of the reference device for
        memory of the host), and waits here for the exporter's work, so that any queue of the default context can go
        on.
    copy : bool, optional
        True asks for a copy in memory of this package's own; it waits.

    Returns
    -------
    UsmArray
        An array over the same memory.

    Raises
    ------
    InvalidError
        Nothing that exports DLPack, memory that the queue's device does not reach, a capsule that was consumed before
        or is of a later major version, elements that numpy has no dtype for.

    Examples
    --------
    >>> queue = bindless.Queue("reference")
    >>> shared = bindless.usm_empty(4, np.int32, queue)
    >>> bindless.from_dlpack(shared).numpy().shape
    (4,)
    """
    _require_queue(queue)
    return _finish(_import_dlpack(x, queue), copy)


def as_usm_array(x: Any, /, queue: QueueBase | None = None, *, copy: bool | None = None) -> UsmArray:
    """Anything that exports its memory, seen in place as a ``UsmArray``.

    In this order: a ``UsmArray`` of the queue's context, which is returned as it is; a ``UsmPointer``, as bytes to
    the end of its allocation (``view`` and ``reshape`` make anything else of it); a numpy array, of any dtype; an
    object with ``__sycl_usm_array_interface__`` (not on CUDA), ``__dlpack__`` or ``__cuda_array_interface__``. Ordinary
    host memory needs ``Aspect.usm_system_allocations``, which the reference device has.

    Parameters
    ----------
    x : array
        The array; it is kept alive as long as the memory is in use here.
    queue : Queue, optional
        As in ``from_dlpack``. Of ``__cuda_array_interface__`` its later work comes after the interface's stream.
    copy : bool, optional
        As in ``from_dlpack``.

    Returns
    -------
    UsmArray
        An array over the same memory.

    Raises
    ------
    InvalidError
        Nothing of these, a masked array, memory that the queue's device does not reach.

    Examples
    --------
    >>> queue = bindless.Queue("reference")
    >>> shared = bindless.usm_empty(4, np.int32, queue)
    >>> bindless.as_usm_array(shared).numpy().shape
    (4,)
    """
    _require_queue(queue)
    if isinstance(x, UsmArray) and (queue is None or x.context is queue.context):
        return x.copy(queue) if copy else x
    if isinstance(x, UsmPointer):
        return _finish(_array_at(x, queue), copy)
    if isinstance(x, np.ndarray):
        return _finish(_import_host(x, queue), copy)
    sycl = _interface(x, _SYCL_INTERFACE)
    if sycl is not None and (queue is None or not _holds_cuda(queue)):
        return _finish(_import_sycl(x, sycl, queue), copy)
    if hasattr(x, "__dlpack__"):
        return from_dlpack(x, queue, copy=copy)
    cuda = _interface(x, _CUDA_INTERFACE)
    if cuda is not None:
        return _finish(_import_cuda(x, cuda, queue), copy)
    raise InvalidError(
        f"a {type(x).__name__} exports no memory: it is a numpy array, or has __dlpack__, {_CUDA_INTERFACE} or "
        f"{_SYCL_INTERFACE}"
    )


def _holds_cuda(queue: QueueBase) -> bool:
    """Whether the memory of the queue's device is CUDA's."""
    return queue._backend.traits.device_memory is DLDeviceType.cuda


def _require_queue(queue: object) -> None:
    if queue is not None and not isinstance(queue, QueueBase):
        raise InvalidError(f"queue={shown(queue)} is no Queue: bindless.Queue(...) makes one")


def foreign_array(value: Any, queue: QueueBase) -> Any:
    """An argument that another library's array may stand for: on the queue's device a ``UsmArray``, on the host a numpy
    array, both in place. Everything else comes back as it is."""
    if isinstance(value, (UsmArray, np.ndarray, np.generic)):
        return value
    if hasattr(value, "__dlpack_device__"):
        return np.from_dlpack(value) if _place_of(value)[0] == DLDeviceType.cpu else from_dlpack(value, queue)
    if _interface(value, _CUDA_INTERFACE) is not None or _interface(value, _SYCL_INTERFACE) is not None:
        return as_usm_array(value, queue)
    return value


def foreign_arguments(values: tuple[Any, ...], queue: QueueBase) -> tuple[Any, ...] | None:
    """Arguments of a kernel with other libraries' arrays in place; None where there are none."""
    arguments = tuple(foreign_array(value, queue) for value in values)
    return None if all(map(operator.is_, arguments, values)) else arguments


def _array_at(pointer: UsmPointer, queue: QueueBase | None) -> UsmArray:
    """All bytes from a pointer on."""
    if queue is not None and pointer.context is not queue.context:
        raise InvalidError(
            f"{pointer!r} is of another context than the queue: give a queue of pointer.context, or copy the memory"
        )
    _ = pointer.address  # raises if the memory has been freed
    return UsmArray(pointer._owner, (pointer.nbytes,), np.dtype(np.uint8), None, pointer._offset)


def _finish(array: UsmArray, copy: bool | None) -> UsmArray:
    return array.copy() if copy else array


# ---------------------------------------------------------------------- DLPack


def _import_dlpack(x: Any, queue: QueueBase | None) -> UsmArray:
    is_capsule = type(x).__name__ == "PyCapsule"
    place = _describe(x)["device"] if is_capsule else _place_of(x)
    target = _queue_for(place) if queue is None else queue
    native = target._native  # raises if it has ended
    kind = _known_type(place, target)
    backend = target._backend
    ordered = backend.traits.orders_streams and kind not in _HOST_TYPES  # whose exporters wait
    if is_capsule:
        capsule = x
        if ordered:  # exporters order their work before the legacy default stream by default
            place_queue_after(target, _LEGACY_DEFAULT_STREAM)
    else:
        capsule = _ask(x, int(backend.native_handle(native)) if ordered else None)  # some take no subclass of int
    described = _describe(capsule)
    if not is_capsule and not _same_place(described["device"], place):
        raise InvalidError(
            f"a {type(x).__name__} exports memory of DLPack device {place}, its capsule says {described['device']}: "
            "the exporter is to say which is right"
        )
    dtype = dtype_of_dlpack(*described["dtype"])
    if dtype is None:
        raise InvalidError(_no_dtype(*described["dtype"]))
    strides = described["strides"]
    array = _Layout(
        described["address"],
        described["shape"],
        None if strides is None else tuple(_as_signed(stride * dtype.itemsize) for stride in strides),
        dtype,
        bool(described["flags"] & _READ_ONLY),
    )
    memory = array.kind(target, on_host=kind in _HOST_TYPES)
    resource = target.context._resource
    row = capsules.take_capsule(capsule)
    lender = ownership.Resource(ownership.Rank.MEMORY, resource, capsules.delete_taken, *row)
    result = array.adopt(target, memory, lender)
    if ordered:  # the exporter has made the queue's first stream wait; out of order there are others
        arrival = (Arrival(result._owner),)
        barrier = not target.is_in_order
        event = target._stream.submit(lambda waits: backend.barrier(native, waits), (), arrival, barrier)
        if queue is None:
            event.wait()
    return result


def _as_signed(stride: int) -> int:
    """Bytes as addresses count them, in 64 bits: CuPy divides negative strides as unsigned numbers."""
    return (stride + _ADDRESSES // 2) % _ADDRESSES - _ADDRESSES // 2


def _place_of(x: Any) -> tuple[int, int]:
    if not hasattr(x, "__dlpack__") or not hasattr(x, "__dlpack_device__"):
        raise InvalidError(
            f"a {type(x).__name__} does not export DLPack: it has no __dlpack__ and __dlpack_device__; as_usm_array "
            "knows other protocols"
        )
    place = x.__dlpack_device__()
    try:
        kind, number = place
        return operator.index(kind), operator.index(number)
    except (TypeError, ValueError):
        raise InvalidError(
            f"__dlpack_device__ of a {type(x).__name__} gave {shown(place)}: it is two integers, a device type and "
            "a number"
        ) from None


def _same_place(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether both name the same memory; there is one host, whatever its number."""
    return one == other or (one[0] in _HOST_TYPES and other[0] in _HOST_TYPES)


def _describe(capsule: object) -> Any:
    try:
        return capsules.read_capsule(capsule)
    except ValueError as error:
        raise InvalidError(str(error)) from None


def _ask(x: Any, stream: int | None) -> object:
    """A capsule, of the newest form that the exporter has."""
    options = {} if stream is None else {"stream": stream}
    try:
        return x.__dlpack__(**options, max_version=_DLPACK_VERSION)
    except TypeError:  # an exporter from before DLPack 1.0
        return x.__dlpack__(**options)


def _known_type(place: tuple[int, int], queue: QueueBase) -> int:
    """The device type of memory that the queue's backend may reach."""
    kind, number = place
    backends = _BACKENDS.get(kind)  # type: ignore[call-overload]
    if backends is not None and queue.backend in backends:
        if kind == DLDeviceType.cuda and number != queue.device.index:  # its exporter would order another device's work
            raise InvalidError(
                f"the array is memory of device {number} of CUDA, the queue runs on {queue.device!r}: give a queue of "
                "that device, or copy the array"
            )
        return kind
    is_standard = kind in DLDeviceType.__members__.values()
    name = DLDeviceType(kind).name if is_standard else f"DLPack device type {kind}"
    if backends is None:
        raise InvalidError(f"memory of {name}, number {number}, is none that this package reaches")
    raise InvalidError(
        f"the array lies in memory of {name}, number {number}, which {queue!r} does not reach: give a queue of the "
        f"{' or '.join(backends)} backend, or copy it with usm_empty(...).copy_from(...)"
    )


def _queue_for(place: tuple[int, int]) -> QueueBase:
    """A queue of the package's own on the device that memory lies on."""
    kind, number = place
    selectors = {
        DLDeviceType.cpu: ("reference:*:*",),
        DLDeviceType.cuda: (f"cuda:*:{number}",),
        DLDeviceType.cuda_host: ("cuda:*:*",),
        DLDeviceType.cuda_managed: ("cuda:*:*",),
        DLDeviceType.one_api: (f"level_zero:*:{number}", f"opencl:*:{number}"),
    }.get(kind, ())  # type: ignore[call-overload]
    errors = []
    for selector in selectors:
        try:
            device = Device(selector)
        except InvalidError as error:
            errors.append(str(error))
        else:
            return transfer_queue(default_context(device), device)
    reason = "; ".join(errors) or "this package has no such backend"
    raise InvalidError(f"no device is found for memory of DLPack device {place}: {reason}; give queue=")


def _queue_at(address: int) -> QueueBase:
    """A queue of the package's own on the device of CUDA that memory lies on; on the first where none knows it."""
    first = _queue_for((DLDeviceType.cuda, 0))
    for device in first.device.platform.get_devices():
        context = default_context(device)
        if context._backend.pointer_info(context._native, address).kind is not UsmKind.unknown:
            return transfer_queue(context, device)
    return first


def _no_dtype(code: int, bits: int, lanes: int) -> str:
    names = {0: "int", 1: "uint", 2: "float", 3: "handle", 4: "bfloat", 5: "complex", 6: "bool"}
    name = f"{names.get(code, f'type {code} of')}{bits}" + (f" x {lanes} lanes" if lanes != 1 else "")
    return (
        f"numpy has no dtype for elements of {name}: export them as integers of the same size, such as "
        f"tensor.view(torch.int{max(bits * lanes, 8)})"
    )


# ---------------------------------------------------------------------- interfaces


def _interface(x: Any, name: str) -> Mapping[str, Any] | None:
    """The dict of an interface, or None; a property that says the object has none raises ``AttributeError``."""
    value = getattr(x, name, None)
    if value is None or not isinstance(value, Mapping):
        return None
    return value


def _import_host(x: Array, queue: QueueBase | None) -> UsmArray:
    target = _queue_for((DLDeviceType.cpu, 0)) if queue is None else queue
    memory = plain(x)
    address, read_only = memory.__array_interface__["data"]
    array = _Layout(address, memory.shape, memory.strides, element_dtype(memory.dtype), bool(read_only))
    return array.adopt(target, array.kind(target, on_host=True), x)


def _import_cuda(x: Any, interface: Mapping[str, Any], queue: QueueBase | None) -> UsmArray:
    version = interface.get("version")
    if version not in _CUDA_VERSIONS:
        raise InvalidError(f"{_CUDA_INTERFACE} of version {shown(version)}: versions 1 to 3 are known")
    if interface.get("mask") is not None:
        raise InvalidError("a masked array has no plain memory: fill or drop the mask first")
    if queue is not None and not _holds_cuda(queue):
        raise InvalidError(f"the array lies in memory of CUDA, which {queue!r} does not reach")
    array = _layout_of(interface, _CUDA_INTERFACE, 1, 0)  # it knows no offset
    queue_of = _queue_at(array.address + array.first) if queue is None else queue
    result = array.adopt(queue_of, array.kind(queue_of, on_host=False), x)
    stream = interface.get("stream")
    if stream is not None:
        event = place_queue_after(queue_of, stream_handle(stream), Arrival(result._owner))
        if queue is None:
            event.wait()
    return result


def _import_sycl(x: Any, interface: Mapping[str, Any], queue: QueueBase | None) -> UsmArray:

    version = interface.get("version")
    if version != _SYCL_VERSION:
        raise InvalidError(f"{_SYCL_INTERFACE} of version {shown(version)}: version {_SYCL_VERSION} is known")
    owner = interface.get("syclobj")
    if queue is None:
        if not isinstance(owner, QueueBase):
            raise InvalidError(
                f"syclobj={shown(owner)} is no Queue of this package: give queue=, of the memory's context"
            )
        queue = owner
    itemsize = element_dtype(interface.get("typestr", "")).itemsize
    array = _layout_of(interface, _SYCL_INTERFACE, itemsize, itemsize)
    return array.adopt(queue, array.kind(queue, on_host=False), x)


def _layout_of(interface: Mapping[str, Any], name: str, stride_unit: int, offset_unit: int) -> _Layout:
    """The layout that an interface describes; strides, and its offset, are in units of so many bytes."""
    try:
        address, read_only = interface["data"]
        shape = tuple(operator.index(size) for size in interface["shape"])
        strides = interface.get("strides")
        strides = None if strides is None else tuple(operator.index(stride) * stride_unit for stride in strides)
        typestr = interface["typestr"]
        address = operator.index(address) + operator.index(interface.get("offset", 0)) * offset_unit
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidError(f"{name}: {shown(dict(interface))} is not understood ({error!r})") from None
    descr = interface.get("descr")
    structured = str(typestr)[1:2] == "V" and isinstance(descr, list) and descr != [("", typestr)]
    return _Layout(
        address, shape, strides, element_dtype(descr if structured and descr else str(typestr)), bool(read_only)
    )


# ---------------------------------------------------------------------- memory


class _Layout:
    """An array as its exporter describes it.

    Attributes
    ----------
    address : int
        Of the first element.
    first, last
        First byte and the one after the last, from there.
    ordinary
        Whether it is host memory that the queue's driver does not know, as ``kind`` found; without elements, any of
        the host's.
    """

    def __init__(
        self,
        address: int,
        shape: tuple[int, ...],
        strides: tuple[int, ...] | None,
        dtype: DType,
        read_only: bool,
    ) -> None:
        if any(size < 0 for size in shape):
            raise InvalidError(f"the array's exporter gives it the shape {shown(shape)}: sizes are 0 or more")
        if math.prod(size or 1 for size in shape) * max(dtype.itemsize, 1) > _LARGEST:
            raise InvalidError(
                f"the array's exporter gives it the shape {shown(shape)} of {dtype}: numpy has no such arrays"
            )
        self.strides = packed_strides(shape, dtype.itemsize) if strides is None else strides
        if len(self.strides) != len(shape):
            raise InvalidError(
                f"the array's exporter gives it the shape {shown(shape)} and strides {shown(self.strides)}"
            )
        self.address, self.shape, self.dtype, self.read_only = address, shape, dtype, read_only
        self.ordinary = False
        self.first, self.last = reach(shape, self.strides, dtype.itemsize)
        if 0 in shape:
            return
        if address == 0 or not _FIRST_PAGE <= address + self.first < address + self.last <= _LARGEST:
            raise InvalidError(
                f"the array's exporter gives it the address {address:#x}, the shape {shown(shape)} and strides "
                f"{shown(self.strides)}: no memory lies there"
            )
        if address % dtype.alignment or any(stride % dtype.alignment for stride in self.strides):
            raise InvalidError(
                f"the array at {address:#x} with strides {shown(self.strides)} is not aligned to the {dtype.alignment} "
                f"bytes of {dtype}: devices do not read that; copy it"
            )

    def kind(self, queue: QueueBase, *, on_host: bool) -> UsmKind:
        """The kind of the memory as the queue's driver reports it.

        Raises
        ------
        InvalidError
            The queue's device does not reach it.
        """
        if 0 in self.shape:
            self.ordinary = on_host
            return UsmKind.host if on_host else UsmKind.device
        ask, context = queue._backend.pointer_info, queue.context._native
        record = ask(context, self.address + self.first)
        if record.kind is UsmKind.unknown:
            if on_host and queue.device.has(Aspect.usm_system_allocations):
                self.ordinary = True
                return UsmKind.host
            what = "ordinary host memory" if on_host else f"the memory at {self.address:#x}"
            way_out = (
                "copy it with usm_empty(shape, dtype, queue).copy_from(array)"
                if on_host
                else "it was freed, or belongs to another device or context: give a queue of its own"
            )
            raise InvalidError(f"{queue!r} does not reach {what}: {way_out}")
        if record.kind is UsmKind.device and record.device not in (None, queue.device._record.native):
            raise InvalidError(f"the array is memory of {record.device!r}, the queue runs on {queue.device!r}")
        # Memory that was mapped in parts has several allocations one after the other: its last byte lies in one, too.
        beyond = record.size and self.address + self.last > record.base + record.size
        if beyond and ask(context, self.address + self.last - 1).kind is not record.kind:
            raise InvalidError(
                f"the array's exporter gives it {self.last - self.first} bytes at {self.address + self.first:#x}: "
                f"the memory there ends at {record.base + record.size:#x}"
            )
        return record.kind

    def adopt(self, queue: QueueBase, kind: UsmKind, lender: object) -> UsmArray:
        """The array over memory that ``lender`` keeps alive."""
        memory = Allocation(
            queue.context,
            queue.device,
            kind,
            self.address + self.first,
            self.last - self.first,
            owned=False,
            lender=lender,
            read_only=self.read_only,
            ordinary=self.ordinary,
        )
        return UsmArray(memory, self.shape, self.dtype, self.strides, -self.first)
