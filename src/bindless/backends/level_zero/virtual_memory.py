"""Virtual memory management: reserved addresses, and physical memory mapped to them (L0, "Reserved Device
Allocations").
"""

from __future__ import annotations

from ...drivers import level_zero as driver
from ...drivers.common.cffi_types import CData
from ...model.enums import Errc
from .context import Context
from .device import Device
from .errors import SUCCESS, check, fail, release
from .fork_guard import in_fork, refuse_in_fork

__all__ = [
    "create_physical",
    "destroy_physical",
    "map_physical",
    "release_addresses",
    "reserve_addresses",
    "set_access",
    "unmap",
    "virtual_page_size",
]

lib, ffi = driver.lib, driver.ffi

_ACCESS = {
    "none": lib.ZE_MEMORY_ACCESS_ATTRIBUTE_NONE,
    "read": lib.ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY,
    "read_write": lib.ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE,
}

# A preferred start address, which a driver may ignore.
_PLACE = 1 << 44


def _pointer(address: int) -> CData:
    return ffi.cast("void *", address)


def virtual_page_size(context: Context, device: Device, nbytes: int) -> int:
    """Bytes of a page for an allocation of a size."""
    refuse_in_fork()
    slot = ffi.new("size_t *")
    check(
        lib.zeVirtualMemQueryPageSize(context.handle, context.device(device).handle, nbytes, slot),
        "zeVirtualMemQueryPageSize",
        f"{nbytes} bytes on {device.name}",
    )
    return int(slot[0])


def reserve_addresses(context: Context, device: Device, nbytes: int) -> int:
    """Reserve a range of unmapped addresses; return the first."""
    refuse_in_fork()
    slot = ffi.new("void **")
    result = lib.zeVirtualMemReserve(context.handle, ffi.NULL, nbytes, slot)
    if result == lib.ZE_RESULT_ERROR_INVALID_NULL_POINTER:  # Old validation layers refuse NULL.
        result = lib.zeVirtualMemReserve(context.handle, _pointer(_PLACE), nbytes, slot)
    if result != SUCCESS:
        fail(result, "zeVirtualMemReserve", f"{nbytes} bytes of addresses: reserve fewer", Errc.memory_allocation)
    return int(ffi.cast("uintptr_t", slot[0]))


def release_addresses(context: Context, address: int, nbytes: int) -> None:
    """End a reservation without mappings."""
    if not in_fork():
        release(lib.zeVirtualMemFree(context.handle, _pointer(address), nbytes), "zeVirtualMemFree")


def create_physical(context: Context, device: Device, nbytes: int) -> CData:
    """Allocate physical memory, a ze_physical_mem_handle_t, without an address."""
    refuse_in_fork()
    desc = driver.make_struct("ze_physical_mem_desc_t", size=nbytes)
    slot = ffi.new("ze_physical_mem_handle_t *")
    result = lib.zePhysicalMemCreate(context.handle, context.device(device).handle, desc, slot)
    if result != SUCCESS:
        fail(
            result,
            "zePhysicalMemCreate",
            f"{nbytes} bytes on {device.name}: free memory or ask for less",
            Errc.memory_allocation,
        )
    return slot[0]


def destroy_physical(context: Context, physical: CData) -> None:
    """Release physical memory without mappings."""
    if not in_fork():
        release(lib.zePhysicalMemDestroy(context.handle, physical), "zePhysicalMemDestroy")


def map_physical(
    context: Context, device: Device, address: int, nbytes: int, physical: CData, offset: int, access: str
) -> None:
    """Map physical memory to reserved addresses."""
    refuse_in_fork()
    check(
        lib.zeVirtualMemMap(context.handle, _pointer(address), nbytes, physical, offset, _ACCESS[access]),
        "zeVirtualMemMap",
        f"{nbytes} bytes at {address:#x}",
    )


def unmap(context: Context, address: int, nbytes: int) -> None:
    """Unmap addresses that no command uses any more."""
    if not in_fork():
        release(lib.zeVirtualMemUnmap(context.handle, _pointer(address), nbytes), "zeVirtualMemUnmap")


def set_access(context: Context, device: Device, address: int, nbytes: int, access: str) -> None:
    """Change the access rights to mapped addresses."""
    refuse_in_fork()
    check(
        lib.zeVirtualMemSetAccessAttribute(context.handle, _pointer(address), nbytes, _ACCESS[access]),
        "zeVirtualMemSetAccessAttribute",
        f"{nbytes} bytes at {address:#x}",
    )
