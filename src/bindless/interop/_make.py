"""``make_*``: objects around native ones that were made elsewhere (ZE section 4.3; CL, "Construct SYCL objects").

A backend makes what it needs around a handle (``InteropProtocol``); here is whose the handle is from then on.
"""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Callable, Iterable
from typing import Any, ParamSpec, TypeVar

import numpy.typing as npt

from ..backends.contract import BackendProtocol, NativeDevice
from ..model.enums import Backend, BundleState, Ownership, UsmKind, coerce
from ..model.errors import BackendMismatchError, Error, FeatureNotSupportedError, InvalidError
from ..model.native_handle import NativeHandle
from ..sycl._allocation import Allocation
from ..sycl._bundle_source import BundleSource
from ..sycl._discovery import environment, visible_devices, visible_platforms
from ..sycl._error_log import AsyncHandler
from ..sycl._foreign_event import ForeignEvent
from ..sycl._lifetime import Rank, after_fork, arguments_of
from ..sycl._partition import next_partitionable
from ..sycl._place import Place, home_of
from ..sycl._region import SizesLike, buffer_shape
from ..sycl._storage import Storage
from ..sycl._usm_array import element_dtype
from ..sycl.buffer import Buffer
from ..sycl.context import Context
from ..sycl.device import Device
from ..sycl.event import Event
from ..sycl.kernel import Kernel
from ..sycl.kernel_bundle import KernelBundle
from ..sycl.platform import Platform
from ..sycl.queue import Queue
from ._backends import backend_for, handle_for, interop_of, require_context

__all__ = [
    "make_buffer",
    "make_context",
    "make_device",
    "make_event",
    "make_kernel",
    "make_kernel_bundle",
    "make_platform",
    "make_queue",
]


# ---------------------------------------------------------------------- whose it is


_P = ParamSpec("_P")
_T = TypeVar("_T")

# Held from the look at who uses a handle until its object is made, so that of two threads one is refused.
_transfer = threading.RLock()


def _one_at_a_time(function: Callable[_P, _T]) -> Callable[_P, _T]:
    @functools.wraps(function)
    def held(*arguments: _P.args, **named: _P.kwargs) -> _T:
        with _transfer:
            return function(*arguments, **named)

    return held


def _after_fork() -> None:
    global _transfer
    _transfer = threading.RLock()


after_fork(_after_fork)


def _is_owned(backend: BackendProtocol, rank: Rank, handle: NativeHandle, ownership: Ownership | str) -> bool:
    """Whether the package is to destroy a native object.

    Raises:
        InvalidError: there is no such ownership, or an object that is alive uses the native one already.
    """
    if coerce(Ownership, ownership, "ownership") is Ownership.keep:
        return False
    for arguments in arguments_of(rank):
        if any(_handle_of(backend, item, rank) == handle for item in arguments):
            raise InvalidError(
                f"ownership='transfer' of {handle!r}: an object of this package uses it already, so that two would "
                "destroy it. get_native does not change whose it is, and a handle is transferred once; give "
                "ownership='keep'",
                backend=str(backend.backend),
            )
    return True


def _handle_of(backend: BackendProtocol, item: Any, rank: Rank) -> int:
    """The handle that an argument of a release is, or 0."""
    if isinstance(item, int):
        return item if rank is Rank.MEMORY else 0
    try:
        return backend.native_handle(item)
    except Error:  # of another backend, or released
        return 0


# ---------------------------------------------------------------------- platforms, devices


def make_platform(backend: Backend | str, native: object) -> Platform:
    """The platform of a driver's own handle: one of ``get_platforms()``; nothing new is made.

    Args:
        backend: whose handle it is.
        native: an int, or a pointer of cffi or ctypes.

    Raises:
        InvalidError: no platform that can be seen has this handle.
        FeatureNotSupportedError: the backend's platforms have none.
    """
    offers = backend_for(backend)
    handle = handle_for(offers, "platform", native)
    for platform in visible_platforms():
        if platform._backend is offers and interop_of(offers).platform_handle(platform._record) == handle:
            return platform
    raise InvalidError(f"{handle!r} is no platform of the {offers.backend} backend{_hidden()}")


def make_device(backend: Backend | str, native: object) -> Device:
    """The device or sub-device of a driver's own handle; nothing new is made.

    Args: as ``make_platform``.

    Raises:
        InvalidError: no device that can be seen has this handle.
    """
    offers = backend_for(backend)
    handle = handle_for(offers, "device", native)
    found = interop_of(offers).find_device(handle)
    device = None if found is None else _device_of(offers, found)
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
    return None


