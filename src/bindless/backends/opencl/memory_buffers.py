"""Device memory by buffers, for drivers of OpenCL 1 and for buffers that were created elsewhere.

An address is a number that stands for an offset in a cl_mem. Kernels accept such an address as an argument only: the
start of a buffer, or an offset where a sub-buffer may begin. These addresses have no meaning inside a kernel.
"""

from __future__ import annotations

import itertools

from ...core.lock import Lock
from ...drivers import opencl as driver
from ...drivers.common.cffi_types import CData
from ...model.enums import UsmKind
from ...model.errors import InvalidError
from ..contract import PointerRecord
from .context import Allocation, Context
from .copy_command import CopyCommand, copy_bytes
from .device import Device
from .errors import SUCCESS, check, create, release
from .fork_guard import in_fork
from .memory_svm import as_buffer, is_coarse
from .queue import Command

__all__ = [
    "NUMBERS",
    "allocate",
    "around",
    "buffer_of",
    "copies",
    "fill",
    "find",
    "free",
    "is_number",
    "kinds",
    "prefetch",
]

lib, ffi = driver.lib, driver.ffi

# Distant from the addresses of a process, and never reused.
NUMBERS = range(1 << 60, 1 << 62)
_GAP = 1 << 16
_numbers = itertools.count(NUMBERS.start, _GAP)
_lock = Lock()


def kinds(device: Device) -> frozenset[UsmKind]:
    return frozenset((UsmKind.device,))


def allocate(
    context: Context, device: Device, kind: UsmKind, nbytes: int, alignment: int, reserve: int = 0
) -> Allocation:
    """Allocate a buffer, and a number for it."""
    slot = ffi.new("cl_int *")
    buffer = lib.clCreateBuffer(context.handle, lib.CL_MEM_READ_WRITE, nbytes + reserve, ffi.NULL, slot)
    if slot[0] != SUCCESS:
        raise device.no_memory(slot[0], "clCreateBuffer", kind, nbytes)
    return Allocation(kind, device, _number(nbytes, alignment), nbytes, buffer)


def around(buffer: CData, device: Device, nbytes: int) -> Allocation:
    """Allocation record of a foreign ``cl_mem``; takes the caller's reference."""
    return Allocation(UsmKind.device, device, _number(nbytes, 0), nbytes, buffer)


def is_number(address: int) -> bool:
    """Whether an address is one of these numbers."""
    return address in NUMBERS


