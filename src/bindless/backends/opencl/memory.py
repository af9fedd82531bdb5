"""Memory allocations and copies, by the best method of a device: unified memory, shared virtual memory, or buffers.

``memory_usm``, ``memory_svm`` and ``memory_buffers`` implement the methods. This module chooses one, and implements the
contract's memory functions with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ...drivers import opencl as driver
from ...model.enums import UsmKind
from ...model.errors import FeatureNotSupportedError, InvalidError, MemoryAllocationError
from ..common.allocation import require_rows, require_size, unknown_allocation
from ..common.fill_pattern import fill_parts
from ..contract import PointerRecord
from . import deferred_free, memory_buffers, memory_svm, memory_usm
from .context import WHOLE, Allocation, Context
from .copy_command import CopyCommand
from .device import Device
from .errors import release
from .event import Event
from .fork_guard import in_fork, refuse_in_fork
from .queue import Command, Queue

__all__ = [
    "Means",
    "advise",
    "allocate",
    "allocate_pitched",
    "copy",
    "copy_commands",
    "fill",
    "free",
    "means_of",
    "pitch_align",
    "pointer_info",
    "prefetch",
    "row_reserve",
]

lib, ffi = driver.lib, driver.ffi

# Row alignment of pitched memory for devices without images over linear memory.
_ROW_ALIGN = 64
_WIDEST_PIXEL = 16


class Means(Protocol):
    """The interface of the three modules."""

    def kinds(self, device: Device) -> frozenset[UsmKind]:
        """Kinds of memory that a device supports by this method."""

    def allocate(
        self, context: Context, device: Device, kind: UsmKind, nbytes: int, alignment: int, reserve: int
    ) -> Allocation:
        """Allocate memory, longer by the reserve; raises the driver's error if there is not enough."""

    def free(self, context: Context, allocation: Allocation) -> None: ...

    def find(self, context: Context, address: int) -> PointerRecord:
        """The allocation of an address that this context did not allocate."""

    def copies(self, context: Context, dst: int, src: int, nbytes: int) -> list[CopyCommand]:
        """The sequence of commands that copy between addresses of the context or the process."""

    def fill(self, context: Context, dst: int, pattern: bytes, nbytes: int) -> Command:
        """The command of a fill at a multiple of the pattern's size."""

    def prefetch(self, context: Context, address: int, nbytes: int) -> Command | None:
        """A command that migrates memory to the queue's device; None if no migration is needed."""


def means_of(device: Device) -> Means:
    """The method of a device, the same for all devices that can share a context with it."""
    if device.has_usm:
        return memory_usm
    return memory_svm if device.svm else memory_buffers


def _means(context: Context, *addresses: int) -> Means:
    """The method of a context, or for addresses that include buffers."""
    if any(map(memory_buffers.is_number, addresses)):
        return memory_buffers
    return means_of(context.devices[0])


# ---------------------------------------------------------------------- allocations


def allocate(context: Context, device: Device | None, kind: UsmKind, nbytes: int, alignment: int = 0) -> int:
    """Allocate memory at the driver's own alignment, or a larger one."""
    require_size(nbytes, "opencl")
    refuse_in_fork()
    place = context.device(device)
    deferred_free.sweep()
    means = _means(context)
    if kind not in means.kinds(place):
        raise FeatureNotSupportedError(
            f"{place.name} has no {kind} memory: ask device.has(Aspect.usm_{kind}_allocations) first", backend="opencl"
        )
    _require_size(place, kind, nbytes)
    more = row_reserve(place)
    allocation = means.allocate(context, place, kind, nbytes, max(alignment, more), more)
    context.add(allocation)
    return allocation.base


def _require_size(device: Device, kind: UsmKind, nbytes: int) -> None:
    most = device.number(lib.CL_DEVICE_MAX_MEM_ALLOC_SIZE)
    if most and nbytes > most and kind is not UsmKind.host:
        raise MemoryAllocationError(
            f"{nbytes} bytes of {kind} memory; {device.name} has at most {most} in one allocation "
            "(info.device.max_mem_alloc_size): ask for less",
            backend="opencl",
        )


