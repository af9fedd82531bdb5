"""The Vulkan format of an image: channels in the order R, G, B, A, each of the type of the descriptor."""

from __future__ import annotations

from ...model.enums import ImageChannelType
from ...model.errors import InvalidError
from ...model.image_descriptor import ImageDescriptor
from ...model.message_values import shown
from .binding import binding

__all__ = ["format_name", "format_of"]

_NUMERIC: dict[ImageChannelType, str] = {
    ImageChannelType.snorm_int8: "SNORM",
    ImageChannelType.snorm_int16: "SNORM",
    ImageChannelType.unorm_int8: "UNORM",
    ImageChannelType.unorm_int16: "UNORM",
    ImageChannelType.signed_int8: "SINT",
    ImageChannelType.signed_int16: "SINT",
    ImageChannelType.signed_int32: "SINT",
    ImageChannelType.unsigned_int8: "UINT",
    ImageChannelType.unsigned_int16: "UINT",
    ImageChannelType.unsigned_int32: "UINT",
    ImageChannelType.fp16: "SFLOAT",
    ImageChannelType.fp32: "SFLOAT",
}


_WHOLE: dict[ImageChannelType, str] = {
    ImageChannelType.unorm_10_10_10_2: "A2B10G10R10_UNORM_PACK32",
    ImageChannelType.unorm_int8_srgb: "R8G8B8A8_SRGB",
    ImageChannelType.bc1_unorm: "BC1_RGBA_UNORM_BLOCK",
    ImageChannelType.bc1_srgb: "BC1_RGBA_SRGB_BLOCK",
}


def format_name(desc: ImageDescriptor) -> str:
    """Such as ``VK_FORMAT_R8G8B8A8_UNORM``."""
    if desc.channel.is_sampled_only:
        return f"VK_FORMAT_{_WHOLE.get(desc.channel_type) or f'{desc.channel_type}_block'.upper()}"
    bits = desc.channel.size * 8
    channels = "".join(f"{letter}{bits}" for letter in "RGBA"[: desc.num_channels])
    return f"VK_FORMAT_{channels}_{_NUMERIC[desc.channel_type]}"


def format_of(desc: ImageDescriptor) -> int:
    """The ``VkFormat`` of the pixels of a descriptor.

    Raises
    ------
    InvalidError
        It is none, or has other than 1 to 4 channels.
    FeatureNotSupportedError
        The package ``vulkan`` is missing.
    """
    if not isinstance(desc, ImageDescriptor):
        raise InvalidError(f"desc={shown(desc)} is no ImageDescriptor")
    if not 1 <= desc.num_channels <= 4:
        raise InvalidError(f"num_channels={desc.num_channels}: Vulkan's formats have 1 to 4")
    return int(getattr(binding(), format_name(desc)))
