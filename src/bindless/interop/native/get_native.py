"""``get_native``: the driver's own handles of objects (ZE and CL, "Obtaining of native handles")."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from ...backends.contract import BackendProtocol
from ...model.enums import Backend, coerce
from ...model.errors import BackendMismatchError, FeatureNotSupportedError, InvalidError
from ...model.native_handle import NativeHandle
from ...submission.event import Event
from ...sycl.buffer.memory_object import MemoryObject
from ...sycl.device.context import Context
from ...sycl.device.device import Device
from ...sycl.device.platform import Platform
from ...sycl.kernel.bundle import KernelBundle
from ...sycl.kernel.kernel import Kernel
from ...sycl.queue.queue import Queue
from .backend_lookup import interop_of

__all__ = ["get_native"]

_Natives = list[Any]


def _platform(platform: Platform) -> _Natives:
    return [interop_of(platform._backend).platform_handle(platform._record)]


def _bundle(bundle: KernelBundle) -> _Natives:
    bundle._require_open()
    natives: _Natives = [native for modules in bundle._natives.values() for native in modules]
    if _is_counted(bundle.context._backend):
        natives += [*bundle._programs, *(native for parts in bundle._objects.values() for native in parts)]
    if not natives:
        raise InvalidError(
            f"get_native: this bundle is in state {str(bundle.state)!r} and has no native object yet: build() or link()"
        )
    return natives


def _kernel(kernel: Kernel) -> _Natives:
    kernel._bundle._require_open()
    return [kernel._native]


# A command of the driver that stands for an event of the host's work; it ends with the event.
_stand_ins: WeakKeyDictionary[Event, Event] = WeakKeyDictionary()


def _event(event: Event) -> _Natives:
    leaves = event._parts or (event,)
    for leaf in leaves:
        if leaf._task is not None:  # the host has still to submit it
            leaf._task.wait()
        leaf._check_process()
    return [leaf._native for leaf in leaves if leaf._native is not None] or [_stand_in(event)._native]


def _stand_in(event: Event) -> Event:
    """A barrier for an event without native one, such as that of a host task; the host has waited for its work."""
    barrier = _stand_ins.get(event)
    if barrier is None:
        stream = (event._parts or (event,))[0]._stream
        assert stream is not None  # it is of a backend
        barrier = stream.submit(lambda waits: stream.backend.barrier(stream.live, waits), (), (), barrier=True)
        barrier = _stand_ins.setdefault(event, barrier)
    if barrier._task is not None:  # it waits for other work of the host
        barrier._task.wait()
    return barrier


def _is_counted(backend: BackendProtocol) -> bool:
    """Whether its objects count references; handles have one of their own then."""
    return backend.counted is not None


# Kind of the object, its backend, and the backend's objects in it.
_Row = tuple[str, Callable[[Any], "BackendProtocol | None"], Callable[[Any], _Natives]]
_KINDS: dict[type, _Row] = {
    Platform: ("platform", lambda platform: platform._backend, _platform),
    Device: ("device", lambda device: device._backend, lambda device: [device._record.native]),
    Context: ("context", lambda context: context._backend, lambda context: [context._native]),
    Queue: ("queue", lambda queue: queue._backend, lambda queue: [queue._lend()]),
    Event: ("event", lambda event: _backend_of(event), _event),
    KernelBundle: ("kernel_bundle", lambda bundle: bundle.context._backend, _bundle),
    Kernel: ("kernel", lambda kernel: kernel._context._backend, _kernel),
}


def _backend_of(event: Event) -> BackendProtocol | None:
    homes = {leaf._home._backend for leaf in event._parts or (event,) if leaf._home is not None}
    return homes.pop() if len(homes) == 1 else None


def get_native(obj: object, backend: Backend | str | None = None) -> NativeHandle | tuple[NativeHandle, ...]:
    """The driver's own handle of an object, as an int whose ``type`` names its C type.

    It stays the package's: do not destroy it, and do not use it once the object has ended, unless the object was made
    of it with ``ownership="keep"`` (ZE section 4.4.3). An event's is good as long as the event is held; of an event of
    work of the host, such as a host task, it is that of a barrier after it in its queue, once the work is done.

    OpenCL's hold a reference until they are dropped (``CountedHandle``), whatever becomes of the object (CL,
    "Interoperability with the OpenCL API"). Another library takes its own from them; ``detach()`` gives theirs away.

    Parameters
    ----------
    obj : object
        A Platform, Device, Context, Queue, Event, KernelBundle or Kernel; a Buffer, SampledImage or UnsampledImage
        that commands have used on ``opencl``. Elsewhere a buffer's address is ``InteropHandle.get_native_mem`` in a
        host task.
    backend : Backend | str, optional
        Which one the caller expects; None takes what there is.

    Returns
    -------
    NativeHandle | tuple[NativeHandle, ...]
        An int; for kernel bundles a tuple with one for each module, and where a backend's objects may consist of
        several native ones (``opencl``: events, buffers and images, too) always a tuple. A buffer's or image's are
        those of all contexts where it has memory; its contents are newest where a command used it last, which the
        caller waits for. Of a Level Zero queue it is one of two types, as ``type`` says: ZE's version 3, which
        ``SYCL_EXT_ONEAPI_BACKEND_LEVEL_ZERO`` promises, has the ``ze_command_queue_handle_t`` that queues made with
        ``no_immediate_command_list=True`` have; other queues give the ``ze_command_list_handle_t`` of their immediate
        command list, the second form of that return type in later versions. Of an out-of-order queue it is the first
        of several.

    Raises
    ------
    BackendMismatchError
        The object is of another backend than ``backend``.
    InvalidError
        It was closed, is yet to be built, or is of a kind that has no native object.
    FeatureNotSupportedError
        The driver has no such object; buffers.

    See Also
    --------
    make_device, make_queue : Objects from native handles.

    Examples
    --------
    >>> queue = bindless.Queue("reference")
    >>> bindless.get_native(queue.device).type
    'blr_device_t'
    """
    for kind, (name, backend_of, natives_of) in _KINDS.items():
        if isinstance(obj, kind):
            return _handles(obj, name, backend_of(obj), natives_of, backend)
    if isinstance(obj, MemoryObject):
        return _memory(obj, backend)
    raise InvalidError(
        f"get_native: a {type(obj).__name__} has no native object; it takes a Platform, Device, Context, Queue, Event, "
        "KernelBundle or Kernel, and buffers and images of OpenCL"
    )


def _memory(obj: MemoryObject, expected: Backend | str | None) -> tuple[NativeHandle, ...]:
    """The native objects of the memory that contents have in contexts of backends that have such."""
    obj._storage.require_open()
    selection = None if expected is None else coerce(Backend, expected, "backend")
    handles: list[NativeHandle] = []
    for home, place in list(obj._storage.places.items()):
        backend = home.context._backend
        counted = backend.counted
        if counted is None or home.context.closed or selection not in (None, backend.backend):
            continue
        address = place.address if place.image is None else place.image.handle
        handle = counted.memory_handle(home.context._native, address, image=place.image is not None)
        if handle is not None:
            handles.append(handle)
    if not handles and selection is not Backend.opencl:
        raise FeatureNotSupportedError(
            f"get_native of a {type(obj).__name__}: its memory moves between devices; ask "
            "interop_handle.get_native_mem(accessor) in a host task (handler.host_task)"
        )
    return tuple(handles)


def _handles(
    obj: object,
    name: str,
    own: BackendProtocol | None,
    natives_of: Callable[[Any], _Natives],
    expected: Backend | str | None,
) -> NativeHandle | tuple[NativeHandle, ...]:
    if own is None:
        raise InvalidError(f"get_native: {obj!r} is of no driver: it stands for work of the host, or for none at all")
    if expected is not None and coerce(Backend, expected, "backend") is not own.backend:
        raise BackendMismatchError(
            f"get_native: {obj!r} is of the {own.backend} backend, not of {expected}", backend=str(own.backend)
        )
    handles = tuple(dict.fromkeys(_handle_of(own, native) for native in natives_of(obj)))
    if name in (("kernel_bundle",) if own.interop is None else own.interop.native_lists):
        return handles
    if len(handles) != 1:
        raise InvalidError(
            f"get_native: {obj!r} has {len(handles)} native objects, and {own.backend} gives one: take the events that "
            "it was made of, or a barrier after them"
        )
    return handles[0]


def _handle_of(backend: BackendProtocol, native: object) -> NativeHandle:
    if backend.counted is not None and not isinstance(native, int):
        return backend.counted.held_handle(native)
    handle = native if isinstance(native, int) else backend.native_handle(native)
    return handle if isinstance(handle, NativeHandle) else NativeHandle(handle)
