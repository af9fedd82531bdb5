"""Objects for handles of the reference driver that were created elsewhere; events are reference-counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Protocol

from ...drivers.common.cffi_types import FFI, CData
from ...model.enums import UsmKind
from ...model.errors import FeatureNotSupportedError, InvalidError
from ...model.native_handle import NativeHandle
from ..common.native_handle import HandleTable
from ..contract import AdoptedQueue, DeviceRecord, NativeQueue, PlatformRecord, PointerRecord
from .module import Kernel, Kernels, Module
from .objects import Context, Device, Event, Queue, require_one_device

if TYPE_CHECKING:
    from ...drivers.reference._bindings import Library

__all__ = ["HANDLES", "TYPES", "Natives"]

# Types of the handles of each kind of object; platforms have none.
TYPES = {
    "device": ("blr_device_t",),
    "context": ("blr_context_t",),
    "queue": ("blr_queue_t",),
    "event": ("blr_event_t",),
    "kernel_bundle": ("blr_module_t",),
    "kernel": ("blr_kernel_t",),
    "buffer": ("void *",),
}
HANDLES: HandleTable = {
    Device: ("blr_device_t", attrgetter("handle")),
    Context: ("blr_context_t", attrgetter("handle")),
    Queue: ("blr_queue_t", attrgetter("handle")),
    Event: ("blr_event_t", attrgetter("handle")),
    Module: ("blr_module_t", attrgetter("handle")),
    Kernel: ("blr_kernel_t", attrgetter("handle")),
}


class _Backend(Protocol):
    """The part of the back end that this module uses."""

    def devices(self) -> Sequence[DeviceRecord]: ...

    def queue_is_idle(self, queue: Queue) -> bool: ...

    def pointer_info(self, context: Context, address: int) -> PointerRecord: ...


class Natives:
    """The methods of ``InteropProtocol``.

    Parameters
    ----------
    lib, ffi
        bindings of the driver.
    check
        function that raises for a result other than success.
    kernels
        kernels of the back end.
    backend
        back end of the objects.
    """

    def __init__(
        self, lib: Library, ffi: FFI, check: Callable[[int, str], None], kernels: Kernels, backend: _Backend
    ) -> None:
        self._lib, self._ffi, self._check, self._kernels, self._backend = lib, ffi, check, kernels, backend

    def _native(self, handle: NativeHandle) -> CData:
        return self._ffi.cast(handle.type, int(handle))

    def platform_handle(self, platform: PlatformRecord) -> int:
        raise FeatureNotSupportedError("the reference driver has no handles of platforms", backend="reference")

    def find_device(self, handle: NativeHandle) -> Device | None:
        native = self._native(handle)
        return next((record.native for record in self._backend.devices() if record.native.handle == native), None)

    def devices_of(self, kind: str, handle: NativeHandle) -> Sequence[Device]:
        return ()

    def adopt_context(self, handle: NativeHandle, devices: Sequence[Device], owned: bool) -> Context:
        require_one_device(devices)
        context = Context(self._native(handle), devices[0], owned)
        self._backend.pointer_info(context, 0)  # Raises for a handle that is not a context.
        return context

    def adopt_queue(self, context: Context, device: Device, handle: NativeHandle, owned: bool) -> AdoptedQueue:
        """Adopt a queue as out of order, because the driver does not report the order."""
        queue = Queue(self._native(handle), context, profiling=False, owned=owned)
        self._backend.queue_is_idle(queue)  # Raises for a handle that is not a queue.
        return AdoptedQueue(NativeQueue(queue), in_order=False)

    def adopt_event(self, context: Context, handle: NativeHandle, owned: bool) -> Event:
        native = self._native(handle)
        if owned:
            status = self._ffi.new("blr_event_status_t *")
            self._check(self._lib.blrEventGetStatus(native, status), "blrEventGetStatus")
        else:
            self._check(self._lib.blrEventRetain(native), "blrEventRetain")
        return Event(native, profiling=False)

    def adopt_module(self, context: Context, device: Device, handle: NativeHandle, owned: bool) -> Module:
        return self._kernels.adopt(self._native(handle), owned)

    def adopt_kernel(self, module: Module, handle: NativeHandle, owned: bool) -> Kernel:
        return self._kernels.adopt_kernel(module, self._native(handle), owned)

    def adopt_memory(self, context: Context, handle: NativeHandle, owned: bool) -> PointerRecord:
        record = self._backend.pointer_info(context, int(handle))
        if record.kind is UsmKind.unknown:
            raise InvalidError(
                f"{int(handle):#x} is no memory of this context: it is what blrMemoryAllocate gave in the same context",
                backend="reference",
            )
        return record
