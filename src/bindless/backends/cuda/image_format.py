"""Channel types as CUDA array formats, and the limits of image sizes."""

from __future__ import annotations

from ...drivers import cuda as driver
from ...model.channels import CHANNELS
from ...model.enums import ImageChannelType, ImageType
from ...model.errors import FeatureNotSupportedError
from ...model.image_descriptor import ImageDescriptor
from .device import Device

__all__ = [
    "CHANNEL_TYPES",
    "array_channels",
    "array_format",
    "exceeded",
    "fits_surfaces",
    "image_channels",
    "is_srgb",
    "require_channels",
    "supports_format",
]

lib = driver.lib

_CHANNEL_COUNTS = (1, 2, 4)

# Arrays hold the stored codes: the texture or the kernel decides whether they stand for 0..1 or -1..1.
_FORMATS = {
    ImageChannelType.snorm_int8: lib.CU_AD_FORMAT_SIGNED_INT8,
    ImageChannelType.snorm_int16: lib.CU_AD_FORMAT_SIGNED_INT16,
    ImageChannelType.unorm_int8: lib.CU_AD_FORMAT_UNSIGNED_INT8,
    ImageChannelType.unorm_int16: lib.CU_AD_FORMAT_UNSIGNED_INT16,
    ImageChannelType.signed_int8: lib.CU_AD_FORMAT_SIGNED_INT8,
    ImageChannelType.signed_int16: lib.CU_AD_FORMAT_SIGNED_INT16,
    ImageChannelType.signed_int32: lib.CU_AD_FORMAT_SIGNED_INT32,
    ImageChannelType.unsigned_int8: lib.CU_AD_FORMAT_UNSIGNED_INT8,
    ImageChannelType.unsigned_int16: lib.CU_AD_FORMAT_UNSIGNED_INT16,
    ImageChannelType.unsigned_int32: lib.CU_AD_FORMAT_UNSIGNED_INT32,
    ImageChannelType.fp16: lib.CU_AD_FORMAT_HALF,
    ImageChannelType.fp32: lib.CU_AD_FORMAT_FLOAT,
    ImageChannelType.unorm_10_10_10_2: lib.CU_AD_FORMAT_UNORM_INT_101010_2,
    ImageChannelType.unorm_int8_srgb: lib.CU_AD_FORMAT_UNSIGNED_INT8,
    ImageChannelType.bc1_unorm: lib.CU_AD_FORMAT_BC1_UNORM,
    ImageChannelType.bc1_srgb: lib.CU_AD_FORMAT_BC1_UNORM_SRGB,
    ImageChannelType.bc2_unorm: lib.CU_AD_FORMAT_BC2_UNORM,
    ImageChannelType.bc2_srgb: lib.CU_AD_FORMAT_BC2_UNORM_SRGB,
    ImageChannelType.bc3_unorm: lib.CU_AD_FORMAT_BC3_UNORM,
    ImageChannelType.bc3_srgb: lib.CU_AD_FORMAT_BC3_UNORM_SRGB,
    ImageChannelType.bc4_unorm: lib.CU_AD_FORMAT_BC4_UNORM,
    ImageChannelType.bc4_snorm: lib.CU_AD_FORMAT_BC4_SNORM,
    ImageChannelType.bc5_unorm: lib.CU_AD_FORMAT_BC5_UNORM,
    ImageChannelType.bc5_snorm: lib.CU_AD_FORMAT_BC5_SNORM,
    ImageChannelType.bc6h_ufloat: lib.CU_AD_FORMAT_BC6H_UF16,
    ImageChannelType.bc6h_sfloat: lib.CU_AD_FORMAT_BC6H_SF16,
    ImageChannelType.bc7_unorm: lib.CU_AD_FORMAT_BC7_UNORM,
    ImageChannelType.bc7_srgb: lib.CU_AD_FORMAT_BC7_UNORM_SRGB,
}

# The native channel type of each format: the granularity of the driver's answers for an array.
CHANNEL_TYPES = {
    value: channel_type
    for channel_type, value in _FORMATS.items()
    if not channel_type.startswith(("snorm_int", "unorm_int"))
}


