"""Allocations and their attributes, prefetch and advice, reserved addresses, residency."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindless as bl
from tests.level_zero_driver.rig import Rig, ffi, group_count, lib

FILL = "kernel void put(global int *out, int value) { out[get_global_id(0)] = value; }"
THROUGH = "kernel void through(global ulong *places, int value) { *(global int *)places[0] = value; }"


def check_allocations(rig: Rig) -> None:
    """A pointer query returns kind, base and size of each allocation; the requested alignment is met."""
    host, device = rig.struct("ze_host_mem_alloc_desc_t"), rig.struct("ze_device_mem_alloc_desc_t")
    calls: dict[str, tuple[Any, ...]] = {
        "Host": ("zeMemAllocHost", rig.context, host),
        "Device": ("zeMemAllocDevice", rig.context, device),
        "Shared": ("zeMemAllocShared", rig.context, device, host),
    }
    for kind, (name, *first) in calls.items():
        slot = ffi.new("void **")
        last = () if kind == "Host" else (rig.device,)
        rig.call(name, *first, 5000, 4096, *last, slot)
        assert int(ffi.cast("uintptr_t", slot[0])) % 4096 == 0
        inside = ffi.cast("char *", slot[0]) + 1234
        properties, owner = rig.struct("ze_memory_allocation_properties_t"), rig.handle("ze_device_handle_t")
        rig.call("zeMemGetAllocProperties", rig.context, inside, properties, owner)
        assert properties.type == getattr(lib, f"ZE_MEMORY_TYPE_{kind.upper()}") and properties.pageSize > 0
        assert owner[0] == (ffi.NULL if kind == "Host" else rig.device)
        base, size = ffi.new("void **"), ffi.new("size_t *")
        rig.call("zeMemGetAddressRange", rig.context, inside, base, size)
        assert base[0] == slot[0] and size[0] >= 5000
        rig.call("zeMemFree", rig.context, slot[0])
        rig.call("zeMemGetAllocProperties", rig.context, inside, properties, owner)
        assert properties.type == lib.ZE_MEMORY_TYPE_UNKNOWN


def check_memory_of_the_reference_driver(rig: Rig) -> None:
    """One library serves both drivers; memory of each is memory of the process to the other."""
    queue = bl.Queue(rig.reference)
    theirs = bl.usm_empty(1024, np.int32, queue, kind="host")
    pointer = ffi.cast("void *", np.asarray(theirs).ctypes.data)
    properties = rig.struct("ze_memory_allocation_properties_t")
    rig.call("zeMemGetAllocProperties", rig.context, pointer, properties, ffi.NULL)
    assert properties.type == lib.ZE_MEMORY_TYPE_UNKNOWN
    rig.fails("INVALID_ARGUMENT", "", "zeMemGetAddressRange", rig.context, pointer, ffi.NULL, ffi.NULL)
    rig.fails("INVALID_ARGUMENT", "", "zeMemFree", rig.context, pointer)
    ours, values = rig.array(np.arange(1024, dtype=np.int32))
    rig.append("zeCommandListAppendMemoryCopy", pointer, ours, 4096)
    assert (np.asarray(theirs) == values).all()
    values[:] = 7
    queue.copy(values, theirs).wait()
    assert (np.asarray(theirs) == 7).all()
    bl.free(theirs, queue)


def check_access(rig: Rig) -> None:
    """A device reads and writes each kind of allocation."""
    properties = rig.struct("ze_device_memory_access_properties_t")
    rig.call("zeDeviceGetMemoryAccessProperties", rig.device, properties)
    for kind in ("host", "device", "sharedSingleDevice"):
        capabilities = getattr(properties, f"{kind}AllocCapabilities")
        assert capabilities & lib.ZE_MEMORY_ACCESS_CAP_FLAG_RW, kind


def check_prefetch_and_advice(rig: Rig) -> None:
    pointer, values = rig.array(np.arange(4096, dtype=np.int32))
    rig.call("zeCommandListAppendMemoryPrefetch", rig.list, pointer, values.nbytes)
    for advice in ("SET_READ_MOSTLY", "CLEAR_READ_MOSTLY", "SET_PREFERRED_LOCATION", "BIAS_CACHED"):
        number = getattr(lib, f"ZE_MEMORY_ADVICE_{advice}")
        rig.call("zeCommandListAppendMemAdvise", rig.list, rig.device, pointer, values.nbytes, number)
    rig.launch(rig.compiled(FILL, "put"), (4096,), pointer, np.int32(7))
    assert (values == 7).all()


def check_reserved_addresses(rig: Rig) -> None:
    """Two physical memories map into one reservation; reads cross both; access is protected."""
    page = ffi.new("size_t *")
    rig.call("zeVirtualMemQueryPageSize", rig.context, rig.device, 1 << 16, page)
    size = -(-(1 << 16) // page[0]) * page[0]
    start = ffi.new("void **")
    # Validation layer 1.8 refuses the null pointer, which leaves the choice to the driver.
    anywhere = ffi.cast("void *", 1 << 44)
    rig.call("zeVirtualMemReserve", rig.context, anywhere, 4 * size, start)
    base = ffi.cast("char *", start[0])
    assert int(ffi.cast("uintptr_t", base)) % page[0] == 0
    desc = rig.struct("ze_physical_mem_desc_t", size=size)
    pieces = []
    for place in (0, 2 * size):
        slot = rig.handle("ze_physical_mem_handle_t")
        rig.call("zePhysicalMemCreate", rig.context, rig.device, desc, slot)
        pieces.append(slot[0])
        writes = lib.ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE
        rig.call("zeVirtualMemMap", rig.context, base + place, size, slot[0], 0, writes)
    put, items = rig.compiled(FILL, "put"), size // 4
    for place, value in ((0, 3), (2 * size, 4)):
        rig.launch(put, (items,), base + place, np.int32(value))
    for place, value in ((0, 3), (2 * size, 4)):
        back = np.zeros(items, np.int32)
        rig.append("zeCommandListAppendMemoryCopy", ffi.from_buffer(back), base + place, size)
        assert (back == value).all()
    access, same = ffi.new("ze_memory_access_attribute_t *"), ffi.new("size_t *")
    rig.call("zeVirtualMemGetAccessAttribute", rig.context, base, size, access, same)
    assert (access[0], same[0]) == (lib.ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE, size)
    reads = lib.ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY
    rig.call("zeVirtualMemSetAccessAttribute", rig.context, base, size, reads)
    rig.call("zeVirtualMemGetAccessAttribute", rig.context, base, size, access, same)
    assert (access[0], same[0]) == (reads, size)
    for place, piece in zip((0, 2 * size), pieces, strict=True):
        rig.call("zeVirtualMemUnmap", rig.context, base + place, size)
        rig.call("zePhysicalMemDestroy", rig.context, piece)
    wished = ffi.new("void **")
    rig.call("zeVirtualMemFree", rig.context, base, 4 * size)
    rig.call("zeVirtualMemReserve", rig.context, base, 4 * size, wished)  # at this address or another
    assert wished[0] != ffi.NULL
    rig.call("zeVirtualMemFree", rig.context, wished[0], 4 * size)


def check_residency(rig: Rig) -> None:
    """Memory that a kernel reaches by stored addresses only: by a kernel flag, or made resident."""
    place, target = rig.array(np.zeros(1, np.int32))
    holder, _ = rig.array(np.array([int(ffi.cast("uintptr_t", place))], np.uint64))
    through = rig.compiled(THROUGH, "through")
    rig.call("zeKernelSetIndirectAccess", through, lib.ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED)
    rig.launch(through, (1,), holder, np.int32(5))
    assert target[0] == 5
    rig.call("zeKernelSetIndirectAccess", through, 0)
    rig.call("zeContextMakeMemoryResident", rig.context, rig.device, place, 4)
    rig.launch(through, (1,), holder, np.int32(6))
    assert target[0] == 6
    rig.call("zeContextEvictMemory", rig.context, rig.device, place, 4)


def check_cache_settings(rig: Rig) -> None:
    """Cache preferences of a kernel and hints of an allocation do not change results."""
    hint = rig.struct("ze_device_mem_alloc_desc_t", flags=lib.ZE_DEVICE_MEM_ALLOC_FLAG_BIAS_UNCACHED)
    slot = ffi.new("void **")
    rig.call("zeMemAllocDevice", rig.context, hint, 64, 4, rig.device, slot)
    put = rig.compiled(FILL, "put")
    for preference in (lib.ZE_CACHE_CONFIG_FLAG_LARGE_SLM, lib.ZE_CACHE_CONFIG_FLAG_LARGE_DATA):
        rig.call("zeKernelSetCacheConfig", put, preference)
        rig.set(put, slot[0], np.int32(preference))
        rig.append("zeCommandListAppendLaunchKernel", put, group_count(16))
        back = np.zeros(16, np.int32)
        rig.append("zeCommandListAppendMemoryCopy", ffi.from_buffer(back), slot[0], 64)
        assert (back == preference).all()
    rig.call("zeMemFree", rig.context, slot[0])
