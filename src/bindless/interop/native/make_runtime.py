"""``make_*``: objects around native ones that were made elsewhere (ZE section 4.3; CL, "Construct SYCL objects").

OpenCL counts references: there ``ownership="keep"`` is what None is, and takes one of its own, so that the caller may
release his at once; ``"transfer"`` takes that of the caller over.

A backend makes what it needs around a handle (``InteropProtocol``); here is whose the handle is from then on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import cast

import numpy.typing as npt

from ...backends.contract import BackendProtocol, NativeDevice
from ...core.ownership import Rank
from ...model.enums import Backend, Ownership, UsmKind
from ...model.errors import BackendMismatchError, InvalidError
from ...model.message_values import shown
from ...model.native_handle import NativeHandle
from ...submission.async_errors import AsyncHandler
from ...submission.event import Event
from ...sycl.buffer.buffer import Buffer
from ...sycl.buffer.byte_ranges import SizesLike, buffer_shape
from ...sycl.buffer.replica import Place, home_of
from ...sycl.buffer.storage import Storage
from ...sycl.device.context import Context
from ...sycl.device.device import Device
from ...sycl.device.discovery import environment, visible_devices, visible_platforms
from ...sycl.device.partition import next_partitionable
from ...sycl.device.platform import Platform
from ...sycl.queue.adopted_event import ForeignEvent
from ...sycl.queue.queue import Queue
from ...sycl.usm.allocation import Allocation
from ...sycl.usm.array import element_dtype
from .backend_lookup import backend_for, handle_for, interop_of, require_context
from .ownership import chosen_device, is_owned, one_at_a_time, pass_on

__all__ = [
    "make_buffer",
    "make_context",
    "make_device",
    "make_event",
    "make_platform",
    "make_queue",
]


# ---------------------------------------------------------------------- platforms, devices


def make_platform(backend: Backend | str, native: object) -> Platform:
    """The platform of a driver's own handle: one of ``get_platforms()``; nothing new is made.

    Parameters
    ----------
    backend : Backend | str
        Whose handle it is.
    native : object
        An int, or a pointer of cffi or ctypes.

    Returns
    -------
    Platform
        The platform; equal to the one that ``get_platforms`` lists.

    Raises
    ------
    InvalidError
        No platform that can be seen has this handle.
    FeatureNotSupportedError
        The backend's platforms have none.
    """
    offers = backend_for(backend)
    handle = handle_for(offers, "platform", native)
    for platform in visible_platforms():
        if platform._backend is offers and interop_of(offers).platform_handle(platform._record) == handle:
            return platform
    raise InvalidError(f"{handle!r} is no platform of the {offers.backend} backend{_hidden()}")


def make_device(backend: Backend | str, native: object) -> Device:
    """The device or sub-device of a driver's own handle; nothing new is made.

    Of OpenCL also a sub-device that was made elsewhere, which is retained as long as there is a device of it.

    Parameters
    ----------
    backend : Backend | str
        The backend of the handle.
    native : object
        The driver's handle, in the forms that ``make_platform`` takes.

    Returns
    -------
    Device
        The device; equal to the one that ``get_devices`` lists.

    Raises
    ------
    InvalidError
        No device that can be seen has this handle.

    Examples
    --------
    >>> device = bindless.Device("reference")
    >>> bindless.make_device("reference", bindless.get_native(device)) == device
    True
    """
    offers = backend_for(backend)
    handle = handle_for(offers, "device", native)
    record = interop_of(offers).find_device(handle)
    device = _part_of(offers, handle) if record is None else _device_of(offers, record)
    if device is None:
        raise InvalidError(f"{handle!r} is no device of the {offers.backend} backend{_hidden()}")
    return device


def _device_of(backend: BackendProtocol, native: NativeDevice) -> Device | None:
    """The facade's device, or part of one, of a backend's."""
    waiting = [device for device in visible_devices() if device._backend is backend]
    while waiting:
        device = waiting.pop(0)
        if device._record.native is native:
            return device
        waiting.extend(next_partitionable(device))
    return _part_of(backend, cast(NativeHandle, backend.native_handle(native)))


def _part_of(backend: BackendProtocol, handle: NativeHandle) -> Device | None:
    """A sub-device made by a driver call; None from drivers without such calls."""
    adopted = None if backend.counted is None else backend.counted.adopt_device(handle)
    if adopted is None:
        return None
    record, above = adopted
    parent = _device_of(backend, above)
    return None if parent is None else Device._of(backend, record, parent)


def _hidden() -> str:
    """Hint at devices hidden by the environment, for an error text."""
    limit = environment()
    return "" if limit is None else f" that {limit[0]}={limit[1]!r} lets this process see"


# ---------------------------------------------------------------------- contexts, queues


@one_at_a_time
def make_context(
    backend: Backend | str,
    native: object,
    devices: Device | Iterable[Device] = (),
    *,
    ownership: Ownership | str | None = None,
    async_handler: AsyncHandler | None = None,
) -> Context:
    """A context around a native one.

    With ``ownership="transfer"`` the native context is destroyed with the last of what lives in this one; nobody else
    destroys it, nor uses it from then on. With ``"keep"`` it is never destroyed here, and the caller keeps it until
    this context and everything made in it have ended.

    Parameters
    ----------
    backend : Backend | str
        Whose handle it is.
    native : object
        An int, a pointer of cffi or ctypes, or an object of PyOpenCL.
    devices : Device | Iterable[Device], default ()
        Those of the context, all of one platform. Level Zero does not tell them: name at least one.
    ownership : Ownership | str, optional
        ``transfer`` or ``keep``; None is ``transfer``, and for OpenCL ``keep``, which takes a reference of its own:
        the caller may release his at once.
    async_handler : AsyncHandler, optional
        As of ``Context``.

    Raises
    ------
    InvalidError
        No such context, no devices, devices of several platforms, or a handle that was transferred before.
    BackendMismatchError
        A device of another backend.
    """
    offers = backend_for(backend)
    handle = handle_for(offers, "context", native)
    interop = interop_of(offers)
    try:
        chosen = (devices,) if isinstance(devices, Device) else tuple(devices)
    except TypeError:
        raise InvalidError(f"devices={shown(devices)}: it takes a Device or several") from None
    for device in chosen:
        if not isinstance(device, Device):
            raise InvalidError(f"devices contains {device!r}: it takes Device objects")
        if device._backend is not offers:
            raise BackendMismatchError(
                f"{device!r} is of the {device.backend} backend, the context of {offers.backend}",
                backend=str(offers.backend),
            )
    if not chosen:
        own_devices = (_device_of(offers, member) for member in interop.devices_of("context", handle))
        chosen = tuple(device for device in own_devices if device is not None)
    if not chosen:
        raise InvalidError(
            f"devices=(): {handle!r} does not tell its devices; name at least one, devices=[device]",
            backend=str(offers.backend),
        )
    owned = is_owned(offers, "context", Rank.CONTEXT, handle, ownership)
    context = Context(
        chosen, async_handler=async_handler, _adopt=lambda natives: interop.adopt_context(handle, natives, owned)
    )
    pass_on(native, owned)
    return context


@one_at_a_time
def make_queue(
    backend: Backend | str,
    native: object,
    context: Context,
    device: Device | None = None,
    *,
    ownership: Ownership | str | None = None,
    async_handler: AsyncHandler | None = None,
) -> Queue:
    """A queue around a native one, whose commands come after what was submitted to that before.

    With ``ownership="transfer"`` the native queue is destroyed when this one is closed, or dropped and its work done.

    Parameters
    ----------
    backend : Backend | str
        Whose handle it is.
    native : object
        An int, or a pointer of cffi or ctypes: for Level Zero a ``ze_command_queue_handle_t``, or an immediate
        ``ze_command_list_handle_t``. A plain int is taken for the first; pass a pointer of that type, or
        ``NativeHandle(number, "ze_command_list_handle_t")``, for the second. For CUDA a ``CUstream``, or an object
        with ``__cuda_stream__``. The queue is in order then.
    context : Context
        Of the native queue.
    device : Device, optional
        Of the native queue, in the context. None is the device that the driver reports, or else the context's first
        (the form of ZE without ``Device``, which it calls deprecated).
    ownership : Ownership | str, optional
        As of ``make_context``.
    async_handler : AsyncHandler, optional
        As of ``Queue``.

    Raises
    ------
    InvalidError
        No such queue, one of another context or device where the driver can tell, a device outside the context, or a
        handle that was transferred before.
    BackendMismatchError
        The context or the device is another backend's.
    """
    offers = backend_for(backend)
    handle = handle_for(offers, "queue", native)
    require_context(offers, context)
    chosen = chosen_device(offers, context, device, "queue", handle)
    owned = is_owned(offers, "queue", Rank.QUEUE, handle, ownership)
    adopted = interop_of(offers).adopt_queue(context._native, chosen._record.native, handle, owned)
    pass_on(native, owned)
    return Queue(
        chosen,
        context,
        in_order=adopted.in_order,
        enable_profiling=adopted.profiling,
        async_handler=async_handler,
        _adopted=adopted,
    )


# ---------------------------------------------------------------------- events


@one_at_a_time
def make_event(
    backend: Backend | str,
    native: object,
    context: Context,
    *,
    ownership: Ownership | str | None = None,
) -> Event:
    """An event around a native one: to wait for, and for commands to depend on.

    With ``ownership="transfer"`` the native event is destroyed when this one is dropped and no command waits for it any
    more; its pool stays the caller's, who keeps it as long.

    Parameters
    ----------
    backend : Backend | str
        Whose handle it is.
    native : object
        An int, or a pointer of cffi or ctypes; for OpenCL a list of them, too.
    context : Context
        Of the native event (of its pool).
    ownership : Ownership | str, optional
        As of ``make_context``.

    Raises
    ------
    InvalidError
        No such event, one of another context where the driver can tell, or a handle that was transferred before.
    BackendMismatchError
        The context is another backend's.
    """
    offers = backend_for(backend)
    if "event" in interop_of(offers).native_lists and isinstance(native, (tuple, list)):
        if not native:
            raise InvalidError("native=(): an event is made of one native event or several")
        for each in native:  # all of them, before the first is transferred
            make_event(backend, each, context, ownership=Ownership.keep)
        return Event._of_all(None, tuple(make_event(backend, each, context, ownership=ownership) for each in native))
    handle = handle_for(offers, "event", native)
    require_context(offers, context)
    owned = is_owned(offers, "event", Rank.EVENT, handle, ownership)
    event = ForeignEvent(context, interop_of(offers).adopt_event(context._native, handle, owned))
    pass_on(native, owned)
    return event


# ---------------------------------------------------------------------- buffers


@one_at_a_time
def make_buffer(
    backend: Backend | str,
    native: object,
    context: Context,
    dtype: npt.DTypeLike,
    shape: SizesLike | None = None,
    *,
    available_event: Event | None = None,
    ownership: Ownership | str | None = None,
) -> Buffer:
    """A buffer over native memory, which it uses for its whole life and whose contents it begins with.

    Until the buffer ends nobody else touches the memory; what it holds meanwhile, and afterwards, is not specified (ZE
    section 4.5); of OpenCL it holds afterwards what was written last. With ``ownership="keep"`` the end of the buffer
    waits for the commands that use it, and the memory is the caller's again. With ``"transfer"`` it does not wait, and
    the memory is freed after them.

    Parameters
    ----------
    backend : Backend | str
        Whose memory it is.
    native : object
        Address, as an int or a pointer of cffi or ctypes: for Level Zero what ``zeMemAllocDevice``,
        ``zeMemAllocHost`` or ``zeMemAllocShared`` gave. For OpenCL a ``cl_mem``.
    context : Context
        Of the memory, with one device, on which it was allocated. The buffer can be used in others. Memory of another
        context is refused where the driver says whose it is; the platform's default context borrows it.
    dtype : DTypeLike
        Of an element.
    shape : SizesLike, optional
        One to three sizes in elements; None is one dimension of all elements that fit in the allocation. Of OpenCL
        one size.
    available_event : Event, optional
        Signals that the memory is ready to be used.
    ownership : Ownership | str, optional
        As of ``make_context``.

    Raises
    ------
    InvalidError
        No such memory in the context, an address inside an allocation, more elements than fit, a context with several
        devices, memory of another device, or memory that was transferred before.
    BackendMismatchError
        The context is another backend's.
    """
    offers = backend_for(backend)
    handle = handle_for(offers, "buffer", native)
    device = _place_of_memory(offers, context)
    require_event(available_event)
    kind = element_dtype(dtype)
    owned = is_owned(offers, "buffer", Rank.MEMORY, handle, ownership)
    interop = interop_of(offers)
    record = interop.describe_memory(context._native, handle)
    if record.kind is not UsmKind.unknown:
        if record.base != handle:
            raise InvalidError(f"{int(handle):#x} lies inside the allocation at {record.base:#x}: give that address")
        if not _is_counted(offers) and record.device is not device._record.native and record.kind is not UsmKind.host:
            raise InvalidError(f"{int(handle):#x} is memory of another device than {device!r}")
    sizes = (record.size // kind.itemsize,) if shape is None else buffer_shape(shape)
    if _is_counted(offers) and len(sizes) != 1:
        raise InvalidError(
            f"shape={shown(shape)}: a buffer made of a cl_mem has one dimension; reinterpret() gives others"
        )
    nbytes = math.prod(sizes) * kind.itemsize
    if record.kind is not UsmKind.unknown and not 0 < nbytes <= record.size:
        raise InvalidError(
            f"{sizes} elements of {kind} take {nbytes} bytes; the allocation at {int(handle):#x} has {record.size}"
        )
    adoption = interop.adopt_memory(context._native, handle, owned)
    pass_on(native, owned)
    # What counts references has one here in any case, and gives it back.
    memory = Allocation(
        context, device, adoption.kind, adoption.base or int(handle), adoption.size, owned=owned or _is_counted(offers)
    )
    home = home_of(context, device)
    place = Place(home, memory.address, memory, hidden=memory.kind is UsmKind.device)
    returns = _is_counted(offers) and not owned
    storage = Storage.filled(place, nbytes, available_event, waits=not owned, returns=returns)
    return Buffer._over(storage, sizes, kind)


def _is_counted(backend: BackendProtocol) -> bool:
    return "buffer" in interop_of(backend).native_counted


def _place_of_memory(backend: BackendProtocol, context: Context) -> Device:
    """The device that memory of a context is on; where it belongs to the context the first is as good as any."""
    require_context(backend, context)
    if len(context.devices) != 1 and not _is_counted(backend):
        raise InvalidError(
            f"context={shown(context)} has {len(context.devices)} devices: memory becomes a buffer in a context of one"
        )
    return context.devices[0]


def require_event(available: object) -> None:
    """Raises ``InvalidError`` for what is no event."""
    if available is not None and not isinstance(available, Event):
        raise InvalidError(f"available_event={shown(available)} is no Event")
