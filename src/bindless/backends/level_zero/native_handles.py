"""Objects for native handles that were created elsewhere (ZE section 4.3).

Level Zero counts no references and reports the owner of few objects: a command list reports its context and device, an
event its context through its pool, and memory is looked up in its context. A command queue and a module report neither.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...drivers import level_zero as driver
from ...drivers.common.cffi_types import CData
from ...model.enums import Errc, UsmKind
from ...model.errors import BuildError, InvalidError
from ...model.native_handle import NativeHandle
from ..common import foreign_event
from ..contract import AdoptedQueue, NativeQueue, PlatformRecord, PointerRecord
from . import memory
from .command_list import ImmediateList, RegularLists
from .context import Allocation, Context, NativeContext, is_default
from .device import Device, all_drivers, devices
from .errors import SUCCESS, check, error
from .event import Event
from .event_pool import NativeEvent
from .fork_guard import refuse_in_fork
from .kernel import Kernel
from .module import Module
from .queue import Queue

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

# Types of the handles of each kind of object; the first one is that of ZE.
TYPES = {
    "platform": ("ze_driver_handle_t",),
    "device": ("ze_device_handle_t",),
    "context": ("ze_context_handle_t",),
    "queue": ("ze_command_queue_handle_t", "ze_command_list_handle_t"),
    "event": ("ze_event_handle_t",),
    "kernel_bundle": ("ze_module_handle_t",),
    "kernel": ("ze_kernel_handle_t",),
    "buffer": ("void *",),
}

_LIST = "ze_command_list_handle_t"


def _native(handle: NativeHandle) -> CData:
    return ffi.cast(handle.type, int(handle))


def _wrong_context(what: str, handle: NativeHandle, way_out: str) -> InvalidError:
    return InvalidError(f"{handle!r} is {what} of another ze_context_handle_t: {way_out}", backend="level_zero")


# ---------------------------------------------------------------------- platforms, devices, contexts


def platform_handle(platform: PlatformRecord) -> NativeHandle:
    """ze_driver_handle_t."""
    return NativeHandle(int(ffi.cast("uintptr_t", all_drivers()[platform.index].handle)), "ze_driver_handle_t")


def _with_parts(device: Device) -> list[Device]:
    return [device, *(inner for part in device.parts() for inner in _with_parts(part))]


def find_device(handle: NativeHandle) -> Device | None:
    """The device or sub-device of a ze_device_handle_t."""
    refuse_in_fork()
    for record in devices():
        for device in _with_parts(record.native):
            if device.address == handle:
                return device
    return None


def devices_of(kind: str, handle: NativeHandle) -> Sequence[Device]:
    """The devices of an immediate command list; other objects do not report them."""
    if handle.type != _LIST:
        return ()
    for owner in all_drivers():
        answer = owner.ask("zeCommandListGetDeviceHandle", _native(handle), "ze_device_handle_t")
        for record in devices():
            for device in _with_parts(record.native) if answer is not None else ():
                if owner.is_same("ze_device_handle_t", answer, device.handle):
                    return (device,)
    return ()


def adopt_context(handle: NativeHandle, devices: Sequence[Device], owned: bool) -> Context:
    """Adopt a context for some devices of its driver."""
    if not devices:
        raise InvalidError(
            "devices=(): a ze_context_handle_t does not list its devices; name one or several", backend="level_zero"
        )
    return Context(devices, NativeContext.adopt(devices[0].driver, _native(handle), owned))


# ---------------------------------------------------------------------- queues


def adopt_queue(context: Context, device: Device, handle: NativeHandle, owned: bool) -> AdoptedQueue:
    """Adopt an immediate command list or a command queue as an in-order queue."""
    refuse_in_fork()
    place = context.device(device)
    lists = (_immediate if handle.type == _LIST else _regular)(context, place, handle, owned)
    return AdoptedQueue(NativeQueue(Queue.around(context, place, lists)), in_order=True)


def _immediate(context: Context, device: Device, handle: NativeHandle, owned: bool) -> ImmediateList:
    native, ask, same = _native(handle), context.driver.ask, context.driver.is_same
    immediate = ask("zeCommandListIsImmediate", native, "ze_bool_t")
    if immediate is not None and not immediate:
        raise InvalidError(
            f"{handle!r} is a regular command list: a queue is made of a ze_command_queue_handle_t or of an immediate "
            "command list",
            backend="level_zero",
        )
    home = ask("zeCommandListGetContextHandle", native, "ze_context_handle_t")
    if home is not None and not same("ze_context_handle_t", home, context.handle):
        raise _wrong_context("a command list", handle, "make the queue in that context (make_context)")
    place = ask("zeCommandListGetDeviceHandle", native, "ze_device_handle_t")
    if place is not None and not same("ze_device_handle_t", place, device.handle):
        raise InvalidError(
            f"{handle!r} is a command list of another device than {device!r}: name that one with device=",
            backend="level_zero",
        )
    return ImmediateList.around(device, native, owned)


def _regular(context: Context, device: Device, handle: NativeHandle, owned: bool) -> RegularLists:
    native = _native(handle)
    ordinal = context.driver.ask("zeCommandQueueGetOrdinal", native, "uint32_t")
    if ordinal is None:  # An older driver does not report it: assume the group that runs kernels.
        ordinal = 0 if device.compute_group is None else device.compute_group.ordinal
    return RegularLists.around(context.handle, device, int(ordinal), native, owned)


# ---------------------------------------------------------------------- events


class ForeignEvent(foreign_event.ForeignEvent, Event):
    """An event of no stream: the command that signals it is unknown."""

    __slots__ = ("_context",)

    def __init__(self, context: Context, native: NativeEvent) -> None:
        super().__init__(native)
        self._context = context

    def _settle(self, result: int, call: str) -> None:
        if result == SUCCESS:
            self._done = True
        elif result != lib.ZE_RESULT_NOT_READY:
            raise error(result, call, code=Errc.kernel, words=self._context.driver.last_error())


def adopt_event(context: Context, handle: NativeHandle, owned: bool) -> ForeignEvent:
    """Adopt an event of a pool of the same context."""
    refuse_in_fork()
    native, owner = _native(handle), context.driver
    status = lib.zeEventQueryStatus(native)
    if status in (lib.ZE_RESULT_ERROR_INVALID_ARGUMENT, lib.ZE_RESULT_ERROR_INVALID_NULL_HANDLE):
        check(status, "zeEventQueryStatus", f"{handle!r} is no event", Errc.invalid)
    pool = owner.ask("zeEventGetEventPool", native, "ze_event_pool_handle_t")
    home = None if pool is None else owner.ask("zeEventPoolGetContextHandle", pool, "ze_context_handle_t")
    if home is not None and not owner.is_same("ze_context_handle_t", home, context.handle):
        raise _wrong_context("an event", handle, "make the event in that context (make_context)")
    if owned and any(pool.owns(native) for pool in context.native.pools):
        raise foreign_event.owned_already(handle, "an Event", "level_zero")
    return ForeignEvent(context, NativeEvent.adopt(native, owned))


# ---------------------------------------------------------------------- modules, kernels


def adopt_module(context: Context, device: Device, handle: NativeHandle, owned: bool) -> Module:
    """Adopt a module whose imports are resolved."""
    refuse_in_fork()
    module = Module(context, context.device(device), _native(handle), {}, owned=owned)
    names = module.names()
    properties = driver.get_properties("ze_module_properties_t", "zeModuleGetProperties", module.native)
    if names and properties.flags & lib.ZE_MODULE_PROPERTY_FLAG_IMPORTS:
        desc = driver.make_struct("ze_kernel_desc_t", pKernelName=ffi.new("char[]", names[0].encode()))
        slot = ffi.new("ze_kernel_handle_t *")
        result = lib.zeKernelCreate(module.native, desc, slot)
        if result == lib.ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED:
            raise BuildError(
                f"{handle!r} has unresolved imports: link it with zeModuleDynamicLink first",
                backend="level_zero",
                native_code=result,
                native_name="ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED",
            )
        check(result, "zeKernelCreate", f"kernel {names[0]!r}")
        check(lib.zeKernelDestroy(slot[0]), "zeKernelDestroy")
    return module


def adopt_kernel(module: Module, handle: NativeHandle, owned: bool) -> Kernel:
    """Adopt a kernel of a module under the name that Level Zero reports."""
    if module.native is None:
        raise InvalidError("the module was released", backend="level_zero")
    native = _native(handle)
    kernels = (*module.kernels.values(), *module.adopted)
    if owned and any(kernel.native == native and kernel.owned for kernel in kernels):
        raise foreign_event.owned_already(handle, "a Kernel", "level_zero")
    size = ffi.new("size_t *")
    check(lib.zeKernelGetName(native, size, ffi.NULL), "zeKernelGetName", f"{handle!r} is no kernel", Errc.invalid)
    text = ffi.new("char[]", size[0] + 1)
    check(lib.zeKernelGetName(native, size, text), "zeKernelGetName")
    name = ffi.string(text).decode("utf-8", "replace")
    if name not in module.names():
        listed = ", ".join(module.names()) or "none"
        raise InvalidError(
            f"{handle!r} is a kernel {name!r}; the kernel bundle's module has {listed}: give the bundle of its module",
            backend="level_zero",
        )
    kernel = Kernel(module, name, native, owned)
    module.adopted.append(kernel)
    return kernel


# ---------------------------------------------------------------------- memory


def adopt_memory(context: Context, handle: NativeHandle, owned: bool) -> PointerRecord:
    """Adopt unified memory of the same context; owned memory can be freed.

    Memory of another context may be accessible in the driver's default one, which libraries of the process share. It
    could not be freed there.
    """
    refuse_in_fork()
    record = memory.pointer_info(context, int(handle))
    if record.kind is UsmKind.unknown:
        raise InvalidError(
            f"{int(handle):#x} is no memory of this context: it is what zeMemAllocDevice, zeMemAllocHost or "
            "zeMemAllocShared gave in the same ze_context_handle_t",
            backend="level_zero",
        )
    home = context.driver.memory_context(ffi.cast("void *", int(handle)))
    elsewhere = home is not None and not context.driver.is_same("ze_context_handle_t", home, context.handle)
    if elsewhere and (owned or not is_default(context.driver, context.handle)):
        raise _wrong_context("memory", handle, "give a Context made of that one")
    if owned:
        context.allocations[int(handle)] = Allocation(record.kind, record.device, int(handle), record.size)
    return record