def row_reserve(device: Device) -> int:
    """Alignment of allocations, and extra bytes for images over them: an image may begin at any multiple of it, and
    OpenCL requires the whole last row, including its padding.
    """
    return device.linear_alignment * _WIDEST_PIXEL if device.has_linear_images else 0


def pitch_align(device: Device) -> int:
    """Alignment in bytes of the rows of pitched memory: the requirement of images of the widest pixels."""
    return row_reserve(device) or _ROW_ALIGN


def allocate_pitched(
    context: Context, device: Device, width_in_bytes: int, height: int, element_size: int
) -> tuple[int, int]:
    """Device memory with rows that images can be made over where the device has such, and the bytes between rows."""
    require_rows(width_in_bytes, height, "opencl")
    unit = pitch_align(device)
    pitch = -(-width_in_bytes // unit) * unit
    return allocate(context, device, UsmKind.device, pitch * height, 0), pitch


def free(context: Context, address: int) -> None:
    """Free memory of this context; commands that use it are complete."""
    allocation = context.remove(address)
    if allocation is None:
        raise unknown_allocation(address, "opencl")
    if allocation.owned and not in_fork() and context.handle is not None:
        deferred_free.sweep()
        means, whole = _means(context, address), allocation.parts.get(WHOLE)
        if whole is not None and deferred_free.is_held(whole):
            lender: Any = deferred_free.Lender(context)
            deferred_free.free_after(whole, lambda: means.free(lender, allocation))
            return
        for part in allocation.parts.values():
            release(lib.clReleaseMemObject(part), "clReleaseMemObject")
        means.free(context, allocation)


def pointer_info(context: Context, address: int) -> PointerRecord:
    """The allocation of an address. Memory of other libraries counts if it belongs to the same native context."""
    refuse_in_fork()
    own = context.allocation_of(address)
    if own is not None:
        return PointerRecord(own.kind, own.base, own.size, own.device)
    return _means(context).find(context, address)


# ---------------------------------------------------------------------- commands


def copy_commands(context: Context, dst: int, src: int, nbytes: int) -> list[CopyCommand]:
    """The sequence of commands that copy bytes."""
    return _means(context, dst, src).copies(context, dst, src, nbytes)


def copy(queue: Queue, dst: int, src: int, nbytes: int, waits: Sequence[Event] = ()) -> Event:
    """Copy between any two addresses."""
    commands = copy_commands(queue.context, dst, src, nbytes) if nbytes else []
    if not commands:
        return queue.run_all((), "", waits)
    return queue.run_in_sequence(commands, "copy", waits, f"{nbytes} bytes from {src:#x} to {dst:#x}")


def fill(queue: Queue, dst: int, pattern: bytes, count: int, waits: Sequence[Event] = ()) -> Event:
    """Write ``count`` copies of a pattern."""
    means, context = _means(queue.context, dst), queue.context
    parts = fill_parts(dst, pattern, len(pattern) * count)
    commands = [means.fill(context, *part) for part in parts]
    return queue.run_all(commands, "fill", waits, f"{count} times {pattern.hex()} at {dst:#x}")


def prefetch(queue: Queue, address: int, nbytes: int, waits: Sequence[Event] = ()) -> Event:
    """Migrate shared memory to the device; does nothing for other memory, and if device and host share memory."""
    command = None
    unified = queue.device.number(lib.CL_DEVICE_HOST_UNIFIED_MEMORY)
    if nbytes and not unified and pointer_info(queue.context, address).kind is UsmKind.shared:
        command = _means(queue.context).prefetch(queue.context, address, nbytes)
    return queue.run_all((command,) if command else (), "prefetch", waits, f"{nbytes} bytes at {address:#x}")


def advise(queue: Queue, address: int, nbytes: int, advice: int, waits: Sequence[Event] = ()) -> Event:
    """Do nothing in queue order: OpenCL has no memory advice.

    Raises
    ------
    InvalidError
        the advice is negative.
    """
    if advice < 0:
        raise InvalidError(f"advice={advice}: it is a number of the driver, 0 for its default", backend="opencl")
    return queue.run_all((), "advise", waits)