def _hidden() -> str:
    """What else may be the reason that there is none."""
    limit = environment()
    return "" if limit is None else f" that {limit[0]}={limit[1]!r} lets this process see"


# ---------------------------------------------------------------------- contexts, queues


@_one_at_a_time
def make_context(
    backend: Backend | str,
    native: object,
    devices: Device | Iterable[Device] = (),
    *,
    ownership: Ownership | str = Ownership.transfer,
    async_handler: AsyncHandler | None = None,
) -> Context:
    """A context around a native one.

    With ``ownership="transfer"`` the native context is destroyed with the last of what lives in this one; nobody else
    destroys it, nor uses it from then on. With ``"keep"`` it is never destroyed here, and the caller keeps it until
    this context and everything made in it have ended.

    Args:
        backend: whose handle it is.
        native: an int, or a pointer of cffi or ctypes.
        devices: those of the context, all of one platform. Level Zero does not tell them: name at least one.
        ownership: ``transfer`` or ``keep``.
        async_handler: as of ``Context``.

    Raises:
        InvalidError: no such context, no devices, devices of several platforms, or a handle that was transferred
            before.
        BackendMismatchError: a device of another backend.
    """
    offers = backend_for(backend)
    handle = handle_for(offers, "context", native)
    interop = interop_of(offers)
    chosen = (devices,) if isinstance(devices, Device) else tuple(devices)
    for device in chosen:
        if not isinstance(device, Device):
            raise InvalidError(f"devices contains {device!r}: it takes Device objects")
        if device._backend is not offers:
            raise BackendMismatchError(
                f"{device!r} is of the {device.backend} backend, the context of {offers.backend}",
                backend=str(offers.backend),
            )
    if not chosen:
        told = (_device_of(offers, found) for found in interop.devices_of("context", handle))
        chosen = tuple(device for device in told if device is not None)
    if not chosen:
        raise InvalidError(
            f"devices=(): {handle!r} does not tell its devices; name at least one, devices=[device]",
            backend=str(offers.backend),
        )
    if "context" in interop.native_counted:
        owned = coerce(Ownership, ownership, "ownership") is Ownership.transfer
    else:
        owned = _is_owned(offers, Rank.CONTEXT, handle, ownership)
    return Context(
        chosen, async_handler=async_handler, _adopt=lambda natives: interop.adopt_context(handle, natives, owned)
    )


@_one_at_a_time
def make_queue(
    backend: Backend | str,
    native: object,
    context: Context,
    device: Device | None = None,
    *,
    ownership: Ownership | str = Ownership.transfer,
    async_handler: AsyncHandler | None = None,
) -> Queue:
    """A queue around a native one, whose commands come after what was submitted to that before.

    With ``ownership="transfer"`` the native queue is destroyed when this one is closed, or dropped and its work done.

    Args:
        backend: whose handle it is.
        native: an int, or a pointer of cffi or ctypes: for Level Zero a ``ze_command_queue_handle_t``, or an immediate
            ``ze_command_list_handle_t``. A plain int is taken for the first; pass a pointer of that type, or
            ``NativeHandle(number, "ze_command_list_handle_t")``, for the second. For CUDA a ``CUstream``, or an object
            with ``__cuda_stream__``. The queue is in order then.
        context: of the native queue.
        device: of the native queue, in the context. None is what the driver tells, or else the context's first
            (the form of ZE without ``Device``, which it calls deprecated).
        ownership: ``transfer`` or ``keep``, as of ``make_context``.
        async_handler: as of ``Queue``.

    Raises:
        InvalidError: no such queue, one of another context or device where the driver can tell, a device outside the
            context, or a handle that was transferred before.
        BackendMismatchError: the context or the device is another backend's.
    """
    offers = backend_for(backend)
    handle = handle_for(offers, "queue", native)
    require_context(offers, context)
    chosen = _chosen_device(offers, context, device, "queue", handle)
    owned = _is_owned(offers, Rank.QUEUE, handle, ownership)
    adopted = interop_of(offers).adopt_queue(context._native, chosen._record.native, handle, owned)
    return Queue(
        chosen,
        context,
        in_order=adopted.in_order,
        enable_profiling=adopted.profiling,
        async_handler=async_handler,
        _adopted=adopted,
    )


