"""Memory by cl_intel_unified_shared_memory: device, host and shared allocations with addresses."""

from __future__ import annotations

from ...drivers import opencl as driver
from ...drivers.common.cffi_types import CData
from ...model.enums import UsmKind
from ..contract import PointerRecord
from .context import Allocation, Context
from .copy_command import CopyCommand, copy_bytes
from .device import Device
from .errors import SUCCESS, release
from .queue import Command

__all__ = ["allocate", "allow_indirect_access", "copies", "fill", "find", "free", "kinds", "prefetch"]

lib, ffi = driver.lib, driver.ffi

_CAPABILITIES = {
    UsmKind.device: lib.CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL,
    UsmKind.host: lib.CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL,
    UsmKind.shared: lib.CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL,
}
_KINDS = {
    lib.CL_MEM_TYPE_HOST_INTEL: UsmKind.host,
    lib.CL_MEM_TYPE_DEVICE_INTEL: UsmKind.device,
    lib.CL_MEM_TYPE_SHARED_INTEL: UsmKind.shared,
}
_INDIRECT = (
    lib.CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL,
    lib.CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL,
    lib.CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL,
)


def _pointer(address: int) -> CData:
    return ffi.cast("void *", address)


def kinds(device: Device) -> frozenset[UsmKind]:
    """The kinds of memory in the device's capabilities."""
    return frozenset(
        kind for kind, name in _CAPABILITIES.items() if device.number(name) & lib.CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL
    )


def allocate(
    context: Context, device: Device, kind: UsmKind, nbytes: int, alignment: int, reserve: int = 0
) -> Allocation:
    """Allocate memory of a kind."""
    owner = None if kind is UsmKind.host else device
    start = base = _allocated(context, device, kind, nbytes + reserve, alignment)
    if alignment and start % alignment:  # PoCL 5 ignores the alignment: align within a larger allocation.
        release(lib.clMemFreeINTEL(context.handle, _pointer(start)), "clMemFreeINTEL")
        start = _allocated(context, device, kind, nbytes + reserve + alignment, 0)
        base = -(-start // alignment) * alignment
    return Allocation(kind, owner, base, nbytes, start=start)


def _allocated(context: Context, device: Device, kind: UsmKind, nbytes: int, alignment: int) -> int:
    """The start of the driver's own allocation."""
    slot = ffi.new("cl_int *")
    if kind is UsmKind.host:
        call = "clHostMemAllocINTEL"
        pointer = lib.clHostMemAllocINTEL(context.handle, ffi.NULL, nbytes, alignment, slot)
    else:
        call = "clDeviceMemAllocINTEL" if kind is UsmKind.device else "clSharedMemAllocINTEL"
        pointer = getattr(lib, call)(context.handle, device.handle, ffi.NULL, nbytes, alignment, slot)
    if slot[0] != SUCCESS or pointer == ffi.NULL:
        raise device.no_memory(slot[0] or lib.CL_OUT_OF_HOST_MEMORY, call, kind, nbytes, alignment)
    return int(ffi.cast("uintptr_t", pointer))


def free(context: Context, allocation: Allocation) -> None:
    """Free memory; commands that use it are complete."""
    release(lib.clMemFreeINTEL(context.handle, _pointer(allocation.start)), "clMemFreeINTEL")


def find(context: Context, address: int) -> PointerRecord:
    """The driver's information about an address."""
    pointer, slot = _pointer(address), ffi.new("cl_ulong *")

    def ask(name: int, size: int) -> int:
        slot[0] = 0
        result = lib.clGetMemAllocInfoINTEL(context.handle, pointer, name, size, slot, ffi.NULL)
        return int(slot[0]) if result == SUCCESS else 0

    kind = _KINDS.get(ask(lib.CL_MEM_ALLOC_TYPE_INTEL, 4))
    base = ask(lib.CL_MEM_ALLOC_BASE_PTR_INTEL, 8) if kind is not None else 0
    if kind is None or not base:
        return PointerRecord(UsmKind.unknown)
    owner = ask(lib.CL_MEM_ALLOC_DEVICE_INTEL, 8)
    place = next((device for device in context.devices if device.address == owner), None)
    return PointerRecord(kind, base, ask(lib.CL_MEM_ALLOC_SIZE_INTEL, 8), place)


def copies(context: Context, dst: int, src: int, nbytes: int) -> list[CopyCommand]:
    """One copy command for any two memories."""
    return [copy_bytes(lib.BINDLESS_COPY_UNIFIED, src, dst, nbytes)]


def fill(context: Context, dst: int, pattern: bytes, nbytes: int) -> Command:
    """The command of a fill; the driver copies the pattern."""
    target = _pointer(dst)
    return lambda queue, *events: lib.clEnqueueMemFillINTEL(queue, target, pattern, len(pattern), nbytes, *events)


def prefetch(context: Context, address: int, nbytes: int) -> Command | None:
    """Migrate shared memory to the queue's device; None if the driver cannot."""
    if not context.platform.offers("clEnqueueMigrateMemINTEL"):
        return None
    pointer = _pointer(address)
    return lambda queue, *events: lib.clEnqueueMigrateMemINTEL(queue, pointer, nbytes, 0, *events)


def allow_indirect_access(kernel: CData) -> int:
    """Allow a kernel to use addresses found in memory."""
    yes = ffi.new("cl_bool *", 1)
    for name in _INDIRECT:
        result = lib.clSetKernelExecInfo(kernel, name, 4, yes)
        if result != SUCCESS:
            return int(result)
    return int(SUCCESS)
