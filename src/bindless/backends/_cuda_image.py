"""Image memory: CUDA arrays and mipmapped arrays, known by their addresses as raw handles."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..drivers import cuda as driver
from ..model.descriptor import CUBEMAP_FACES, ImageDescriptor
from ..model.enums import Errc, ImageType
from ..model.errors import InvalidError, MemoryAllocationError, SyclRuntimeError
from ._cuda_context import Context
from ._cuda_device import Device, PrimaryContext
from ._cuda_errors import SUCCESS, check, release
from ._cuda_fork import in_fork
from ._cuda_format import CHANNEL_TYPES, array_format, exceeded, fits_surfaces, require_channels
from .contract import ImageRecord

__all__ = ["ImageStorage", "allocate_image", "free_image", "image_info", "image_level", "storage_of"]

lib, ffi = driver.lib, driver.ffi


@dataclass
class ImageStorage:
    """A CUDA array, a mipmapped array, or one of its levels.

    Attributes:
        native: CUarray or CUmipmappedArray.
        primary: context that it was made in.
        desc: what it was made for; of a level, the level's.
        is_mipmap: whether it has levels, which have handles of their own.
        writable: whether surfaces can be made over it.
        parent: raw handle of the mipmap that a level belongs to, else 0.
        levels: raw handles of the levels asked for so far, by number.
    """

    native: Any
    primary: PrimaryContext
    desc: ImageDescriptor
    is_mipmap: bool
    writable: bool
    parent: int = 0
    levels: dict[int, int] = field(default_factory=dict)


def _raw(native: Any) -> int:
    return int(ffi.cast("uintptr_t", native))


def storage_of(context: Context, handle: int) -> ImageStorage:
    """The image memory of a raw handle.

    Raises:
        InvalidError: this context has none of that handle.
    """
    try:
        return context.images[handle]
    except KeyError:
        raise InvalidError(
            f"{handle:#x} is no image memory of this context: it was freed, or belongs to another context",
            backend="cuda",
        ) from None


def _array_descriptor(desc: ImageDescriptor, writable: bool) -> Any:
    """CUDA_ARRAY3D_DESCRIPTOR: layers are its depth; a one-dimensional array has no height even with layers."""
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
            "NumChannels": desc.num_channels,
            "Flags": flags | (lib.CUDA_ARRAY3D_SURFACE_LDST if writable else 0),
        },
    )


def _keep_warm(primary: PrimaryContext) -> None:
    """Makes the context's anchor array, once; without one, each creation of a first array costs 45 microseconds."""
    if primary.anchor is None:
        slot = ffi.new("CUarray *")
        desc = _array_descriptor(ImageDescriptor(1, 1, num_channels=1, channel_type="unsigned_int8"), False)
        if lib.cuArray3DCreate(slot, desc) == SUCCESS:
            primary.anchor = slot[0]


def allocate_image(context: Context, device: Device, desc: ImageDescriptor) -> int:
    """New image memory; kernels can write to it unless it is larger than the device's surfaces."""
    require_channels(desc.num_channels)
    primary = context.primary(device)
    writable = fits_surfaces(device, desc)
    is_mipmap = desc.type is ImageType.mipmap
    with primary:
        _keep_warm(primary)
        description = _array_descriptor(desc, writable)
        if is_mipmap:
            slot = ffi.new("CUmipmappedArray *")
            result, call = lib.cuMipmappedArrayCreate(slot, description, desc.num_levels), "cuMipmappedArrayCreate"
        else:
            slot = ffi.new("CUarray *")
            result, call = lib.cuArray3DCreate(slot, description), "cuArray3DCreate"
    if result != SUCCESS:
        reason = exceeded(device, desc) or f"{desc.nbytes} bytes for {desc}; {device.name} has {device.memory_size}"
        check(result, call, reason, Errc.memory_allocation)
    handle = _raw(slot[0])
    context.images[handle] = ImageStorage(slot[0], primary, desc, is_mipmap, writable)
    return handle


def free_image(context: Context, handle: int, desc: ImageDescriptor) -> None:
    """Frees image memory and forgets the levels of a mipmap."""
    storage = context.images.get(handle)
    if storage is None:
        raise MemoryAllocationError(
            f"{handle:#x} is no image memory of this context: it was freed before, or belongs to another context",
            backend="cuda",
        )
    if storage.parent:
        raise MemoryAllocationError(
            f"{handle:#x} is a level of the mipmap {storage.parent:#x} and is freed with it", backend="cuda"
        )
    del context.images[handle]
    for level in storage.levels.values():
        context.images.pop(level, None)
    if in_fork():
        return
    with storage.primary:
        if storage.is_mipmap:
            release(lib.cuMipmappedArrayDestroy(storage.native), "cuMipmappedArrayDestroy")
        else:
            release(lib.cuArrayDestroy(storage.native), "cuArrayDestroy")


def image_level(context: Context, handle: int, level: int) -> int:
    """Raw handle of a level of a mipmap; the same one each time, as long as the mipmap lives."""
    storage = storage_of(context, handle)
    if not storage.is_mipmap:
        raise SyclRuntimeError(f"{handle:#x} is a {storage.desc.type} image: only mipmaps have levels", backend="cuda")
    known = storage.levels.get(level)
    if known is not None:
        return known
    slot = ffi.new("CUarray *")
    with storage.primary:
        result = lib.cuMipmappedArrayGetLevel(slot, storage.native, level)
    check(
        result,
        "cuMipmappedArrayGetLevel",
        f"level {level} of a mipmap with levels 0 to {storage.desc.num_levels - 1}",
        Errc.runtime,
    )
    raw = _raw(slot[0])
    desc = storage.desc.get_mip_level_desc(level)
    context.images[raw] = ImageStorage(slot[0], storage.primary, desc, False, storage.writable, parent=handle)
    storage.levels[level] = raw
    return raw


def image_info(context: Context, handle: int) -> ImageRecord:
    """What the driver says of an array, or of level 0 of a mipmap."""
    storage = storage_of(context, handle)
    if storage.is_mipmap:
        storage = storage_of(context, image_level(context, handle, 0))
    desc = ffi.new("CUDA_ARRAY3D_DESCRIPTOR *")
    with storage.primary:
        check(lib.cuArray3DGetDescriptor(desc, storage.native), "cuArray3DGetDescriptor")
    layered = desc.Flags & (lib.CUDA_ARRAY3D_LAYERED | lib.CUDA_ARRAY3D_CUBEMAP)
    return ImageRecord(
        width=desc.Width,
        height=desc.Height,
        depth=0 if layered else desc.Depth,
        channel_type=CHANNEL_TYPES[desc.Format],
        num_channels=desc.NumChannels,
    )