def _chosen_device(
    backend: BackendProtocol, context: Context, device: Device | None, kind: str, handle: NativeHandle
) -> Device:
    """The device named, or that the driver tells, or the first."""
    if device is not None:
        if not isinstance(device, Device):
            raise InvalidError(f"device={device!r} is no Device")
        if device._backend is not backend:
            raise BackendMismatchError(
                f"device={device!r} is of the {device.backend} backend, the native object of {backend.backend}",
                backend=str(backend.backend),
            )
        if device not in context.devices:
            raise InvalidError(f"{device!r} is not a device of {context!r}")
        return context.devices[context.devices.index(device)]
    told = interop_of(backend).devices_of(kind, handle)
    return next((own for own in context.devices if own._record.native in told), context.devices[0])


# ---------------------------------------------------------------------- events


@_one_at_a_time
def make_event(
    backend: Backend | str,
    native: object,
    context: Context,
    *,
    ownership: Ownership | str = Ownership.transfer,
) -> Event:
    """An event around a native one: to wait for, and for commands to depend on.

    With ``ownership="transfer"`` the native event is destroyed when this one is dropped and no command waits for it any
    more; its pool stays the caller's, who keeps it as long.

    Args:
        backend: whose handle it is.
        native: an int, or a pointer of cffi or ctypes.
        context: of the native event (of its pool).
        ownership: ``transfer`` or ``keep``.

    Raises:
        InvalidError: no such event, one of another context where the driver can tell, or a handle that was transferred
            before.
        BackendMismatchError: the context is another backend's.
    """
    offers = backend_for(backend)
    handle = handle_for(offers, "event", native)
    require_context(offers, context)
    owned = _is_owned(offers, Rank.EVENT, handle, ownership)
    return ForeignEvent(context, interop_of(offers).adopt_event(context._native, handle, owned))


# ---------------------------------------------------------------------- kernel bundles, kernels


@_one_at_a_time
def make_kernel_bundle(
    backend: Backend | str,
    native: object,
    context: Context,
    state: BundleState | str = BundleState.executable,
    *,
    device: Device | None = None,
    ownership: Ownership | str = Ownership.transfer,
) -> KernelBundle:
    """A kernel bundle around a native module or program.

    With ``ownership="transfer"`` the native object is destroyed with the bundle, after the commands that run its
    kernels; the caller has destroyed kernels of his own before.

    Args:
        backend: whose handle it is.
        native: an int, or a pointer of cffi or ctypes.
        context: of the native object.
        state: ``executable``.
        device: that the module was built for; None is what the driver tells, or else the context's first.
        ownership: ``transfer`` or ``keep``.

    Raises:
        InvalidError: no such module, or a handle that was transferred before.
        BuildError: its kernels cannot run yet: a Level Zero module has to be linked.
        BackendMismatchError: the context or the device is another backend's.
        FeatureNotSupportedError: another state.
    """
    offers = backend_for(backend)
    handle = handle_for(offers, "kernel_bundle", native)
    require_context(offers, context)
    wanted = coerce(BundleState, state, "state")
    if wanted is not BundleState.executable:
        raise FeatureNotSupportedError(
            f"state={str(wanted)!r}: a native module of {offers.backend} is built, so that its bundle is 'executable'",
            backend=str(offers.backend),
        )
    chosen = _chosen_device(offers, context, device, "kernel_bundle", handle)
    owned = _is_owned(offers, Rank.MODULE, handle, ownership)
    made = interop_of(offers).adopt_module(context._native, chosen._record.native, handle, owned)
    source = BundleSource.untold(offers)
    return KernelBundle(context, (chosen,), wanted, source, _natives={chosen: [made]})


@_one_at_a_time
def make_kernel(
    backend: Backend | str,
    native: object,
    bundle: KernelBundle,
    context: Context | None = None,
    *,
    ownership: Ownership | str = Ownership.transfer,
) -> Kernel:
    """A kernel around a native one.

    With ``ownership="transfer"`` the native kernel is destroyed with its bundle.

    Args:
        backend: whose handle it is.
        native: an int, or a pointer of cffi or ctypes.
        bundle: of exactly one native module, which the kernel is of.
        context: of the bundle; None takes that.
        ownership: ``transfer`` or ``keep``.

    Raises:
        InvalidError: no such kernel, a kernel of another module, a bundle that is closed, is yet to be built or has
            several modules, another context, or a handle that was transferred before.
        BackendMismatchError: the bundle or the context is another backend's.
    """
    offers = backend_for(backend)
    handle = handle_for(offers, "kernel", native)
    if not isinstance(bundle, KernelBundle):
        raise InvalidError(f"bundle={bundle!r} is no KernelBundle")
    bundle._require_open()
    require_context(offers, bundle.context)
    if context is not None and require_context(offers, context) is not bundle.context:
        raise InvalidError(f"context={context!r} is another one than that of {bundle!r}")
    modules = [(device, module) for device, found in bundle._natives.items() for module in found]
    if len(modules) != 1:
        raise InvalidError(
            f"{bundle!r} has {len(modules)} native modules: a kernel is made with a bundle of exactly one, such as "
            "make_kernel_bundle gives"
        )
    device, module = modules[0]
    owned = coerce(Ownership, ownership, "ownership") is Ownership.transfer
    made = interop_of(offers).adopt_kernel(module, handle, owned)
    return Kernel(bundle, device, made, offers.kernel_info(made))


