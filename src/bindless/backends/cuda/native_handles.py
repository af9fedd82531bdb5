"""Objects for CUDA handles that were created elsewhere: by the driver API, the runtime, or another library.

All work runs in primary contexts, so a CUcontext has to be one of these. The driver reports the context of a stream and
of memory, and the module of a function; it reports nothing for an event or a module.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...drivers import cuda as driver
from ...drivers.common.cffi_types import CData
from ...model.enums import Errc, UsmKind
from ...model.errors import FeatureNotSupportedError, InvalidError
from ...model.native_handle import NativeHandle
from ..common import foreign_event
from ..contract import AdoptedQueue, NativeQueue, PlatformRecord, PointerRecord
from .context import Allocation, Context
from .device import Device, PrimaryContext, devices
from .errors import SUCCESS, check
from .event import Event
from .fork_guard import in_fork, refuse_in_fork
from .kernel import Kernel
from .memory import pointer_info
from .module import Module
from .polling import wait_until_ready
from .queue import Queue
from .stream import AdoptedStream

__all__ = [
    "TYPES",
    "ForeignEvent",
    "adopt_context",
    "adopt_event",
    "adopt_kernel",
    "adopt_memory",
    "adopt_module",
    "adopt_queue",
    "devices_of",
    "find_device",
    "platform_handle",
]

lib, ffi = driver.lib, driver.ffi

# Types of the handles of each kind of object; CUDA has no handle of a platform.
TYPES = {
    "device": ("CUdevice",),
    "context": ("CUcontext",),
    "queue": ("CUstream",),
    "event": ("CUevent",),
    "kernel_bundle": ("CUmodule",),
    "kernel": ("CUfunction",),
    "buffer": ("CUdeviceptr",),
}

_LEGACY_DEFAULT, _PER_THREAD_DEFAULT = 1, 2


def _native(handle: NativeHandle) -> CData:
    return ffi.cast(handle.type, int(handle))


def _invalid(text: str) -> InvalidError:
    return InvalidError(text, backend="cuda")


# ---------------------------------------------------------------------- devices, contexts


def platform_handle(platform: PlatformRecord) -> int:
    raise FeatureNotSupportedError("CUDA has one platform, and no handle of it", backend="cuda")


def find_device(handle: NativeHandle) -> Device | None:
    """The device of a CUdevice, which is its ordinal."""
    return next((record.native for record in devices() if record.native.handle == handle), None)


def _is_active(device: Device) -> bool:
    """Whether its primary context is in use; an inactive one has no address."""
    flags, active = ffi.new("unsigned int *"), ffi.new("int *")
    check(lib.cuDevicePrimaryCtxGetState(device.handle, flags, active), "cuDevicePrimaryCtxGetState")
    return bool(active[0])


def _primary_of(address: int) -> PrimaryContext | None:
    """The primary context at an address."""
    for record in devices():
        device: Device = record.native
        if _is_active(device) and device.context().address == address:
            return device.context()
    return None


def _context_of(stream: CData) -> int | None:
    """Address of the CUcontext of a stream; a context is current."""
    slot = ffi.new("CUcontext *")
    check(lib.cuStreamGetCtx(stream, slot), "cuStreamGetCtx", "it is no CUstream", Errc.invalid)
    return int(ffi.cast("uintptr_t", slot[0]))


def devices_of(kind: str, handle: NativeHandle) -> Sequence[Device]:
    """The devices of a primary context, or of a stream; unknown for modules and for default streams."""
    refuse_in_fork()
    address: int | None = None
    if kind == "context":
        address = int(handle)
    elif kind == "queue" and handle > _PER_THREAD_DEFAULT:
        current = next((record.native for record in devices() if _is_active(record.native)), None)
        if current is not None:
            with current.context():
                address = _context_of(_native(handle))
    primary = None if address is None else _primary_of(address)
    return () if primary is None else (primary.device,)


def adopt_context(handle: NativeHandle, devices: Sequence[Device], owned: bool) -> Context:
    """Adopt a device's primary context. An owned one was retained for this context, and is released with it."""
    if len(devices) != 1:
        raise _invalid(f"devices={list(devices)}: a CUcontext has one device")
    if devices[0] not in devices_of("context", handle):
        raise _invalid(
            f"{handle!r} is not the primary context of {devices[0]!r}, and this package works in primary contexts, as "
            "CUDA's runtime and the libraries over it do: give what cuDevicePrimaryCtxRetain gives"
        )
    context = Context(devices)
    context.retained = owned
    return context


# ---------------------------------------------------------------------- queues


def adopt_queue(context: Context, device: Device, handle: NativeHandle, owned: bool) -> AdoptedQueue:
    """Adopt a stream as an in-order queue; the caller may go on submitting work to the stream."""
    refuse_in_fork()
    primary, native = context.primary(device), _native(handle)
    if handle == _PER_THREAD_DEFAULT:
        raise _invalid(
            f"{handle!r} is the calling thread's default stream, which is another one in every thread: give a stream "
            "of cuStreamCreate"
        )
    if handle == _LEGACY_DEFAULT and owned:
        raise _invalid(
            f"ownership='transfer' of {handle!r}, the legacy default stream, which is never destroyed: give "
            "ownership='keep'"
        )
    with primary:
        home = _context_of(native)
        if home != primary.address:
            raise _invalid(
                f"{handle!r} is a stream of the CUcontext at {home:#x}, not of that of {device!r}: name the stream's "
                "own device with device=, in a context that has it"
            )
        capturing = ffi.new("CUstreamCaptureStatus *")
        check(lib.cuStreamIsCapturing(native, capturing), "cuStreamIsCapturing", repr(handle))
        if capturing[0] != lib.CU_STREAM_CAPTURE_STATUS_NONE:
            raise _invalid(f"{handle!r} captures a graph: a queue would end the capture; make the queue after its end")
    queue = Queue.around(context, device, AdoptedStream(primary, native, owned))
    return AdoptedQueue(NativeQueue(queue), in_order=True)


