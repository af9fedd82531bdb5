"""Memory by shared virtual memory of OpenCL 2: allocations with addresses; fine-grained ones are accessible to the
host.
"""

from __future__ import annotations

from ...drivers import opencl as driver
from ...drivers.common.cffi_types import CData
from ...model.enums import UsmKind
from ..contract import PointerRecord
from .context import WHOLE, Allocation, Context
from .copy_command import CopyCommand, copy_bytes
from .device import Device
from .errors import create, release
from .queue import Command

__all__ = ["allocate", "as_buffer", "copies", "fill", "find", "free", "is_coarse", "kinds", "prefetch"]

lib, ffi = driver.lib, driver.ffi

# Bytes of the largest type: drivers support no larger alignment, so larger ones need extra memory.
_MOST_ALIGNED = 128

_FINE = lib.CL_DEVICE_SVM_FINE_GRAIN_BUFFER


def _pointer(address: int) -> CData:
    return ffi.cast("void *", address)


def kinds(device: Device) -> frozenset[UsmKind]:
    """All kinds if host and device may use memory at the same time; otherwise device memory, which commands copy."""
    return frozenset((UsmKind.device, UsmKind.host, UsmKind.shared) if device.svm & _FINE else (UsmKind.device,))


def allocate(
    context: Context, device: Device, kind: UsmKind, nbytes: int, alignment: int, reserve: int = 0
) -> Allocation:
    """Allocate memory of the context; the kind only names its users."""
    flags = lib.CL_MEM_READ_WRITE
    if kind is not UsmKind.device:
        flags |= lib.CL_MEM_SVM_FINE_GRAIN_BUFFER
        if device.svm & lib.CL_DEVICE_SVM_ATOMICS:
            flags |= lib.CL_MEM_SVM_ATOMICS
    more = alignment if alignment > _MOST_ALIGNED else 0
    pointer = lib.bindless_allocate_shared_virtual(
        context.state, flags, nbytes + reserve + more, 0 if more else alignment
    )
    if pointer == ffi.NULL:
        raise device.no_memory(lib.CL_MEM_OBJECT_ALLOCATION_FAILURE, "clSVMAlloc", kind, nbytes, alignment)
    owner = None if kind is UsmKind.host else device
    start = int(ffi.cast("uintptr_t", pointer))
    base = -(-start // more) * more if more else start
    return Allocation(kind, owner, base, nbytes, start=start)


def free(context: Context, allocation: Allocation) -> None:
    """Free memory; commands that use it are complete. No launch lists it meanwhile, because drivers read the listed
    memory.
    """
    lib.bindless_free_shared_virtual(context.state, _pointer(allocation.start))


def find(context: Context, address: int) -> PointerRecord:
    """None: the driver has no query for addresses."""
    return PointerRecord(UsmKind.unknown)


def copies(context: Context, dst: int, src: int, nbytes: int) -> list[CopyCommand]:
    """One copy command for any two memories."""
    return [copy_bytes(lib.BINDLESS_COPY_SHARED_VIRTUAL, src, dst, nbytes)]


def is_coarse(device: Device) -> bool:
    """Whether the host can access this memory only after mapping it."""
    return not device.svm & _FINE


def as_buffer(context: Context, own: Allocation) -> CData:
    """The cl_mem of an allocation, created once: both end together. NVIDIA's driver blocks its release until the
    commands that use it are complete.
    """
    buffer = own.parts.get(WHOLE)
    if buffer is None:
        flags = lib.CL_MEM_READ_WRITE | lib.CL_MEM_USE_HOST_PTR
        fresh = create("clCreateBuffer", context.handle, flags, own.size, _pointer(own.base))
        buffer = own.parts.setdefault(WHOLE, fresh)
        if buffer is not fresh:  # Another thread was faster.
            release(lib.clReleaseMemObject(fresh), "clReleaseMemObject")
    return buffer


def fill(context: Context, dst: int, pattern: bytes, nbytes: int) -> Command:
    """The command of a fill; the driver copies the pattern."""
    target, own = _pointer(dst), context.allocation_of(dst)
    if own is None or not is_coarse(context.devices[0]):
        return lambda queue, *events: lib.clEnqueueSVMMemFill(queue, target, pattern, len(pattern), nbytes, *events)

    # NVIDIA's clEnqueueSVMMemFill leaks the context, with half a gigabyte of the device's memory.
    memory, offset = as_buffer(context, own), dst - own.base
    return lambda queue, *events: lib.clEnqueueFillBuffer(queue, memory, pattern, len(pattern), offset, nbytes, *events)


def prefetch(context: Context, address: int, nbytes: int) -> Command | None:
    """Migrate memory to the queue's device; None if the driver cannot."""
    if context.devices[0].version < (2, 1) or not context.platform.offers("clEnqueueSVMMigrateMem"):
        return None
    pointers, sizes = ffi.new("void const *[]", [_pointer(address)]), ffi.new("size_t[]", [nbytes])
    return lambda queue, *events: lib.clEnqueueSVMMigrateMem(queue, 1, pointers, sizes, 0, *events)
