"""Unified memory: allocation, queries, and the commands that copy and fill it."""

from __future__ import annotations

from collections.abc import Sequence

from ...drivers import cuda as driver
from ...drivers.common.cffi_types import CData
from ...model.enums import Errc, UsmKind
from ...model.errors import InvalidError
from ..common.allocation import require_rows, require_size, unknown_allocation
from ..contract import PointerRecord
from .context import Allocation, Context
from .device import Device, PrimaryContext
from .errors import SUCCESS, check, release
from .event import Event
from .fork_guard import in_fork
from .pinned_staging import staged_bytes
from .queue import Queue

__all__ = ["advise", "allocate", "allocate_pitched", "copy", "fill", "free", "pointer_info", "prefetch"]

lib, ffi = driver.lib, driver.ffi

# Element sizes that cuMemAllocPitch accepts; its pitch suits textures for each of them.
_ELEMENT_SIZES = (4, 8, 16)


def _sizes(primary: PrimaryContext) -> str:
    free, total = ffi.new("size_t *"), ffi.new("size_t *")
    if lib.cuMemGetInfo(free, total) != SUCCESS:
        return primary.device.name
    return f"{free[0]} of {total[0]} bytes of {primary.device.name} are free: free memory or ask for less"


def _allocate(primary: PrimaryContext, kind: UsmKind, nbytes: int) -> int:
    """Memory at the driver's own alignment; the context is current."""
    if kind is UsmKind.device:
        slot = ffi.new("CUdeviceptr *")
        result, call = lib.cuMemAlloc(slot, nbytes), "cuMemAlloc"
    elif kind is UsmKind.shared:
        slot = ffi.new("CUdeviceptr *")
        result, call = lib.cuMemAllocManaged(slot, nbytes, lib.CU_MEM_ATTACH_GLOBAL), "cuMemAllocManaged"
    elif kind is UsmKind.host:
        pointer = ffi.new("void **")
        flags = lib.CU_MEMHOSTALLOC_PORTABLE | lib.CU_MEMHOSTALLOC_DEVICEMAP
        result, call = lib.cuMemHostAlloc(pointer, nbytes, flags), "cuMemHostAlloc"
        slot = ffi.cast("uintptr_t *", pointer)
    else:
        raise InvalidError(f"kind={kind}: memory is device, host or shared", backend="cuda")
    if result != SUCCESS:
        check(result, call, f"{nbytes} bytes of {kind} memory; {_sizes(primary)}", Errc.memory_allocation)
    return int(slot[0])


def _give_back(kind: UsmKind, base: int) -> None:
    if kind is UsmKind.host:
        release(lib.cuMemFreeHost(ffi.cast("void *", base)), "cuMemFreeHost")
    else:
        release(lib.cuMemFree(base), "cuMemFree")


def allocate(context: Context, device: Device | None, kind: UsmKind, nbytes: int, alignment: int = 0) -> int:
    """Allocate memory; host memory is pinned and accessible to every device of the process.

    The alignment always suits images over the memory.
    """
    require_size(nbytes, "cuda")
    primary = context.primary(device)
    alignment = max(alignment, primary.device.attribute(lib.CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT), 1)
    with primary:
        base = _allocate(primary, kind, nbytes)
        if base % alignment:
            _give_back(kind, base)
            base = _allocate(primary, kind, nbytes + alignment)
    address = base + -base % alignment
    context.allocations[address] = Allocation(kind, primary, base, nbytes)
    return address


def allocate_pitched(
    context: Context, device: Device, width_in_bytes: int, height: int, element_size: int
) -> tuple[int, int]:
    """Allocate device memory with rows that suit textures; return its address and the row pitch in bytes."""
    require_rows(width_in_bytes, height, "cuda")
    primary = context.primary(device)
    size = next((size for size in _ELEMENT_SIZES if size >= element_size), _ELEMENT_SIZES[-1])
    address, pitch = ffi.new("CUdeviceptr *"), ffi.new("size_t *")
    with primary:
        result = lib.cuMemAllocPitch(address, pitch, width_in_bytes, height, size)
        if result != SUCCESS:
            details = f"{width_in_bytes} bytes x {height} rows; {_sizes(primary)}"
            check(result, "cuMemAllocPitch", details, Errc.memory_allocation)
    context.allocations[address[0]] = Allocation(UsmKind.device, primary, address[0], pitch[0] * height)
    return address[0], pitch[0]


