"""Channel types as CUDA array formats, and the limits of image sizes."""

from __future__ import annotations

from ...drivers import cuda as driver
from ...model.enums import ImageChannelType, ImageType
from ...model.errors import FeatureNotSupportedError
from ...model.image_descriptor import ImageDescriptor
from .device import Device

__all__ = ["CHANNEL_COUNTS", "CHANNEL_TYPES", "array_format", "exceeded", "fits_surfaces", "require_channels"]

lib = driver.lib

CHANNEL_COUNTS = (1, 2, 4)

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
}

# The native channel type of each format: the granularity of the driver's answers for an array.
CHANNEL_TYPES = {
    value: channel_type for channel_type, value in _FORMATS.items() if not channel_type.startswith(("snorm", "unorm"))
}


def array_format(channel_type: ImageChannelType) -> int:
    """The CUarray_format that stores a channel type."""
    return _FORMATS[channel_type]


def require_channels(num_channels: int) -> None:
    """Raise ``FeatureNotSupportedError`` for channel counts that no CUDA format has."""
    if num_channels not in CHANNEL_COUNTS:
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
