"""Device memory shared with other processes. A CUDA IPC handle is plain bytes, and can only be opened in another
process.
"""

from __future__ import annotations

from ...drivers import cuda as driver
from ...model.enums import Errc
from ...model.errors import InvalidError
from ..contract.low_level import SharedMemory
from .context import Context
from .device import Device
from .errors import check, release
from .fork_guard import in_fork

__all__ = ["close_memory", "end_export", "export_memory", "open_memory"]

lib, ffi = driver.lib, driver.ffi


def export_memory(context: Context, address: int) -> SharedMemory:
    """Export memory of cuMemAlloc for another process."""
    allocation = next(
        (item for start, item in context.allocations.items() if start <= address < start + max(item.size, 1)), None
    )
    if allocation is None:
        raise InvalidError(f"{address:#x} lies in no allocation of this context", backend="cuda")
    handle = ffi.new("CUipcMemHandle *")
    with allocation.primary:
        result = lib.cuIpcGetMemHandle(handle, allocation.base)
    check(result, "cuIpcGetMemHandle", f"memory at {address:#x}", Errc.invalid)
    return SharedMemory(bytes(ffi.buffer(handle)), address - allocation.base)


def end_export(context: Context, data: bytes) -> None:
    """Do nothing: a CUDA IPC handle holds no resource."""


def open_memory(context: Context, device: Device, shared: SharedMemory) -> int:
    """Map memory of another process."""
    handle, slot = ffi.new("CUipcMemHandle *"), ffi.new("CUdeviceptr *")
    ffi.memmove(handle, shared.data, ffi.sizeof("CUipcMemHandle"))
    primary = context.primary(device)
    with primary:
        result = lib.cuIpcOpenMemHandle(slot, handle[0], lib.CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
    check(
        result,
        "cuIpcOpenMemHandle",
        "the handle is none, its memory has been freed, or it is of this process, where CUDA does not open it",
        Errc.invalid,
    )
    context.opened[int(slot[0])] = primary
    return int(slot[0])


def close_memory(context: Context, address: int) -> None:
    """Unmap the memory; its owner keeps it."""
    primary = context.opened.pop(address)
    if not in_fork():
        with primary:
            release(lib.cuIpcCloseMemHandle(address), "cuIpcCloseMemHandle")