def free(context: Context, address: int) -> None:
    """Free memory of this context; the driver first waits for the device."""
    allocation = context.allocations.pop(address, None)
    if allocation is None:
        raise unknown_allocation(address, "cuda")
    if in_fork():
        return
    with allocation.primary:
        _give_back(allocation.kind, allocation.base)


# The queried pointer attributes: attribute, type of the value.
_POINTER_ATTRIBUTES = (
    (lib.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, "unsigned int *"),
    (lib.CU_POINTER_ATTRIBUTE_IS_MANAGED, "unsigned int *"),
    (lib.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, "int *"),
    (lib.CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, "CUdeviceptr *"),
    (lib.CU_POINTER_ATTRIBUTE_RANGE_SIZE, "size_t *"),
)


def _pointer_attributes(address: int) -> list[int]:
    """The attribute values, all 0 for memory that the driver does not know."""
    answers = [ffi.new(kind) for _, kind in _POINTER_ATTRIBUTES]
    attributes = ffi.new("CUpointer_attribute[]", [attribute for attribute, _ in _POINTER_ATTRIBUTES])
    slots = ffi.new("void *[]", answers)
    result = lib.cuPointerGetAttributes(len(answers), attributes, slots, address)
    return [int(answer[0]) for answer in answers] if result == SUCCESS else [0] * len(answers)


def pointer_info(context: Context, address: int) -> PointerRecord:
    """The allocation of an address. Memory of other libraries counts if a device of this context can access it."""
    with context.primary(None):
        memory_type, managed, ordinal, base, size = _pointer_attributes(address)
    device = next((device for device in context.devices if device.index == ordinal), None)
    if managed:
        kind = UsmKind.shared
    elif memory_type == lib.CU_MEMORYTYPE_HOST:
        kind = UsmKind.host
    elif memory_type == lib.CU_MEMORYTYPE_DEVICE and device is not None:
        kind = UsmKind.device
    else:
        return PointerRecord(UsmKind.unknown)
    own = context.allocations.get(address)
    if own is not None:  # For managed memory the driver reports another device, or none.
        base, size, device = address, own.size, own.primary.device
    return PointerRecord(kind, base, size, device)


# ---------------------------------------------------------------------- commands


def copy(queue: Queue, dst: int, src: int, nbytes: int, waits: Sequence[Event] = ()) -> Event:
    """Copy between any two addresses. The driver detects the kind of each memory; large pageable memory is staged
    instead.

    With pageable host memory the driver may return only after the copy, and for a copy from host to host it always
    does.
    """
    staged = staged_bytes(queue, dst, src, nbytes)
    return queue.run(
        staged or (lambda stream: lib.cuMemcpyAsync(dst, src, nbytes, stream) if nbytes else SUCCESS),
        "cuMemcpyAsync",
        waits,
        f"{nbytes} bytes from {src:#x} to {dst:#x}",
    )


_LINEAR_MEMSET = {1: lib.cuMemsetD8Async, 2: lib.cuMemsetD16Async, 4: lib.cuMemsetD32Async}
_STRIDED_MEMSET = {1: lib.cuMemsetD2D8Async, 2: lib.cuMemsetD2D16Async, 4: lib.cuMemsetD2D32Async}

# Copies of the pattern written as words; after that, copies of the written part double it.
_SEED = 4096


