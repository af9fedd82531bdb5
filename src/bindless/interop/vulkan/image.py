"""``ExportedImage``: a Vulkan image with exported memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...drivers.common.cffi_types import CData
from ...model.enums import ImageType
from ...model.errors import FeatureNotSupportedError, InvalidError
from ...model.image_descriptor import ImageDescriptor
from ...model.message_values import shown
from .binding import OPAQUE_FD_MEMORY, binding, translated
from .export_support import ImageRequest, check_image, check_usage
from .format import format_name, format_of
from .memory import ExportedMemory, give_memory

__all__ = ["ExportedImage", "LevelLayout", "export_image"]

_SHARED_TYPES = (ImageType.standard, ImageType.mipmap)


@dataclass(frozen=True)
class LevelLayout:
    """Layout of one level of a linear image, in bytes."""

    offset: int
    size: int
    row_pitch: int
    depth_pitch: int


class ExportedImage(ExportedMemory):
    """A VkImage bound to memory of its own; made by ``Exporter.image``.

    Attributes
    ----------
    image : VkImage
        The VkImage, with one sample, one layer and the initial layout VK_IMAGE_LAYOUT_UNDEFINED.
    desc : ImageDescriptor
        What ``map_external_image_memory`` and ``create_image`` take.
    format : int
        Its VkFormat.
    usage : int
        Its VkImageUsageFlags.
    is_linear : bool
        Whether its tiling is linear: then it is memory with a pitch, and maps by ``map_external_linear_memory``.
    """

    image: CData
    desc: ImageDescriptor
    format: int
    usage: int
    is_linear: bool

    def __init__(
        self,
        device: CData,
        image: CData,
        request: ImageRequest,
        memory: CData,
        size: int,
        dedicated: bool,
        destroy: Callable[[], None],
    ) -> None:
        super().__init__(device, memory, size, dedicated, destroy)
        self.image, self.desc, self.format, self.usage = image, request.desc, request.format, request.usage
        self.is_linear = request.tiling == binding().VK_IMAGE_TILING_LINEAR

    def layout(self, level: int = 0) -> LevelLayout:
        """The layout of a level of a linear image.

        Raises
        ------
        InvalidError
            The tiling is optimal, whose layout only drivers know; there is no such level; it is closed.
        """
        self._require_open()
        if not self.is_linear:
            raise InvalidError(
                "tiling='optimal': only the driver knows where its pixels lie; map_external_image_memory reads them, "
                "or make the image with tiling='linear'"
            )
        if level not in range(self.desc.num_levels):
            raise InvalidError(f"level={shown(level)}: this image has levels 0 to {self.desc.num_levels - 1}")
        vk = binding()
        place = vk.VkImageSubresource(aspectMask=vk.VK_IMAGE_ASPECT_COLOR_BIT, mipLevel=int(level), arrayLayer=0)
        place_in_memory = vk.vkGetImageSubresourceLayout(self.device, self.image, place)
        return LevelLayout(
            int(place_in_memory.offset),
            int(place_in_memory.size),
            int(place_in_memory.rowPitch),
            int(place_in_memory.depthPitch),
        )


def _usage_for(features: int, dimensions: int) -> int:
    """Everything useful that a format's features allow: copies, sampling, storage, and in two dimensions drawing."""
    vk = binding()
    usage = vk.VK_IMAGE_USAGE_TRANSFER_SRC_BIT | vk.VK_IMAGE_USAGE_TRANSFER_DST_BIT
    if features & vk.VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT:
        usage |= vk.VK_IMAGE_USAGE_SAMPLED_BIT
    if features & vk.VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT:
        usage |= vk.VK_IMAGE_USAGE_STORAGE_BIT
    if features & vk.VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT and dimensions == 2:
        usage |= vk.VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT
    return int(usage)


def _request(physical_device: CData, desc: ImageDescriptor, tiling: str, usage: int | None) -> ImageRequest:
    vk = binding()
    if not isinstance(desc, ImageDescriptor):
        raise InvalidError(f"desc={shown(desc)} is no ImageDescriptor")
    desc.verify()
    if desc.type not in _SHARED_TYPES:
        raise InvalidError(f"type={desc.type}: images of type standard and mipmap can be shared, no others")
    tilings = {"optimal": vk.VK_IMAGE_TILING_OPTIMAL, "linear": vk.VK_IMAGE_TILING_LINEAR}
    if tiling not in tilings:
        raise InvalidError(f"tiling={shown(tiling)} is not known; it is one of 'optimal', 'linear'")
    format = format_of(desc)
    kind = (vk.VK_IMAGE_TYPE_1D, vk.VK_IMAGE_TYPE_2D, vk.VK_IMAGE_TYPE_3D)[desc.dimensions - 1]
    properties = vk.vkGetPhysicalDeviceFormatProperties(physical_device, format)
    features = properties.linearTilingFeatures if tiling == "linear" else properties.optimalTilingFeatures
    if not features:
        raise FeatureNotSupportedError(
            f"this Vulkan device has no images {format_name(desc)} of tiling {tiling}: take another number or type of "
            "channels, or the other tiling"
        )
    if usage is None:
        usage = _usage_for(features, desc.dimensions)
    usage = check_usage(usage, "VkImageUsageFlags")
    return ImageRequest(desc, format, kind, tilings[tiling], usage)


def export_image(
    physical_device: CData, device: CData, desc: ImageDescriptor, tiling: str, usage: int | None
) -> ExportedImage:
    """See ``Exporter.image``."""
    vk = binding()
    request = _request(physical_device, desc, tiling, usage)
    must_be_dedicated = check_image(physical_device, request)
    external = vk.VkExternalMemoryImageCreateInfo(handleTypes=OPAQUE_FD_MEMORY)
    info = vk.VkImageCreateInfo(
        pNext=external,
        imageType=request.kind,
        format=request.format,
        extent=vk.VkExtent3D(*desc.extent),
        mipLevels=desc.num_levels,
        arrayLayers=1,
        samples=vk.VK_SAMPLE_COUNT_1_BIT,
        tiling=request.tiling,
        usage=request.usage,
        sharingMode=vk.VK_SHARING_MODE_EXCLUSIVE,
        initialLayout=vk.VK_IMAGE_LAYOUT_UNDEFINED,
    )
    with translated(f"creating a Vulkan image {format_name(desc)} for export"):
        image = vk.vkCreateImage(device, info, None)
    return ExportedImage(
        device, image, request, *give_memory(physical_device, device, "Image", image, must_be_dedicated)
    )
