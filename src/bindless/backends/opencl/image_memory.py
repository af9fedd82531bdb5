"""Image memory: OpenCL images, with their cl_mem as raw handles."""

from __future__ import annotations

import functools

from ...drivers import opencl as driver
from ...drivers.common.cffi_types import CData
from ...model.enums import Errc, ImageType
from ...model.errors import FeatureNotSupportedError, MemoryAllocationError, SyclRuntimeError
from ...model.image_descriptor import ImageDescriptor
from ..common import handle_table
from ..contract import ImageRecord
from .context import Context
from .device import Device
from .errors import SUCCESS, check, fail, release
from .fork_guard import in_fork, refuse_in_fork
from .image_format import channel_type_of, image_desc, image_format, require_format
from .image_objects import ImageStorage

__all__ = [
    "FOREIGN_IMAGES",
    "allocate_image",
    "free_image",
    "image_info",
    "image_level",
    "require_images",
    "storage_of",
]

lib, ffi = driver.lib, driver.ffi

_new_result = functools.partial(ffi.new, ffi.typeof("cl_int *"))

FOREIGN_IMAGES = 0x0C1_1000_0000_0001
"""First raw handle of foreign image memory, which has numbers of its own: the same image may be given twice."""


def require_images(device: Device) -> None:
    """Raise ``FeatureNotSupportedError`` for a device without images."""
    if not device.has_images:
        raise FeatureNotSupportedError(
            f"{device.name} has no images (CL_DEVICE_IMAGE_SUPPORT): ask device.has(Aspect.image) first",
            backend="opencl",
        )


def storage_of(context: Context, handle: int) -> ImageStorage:
    """The image memory of a raw handle.

    Raises
    ------
    InvalidError
        this context has no image memory of that handle.
    """
    return handle_table.storage(context.images, handle, "opencl")


def _limits(device: Device, desc: ImageDescriptor) -> tuple[tuple[str, int], ...]:
    """Sizes of an image and the device's limits; OpenCL defines no limit for one dimension."""
    number = device.number
    if desc.dimensions == 3:
        return (
            ("width", number(lib.CL_DEVICE_IMAGE3D_MAX_WIDTH)),
            ("height", number(lib.CL_DEVICE_IMAGE3D_MAX_HEIGHT)),
            ("depth", number(lib.CL_DEVICE_IMAGE3D_MAX_DEPTH)),
        )
    return (("width", number(lib.CL_DEVICE_IMAGE2D_MAX_WIDTH)), ("height", number(lib.CL_DEVICE_IMAGE2D_MAX_HEIGHT)))


def _require_size(device: Device, desc: ImageDescriptor) -> None:
    for name, most in _limits(device, desc):
        value = getattr(desc, name)
        if value > most:
            raise MemoryAllocationError(
                f"{name}={value}: images of {desc.dimensions} dimensions of {device.name} have at most {most}; split "
                "the image, or make it smaller",
                backend="opencl",
            )
    layers = device.number(lib.CL_DEVICE_IMAGE_MAX_ARRAY_SIZE)
    if desc.type is ImageType.array and desc.array_size > layers:
        raise MemoryAllocationError(
            f"array_size={desc.array_size}: arrays of {device.name} have at most {layers} layers; split the image",
            backend="opencl",
        )
    whole = device.number(lib.CL_DEVICE_GLOBAL_MEM_SIZE)
    if desc.nbytes > whole:  # Some drivers report this at the first use only.
        raise MemoryAllocationError(f"{desc.nbytes} bytes for {desc}; {device.name} has {whole}", backend="opencl")


@functools.lru_cache(maxsize=256)
def _plan(device: Device, desc: ImageDescriptor) -> tuple[int, CData, CData, CData]:
    """Arguments of clCreateImage for an image that the device can have."""
    require_images(device)
    native = image_desc(desc)
    require_format(device, desc)
    _require_size(device, desc)
    flags = lib.CL_MEM_READ_WRITE if desc.dimensions < 3 or device.writes_3d else lib.CL_MEM_READ_ONLY
    return flags, image_format(desc.channel_type, desc.num_channels), native, ffi.NULL


def allocate_image(context: Context, device: Device, desc: ImageDescriptor) -> int:
    """Allocate image memory, which kernels can read and write."""
    refuse_in_fork()
    place = context.device(device)
    slot = _new_result()
    native = lib.clCreateImage(context.handle, *_plan(place, desc), slot)
    if slot[0] != SUCCESS:
        whole = place.number(lib.CL_DEVICE_GLOBAL_MEM_SIZE)
        fail(slot[0], "clCreateImage", f"{desc.nbytes} bytes for {desc}; {place.name} has {whole}", _MEMORY)
    storage = ImageStorage(native, place, desc)
    context.images[storage.address] = storage
    return storage.address


_MEMORY = Errc.memory_allocation


def free_image(context: Context, handle: int, desc: ImageDescriptor) -> None:
    """Free image memory."""
    storage = handle_table.take_storage(context.images, handle, "opencl")
    if not in_fork():
        release(lib.clReleaseMemObject(storage.handle), "clReleaseMemObject")


def image_level(context: Context, handle: int, level: int) -> int:
    """This back end has no mipmaps.

    Raises
    ------
    SyclRuntimeError
        always.
    """
    storage = storage_of(context, handle)
    raise SyclRuntimeError(
        f"{handle:#x} is a {storage.desc.type} image: only mipmaps have levels, and the OpenCL backend has none; ask "
        "device.has(Aspect.ext_oneapi_mipmap) first",
        backend="opencl",
    )


def image_info(context: Context, handle: int) -> ImageRecord:
    """Size and format that the driver reports."""
    storage = storage_of(context, handle)
    slot, native = ffi.new("size_t *"), ffi.new("cl_image_format *")

    def ask(name: int) -> int:
        check(lib.clGetImageInfo(storage.handle, name, 8, slot, ffi.NULL), "clGetImageInfo")
        return int(slot[0])

    size = ffi.sizeof("cl_image_format")
    check(lib.clGetImageInfo(storage.handle, lib.CL_IMAGE_FORMAT, size, native, ffi.NULL), "clGetImageInfo")
    dimensions = storage.desc.dimensions
    return ImageRecord(
        ask(lib.CL_IMAGE_WIDTH),
        ask(lib.CL_IMAGE_HEIGHT) if dimensions > 1 else 0,
        ask(lib.CL_IMAGE_DEPTH) if dimensions > 2 else 0,
        *channel_type_of(native),
    )