def _fill(stream: CData, dst: int, pattern: bytes, count: int) -> int:
    """Write the pattern in words of 4, 2 or 1 bytes: the driver supports no longer ones."""
    unit = next(unit for unit in (4, 2, 1) if dst % unit == 0 and len(pattern) % unit == 0)
    words = [int.from_bytes(pattern[i : i + unit], "little") for i in range(0, len(pattern), unit)]
    if all(word == words[0] for word in words):
        return int(_LINEAR_MEMSET[unit](dst, words[0], len(words) * count, stream))
    seed = min(count, _SEED)
    for index, word in enumerate(words):
        result = _STRIDED_MEMSET[unit](dst + index * unit, len(pattern), word, 1, seed, stream)
        if result != SUCCESS:
            return int(result)
    done, total = seed * len(pattern), count * len(pattern)
    while done < total:
        step = min(done, total - done)
        result = lib.cuMemcpyAsync(dst + done, dst, step, stream)
        if result != SUCCESS:
            return int(result)
        done += step
    return SUCCESS


def fill(queue: Queue, dst: int, pattern: bytes, count: int, waits: Sequence[Event] = ()) -> Event:
    """Write ``count`` copies of a pattern, the first at ``dst``."""
    if len(pattern) not in (1, 2, 4, 8, 16):
        raise InvalidError(f"a pattern of {len(pattern)} bytes: it has 1, 2, 4, 8 or 16", backend="cuda")
    return queue.run(
        lambda stream: _fill(stream, dst, pattern, count) if count else SUCCESS,
        "cuMemsetD2D32Async",
        waits,
        f"{count} times {len(pattern)} bytes at {dst:#x}",
    )


def _location(device: Device) -> CData:
    location = ffi.new("CUmemLocation *")
    location.type = lib.CU_MEM_LOCATION_TYPE_DEVICE
    location.id = device.index
    return location[0]


def _migrates(queue: Queue, address: int) -> bool:
    """Whether the memory migrates between host and device, so that hints have an effect."""
    if not queue.device.attribute(lib.CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS):
        return False
    queue.primary.activate()
    return bool(_pointer_attributes(address)[1])


def prefetch(queue: Queue, address: int, nbytes: int, waits: Sequence[Event] = ()) -> Event:
    """Migrate shared memory to the queue's device; does nothing for other memory, and where pages do not migrate."""
    migrates = _migrates(queue, address)

    def command(stream: CData) -> int:
        if not migrates:
            return SUCCESS
        if driver.has("cuMemPrefetchAsync"):
            return lib.cuMemPrefetchAsync(address, nbytes, _location(queue.device), 0, stream)
        return lib.cuMemPrefetchAsync_v1(address, nbytes, queue.device.handle, stream)

    return queue.run(command, "cuMemPrefetchAsync", waits, f"{nbytes} bytes at {address:#x}")


# The advice that 0, SYCL's "default behaviour", unsets.
_DEFAULTS = (
    lib.CU_MEM_ADVISE_UNSET_READ_MOSTLY,
    lib.CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION,
    lib.CU_MEM_ADVISE_UNSET_ACCESSED_BY,
)
_ADVICE = {
    0: _DEFAULTS,
    **{
        value: (value,)
        for value in (
            lib.CU_MEM_ADVISE_SET_READ_MOSTLY,
            lib.CU_MEM_ADVISE_UNSET_READ_MOSTLY,
            lib.CU_MEM_ADVISE_SET_PREFERRED_LOCATION,
            lib.CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION,
            lib.CU_MEM_ADVISE_SET_ACCESSED_BY,
            lib.CU_MEM_ADVISE_UNSET_ACCESSED_BY,
        )
    },
}


def advise(queue: Queue, address: int, nbytes: int, advice: int, waits: Sequence[Event] = ()) -> Event:
    """Advise the driver on the use of shared memory: CUmem_advise 1 to 6, or 0 for the default behaviour."""
    if advice not in _ADVICE:
        raise InvalidError(f"advice={advice}: CUDA supports 0 (default) and CUmem_advise 1 to 6", backend="cuda")
    migrates = _migrates(queue, address)

    def command(stream: CData) -> int:
        for value in _ADVICE[advice] if migrates else ():
            if driver.has("cuMemAdvise"):
                result = lib.cuMemAdvise(address, nbytes, value, _location(queue.device))
            else:
                result = lib.cuMemAdvise_v1(address, nbytes, value, queue.device.handle)
            if result != SUCCESS:
                return int(result)
        return SUCCESS

    return queue.run(command, "cuMemAdvise", waits, f"{nbytes} bytes at {address:#x}")
