"""Devices and sub-devices: discovery and driver properties."""

from __future__ import annotations

import functools

from ...core.lock import Lock
from ...drivers import level_zero as driver
from ...drivers.common.cffi_types import CData
from ...model.enums import DeviceType
from ..contract import DeviceRecord, PlatformRecord
from ..contract.low_level import QueueGroup
from .driver import Driver, drivers
from .errors import SUCCESS, check

__all__ = ["Device", "all_drivers", "devices", "platforms", "sub_devices", "vendor_name"]

lib, ffi = driver.lib, driver.ffi

# Device types that run kernels; other types (NPUs) are not listed.
_TYPES = {
    lib.ZE_DEVICE_TYPE_GPU: DeviceType.gpu,
    lib.ZE_DEVICE_TYPE_CPU: DeviceType.cpu,
    lib.ZE_DEVICE_TYPE_FPGA: DeviceType.accelerator,
    lib.ZE_DEVICE_TYPE_MCA: DeviceType.accelerator,
}

_VENDORS = {0x8086: "Intel(R) Corporation", 0x626C: "bindless"}

# A lower value is not a frequency: drivers of Level Zero 1.0 report the nanoseconds of a tick instead.
_LEAST_FREQUENCY = 10_000


class Device:
    """One device or sub-device as the driver enumerates it; it holds no native objects of its own.

    Attributes
    ----------
    driver
        driver of the device.
    handle
        ze_device_handle_t.
    index
        number among the devices of all drivers; a sub-device has the number of its device.
    parent
        device of a sub-device.
    properties
        ze_device_properties_t.
    """

    def __init__(self, owner: Driver, handle: CData, index: int, parent: Device | None = None) -> None:
        self.driver = owner
        self.handle = handle
        self.address = int(ffi.cast("uintptr_t", handle))
        self.index = index
        self.parent = parent
        self.properties = driver.get_properties("ze_device_properties_t", "zeDeviceGetProperties", handle)
        self.name = ffi.string(self.properties.name).decode("utf-8", "replace")
        self._lock = Lock()
        self._parts: tuple[Device, ...] | None = None

    # ------------------------------------------------------------------ properties

    def _ask(self, kind: str, function: str, next: CData = None) -> CData:
        return driver.get_properties(f"ze_device_{kind}_properties_t", function, self.handle, next=next)

    @functools.cached_property
    def compute(self) -> CData:
        """ze_device_compute_properties_t."""
        return self._ask("compute", "zeDeviceGetComputeProperties")

    @functools.cached_property
    def module(self) -> CData:
        """ze_device_module_properties_t."""
        return self._ask("module", "zeDeviceGetModuleProperties")

    @functools.cached_property
    def memory_access(self) -> CData:
        """ze_device_memory_access_properties_t."""
        return self._ask("memory_access", "zeDeviceGetMemoryAccessProperties")

    @functools.cached_property
    def memories(self) -> list[CData]:
        """ze_device_memory_properties_t of each memory."""
        return driver.get_all("ze_device_memory_properties_t", "zeDeviceGetMemoryProperties", self.handle)

    @functools.cached_property
    def caches(self) -> list[CData]:
        """ze_device_cache_properties_t of each cache."""
        return driver.get_all("ze_device_cache_properties_t", "zeDeviceGetCacheProperties", self.handle)

    @functools.cached_property
    def image(self) -> CData:
        """ze_device_image_properties_t; zeros if the driver has no images."""
        properties = driver.make_struct("ze_device_image_properties_t")
        result = lib.zeDeviceGetImageProperties(self.handle, properties)
        if result != lib.ZE_RESULT_ERROR_UNSUPPORTED_FEATURE:
            check(result, "zeDeviceGetImageProperties")
        return properties

    @functools.cached_property
    def pitched(self) -> CData:
        """ze_device_pitched_alloc_exp_properties_t; zeros if the driver has no images over linear memory."""
        linear = driver.make_struct("ze_device_pitched_alloc_exp_properties_t")
        if self.has_bindless_images:
            self._ask("image", "zeDeviceGetImageProperties", next=linear)
        return linear

    @functools.cached_property
    def groups(self) -> tuple[QueueGroup, ...]:
        """The command queue groups: kinds of engines."""
        compute, copy = (
            lib.ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE,
            lib.ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY,
        )
        groups = driver.get_all(
            "ze_command_queue_group_properties_t", "zeDeviceGetCommandQueueGroupProperties", self.handle
        )
        return tuple(
            QueueGroup(
                ordinal,
                bool(group.flags & compute),
                bool(group.flags & copy),
                int(group.numQueues),
                int(group.maxMemoryFillPatternSize),
            )
            for ordinal, group in enumerate(groups)
            if group.numQueues
        )

    @property
    def compute_group(self) -> QueueGroup | None:
        """The first group of engines that run kernels."""
        return next((group for group in self.groups if group.computes), None)

    @property
    def copy_group(self) -> QueueGroup | None:
        """The first group of engines that only copy, if the device has memory of its own."""
        if self.is_integrated:
            return None
        return next((group for group in self.groups if group.copies and not group.computes), None)

    @property
    def is_integrated(self) -> bool:
        """Whether it shares the host's memory."""
        return bool(self.properties.flags & lib.ZE_DEVICE_PROPERTY_FLAG_INTEGRATED)

    @property
    def has_bindless_images(self) -> bool:
        """Whether the driver supports bindless image handles."""
        return self.driver.function("zeImageGetDeviceOffsetExp") is not None and bool(
            {"ZE_experimental_bindless_image", "ZE_extension_bindless_image"} & self.driver.extensions.keys()
        )

    @property
    def type(self) -> DeviceType:
        return _TYPES[self.properties.type]

    @property
    def compute_units(self) -> int:
        """Execution units."""
        properties = self.properties
        return int(properties.numSlices * properties.numSubslicesPerSlice * properties.numEUsPerSubslice)

    @property
    def memory_size(self) -> int:
        """Bytes of its own memory; without such memory, bytes of host memory that it may use."""
        return sum(int(memory.totalSize) for memory in self.memories)

    @functools.cached_property
    def tick(self) -> float:
        """Nanoseconds of a tick of the device's clock."""
        properties = driver.make_struct("ze_device_properties_t")
        properties.stype = lib.ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2
        check(lib.zeDeviceGetProperties(self.handle, properties), "zeDeviceGetProperties")
        resolution = int(properties.timerResolution)
        if resolution >= _LEAST_FREQUENCY:
            return 1e9 / resolution
        return float(int(self.properties.timerResolution) or 1)

    @functools.cached_property
    def ip_version(self) -> str:
        """Generation of the hardware, such as "20.4.4"; "" if the driver does not report it."""
        if "ZE_extension_device_ip_version" not in self.driver.extensions:
            return ""
        answer = driver.make_struct("ze_device_ip_version_ext_t")
        driver.get_properties("ze_device_properties_t", "zeDeviceGetProperties", self.handle, next=answer)
        number = int(answer.ipVersion)
        return f"{number >> 22}.{number >> 14 & 0xFF}.{number & 0x3F}" if number else ""

    @functools.cached_property
    def uuid(self) -> bytes:
        """16 bytes, the same as Vulkan and OpenCL report."""
        return bytes(ffi.buffer(ffi.addressof(self.properties, "uuid")))

    @functools.cached_property
    def pci_address(self) -> str:
        """domain:bus:device.function, or "" for a device without a PCI address."""
        properties = driver.make_struct("ze_pci_ext_properties_t")
        ask = self.driver.function("zeDevicePciGetPropertiesExt")
        if ask is None or ask(self.handle, properties) != SUCCESS:
            return ""
        place = properties.address
        return f"{place.domain:04x}:{place.bus:02x}:{place.device:02x}.{place.function:x}"

    # ------------------------------------------------------------------ parts

    def parts(self) -> tuple[Device, ...]:
        """Its sub-devices, the same objects each time."""
        with self._lock:
            if self._parts is None:
                handles = driver.get_all("ze_device_handle_t", "zeDeviceGetSubDevices", self.handle)
                parts = tuple(Device(self.driver, handle, self.index, self) for handle in handles)
                if self._parts is None:  # else a finalizer has asked meanwhile
                    self._parts = parts
            return self._parts

    def __repr__(self) -> str:
        part = "" if self.parent is None else f", part {self.properties.subdeviceId}"
        return f"<level_zero device {self.index}{part}: {self.name}>"


