"""Match of a Vulkan device to a device of this package, by UUID.

A GPU has one UUID in every API that has UUIDs. A Vulkan driver for processors (SwiftShader, lavapipe) has a UUID of its
own, and memory that lies in the processes that use it: the devices of this package's own drivers, which have their
memory there too, count as the same.
"""

from __future__ import annotations

from ...drivers.common.cffi_types import CData
from ...model.errors import InvalidError
from ...model.message_values import shown
from ...sycl.device.device import Device
from ...sycl.device.selector import get_devices
from ...sycl.queue.queue import Queue
from .binding import binding, require_handle

__all__ = ["check_same_device", "device_for", "device_uuid"]

# Of the reference device and of the package's own Level Zero driver.
_OWN_VENDOR = "bindless"


def _identity(physical_device: CData) -> tuple[str, bytes, bool]:
    """Name, UUID, and whether it is a processor."""
    vk = binding()
    require_handle(physical_device, "VkPhysicalDevice")
    identity = vk.VkPhysicalDeviceIDProperties()
    properties = vk.VkPhysicalDeviceProperties2(pNext=identity)
    vk.vkGetPhysicalDeviceProperties2(physical_device, properties)
    name = vk.ffi.string(properties.properties.deviceName).decode()
    uuid, kind = bytes(identity.deviceUUID), properties.properties.deviceType
    if not any(uuid):
        raise InvalidError(
            f"Vulkan reports no UUID and no exports of {name}, as its VkInstance was made for Vulkan 1.0: make "
            "it with pApplicationInfo=VkApplicationInfo(apiVersion=VK_MAKE_VERSION(1, 1, 0)) or newer"
        )
    return name, uuid, kind == vk.VK_PHYSICAL_DEVICE_TYPE_CPU


def device_uuid(physical_device: CData) -> bytes:
    """The 16 bytes of ``VkPhysicalDeviceIDProperties.deviceUUID``.

    Raises
    ------
    InvalidError
        The VkInstance was made for Vulkan 1.0, which reports no UUID.
    """
    return _identity(physical_device)[1]


def _same(device: Device, uuid: bytes, is_processor: bool) -> bool:
    return device.vendor == _OWN_VENDOR if is_processor else device.uuid == uuid


def _description(device: Device) -> str:
    return f"{device.name} [{device.backend}] with UUID {device.uuid.hex()}"


def device_for(physical_device: CData) -> Device:
    """The device of this package that can share memory with a VkPhysicalDevice: the same GPU, or for a Vulkan driver on
    the processor the reference device.

    Raises
    ------
    InvalidError
        No device matches; the message has its UUID and those of all devices.
    """
    name, uuid, is_processor = _identity(physical_device)
    if is_processor:
        return Device("reference")
    devices = get_devices()
    for device in devices:
        if _same(device, uuid, is_processor):
            return device
    candidates = "; ".join(map(_description, devices)) or "none"
    raise InvalidError(
        f"no device of this package is Vulkan's {name} with UUID {uuid.hex()}; there are: {candidates}. "
        "`bindless doctor` lists the missing drivers"
    )


def check_same_device(physical_device: CData, where: Device | Queue) -> None:
    """Refuses to share between different devices, which a driver would only tell at the import, if at all.

    Parameters
    ----------
    physical_device : VkPhysicalDevice
        A VkPhysicalDevice.
    where : Device | Queue
        The device that is to import, or a queue on it.

    Raises
    ------
    InvalidError
        They are different; the message has both UUIDs.
    """
    device = where.device if isinstance(where, Queue) else where
    if not hasattr(device, "uuid"):
        raise InvalidError(f"where={shown(where)}: give the Device that is to import, or a Queue on it")
    name, uuid, is_processor = _identity(physical_device)
    if not _same(device, uuid, is_processor):
        raise InvalidError(
            f"Vulkan's {name} with UUID {uuid.hex()} and {_description(device)} are different devices, which share no "
            "memory: choose the VkPhysicalDevice by its UUID, or the device by "
            "bindless.interop.vulkan.device_for(physical_device)"
        )
