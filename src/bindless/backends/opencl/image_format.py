"""OpenCL's image formats and descriptors of the package's formats and descriptors."""

from __future__ import annotations

import functools
import itertools

from ...drivers import opencl as driver
from ...drivers.common.cffi_types import CData
from ...model.enums import ImageChannelType, ImageType
from ...model.errors import Error, FeatureNotSupportedError
from ...model.image_descriptor import ImageDescriptor
from .device import Device
from .errors import create
from .known_answer_tests import spoiled_formats

__all__ = [
    "channel_type_of",
    "image_desc",
    "image_format",
    "kind_of",
    "native_type_of",
    "require_format",
    "supports_format",
]

lib, ffi = driver.lib, driver.ffi

_ORDERS = {1: lib.CL_R, 2: lib.CL_RG, 3: lib.CL_RGB, 4: lib.CL_RGBA}

_TYPES = {
    ImageChannelType.snorm_int8: lib.CL_SNORM_INT8,
    ImageChannelType.snorm_int16: lib.CL_SNORM_INT16,
    ImageChannelType.unorm_int8: lib.CL_UNORM_INT8,
    ImageChannelType.unorm_int16: lib.CL_UNORM_INT16,
    ImageChannelType.signed_int8: lib.CL_SIGNED_INT8,
    ImageChannelType.signed_int16: lib.CL_SIGNED_INT16,
    ImageChannelType.signed_int32: lib.CL_SIGNED_INT32,
    ImageChannelType.unsigned_int8: lib.CL_UNSIGNED_INT8,
    ImageChannelType.unsigned_int16: lib.CL_UNSIGNED_INT16,
    ImageChannelType.unsigned_int32: lib.CL_UNSIGNED_INT32,
    ImageChannelType.fp16: lib.CL_HALF_FLOAT,
    ImageChannelType.fp32: lib.CL_FLOAT,
}
_CHANNEL_TYPES = {number: channel_type for channel_type, number in _TYPES.items()}
_COUNTS = {number: count for count, number in _ORDERS.items()}

# The driver's image type, and its name in OpenCL C.
_KINDS = {
    (ImageType.standard, 1): (lib.CL_MEM_OBJECT_IMAGE1D, "image1d_t"),
    (ImageType.standard, 2): (lib.CL_MEM_OBJECT_IMAGE2D, "image2d_t"),
    (ImageType.standard, 3): (lib.CL_MEM_OBJECT_IMAGE3D, "image3d_t"),
    (ImageType.array, 1): (lib.CL_MEM_OBJECT_IMAGE1D_ARRAY, "image1d_array_t"),
    (ImageType.array, 2): (lib.CL_MEM_OBJECT_IMAGE2D_ARRAY, "image2d_array_t"),
}


def kind_of(desc: ImageDescriptor) -> int:
    """cl_mem_object_type of an image.

    Raises
    ------
    FeatureNotSupportedError
        OpenCL has no images of this type.
    """
    return _kind(desc)[0]


def native_type_of(desc: ImageDescriptor) -> str:
    """OpenCL C's name of the image type, such as image2d_t."""
    kind = _KINDS.get((desc.type, desc.dimensions)) or _kind(desc)
    return kind[1]


def _kind(desc: ImageDescriptor) -> tuple[int, str]:
    kind = _KINDS.get((desc.type, desc.dimensions))
    if kind is None:
        raise FeatureNotSupportedError(
            f"the OpenCL backend has no {desc.type} images: ask device.has(Aspect.ext_oneapi_{desc.type}) first",
            backend="opencl",
        )
    return kind


def image_format(channel_type: ImageChannelType, count: int) -> CData:
    """cl_image_format."""
    return ffi.new("cl_image_format *", (_ORDERS[count], _TYPES[channel_type]))


def channel_type_of(native: CData) -> tuple[ImageChannelType, int]:
    """Channel type and number of channels of a cl_image_format made by ``image_format``."""
    return _CHANNEL_TYPES[native.image_channel_data_type], _COUNTS[native.image_channel_order]


def image_desc(desc: ImageDescriptor) -> CData:
    """cl_image_desc of image memory."""
    result = ffi.new("cl_image_desc *")
    result.image_type = kind_of(desc)
    result.image_width = desc.width
    result.image_height = desc.height or 1
    result.image_depth = desc.depth or 1
    result.image_array_size = desc.array_size if desc.type is ImageType.array else 1
    return result


@functools.cache
def _formats(device: Device) -> frozenset[tuple[int, int]]:
    """Order and type of the formats that kernels read and write in images of every kind: the driver's list, without the
    formats that fail the known-answer tests.
    """
    listed = _listed(device)
    return listed - spoiled_formats(device, listed)


def _listed(device: Device) -> frozenset[tuple[int, int]]:
    if not device.has_images:
        return frozenset()
    handles = ffi.new("cl_device_id[]", [device.handle])
    context = create("clCreateContext", ffi.NULL, 1, handles, ffi.NULL, ffi.NULL, details=f"for {device.name}")
    try:
        common = frozenset(itertools.product(_ORDERS.values(), _TYPES.values()))
        for kind, _ in _KINDS.values():
            flag = lib.CL_MEM_READ_WRITE
            if kind == lib.CL_MEM_OBJECT_IMAGE3D and not device.writes_3d:
                flag = lib.CL_MEM_READ_ONLY
            try:
                listed = driver.get_all("cl_image_format", "clGetSupportedImageFormats", context, flag, kind)
            except Error:
                listed = []
            common &= {(row.image_channel_order, row.image_channel_data_type) for row in listed}
        return common
    finally:
        lib.clReleaseContext(context)


def supports_format(device: Device, channel_type: ImageChannelType, num_channels: int) -> bool:
    """Whether images of every kind support this format; the driver is queried and tested once."""
    return (_ORDERS.get(num_channels, -1), _TYPES.get(channel_type, -1)) in _formats(device)


def require_format(device: Device, desc: ImageDescriptor) -> None:
    """Raise ``FeatureNotSupportedError`` for a format that the device does not have."""
    if not supports_format(device, desc.channel_type, desc.num_channels):
        counts = [count for count in _ORDERS if supports_format(device, desc.channel_type, count)]
        way_out = f"use {' or '.join(map(str, counts))}" if counts else "use another channel type"
        raise FeatureNotSupportedError(
            f"num_channels={desc.num_channels}: {device.name} has no images of so many channels of "
            f"{desc.channel_type}; {way_out}",
            backend="opencl",
        )