# ---------------------------------------------------------------------- buffers


@_one_at_a_time
def make_buffer(
    backend: Backend | str,
    native: object,
    context: Context,
    dtype: npt.DTypeLike,
    shape: SizesLike | None = None,
    *,
    available_event: Event | None = None,
    ownership: Ownership | str = Ownership.transfer,
) -> Buffer:
    """A buffer over native memory, which it uses for its whole life and whose contents it begins with.

    Until the buffer ends nobody else touches the memory; what it holds meanwhile, and afterwards, is not specified (ZE
    section 4.5). With ``ownership="keep"`` the end of the buffer waits for the commands that use it, and the memory is
    the caller's again. With ``"transfer"`` it does not wait, and the memory is freed after them.

    Args:
        backend: whose memory it is.
        native: address, as an int or a pointer of cffi or ctypes: for Level Zero what ``zeMemAllocDevice``,
            ``zeMemAllocHost`` or ``zeMemAllocShared`` gave.
        context: of the memory, with one device, on which it was allocated. The buffer can be used in others.
        dtype: of an element.
        shape: one to three sizes in elements; None is one dimension of all elements that fit in the allocation.
        available_event: signals that the memory is ready to be used.
        ownership: ``transfer`` or ``keep``.

    Raises:
        InvalidError: no such memory in the context, an address inside an allocation, more elements than fit, a context
            with several devices, memory of another device, or memory that was transferred before.
        BackendMismatchError: the context is another backend's.
    """
    offers = backend_for(backend)
    handle = handle_for(offers, "buffer", native)
    require_context(offers, context)
    if len(context.devices) != 1:
        raise InvalidError(
            f"context={context!r} has {len(context.devices)} devices: memory becomes a buffer in a context of one"
        )
    if available_event is not None and not isinstance(available_event, Event):
        raise InvalidError(f"available_event={available_event!r} is no Event")
    kind, device = element_dtype(dtype), context.devices[0]
    owned = _is_owned(offers, Rank.MEMORY, handle, ownership)
    known = offers.pointer_info(context._native, int(handle))
    if known.kind is not UsmKind.unknown:
        if known.base != handle:
            raise InvalidError(f"{int(handle):#x} lies inside the allocation at {known.base:#x}: give that address")
        if known.device is not device._record.native and known.kind is not UsmKind.host:
            raise InvalidError(f"{int(handle):#x} is memory of another device than {device!r}")
    sizes = (known.size // kind.itemsize,) if shape is None else buffer_shape(shape)
    nbytes = math.prod(sizes) * kind.itemsize
    if known.kind is not UsmKind.unknown and not 0 < nbytes <= known.size:
        raise InvalidError(
            f"{sizes} elements of {kind} take {nbytes} bytes; the allocation at {int(handle):#x} has {known.size}"
        )
    found = interop_of(offers).adopt_memory(context._native, handle, owned)
    memory = Allocation(context, device, found.kind, int(handle), found.size, owned=owned)
    return Buffer._over(_storage(memory, nbytes, available_event, owned), sizes, kind)


def _storage(memory: Allocation, nbytes: int, available: Event | None, owned: bool) -> Storage:
    """Contents that lie in the memory from the beginning."""
    home = home_of(memory.context, memory.device)
    place = Place(home, memory.address, memory, hidden=memory.kind is UsmKind.device)
    storage = Storage(nbytes, None, False)
    storage.places[home] = place
    storage.waits = not owned
    segment = storage.segments[0]
    segment.valid = {place: available}
    if available is not None:
        segment.before = (available,)
        storage.uploads = [available]
    return storage