def vendor_name(device: Device) -> str:
    """The vendor of a device."""
    number = int(device.properties.vendorId)
    return _VENDORS.get(number, f"vendor {number:#06x}")


def _platform(owner: Driver, vendor: str) -> PlatformRecord:
    return PlatformRecord(owner.index, "Level Zero", vendor, "{}.{}".format(*owner.api))


def _record(device: Device, platform: PlatformRecord, parent: DeviceRecord | None = None) -> DeviceRecord:
    return DeviceRecord(
        native=device,
        platform=platform,
        index=device.index,
        type=device.type,
        name=device.name,
        vendor=vendor_name(device),
        driver_version=device.driver.version,
        version=device.ip_version or "{}.{}".format(*device.driver.api),
        uuid=device.uuid,
        parent=parent,
    )


@functools.cache
def all_drivers() -> tuple[Driver, ...]:
    """Every driver, the same objects each time."""
    return tuple(drivers())


@functools.cache
def _discover() -> tuple[tuple[PlatformRecord, ...], tuple[DeviceRecord, ...]]:
    platforms: list[PlatformRecord] = []
    records: list[DeviceRecord] = []
    for owner in all_drivers():
        count = len(records)
        mine = [
            Device(owner, handle, 0) for handle in driver.get_all("ze_device_handle_t", "zeDeviceGet", owner.handle)
        ]
        mine = [device for device in mine if device.properties.type in _TYPES]
        for place, device in enumerate(mine):
            device.index = count + place
        platforms.append(_platform(owner, vendor_name(mine[0]) if mine else "unknown"))
        records.extend(_record(device, platforms[-1]) for device in mine)
    return tuple(platforms), tuple(records)


def platforms() -> tuple[PlatformRecord, ...]:
    """The drivers."""
    return _discover()[0]


def devices() -> tuple[DeviceRecord, ...]:
    """All devices of all drivers, in their order.

    Raises
    ------
    PlatformError
        no loader, or no driver behind it.
    """
    return _discover()[1]


@functools.cache
def sub_devices(device: Device) -> tuple[DeviceRecord, ...]:
    """The sub-devices of a device."""
    record = _record(device, next(other.platform for other in devices() if other.index == device.index))
    whole = next((other for other in devices() if other.native is device), record)
    return tuple(_record(part, whole.platform, whole) for part in device.parts())
