"""Drivers, devices, contexts and peers."""

from __future__ import annotations

import threading

import bindless
from bindless.drivers import level_zero as zero
from tests.level_zero_driver.rig import Rig, ffi, lib, strict


def check_discovery(rig: Rig) -> None:
    """Handles of drivers and devices are constant, in any thread, and devices have valid properties."""
    assert lib.zeInit(0) == 0
    found: list[tuple[int, ...]] = []

    def discover() -> None:
        drivers = zero.get_all("ze_driver_handle_t", "zeDriverGet")
        devices = [device for driver in drivers for device in zero.get_all("ze_device_handle_t", "zeDeviceGet", driver)]
        found.append(tuple(int(ffi.cast("uintptr_t", handle)) for handle in [*drivers, *devices]))

    threads = [threading.Thread(target=discover) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    discover()
    assert len(found) == 5 and len(set(found)) == 1
    assert int(ffi.cast("uintptr_t", rig.driver.handle)) in found[0]
    assert int(ffi.cast("uintptr_t", rig.device)) in found[0]
    properties = rig.struct("ze_device_properties_t")
    rig.call("zeDeviceGetProperties", rig.device, properties)
    assert ffi.string(properties.name) and properties.type in (lib.ZE_DEVICE_TYPE_CPU, lib.ZE_DEVICE_TYPE_GPU)
    assert properties.numThreadsPerEU * properties.numEUsPerSubslice * properties.numSubslicesPerSlice > 0
    about = rig.struct("ze_driver_properties_t")
    rig.call("zeDriverGetProperties", rig.driver.handle, about)
    parts = about.driverVersion >> 24, about.driverVersion >> 16 & 0xFF, about.driverVersion & 0xFFFF
    assert ".".join(map(str, parts)) == bindless.__version__


def check_contexts(rig: Rig) -> None:
    """A context does not own another context's memory; after it is destroyed and made again the device still works."""
    pointer = rig.memory(64)
    desc = rig.struct("ze_context_desc_t")
    for _ in range(2):
        slot = rig.handle("ze_context_handle_t")
        rig.call("zeContextCreate", rig.driver.handle, desc, slot)
        rig.call("zeContextGetStatus", slot[0])
        assert rig.result("zeMemFree", slot[0], pointer) != 0
        rig.call("zeContextDestroy", slot[0])
    rig.call("zeDeviceGetStatus", rig.device)
    properties = rig.struct("ze_memory_allocation_properties_t")
    rig.call("zeMemGetAllocProperties", rig.context, pointer, properties, ffi.NULL)
    assert properties.type == lib.ZE_MEMORY_TYPE_SHARED


def check_queue_groups(rig: Rig) -> None:
    """Every group has engines and reports its abilities; each engine takes a queue, and an index beyond the last is
    refused."""
    count = ffi.new("uint32_t *")
    rig.call("zeDeviceGetCommandQueueGroupProperties", rig.device, count, ffi.NULL)
    groups = ffi.new("ze_command_queue_group_properties_t[]", count[0])
    for group in groups:
        group.stype = lib.ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES
    rig.call("zeDeviceGetCommandQueueGroupProperties", rig.device, count, groups)
    assert any(group.flags & lib.ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE for group in groups)
    where = (rig.context, rig.device)
    for ordinal, group in enumerate(groups):
        assert group.numQueues > 0 and group.flags & lib.ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY
        for index in range(group.numQueues):
            desc = rig.struct("ze_command_queue_desc_t", ordinal=ordinal, index=index)
            rig.make("ze_command_queue_handle_t", "zeCommandQueueCreate", "zeCommandQueueDestroy", *where, desc)
        slot = rig.handle("ze_command_queue_handle_t")
        beyond = rig.struct("ze_command_queue_desc_t", ordinal=ordinal, index=group.numQueues)
        assert rig.result("zeCommandQueueCreate", *where, beyond, slot) != 0


def check_peers(rig: Rig) -> None:
    """A device accesses its own memory as a peer, and a copy between two of its allocations is correct."""
    reaches = ffi.new("ze_bool_t *")
    rig.call("zeDeviceCanAccessPeer", rig.device, rig.device, reaches)
    assert reaches[0] == 1
    properties = rig.struct("ze_device_p2p_properties_t")
    rig.call("zeDeviceGetP2PProperties", rig.device, rig.device, properties)
    assert properties.flags & lib.ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS


def check_buses(rig: Rig) -> None:
    """Processors are on no bus: the PCI extension is neither listed nor available."""
    assert "ZE_extension_pci_properties" not in rig.driver.extensions
    properties = rig.struct("ze_pci_ext_properties_t")
    rig.fails(
        "UNSUPPORTED_FEATURE", "zeDevicePciGetPropertiesExt", "zeDevicePciGetPropertiesExt", rig.device, properties
    )


def check_descriptors_of_drivers(rig: Rig) -> None:
    """PoCL calls ``zeInitDrivers`` with the stype 0, which Intel's driver takes."""
    address = rig.handle("void *")
    name = ffi.new("char[]", b"zeInitDrivers")
    rig.call("zeDriverGetExtensionFunctionAddress", rig.driver.handle, name, address)
    init = ffi.cast("ze_result_t (*)(uint32_t *, ze_driver_handle_t *, ze_init_driver_type_desc_t *)", address[0])
    count = ffi.new("uint32_t *")
    desc = ffi.new("ze_init_driver_type_desc_t *", {"stype": 0, "flags": 2**32 - 1})
    assert init(count, ffi.NULL, desc) == 0 and count[0] == 1
    with strict():
        assert init(count, ffi.NULL, desc) == lib.ZE_RESULT_ERROR_INVALID_ARGUMENT
    assert init(count, ffi.NULL, ffi.NULL) == lib.ZE_RESULT_ERROR_INVALID_NULL_POINTER
