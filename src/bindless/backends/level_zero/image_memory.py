"""Image memory: bindless, resident Level Zero images, with their addresses as raw handles."""

from __future__ import annotations

from ...drivers import level_zero as driver
from ...drivers.common.cffi_types import CData
from ...model.enums import Errc
from ...model.errors import FeatureNotSupportedError, MemoryAllocationError, SyclRuntimeError
from ...model.image_descriptor import ImageDescriptor
from ..common import handle_table
from ..contract import ImageRecord
from .context import Context
from .device import Device
from .errors import SUCCESS, fail, release
from .fork_guard import in_fork, refuse_in_fork
from .image_format import format_desc, require_format, sizes_of
from .image_objects import ImageStorage

__all__ = [
    "allocate_image",
    "bindless_desc",
    "exceeded",
    "free_image",
    "image_info",
    "image_level",
    "make_resident",
    "require_bindless",
    "storage_of",
]

lib, ffi = driver.lib, driver.ffi


def require_bindless(device: Device) -> None:
    """Raise ``FeatureNotSupportedError`` for a device without bindless images."""
    if not device.has_bindless_images:
        loader = ".".join(map(str, driver.version()))
        raise FeatureNotSupportedError(
            f"{device.name} has no bindless images: they need zeImageGetDeviceOffsetExp and the extension "
            "ZE_experimental_bindless_image, which came with Level Zero 1.9; the driver is of "
            f"{device.driver.api[0]}.{device.driver.api[1]}, the loader {loader}. Ask "
            "device.has(Aspect.ext_oneapi_bindless_images) first",
            backend="level_zero",
        )


def bindless_desc(next: CData = None, sampled: bool = False) -> CData:
    """ze_image_bindless_exp_desc_t."""
    flags = lib.ZE_IMAGE_BINDLESS_EXP_FLAG_BINDLESS
    if sampled:
        flags |= lib.ZE_IMAGE_BINDLESS_EXP_FLAG_SAMPLED_IMAGE
    return driver.make_struct("ze_image_bindless_exp_desc_t", next, flags=flags)


def make_resident(context: Context, device: Device, image: CData) -> None:
    """Make an image resident, so that kernels may use it without a parameter; destroys it on failure."""
    result = lib.zeContextMakeImageResident(context.handle, device.handle, image)
    if result != SUCCESS:
        lib.zeImageDestroy(image)
        fail(result, "zeContextMakeImageResident", device.name)


def storage_of(context: Context, handle: int) -> ImageStorage:
    """The image memory of a raw handle.

    Raises
    ------
    InvalidError
        this context has no image memory of that handle.
    """
    return handle_table.storage(context.images, handle, "level_zero")


def exceeded(device: Device, desc: ImageDescriptor) -> str:
    """The description of the device limit that an image exceeds, or an empty value."""
    dimensions = desc.dimensions
    widest = int(getattr(device.image, f"maxImageDims{dimensions}D"))
    if max(desc.width, desc.height, desc.depth) > widest:
        sizes = {"width": desc.width, "height": desc.height, "depth": desc.depth}
        name, value = max(sizes.items(), key=lambda item: item[1])
        return f"{name}={value}: images of {dimensions} dimensions of {device.name} have at most {widest}"
    if desc.array_size > max(int(device.image.maxImageArraySlices), 1):
        most = int(device.image.maxImageArraySlices)
        return f"array_size={desc.array_size}: arrays of {device.name} have at most {most} layers"
    return ""


def allocate_image(context: Context, device: Device, desc: ImageDescriptor) -> int:
    """Allocate image memory, which kernels can read and write."""
    refuse_in_fork()
    place = context.device(device)
    require_bindless(place)
    require_format(place, desc)
    reason = exceeded(place, desc)
    if reason:
        raise MemoryAllocationError(f"{reason}; split the image, or make it smaller", backend="level_zero")
    form = format_desc(desc.type, desc.dimensions, desc.channel_type, desc.num_channels)
    slot = ffi.new("bindless_image_t *")
    result = lib.bindless_image_create(context.handle, place.handle, form, *sizes_of(desc), slot)
    if result != SUCCESS:
        if slot.created:
            fail(result, "zeContextMakeImageResident", place.name)
        details = f"{desc.nbytes} bytes for {desc}; {place.name} has {place.memory_size}"
        fail(result, "zeImageCreate", details, Errc.memory_allocation)
    raw = int(ffi.cast("uintptr_t", slot.image))
    context.images[raw] = ImageStorage(slot.image, place, desc)
    return raw


def free_image(context: Context, handle: int, desc: ImageDescriptor) -> None:
    """Free image memory."""
    storage = handle_table.take_storage(context.images, handle, "level_zero")
    if not in_fork():
        for view in storage.views.values():
            release(lib.zeImageDestroy(view), "zeImageDestroy")
        release(lib.zeImageDestroy(storage.handle), "zeImageDestroy")


def image_level(context: Context, handle: int, level: int) -> int:
    """Level Zero has no mipmaps.

    Raises
    ------
    SyclRuntimeError
        always.
    """
    storage = storage_of(context, handle)
    raise SyclRuntimeError(
        f"{handle:#x} is a {storage.desc.type} image: only mipmaps have levels, and Level Zero has no mipmaps; ask "
        "device.has(Aspect.ext_oneapi_mipmap) first",
        backend="level_zero",
    )


def image_info(context: Context, handle: int) -> ImageRecord:
    """Size and format of the image's creation: Level Zero reports only the bytes of an image."""
    storage = storage_of(context, handle)
    desc = storage.desc
    return ImageRecord(desc.width, desc.height, desc.depth, desc.channel_type, desc.num_channels)
