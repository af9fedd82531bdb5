"""Unified memory: allocation, queries, and the commands that copy and fill it."""

from __future__ import annotations

from collections.abc import Sequence

from ...drivers import level_zero as driver
from ...drivers.common.cffi_types import CData
from ...model.enums import Errc, UsmKind
from ...model.errors import InvalidError, MemoryAllocationError
from ..common.allocation import require_rows, require_size, unknown_allocation
from ..common.fill_pattern import fill_parts
from ..contract import PointerRecord
from .command_list import Command, in_sequence
from .context import Allocation, Context
from .device import Device
from .errors import SUCCESS, check, fail, release
from .event import Event
from .fork_guard import in_fork, refuse_in_fork
from .queue import Queue
from .stream import nothing

__all__ = ["advise", "allocate", "allocate_pitched", "copy", "fill", "free", "pitch_of", "pointer_info", "prefetch"]

lib, ffi = driver.lib, driver.ffi

_KINDS = {
    lib.ZE_MEMORY_TYPE_HOST: UsmKind.host,
    lib.ZE_MEMORY_TYPE_DEVICE: UsmKind.device,
    lib.ZE_MEMORY_TYPE_SHARED: UsmKind.shared,
}

# Smaller copies finish before another engine would start.
_LARGE = 1 << 20

# The element sizes of images over linear memory.
_ELEMENT_SIZES = (1, 2, 4, 8, 16)


def address_of(pointer: CData) -> int:
    return int(ffi.cast("uintptr_t", pointer))


def allocate(context: Context, device: Device | None, kind: UsmKind, nbytes: int, alignment: int = 0) -> int:
    """Allocate memory at the driver's own alignment, or a larger one."""
    require_size(nbytes, "level_zero")
    refuse_in_fork()
    place = context.device(device)
    of_device = driver.make_struct("ze_device_mem_alloc_desc_t")
    of_host = driver.make_struct("ze_host_mem_alloc_desc_t")
    slot = ffi.new("void **")
    if kind is UsmKind.device:
        call = "zeMemAllocDevice"
        result = lib.zeMemAllocDevice(context.handle, of_device, nbytes, alignment, place.handle, slot)
    elif kind is UsmKind.shared:
        call = "zeMemAllocShared"
        result = lib.zeMemAllocShared(context.handle, of_device, of_host, nbytes, alignment, place.handle, slot)
    elif kind is UsmKind.host:
        call = "zeMemAllocHost"
        result = lib.zeMemAllocHost(context.handle, of_host, nbytes, alignment, slot)
    else:
        raise InvalidError(f"kind={kind}: memory is device, host or shared", backend="level_zero")
    if result != SUCCESS:
        details = (
            f"{nbytes} bytes of {kind} memory; {place.name} has {place.memory_size} in all and at most "
            f"{int(place.properties.maxMemAllocSize)} in one allocation: free memory or ask for less"
        )
        fail(result, call, details, Errc.memory_allocation)
    address = address_of(slot[0])
    context.allocations[address] = Allocation(kind, None if kind is UsmKind.host else place, address, nbytes)
    return address


def pitch_of(context: Context, device: Device, width: int, height: int, element_size: int) -> int:
    """The driver's row pitch in bytes of a two-dimensional image over linear memory.

    Parameters
    ----------
    width
        pixels.
    """
    ask = context.driver.require("zeMemGetPitchFor2dImage", "1.9")
    slot = ffi.new("size_t *")
    check(
        ask(context.handle, device.handle, width, height, element_size, slot),
        "zeMemGetPitchFor2dImage",
        f"{width} x {height} pixels of {element_size} bytes",
        Errc.memory_allocation,
    )
    return int(slot[0])


def _require_limits(device: Device, width: int, height: int) -> None:
    """Refuse sizes beyond the device's limits, for which Intel's driver aborts the process."""
    widest, highest = int(device.pitched.maxImageLinearWidth), int(device.pitched.maxImageLinearHeight)
    for name, value, most in (("width", width, widest), ("height", height, highest)):
        if value > most:
            raise MemoryAllocationError(
                f"{name}={value}: images of {device.name} over linear memory have at most {most} pixels of it",
                backend="level_zero",
            )


