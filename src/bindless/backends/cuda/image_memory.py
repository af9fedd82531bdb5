"""Image memory: CUDA arrays and mipmapped arrays, with their addresses as raw handles.

The properties of an image on a device are computed once and cached in the descriptor (``ImageDescriptor.prepared``).
"""

from __future__ import annotations

import functools
from typing import NoReturn

from ...drivers import cuda as driver
from ...drivers.common.cffi_types import CData
from ...model.enums import Errc, ImageType
from ...model.errors import MemoryAllocationError, SyclRuntimeError
from ...model.image_descriptor import CUBEMAP_FACES, ImageDescriptor
from ..common import handle_table
from ..contract import ImageRecord
from .context import Context
from .device import Device, PrimaryContext
from .errors import SUCCESS, check, fail, release
from .fork_guard import refuse_in_fork
from .image_format import (
    CHANNEL_TYPES,
    array_channels,
    array_format,
    exceeded,
    fits_surfaces,
    image_channels,
    require_channels,
)
from .image_storage import ImageStorage
from .object_cache import array_to_rest, end_rest, end_views, wake_array

__all__ = [
    "allocate_image",
    "array_descriptor",
    "end_use",
    "free_image",
    "image_info",
    "image_level",
    "storage_of",
]

lib, ffi = driver.lib, driver.ffi

_create, _destroy = lib.bindless_array_create, lib.bindless_array_destroy


def storage_of(context: Context, handle: int) -> ImageStorage:
    """The image memory of a raw handle.

    Raises
    ------
    InvalidError
        this context has no image memory of that handle.
    """
    return handle_table.storage(context.images, handle, "cuda")


def array_descriptor(desc: ImageDescriptor, writable: bool) -> CData:
    """CUDA_ARRAY3D_DESCRIPTOR: its depth is the number of layers; a one-dimensional array has height 0 even with
    layers.
    """
    flags, depth = 0, desc.depth
    if desc.type is ImageType.array:
        flags, depth = lib.CUDA_ARRAY3D_LAYERED, desc.array_size
    elif desc.type is ImageType.cubemap:
        flags, depth = lib.CUDA_ARRAY3D_CUBEMAP, CUBEMAP_FACES
    return ffi.new(
        "CUDA_ARRAY3D_DESCRIPTOR *",
        {
            "Width": desc.width,
            "Height": desc.height,
            "Depth": depth,
            "Format": array_format(desc.channel_type),
            "NumChannels": array_channels(desc),
            "Flags": flags | (lib.CUDA_ARRAY3D_SURFACE_LDST if writable else 0),
        },
    )


@functools.cache
def _gathers_and_writes(primary: PrimaryContext) -> bool:
    """Whether the driver creates arrays that support both gathers and writes; tested by creating one."""
    flags = lib.CUDA_ARRAY3D_SURFACE_LDST | lib.CUDA_ARRAY3D_TEXTURE_GATHER
    values = {"Width": 1, "Height": 1, "Format": lib.CU_AD_FORMAT_FLOAT, "NumChannels": 1, "Flags": flags}
    slot = ffi.new("CUarray *")
    with primary:
        success = lib.cuArray3DCreate(slot, ffi.new("CUDA_ARRAY3D_DESCRIPTOR *", values)) == lib.CUDA_SUCCESS
        if success:
            lib.cuArrayDestroy(slot[0])
    return success


_LARGEST_WITH_GATHERS = 16384
"""Larger arrays with the flag have normalized coordinates of other precision: docs/internals/numerics.md."""


def _gather_flag(primary: PrimaryContext, desc: ImageDescriptor, writable: bool) -> int:
    """The flag of arrays that support gathers: two-dimensional arrays within the size limits."""
    width, height = (min(limit, _LARGEST_WITH_GATHERS) for limit in primary.device.gather_limits)
    if desc.type is not ImageType.standard or desc.dimensions != 2 or desc.width > width or desc.height > height:
        return 0
    if desc.channel.is_sampled_only:
        return 0
    return int(lib.CUDA_ARRAY3D_TEXTURE_GATHER) if not writable or _gathers_and_writes(primary) else 0


# Limits of the array cache: bytes per kind, arrays per kind.
_BYTES_AT_REST, _ARRAYS_AT_REST = 1 << 20, 8


def _kind(description: CData) -> str:
    """The properties that arrays need in common to replace each other."""
    form = description.Format, description.NumChannels, description.Flags
    return f"{description.Width} {description.Height} {description.Depth} {form}"