# ---------------------------------------------------------------------- events


class _ForeignHandle:
    """A CUevent of another owner; an owned one is destroyed with the last reference."""

    __slots__ = ("_owned", "handle")

    def __init__(self, handle: CData, owned: bool) -> None:
        self.handle = handle
        self._owned = owned

    # Bound here, because the module's names are gone at exit.
    def __del__(
        self, _destroy: Callable[[CData], int] = lib.cuEventDestroy, _in_fork: Callable[[], bool] = in_fork
    ) -> None:
        if self._owned and not _in_fork():
            _destroy(self.handle)


class ForeignEvent(foreign_event.ForeignEvent, Event):
    """The last record in an event of another library's stream."""

    __slots__ = ("_primary",)

    def __init__(self, primary: PrimaryContext, native: _ForeignHandle) -> None:
        super().__init__(native)
        self._primary = primary

    def query(self) -> bool:
        if not self._done:
            self._primary.activate()
            self._settle(lib.cuEventQuery(self.native.handle))
        return self._done

    def wait(self) -> None:
        if not self._done:
            self._primary.activate()
            self._settle(wait_until_ready(lib.cuEventQuery, self.native.handle))

    def _settle(self, result: int) -> None:
        if result == SUCCESS:
            self._done = True
        else:
            super()._settle(result)


def adopt_event(context: Context, handle: NativeHandle, owned: bool) -> ForeignEvent:
    """Adopt an event of any context of the process."""
    refuse_in_fork()
    primary, native = context.primary(None), _native(handle)
    if owned and any(own.made_event(int(handle)) for own in context.primaries.values()):
        raise foreign_event.owned_already(handle, "an Event", "cuda")
    with primary:
        status = lib.cuEventQuery(native)
    if status in (lib.CUDA_ERROR_INVALID_HANDLE, lib.CUDA_ERROR_INVALID_VALUE):
        check(status, "cuEventQuery", f"{handle!r} is no event", Errc.invalid)
    return ForeignEvent(primary, _ForeignHandle(native, owned))


# ---------------------------------------------------------------------- modules, kernels


def adopt_module(context: Context, device: Device, handle: NativeHandle, owned: bool) -> Module:
    """Adopt a module of the device's primary context. CUDA cannot report the context, so the caller's is taken."""
    refuse_in_fork()
    primary, native = context.primary(device), _native(handle)
    if driver.has("cuModuleGetFunctionCount"):
        with primary:
            result = lib.cuModuleGetFunctionCount(ffi.new("unsigned int *"), native)
        check(result, "cuModuleGetFunctionCount", f"{handle!r} is no module", Errc.invalid)
    return Module(primary, native, {}, owned=owned)


def adopt_kernel(module: Module, handle: NativeHandle, owned: bool) -> Kernel:
    """Adopt a kernel of a module; its lifetime is that of the module, whoever owns it."""
    native = _native(handle)
    with module.loaded():
        if driver.has("cuFuncGetModule"):
            slot = ffi.new("CUmodule *")
            check(lib.cuFuncGetModule(slot, native), "cuFuncGetModule", f"{handle!r} is no kernel", Errc.invalid)
            if slot[0] != module.native:
                raise _invalid(
                    f"{handle!r} is a kernel of another module: make it with the bundle of its own module "
                    "(cuFuncGetModule, make_kernel_bundle)"
                )
        name = module.name_of(native) if driver.has("cuFuncGetName") else f"at {int(handle):#x}"
    return Kernel(module, name, native)


# ---------------------------------------------------------------------- memory


def adopt_memory(context: Context, handle: NativeHandle, owned: bool) -> PointerRecord:
    """The driver's description of an allocation; ``free`` releases an owned one."""
    address, primary = int(handle), context.primary(None)
    record = pointer_info(context, address)
    if record.kind is UsmKind.unknown:
        raise _invalid(
            f"{address:#x} is no memory that {primary.device!r} has: it is what cuMemAlloc, cuMemAllocManaged or "
            "cuMemHostAlloc gave"
        )
    slot = ffi.new("CUcontext *")
    with primary:
        result = lib.cuPointerGetAttribute(slot, lib.CU_POINTER_ATTRIBUTE_CONTEXT, address)
    home = int(ffi.cast("uintptr_t", slot[0])) if result == SUCCESS else 0
    if home not in (0, primary.address):
        raise _invalid(f"{address:#x} is memory of the CUcontext at {home:#x}, not of that of {primary.device!r}")
    if owned:
        context.allocations[address] = Allocation(record.kind, primary, address, record.size)
    return record
