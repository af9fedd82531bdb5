"""Export support of a VkPhysicalDevice, queried before any creation: some drivers crash on unsupported requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import SupportsIndex

from ...drivers.common.cffi_types import CData
from ...model.errors import FeatureNotSupportedError, InvalidError
from ...model.image_descriptor import ImageDescriptor, integer
from .binding import OPAQUE_FD_MEMORY, binding, require_handle, translated
from .format import format_name

__all__ = ["ImageRequest", "can_export_buffer", "check_image", "check_usage", "device_extensions"]

_MEMORY_EXTENSION = "VK_KHR_external_memory_fd"
_SEMAPHORE_EXTENSION = "VK_KHR_external_semaphore_fd"


def device_extensions(physical_device: CData) -> list[str]:
    """Names for ``VkDeviceCreateInfo.ppEnabledExtensionNames``: what sharing needs and this device has.

    Timeline semaphores need their feature too: ``VkPhysicalDeviceTimelineSemaphoreFeatures(timelineSemaphore=True)`` as
    pNext of the same struct.

    Raises
    ------
    FeatureNotSupportedError
        The device cannot export memory by file descriptors.
    """
    vk = binding()
    require_handle(physical_device, "VkPhysicalDevice")
    with translated("asking a Vulkan device for its extensions"):
        offered = {each.extensionName for each in vk.vkEnumerateDeviceExtensionProperties(physical_device, None)}
    if _MEMORY_EXTENSION not in offered:
        raise FeatureNotSupportedError(f"this Vulkan device has no {_MEMORY_EXTENSION}: its memory cannot be shared")
    return [name for name in (_MEMORY_EXTENSION, _SEMAPHORE_EXTENSION) if name in offered]


def check_usage(usage: SupportsIndex, flags: str) -> int:
    """The flags that a caller named.

    Raises
    ------
    InvalidError
        They are none, or do not fit 32 bits.
    """
    checked = integer("usage", usage, 2**32 - 1)
    if checked == 0:
        raise InvalidError(f"usage=0: {flags} are needed, or None for all that are useful")
    return checked


@dataclass(frozen=True)
class ImageRequest:
    """An image as Vulkan counts it: the kind, the tiling and the usage are its constants."""

    desc: ImageDescriptor
    format: int
    kind: int
    tiling: int
    usage: int


def check_image(physical_device: CData, request: ImageRequest) -> bool:
    """Whether the memory of an image has to be dedicated to it.

    Raises
    ------
    FeatureNotSupportedError
        Images of this kind cannot be made, or not be exported.
    InvalidError
        The sizes or the levels are beyond what the device has.
    """
    vk = binding()
    text = f"a Vulkan image {format_name(request.desc)} with {_SHAPES[request.kind]} and usage {request.usage:#x}"
    external = vk.VkPhysicalDeviceExternalImageFormatInfo(handleType=OPAQUE_FD_MEMORY)
    question = vk.VkPhysicalDeviceImageFormatInfo2(
        pNext=external, format=request.format, type=request.kind, tiling=request.tiling, usage=request.usage, flags=0
    )
    answer = vk.VkExternalImageFormatProperties()
    limits = vk.VkImageFormatProperties2(pNext=answer)
    with translated(f"{text} is not for export on this device"):
        vk.vkGetPhysicalDeviceImageFormatProperties2(physical_device, question, limits)
    features = answer.externalMemoryProperties.externalMemoryFeatures
    if not features & vk.VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT:
        raise FeatureNotSupportedError(f"{text} cannot be exported by this device: try another usage, type or tiling")
    limit, desc = limits.imageFormatProperties, request.desc
    largest = (limit.maxExtent.width, limit.maxExtent.height, limit.maxExtent.depth)
    if any(size > most for size, most in zip(desc.extent, largest)) or desc.num_levels > limit.maxMipLevels:
        raise InvalidError(
            f"{text} has at most {' x '.join(map(str, largest))} pixels in {limit.maxMipLevels} levels here; asked for "
            f"are {' x '.join(map(str, desc.extent))} in {desc.num_levels}"
        )
    return bool(features & vk.VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT)


# By VkImageType.
_SHAPES = ("one dimension", "two dimensions", "three dimensions")


def can_export_buffer(physical_device: CData, usage: int) -> tuple[bool, bool]:
    """Whether buffers of a usage can be exported, and whether only with memory dedicated to them."""
    vk = binding()
    question = vk.VkPhysicalDeviceExternalBufferInfo(usage=usage, handleType=OPAQUE_FD_MEMORY)
    answer = vk.VkExternalBufferProperties()
    vk.vkGetPhysicalDeviceExternalBufferProperties(physical_device, question, answer)
    features = answer.externalMemoryProperties.externalMemoryFeatures
    return (
        bool(features & vk.VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT),
        bool(features & vk.VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT),
    )