_THREE_CHANNELS = (ImageChannelType.bc6h_ufloat, ImageChannelType.bc6h_sfloat)


def is_srgb(channel_type: ImageChannelType) -> bool:
    """Whether textures convert red, green and blue from sRGB."""
    return channel_type.endswith("_srgb")


def supports_format(channel_type: ImageChannelType, num_channels: int) -> bool:
    """Whether CUDA has arrays of this format."""
    return num_channels in _CHANNEL_COUNTS and CHANNELS[channel_type].channels in (0, num_channels)


def array_format(channel_type: ImageChannelType) -> int:
    """The CUarray_format that stores a channel type."""
    return _FORMATS[channel_type]


def array_channels(desc: ImageDescriptor) -> int:
    """Channels of the CUDA array: BC6H has three there, and its fourth one, which is 1, here alone."""
    return 3 if desc.channel_type in _THREE_CHANNELS else desc.num_channels


def image_channels(array_channels: int) -> int:
    """Channels of the image of an array."""
    return 4 if array_channels == 3 else array_channels


def require_channels(num_channels: int) -> None:
    """Raise ``FeatureNotSupportedError`` for channel counts that no CUDA format has."""
    if num_channels not in _CHANNEL_COUNTS:
        raise FeatureNotSupportedError(
            f"num_channels={num_channels}: NVIDIA textures have 1, 2 or 4 channels; add a fourth one, or ask first "
            "whether the device supports the format",
            backend="cuda",
        )


_LIMIT = "CU_DEVICE_ATTRIBUTE_MAXIMUM_"

# Largest extents of (x, y, z) by geometry, as device attributes. The names for textures and surfaces differ only in
# that word. A third extent is the number of layers of an array.
_EXTENTS = {
    "1D": ("1D_WIDTH",),
    "2D": ("2D_WIDTH", "2D_HEIGHT"),
    "3D": ("3D_WIDTH", "3D_HEIGHT", "3D_DEPTH"),
    "1D array": ("1D_LAYERED_WIDTH", "", "1D_LAYERED_LAYERS"),
    "2D array": ("2D_LAYERED_WIDTH", "2D_LAYERED_HEIGHT", "2D_LAYERED_LAYERS"),
    "cubemap": ("CUBEMAP_WIDTH", "CUBEMAP_WIDTH"),
}
_MIPMAP_EXTENTS = {
    "1D": ("1D_MIPMAPPED_WIDTH",),
    "2D": ("2D_MIPMAPPED_WIDTH", "2D_MIPMAPPED_HEIGHT"),
    "3D": _EXTENTS["3D"],
}


def _geometry(desc: ImageDescriptor) -> str:
    if desc.type is ImageType.cubemap:
        return "cubemap"
    return f"{desc.dimensions}D" + (" array" if desc.type is ImageType.array else "")


def _limits(device: Device, names: tuple[str, ...], kind: str) -> list[int | None]:
    return [device.attribute(getattr(lib, f"{_LIMIT}{kind}{name}")) if name else None for name in names]


def exceeded(device: Device, desc: ImageDescriptor) -> str:
    """The description of the texture limit that an image exceeds, or an empty value."""
    geometry = _geometry(desc)
    mipmap = desc.type is ImageType.mipmap
    limits = _limits(device, (_MIPMAP_EXTENTS if mipmap else _EXTENTS)[geometry], "TEXTURE")
    for axis, size, limit in zip(("width", "height", "layers" if desc.is_layered else "depth"), desc.extent, limits):
        if limit is not None and size > limit:
            kind = f"{geometry} mipmaps" if mipmap else f"{geometry} images"
            return f"{axis}={size}, and {kind} of {device.name} have at most {limit}"
    return ""


def fits_surfaces(device: Device, desc: ImageDescriptor) -> bool:
    """Whether kernels can write an image of this size: the limits of surfaces may be lower than those of textures."""
    limits = _limits(device, _EXTENTS[_geometry(desc)], "SURFACE")
    return all(limit is None or size <= limit for size, limit in zip(desc.extent, limits))
