"""Level Zero's image formats and descriptors of the package's formats and descriptors."""

from __future__ import annotations

import functools

from ...drivers import level_zero as driver
from ...drivers.common.cffi_types import CData
from ...model.channels import CHANNELS
from ...model.enums import ImageChannelType, ImageType
from ...model.errors import FeatureNotSupportedError
from ...model.image_descriptor import ImageDescriptor
from .device import Device
from .errors import SUCCESS

__all__ = ["CHANNEL_COUNTS", "format_desc", "image_desc", "require_format", "sizes_of", "supports_format"]

lib, ffi = driver.lib, driver.ffi

# Layouts by bits per channel and number of channels.
_LAYOUTS = {
    (bits, count): getattr(lib, "ZE_IMAGE_FORMAT_LAYOUT_" + "_".join([str(bits)] * count))
    for bits in (8, 16, 32)
    for count in (1, 2, 3, 4)
}

_TYPES = {
    ImageChannelType.snorm_int8: lib.ZE_IMAGE_FORMAT_TYPE_SNORM,
    ImageChannelType.snorm_int16: lib.ZE_IMAGE_FORMAT_TYPE_SNORM,
    ImageChannelType.unorm_int8: lib.ZE_IMAGE_FORMAT_TYPE_UNORM,
    ImageChannelType.unorm_int16: lib.ZE_IMAGE_FORMAT_TYPE_UNORM,
    ImageChannelType.signed_int8: lib.ZE_IMAGE_FORMAT_TYPE_SINT,
    ImageChannelType.signed_int16: lib.ZE_IMAGE_FORMAT_TYPE_SINT,
    ImageChannelType.signed_int32: lib.ZE_IMAGE_FORMAT_TYPE_SINT,
    ImageChannelType.unsigned_int8: lib.ZE_IMAGE_FORMAT_TYPE_UINT,
    ImageChannelType.unsigned_int16: lib.ZE_IMAGE_FORMAT_TYPE_UINT,
    ImageChannelType.unsigned_int32: lib.ZE_IMAGE_FORMAT_TYPE_UINT,
    ImageChannelType.fp16: lib.ZE_IMAGE_FORMAT_TYPE_FLOAT,
    ImageChannelType.fp32: lib.ZE_IMAGE_FORMAT_TYPE_FLOAT,
    ImageChannelType.unorm_10_10_10_2: lib.ZE_IMAGE_FORMAT_TYPE_UNORM,
}


def _layout(channel_type: ImageChannelType, num_channels: int) -> int:
    if channel_type is ImageChannelType.unorm_10_10_10_2:
        return int(lib.ZE_IMAGE_FORMAT_LAYOUT_10_10_10_2)
    return int(_LAYOUTS[8 * CHANNELS[channel_type].size, num_channels])


_SWIZZLES = (
    lib.ZE_IMAGE_FORMAT_SWIZZLE_R,
    lib.ZE_IMAGE_FORMAT_SWIZZLE_G,
    lib.ZE_IMAGE_FORMAT_SWIZZLE_B,
    lib.ZE_IMAGE_FORMAT_SWIZZLE_A,
)

# Formats of every driver; support for three channels varies.
CHANNEL_COUNTS = (1, 2, 4)

_KINDS = {
    (ImageType.standard, 1): lib.ZE_IMAGE_TYPE_1D,
    (ImageType.standard, 2): lib.ZE_IMAGE_TYPE_2D,
    (ImageType.standard, 3): lib.ZE_IMAGE_TYPE_3D,
    (ImageType.array, 1): lib.ZE_IMAGE_TYPE_1DARRAY,
    (ImageType.array, 2): lib.ZE_IMAGE_TYPE_2DARRAY,
}


@functools.cache
def format_desc(type: ImageType, dimensions: int, channel_type: ImageChannelType, num_channels: int) -> CData:
    """ze_image_desc_t of images that kernels read and write, without sizes; do not change it.

    Channels that the image lacks read 0, including alpha.

    Raises
    ------
    FeatureNotSupportedError
        Level Zero has no images of this type.
    """
    kind = _KINDS.get((type, dimensions))
    if kind is None:
        raise FeatureNotSupportedError(
            f"Level Zero has no {type} images: ask device.has(Aspect.ext_oneapi_{type}) first", backend="level_zero"
        )
    swizzle = [own if at < num_channels else lib.ZE_IMAGE_FORMAT_SWIZZLE_0 for at, own in enumerate(_SWIZZLES)]
    return driver.make_struct(
        "ze_image_desc_t",
        flags=lib.ZE_IMAGE_FLAG_KERNEL_WRITE,
        type=kind,
        format={
            "layout": _layout(channel_type, num_channels),
            "type": _TYPES[channel_type],
            **dict(zip("xyzw", swizzle)),
        },
    )


def sizes_of(desc: ImageDescriptor) -> tuple[int, int, int, int]:
    """Width, height, depth and layers of ze_image_desc_t."""
    return desc.width, desc.height or 1, desc.depth or 1, desc.array_size if desc.type is ImageType.array else 0


def image_desc(desc: ImageDescriptor, next: CData = None) -> CData:
    """ze_image_desc_t of an image that kernels read and write.

    Parameters
    ----------
    next
        chained descriptor.

    Raises
    ------
    FeatureNotSupportedError
        Level Zero has no images of this type.
    """
    result = driver.make_struct("ze_image_desc_t", next)
    chain = result.pNext
    result[0] = format_desc(desc.type, desc.dimensions, desc.channel_type, desc.num_channels)[0]
    result.pNext = chain
    result.width, result.height, result.depth, result.arraylevels = sizes_of(desc)
    return result


@functools.cache
def supports_format(device: Device, channel_type: ImageChannelType, num_channels: int) -> bool:
    """Whether images of this format can be created; for three channels the driver is queried."""
    if channel_type not in _TYPES or CHANNELS[channel_type].channels not in (0, num_channels):
        return False
    if num_channels in CHANNEL_COUNTS:
        return True
    if num_channels != 3:
        return False
    image = image_desc(ImageDescriptor(4, 4, num_channels=num_channels, channel_type=channel_type))
    support = None
    if "ZE_extension_image_format_support" in device.driver.extensions:
        support = driver.make_struct("ze_image_format_support_ext_properties_t")
    properties = driver.make_struct("ze_image_properties_t", support)
    result: int = lib.zeImageGetProperties(device.handle, image, properties)
    return result == SUCCESS and support is not None and bool(support.supported)


def require_format(device: Device, desc: ImageDescriptor) -> None:
    """Raise ``FeatureNotSupportedError`` for a format that the device does not have."""
    if not supports_format(device, desc.channel_type, desc.num_channels):
        raise FeatureNotSupportedError(
            f"num_channels={desc.num_channels}: {device.name} has no images of so many channels of "
            f"{desc.channel_type}; use 1, 2 or 4",
            backend="level_zero",
        )
