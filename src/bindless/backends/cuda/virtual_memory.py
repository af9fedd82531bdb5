"""CUDA's virtual memory management: reserved addresses, and physical memory mapped to them."""

from __future__ import annotations

from ...drivers import cuda as driver
from ...drivers.common.cffi_types import CData
from ...model.enums import Errc
from .context import Context
from .device import Device
from .errors import SUCCESS, check, release
from .fork_guard import in_fork

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
    "none": lib.CU_MEM_ACCESS_FLAGS_PROT_NONE,
    "read": lib.CU_MEM_ACCESS_FLAGS_PROT_READ,
    "read_write": lib.CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
}


def _properties(device: Device) -> CData:
    """CUmemAllocationProp of memory of a device."""
    properties = ffi.new("CUmemAllocationProp *")
    properties.type = lib.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location.type = lib.CU_MEM_LOCATION_TYPE_DEVICE
    properties.location.id = device.handle
    return properties


def virtual_page_size(context: Context, device: Device, nbytes: int) -> int:
    """Bytes of a page; the same for all sizes."""
    slot = ffi.new("size_t *")
    with context.primary(device):
        result = lib.cuMemGetAllocationGranularity(slot, _properties(device), lib.CU_MEM_ALLOC_GRANULARITY_MINIMUM)
    check(result, "cuMemGetAllocationGranularity", device.name)
    return int(slot[0])


def reserve_addresses(context: Context, device: Device, nbytes: int) -> int:
    """Reserve a range of unmapped addresses; return the first."""
    slot = ffi.new("CUdeviceptr *")
    with context.primary(device):
        result = lib.cuMemAddressReserve(slot, nbytes, 0, 0, 0)
    check(result, "cuMemAddressReserve", f"{nbytes} bytes of addresses: reserve fewer", Errc.memory_allocation)
    return int(slot[0])


def release_addresses(context: Context, address: int, nbytes: int) -> None:
    """End a reservation without mappings."""
    if not in_fork():
        with context.primary(None):
            release(lib.cuMemAddressFree(address, nbytes), "cuMemAddressFree")


def create_physical(context: Context, device: Device, nbytes: int) -> int:
    """Allocate physical memory, a CUmemGenericAllocationHandle, without an address."""
    slot = ffi.new("CUmemGenericAllocationHandle *")
    with context.primary(device):
        result = lib.cuMemCreate(slot, nbytes, _properties(device), 0)
    details = f"{nbytes} bytes on {device.name}: free memory or ask for less"
    check(result, "cuMemCreate", details, Errc.memory_allocation)
    return int(slot[0])


def destroy_physical(context: Context, physical: int) -> None:
    """Release physical memory; existing mappings keep it."""
    if not in_fork():
        with context.primary(None):
            release(lib.cuMemRelease(physical), "cuMemRelease")


def map_physical(
    context: Context, device: Device, address: int, nbytes: int, physical: int, offset: int, access: str
) -> None:
    """Map physical memory to reserved addresses, for one device."""
    details = f"{nbytes} bytes at {address:#x}"
    with context.primary(device):
        check(lib.cuMemMap(address, nbytes, offset, physical, 0), "cuMemMap", details)
        result = _set_access(device, address, nbytes, access)
        if result != SUCCESS:
            lib.cuMemUnmap(address, nbytes)
    check(result, "cuMemSetAccess", details)


def unmap(context: Context, address: int, nbytes: int) -> None:
    """Unmap addresses that no command uses any more."""
    if not in_fork():
        with context.primary(None):
            release(lib.cuMemUnmap(address, nbytes), "cuMemUnmap")


def _set_access(device: Device, address: int, nbytes: int, access: str) -> int:
    described = ffi.new("CUmemAccessDesc *")
    described.location.type = lib.CU_MEM_LOCATION_TYPE_DEVICE
    described.location.id = device.handle
    described.flags = _ACCESS[access]
    return int(lib.cuMemSetAccess(address, nbytes, described, 1))


def set_access(context: Context, device: Device, address: int, nbytes: int, access: str) -> None:
    """Change the device's access rights to mapped addresses."""
    with context.primary(device):
        result = _set_access(device, address, nbytes, access)
    check(result, "cuMemSetAccess", f"{nbytes} bytes at {address:#x}")