def allocate_pitched(
    context: Context, device: Device, width_in_bytes: int, height: int, element_size: int
) -> tuple[int, int]:
    """Allocate device memory with rows that suit images; return its address and the row pitch in bytes."""
    require_rows(width_in_bytes, height, "level_zero")
    refuse_in_fork()
    place = context.device(device)
    size = next((size for size in _ELEMENT_SIZES if size >= element_size), _ELEMENT_SIZES[-1])
    width = -(-width_in_bytes // size)
    _require_limits(place, width, height)
    pitch = pitch_of(context, place, width, height, size)
    return allocate(context, place, UsmKind.device, pitch * height), pitch


def free(context: Context, address: int) -> None:
    """Free memory of this context; commands that use it are complete."""
    allocation = context.allocations.pop(address, None)
    if allocation is None:
        raise unknown_allocation(address, "level_zero")
    if not in_fork():
        release(lib.zeMemFree(context.handle, ffi.cast("void *", allocation.base)), "zeMemFree")


def pointer_info(context: Context, address: int) -> PointerRecord:
    """The allocation of an address. Memory of other libraries counts if it belongs to the same native context."""
    refuse_in_fork()
    pointer = ffi.cast("void *", address)
    properties, owner = driver.make_struct("ze_memory_allocation_properties_t"), ffi.new("ze_device_handle_t *")
    result = lib.zeMemGetAllocProperties(context.handle, pointer, properties, owner)
    kind = _KINDS.get(properties.type) if result == SUCCESS else None
    if kind is None:
        return PointerRecord(UsmKind.unknown)
    base, size = ffi.new("void **"), ffi.new("size_t *")
    check(lib.zeMemGetAddressRange(context.handle, pointer, base, size), "zeMemGetAddressRange", f"{address:#x}")
    own = context.allocations.get(address)
    if own is not None:
        return PointerRecord(kind, address, own.size, own.device)
    place = next((device for device in context.devices if device.handle == owner[0]), None)
    return PointerRecord(kind, address_of(base[0]), int(size[0]), place)


# ---------------------------------------------------------------------- commands


def copy(queue: Queue, dst: int, src: int, nbytes: int, waits: Sequence[Event] = ()) -> Event:
    """Copy between any two addresses; the driver detects the kind of each memory."""
    if not nbytes:
        return queue.run(nothing, "zeCommandListAppendBarrier", waits)
    target, source = ffi.cast("void *", dst), ffi.cast("void *", src)
    return queue.run(
        lambda own, *events: lib.zeCommandListAppendMemoryCopy(own, target, source, nbytes, *events),
        "zeCommandListAppendMemoryCopy",
        waits,
        f"{nbytes} bytes from {src:#x} to {dst:#x}",
        copies=nbytes >= _LARGE,
    )


def fill(queue: Queue, dst: int, pattern: bytes, count: int, waits: Sequence[Event] = ()) -> Event:
    """Write ``count`` copies of a pattern."""
    parts = [_part(*part) for part in fill_parts(dst, pattern, len(pattern) * count)]
    if not parts:
        return queue.run(nothing, "zeCommandListAppendBarrier", waits)
    return queue.run(
        parts[-1],
        "zeCommandListAppendMemoryFill",
        waits,
        f"{count} times {pattern.hex()} at {dst:#x}",
        first=in_sequence(parts[:-1]) if len(parts) > 1 else None,
    )


def _part(address: int, pattern: bytes, nbytes: int) -> Command:
    pointer, size = ffi.cast("void *", address), len(pattern)
    return lambda own, *events: lib.zeCommandListAppendMemoryFill(own, pointer, pattern, size, nbytes, *events)


def _migrates(queue: Queue, address: int) -> bool:
    """Whether the memory migrates between host and device, so that hints have an effect."""
    return pointer_info(queue.context, address).kind is UsmKind.shared


def _hint(queue: Queue, hint: CData, call: str, address: int, nbytes: int, waits: Sequence[Event]) -> Event:
    """A command without events."""
    if not nbytes or not _migrates(queue, address):
        return queue.run(nothing, call, waits)

    def command(own: CData, signal: CData, count: int, array: CData) -> int:
        result: int = lib.zeCommandListAppendWaitOnEvents(own, count, array) if count else SUCCESS
        if result == SUCCESS:
            result = hint(own)
        if result == SUCCESS and signal != ffi.NULL:
            result = nothing(own, signal, 0, ffi.NULL)
        return result

    return queue.run(command, call, waits, f"{nbytes} bytes at {address:#x}")


def prefetch(queue: Queue, address: int, nbytes: int, waits: Sequence[Event] = ()) -> Event:
    """Migrate shared memory to the device; does nothing for other memory."""
    pointer = ffi.cast("void *", address)
    return _hint(
        queue,
        lambda own: lib.zeCommandListAppendMemoryPrefetch(own, pointer, nbytes),
        "zeCommandListAppendMemoryPrefetch",
        address,
        nbytes,
        waits,
    )


# The advice that 0, SYCL's "default behaviour", unsets.
_DEFAULTS = (
    lib.ZE_MEMORY_ADVICE_CLEAR_READ_MOSTLY,
    lib.ZE_MEMORY_ADVICE_CLEAR_PREFERRED_LOCATION,
    lib.ZE_MEMORY_ADVICE_CLEAR_NON_ATOMIC_MOSTLY,
)
_MOST_ADVICE = lib.ZE_MEMORY_ADVICE_CLEAR_SYSTEM_MEMORY_PREFERRED_LOCATION


def advise(queue: Queue, address: int, nbytes: int, advice: int, waits: Sequence[Event] = ()) -> Event:
    """Advise the driver on the use of shared memory: ze_memory_advice_t 1 to 9, or 0 for the default behaviour.

    SYCL's default replaces Level Zero's own 0, mostly read.
    """
    if not 0 <= advice <= _MOST_ADVICE:
        raise InvalidError(
            f"advice={advice}: Level Zero supports 0 (default) and ze_memory_advice_t 1 to {_MOST_ADVICE}",
            backend="level_zero",
        )
    pointer, device = ffi.cast("void *", address), queue.device.handle

    def hint(own: CData) -> int:
        result = SUCCESS
        for value in _DEFAULTS if advice == 0 else (advice,):
            if result == SUCCESS:
                result = lib.zeCommandListAppendMemAdvise(own, device, pointer, nbytes, value)
        return int(result)

    return _hint(queue, hint, "zeCommandListAppendMemAdvise", address, nbytes, waits)