def _number(nbytes: int, alignment: int) -> int:
    """An address that no allocation had or has."""
    global _numbers
    with _lock:
        while True:
            numbers = _numbers
            address = next(numbers)
            unit = max(alignment, _GAP)
            address = -(-address // unit) * unit
            following = itertools.count(-(-(address + nbytes + 1) // _GAP) * _GAP, _GAP)
            if _numbers is numbers:  # else a finalizer has taken addresses meanwhile
                _numbers = following
                return address


def free(context: Context, allocation: Allocation) -> None:
    """Release the buffer; commands that use it keep it."""
    release(lib.clReleaseMemObject(allocation.buffer), "clReleaseMemObject")


def find(context: Context, address: int) -> PointerRecord:
    return PointerRecord(UsmKind.unknown)


def _place(context: Context, address: int, nbytes: int) -> tuple[CData, int] | None:
    """Buffer and offset of an address; None for memory of the process."""
    allocation = context.allocation_of(address)
    if allocation is None:
        if is_number(address):
            raise InvalidError(
                f"{address:#x} stands for a buffer that was freed, or is of another context", backend="opencl"
            )
        return None
    offset = address - allocation.base
    if offset + nbytes > allocation.size:
        raise InvalidError(
            f"{nbytes} bytes at {address:#x}: the allocation ends {allocation.size - offset} bytes behind it",
            backend="opencl",
        )
    if allocation.buffer is None:  # Memory with an address: the process's for commands, if the host can access it.
        device = context.devices[0]
        return None if device.has_usm or not is_coarse(device) else (as_buffer(context, allocation), offset)
    return allocation.buffer, offset


def copies(context: Context, dst: int, src: int, nbytes: int) -> list[CopyCommand]:
    """The copy command for these two; a copy between memory of the process goes through a buffer."""
    to, of = _place(context, dst, nbytes), _place(context, src, nbytes)
    if to is not None and of is not None:
        return [copy_bytes(lib.BINDLESS_COPY_BUFFER, of, to, nbytes)]
    if to is not None:
        return [copy_bytes(lib.BINDLESS_WRITE_BUFFER, src, to, nbytes)]
    if of is not None:
        return [copy_bytes(lib.BINDLESS_READ_BUFFER, of, dst, nbytes)]
    between = Temporary(context, nbytes)
    buffer = between.buffer, 0
    return [
        copy_bytes(lib.BINDLESS_WRITE_BUFFER, src, buffer, nbytes, between),
        copy_bytes(lib.BINDLESS_READ_BUFFER, buffer, dst, nbytes, between),
    ]


class Temporary:
    """A buffer for the duration of the submission of commands: the driver keeps it until they have run."""

    def __init__(self, context: Context, nbytes: int) -> None:
        self.buffer = create(
            "clCreateBuffer", context.handle, lib.CL_MEM_READ_WRITE, nbytes, ffi.NULL, details=f"{nbytes} bytes between"
        )

    def close(self) -> None:
        """Release the buffer, after the last command was submitted."""
        buffer, self.buffer = self.buffer, None
        if buffer is not None and not in_fork():
            lib.clReleaseMemObject(buffer)

    def __del__(self) -> None:
        self.close()


def fill(context: Context, dst: int, pattern: bytes, nbytes: int) -> Command:
    """The command of a fill; the driver copies the pattern."""
    place = _place(context, dst, nbytes)
    if place is None:
        raise InvalidError(f"{dst:#x} is no memory of this context: fill takes device memory", backend="opencl")
    buffer, offset = place
    return lambda queue, *events: lib.clEnqueueFillBuffer(queue, buffer, pattern, len(pattern), offset, nbytes, *events)


def prefetch(context: Context, address: int, nbytes: int) -> Command | None:
    return None


def buffer_of(context: Context, address: int, alignment: int = 0) -> CData:
    """A cl_mem that begins at an address: the buffer, or a sub-buffer of it; both belong to the allocation.

    Parameters
    ----------
    alignment
        alignment of the offset in bytes, in addition to that of sub-buffers.

    Raises
    ------
    InvalidError
        no buffer can begin there.
    """
    allocation = context.allocation_of(address)
    if allocation is None or allocation.buffer is None:
        raise InvalidError(f"{address:#x} is no memory of this context", backend="opencl")
    offset = address - allocation.base
    if not offset:
        return allocation.buffer
    unit = max(max(device.sub_buffer_alignment for device in context.devices), alignment)
    if offset % unit:
        raise InvalidError(
            f"{address:#x} is {offset} bytes into an allocation: this driver has buffers, not addresses, and a "
            f"kernel's memory begins at a multiple of {unit} bytes there; pass the allocation and an offset as a "
            "number",
            backend="opencl",
        )
    part = allocation.parts.get(offset)
    if part is None:
        region = ffi.new("cl_buffer_region *", (offset, allocation.size - offset))
        part = create(
            "clCreateSubBuffer",
            allocation.buffer,
            lib.CL_MEM_READ_WRITE,
            lib.CL_BUFFER_CREATE_TYPE_REGION,
            region,
            details=f"{offset} bytes into {allocation.size}",
        )
        first = allocation.parts.setdefault(offset, part)
        if first is not part:  # Another thread was faster.
            check(lib.clReleaseMemObject(part), "clReleaseMemObject")
            part = first
    return part
