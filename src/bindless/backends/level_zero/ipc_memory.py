"""Device memory shared with other processes (L0, "Inter-Process Communication").

A handle of Intel's driver holds a file descriptor, whose number is valid in one process only: the descriptor itself has
to be sent, and the receiver creates the handle from its own number. Such drivers have functions that convert between
handles and descriptors; for other drivers the bytes are enough.
"""

from __future__ import annotations

from ...drivers import level_zero as driver
from ...drivers.common.cffi_types import CData
from ...model.enums import Errc
from ..contract.low_level import SharedMemory
from .context import Context
from .device import Device
from .errors import SUCCESS, check, release
from .fork_guard import in_fork, refuse_in_fork

__all__ = ["close_memory", "end_export", "export_memory", "open_memory"]

lib, ffi = driver.lib, driver.ffi


def _handle(data: bytes) -> CData:
    """ze_ipc_mem_handle_t *."""
    handle = ffi.new("ze_ipc_mem_handle_t *")
    ffi.memmove(handle, data, ffi.sizeof("ze_ipc_mem_handle_t"))
    return handle


def export_memory(context: Context, address: int) -> SharedMemory:
    """Export memory of zeMemAllocDevice for another process."""
    refuse_in_fork()
    pointer = ffi.cast("void *", address)
    base, handle = ffi.new("void **"), ffi.new("ze_ipc_mem_handle_t *")
    check(lib.zeMemGetAddressRange(context.handle, pointer, base, ffi.NULL), "zeMemGetAddressRange", f"{address:#x}")
    check(
        lib.zeMemGetIpcHandle(context.handle, base[0], handle),
        "zeMemGetIpcHandle",
        f"memory at {address:#x}; device memory of usm_empty or malloc_device can be shared",
        Errc.invalid,
    )
    number = ffi.new("uint64_t *")
    ask = context.driver.function("zeMemGetFileDescriptorFromIpcHandleExp")
    success = ask is not None and ask(context.handle, handle[0], number) == SUCCESS
    offset = address - int(ffi.cast("uintptr_t", base[0]))
    return SharedMemory(bytes(ffi.buffer(handle)), offset, int(number[0]) if success else None)


def end_export(context: Context, data: bytes) -> None:
    """Return the handle; memory opened from it stays open."""
    put = context.driver.function("zeMemPutIpcHandle")
    if put is not None and not in_fork():
        release(put(context.handle, _handle(data)[0]), "zeMemPutIpcHandle")


def open_memory(context: Context, device: Device, shared: SharedMemory) -> int:
    """Map memory of another process."""
    refuse_in_fork()
    handle = _handle(shared.data)
    if shared.descriptor is not None:
        remake = context.driver.require("zeMemGetIpcHandleFromFileDescriptorExp", "1.6")
        check(remake(context.handle, shared.descriptor, handle), "zeMemGetIpcHandleFromFileDescriptorExp")
    slot = ffi.new("void **")
    check(
        lib.zeMemOpenIpcHandle(context.handle, context.device(device).handle, handle[0], 0, slot),
        "zeMemOpenIpcHandle",
        "the handle is none, its memory has been freed, or it is of another driver or device",
        Errc.invalid,
    )
    return int(ffi.cast("uintptr_t", slot[0]))


def close_memory(context: Context, address: int) -> None:
    """Unmap the memory; its owner keeps it."""
    if not in_fork():
        release(lib.zeMemCloseIpcHandle(context.handle, ffi.cast("void *", address)), "zeMemCloseIpcHandle")