def _prepare(primary: PrimaryContext, desc: ImageDescriptor) -> ImageStorage:
    """Compute the properties of a descriptor's arrays on a device; the descriptor caches them."""
    require_channels(desc.num_channels)
    writable = not desc.channel.is_sampled_only and fits_surfaces(primary.device, desc)
    description = array_descriptor(desc, writable)
    description.Flags |= _gather_flag(primary, desc, writable)
    storage = ImageStorage(primary, desc, description, writable)
    if not storage.is_mipmap and desc.nbytes <= _BYTES_AT_REST:
        storage.kind = _kind(storage.description)
        storage.most_at_rest = min(_BYTES_AT_REST // desc.nbytes, _ARRAYS_AT_REST)
    desc.prepared[primary.device] = storage
    return storage


def allocate_image(context: Context, device: Device, desc: ImageDescriptor) -> int:
    """Allocate image memory; kernels can write to it unless it exceeds the device's surface limits."""
    storage: ImageStorage | None = desc.prepared.get(device)
    if storage is None or device not in context.primaries:
        storage = _prepare(context.primary(device), desc)
    primary = storage.primary
    if storage.is_mipmap:
        storage = ImageStorage(primary, desc, storage.description, storage.writable)
        handle = _create(primary.handle, storage.description, desc.num_levels)
    else:
        handle = wake_array(primary, storage.kind) or _create(primary.handle, storage.description, 0)
    if not handle and primary.rest:
        end_rest(primary)
        handle = _create(primary.handle, storage.description, desc.num_levels if storage.is_mipmap else 0)
    if not handle:
        _refused(device, storage)
    context.images[handle] = storage
    return handle


def _refused(device: Device, storage: ImageStorage) -> NoReturn:
    result, desc = lib.bindless_refusal(), storage.desc
    refuse_in_fork()
    reason = exceeded(device, desc) or f"{desc.nbytes} bytes for {desc}; {device.name} has {device.memory_size}"
    call = "cuMipmappedArrayCreate" if storage.is_mipmap else "cuArray3DCreate"
    fail(result, call, reason, Errc.memory_allocation)


def _end_copies(context: Context, storage: ImageStorage, handle: int) -> None:
    """Destroy the surfaces of large copies."""
    for array in (handle, *storage.levels.values()):
        surface = context.copied.pop(array, 0)
        if surface:
            release(lib.bindless_image_destroy(storage.primary.handle, surface, False), "cuSurfObjectDestroy")


def end_use(context: Context, storage: ImageStorage, handle: int) -> None:
    """Destroy the package's own objects over an array or a mipmap before its end."""
    if context.copied:
        _end_copies(context, storage, handle)
    if storage.primary.views:
        for array in (handle, *storage.levels.values()):
            end_views(storage.primary, array)


def free_image(context: Context, handle: int, desc: ImageDescriptor) -> None:
    """Free image memory and forget the levels of a mipmap."""
    storage = context.images.pop(handle, None) or handle_table.take_storage(context.images, handle, "cuda")
    if storage.most_at_rest:
        if context.copied:
            _end_copies(context, storage, handle)
        if array_to_rest(storage.primary, storage.kind, storage.most_at_rest, handle):
            return
    if storage.parent:
        context.images[handle] = storage
        raise MemoryAllocationError(
            f"{handle:#x} is a level of the mipmap {storage.parent:#x} and is freed with it", backend="cuda"
        )
    if storage.is_mipmap:
        for level in storage.levels.values():
            context.images.pop(level, None)
    end_use(context, storage, handle)
    result = _destroy(storage.primary.handle, handle, storage.is_mipmap)
    if result != SUCCESS:
        release(result, "cuMipmappedArrayDestroy" if storage.is_mipmap else "cuArrayDestroy")


def image_level(context: Context, handle: int, level: int) -> int:
    """Raw handle of a level of a mipmap; the same one in each call while the mipmap lives."""
    storage = storage_of(context, handle)
    if not storage.is_mipmap:
        raise SyclRuntimeError(f"{handle:#x} is a {storage.desc.type} image: only mipmaps have levels", backend="cuda")
    array = storage.levels.get(level)
    if array is not None:
        return array
    slot = ffi.new("CUarray *")
    with storage.primary:
        result = lib.cuMipmappedArrayGetLevel(slot, ffi.cast("CUmipmappedArray", handle), level)
    check(
        result,
        "cuMipmappedArrayGetLevel",
        f"level {level} of a mipmap with levels 0 to {storage.desc.num_levels - 1}",
        Errc.runtime,
    )
    raw = int(ffi.cast("uintptr_t", slot[0]))
    desc = storage.desc.get_mip_level_desc(level)
    context.images[raw] = ImageStorage(storage.primary, desc, storage.description, storage.writable, parent=handle)
    storage.levels[level] = raw
    return raw


def image_info(context: Context, handle: int) -> ImageRecord:
    """The driver's properties of an array, or of level 0 of a mipmap."""
    storage = storage_of(context, handle)
    if storage.is_mipmap:
        handle = image_level(context, handle, 0)
    desc = ffi.new("CUDA_ARRAY3D_DESCRIPTOR *")
    with storage.primary:
        check(lib.cuArray3DGetDescriptor(desc, ffi.cast("CUarray", handle)), "cuArray3DGetDescriptor")
    layered = desc.Flags & (lib.CUDA_ARRAY3D_LAYERED | lib.CUDA_ARRAY3D_CUBEMAP)
    return ImageRecord(
        width=desc.Width,
        height=desc.Height,
        depth=0 if layered else desc.Depth,
        channel_type=CHANNEL_TYPES[desc.Format],
        num_channels=image_channels(desc.NumChannels),
    )
