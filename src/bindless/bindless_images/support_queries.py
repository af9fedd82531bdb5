"""Support queries: the kinds of memory for an image, and the handles that can be made of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..model.aspects import Aspect
from ..model.enums import ImageMemoryHandleType, ImageType, coerce
from ..model.errors import FeatureNotSupportedError, InvalidError, MemoryAllocationError
from ..model.image_descriptor import ImageDescriptor
from ..model.image_handles import SampledImageHandle, UnsampledImageHandle
from ..model.message_values import shown
from ..sycl.device.device_context import Where, resolve
from .device_limits import limit, require_format, require_limits, require_type

if TYPE_CHECKING:
    from ..sycl.device.device import Device

__all__ = ["get_image_memory_support", "is_image_handle_supported"]

_USM_ASPECTS = {1: Aspect.ext_oneapi_bindless_images_1d_usm, 2: Aspect.ext_oneapi_bindless_images_2d_usm}


def get_image_memory_support(desc: ImageDescriptor, *where: Where) -> list[ImageMemoryHandleType]:
    """List the kinds of memory that can back an image.

    Parameters
    ----------
    desc
        The image: sizes in pixels, channels and type.
    *where
        A queue, or a device and a context.

    Returns
    -------
    list of ImageMemoryHandleType
        ``opaque_handle`` for memory of `alloc_image_mem`, ``usm_pointer`` for USM. The list is empty where the device
        has no such image.

    Raises
    ------
    InvalidError
        The descriptor is not valid, or an argument is of the wrong type.

    Examples
    --------
    >>> import bindless as bl
    >>> queue = bl.Queue("reference")
    >>> [str(kind) for kind in bl.get_image_memory_support(bl.ImageDescriptor(64, 64), queue)]
    ['opaque_handle', 'usm_pointer']
    >>> [str(kind) for kind in bl.get_image_memory_support(bl.ImageDescriptor(64, 64, 64), queue)]
    ['opaque_handle']
    """
    device, _ = resolve(where)
    if not isinstance(desc, ImageDescriptor):
        raise InvalidError(f"desc: {type(desc).__name__} is no ImageDescriptor")
    desc.verify()
    types = []
    if _passes(require_type, device, desc) and _passes(require_format, device, desc):
        if _passes(require_limits, device, desc, MemoryAllocationError):
            types.append(ImageMemoryHandleType.opaque_handle)
        if _fits_usm(device, desc):
            types.append(ImageMemoryHandleType.usm_pointer)
    return types


def is_image_handle_supported(
    handle_type: type[SampledImageHandle] | type[UnsampledImageHandle],
    desc: ImageDescriptor,
    memory_handle_type: ImageMemoryHandleType | str,
    *where: Where,
) -> bool:
    """Tell whether an image handle can be made of one kind of memory.

    Parameters
    ----------
    handle_type
        `SampledImageHandle` or `UnsampledImageHandle`.
    desc
        The image: sizes in pixels, channels and type.
    memory_handle_type
        The memory that backs the image.
    *where
        A queue, or a device and a context.

    Returns
    -------
    bool
        Whether `create_image` makes such a handle, given memory and a sampler that suit the image.

    Raises
    ------
    InvalidError
        The descriptor is not valid, or an argument is of the wrong type.

    Examples
    --------
    >>> import bindless as bl
    >>> queue = bl.Queue("reference")
    >>> mipmap = bl.ImageDescriptor(8, 8, type="mipmap", num_levels=4)
    >>> bl.is_image_handle_supported(bl.SampledImageHandle, mipmap, "opaque_handle", queue)
    True
    >>> bl.is_image_handle_supported(bl.UnsampledImageHandle, mipmap, "opaque_handle", queue)
    False
    """
    if handle_type is not SampledImageHandle and handle_type is not UnsampledImageHandle:
        raise InvalidError(f"handle_type={shown(handle_type)}: it is SampledImageHandle or UnsampledImageHandle")
    memory = coerce(ImageMemoryHandleType, memory_handle_type, "memory_handle_type")
    if memory not in get_image_memory_support(desc, *where):
        return False
    if handle_type is SampledImageHandle:
        return True
    if desc.channel.is_sampled_only:
        return False
    device, _ = resolve(where)
    if memory is ImageMemoryHandleType.usm_pointer:
        return device._backend.unsampled_memory is not None
    limits = device._backend.surface_limits
    return desc.type is not ImageType.mipmap and (limits is None or limits.fits_unsampled(device._record.native, desc))


def _passes(check: Callable[..., None], *arguments: object) -> bool:
    try:
        check(*arguments)
    except (FeatureNotSupportedError, MemoryAllocationError):
        return False
    return True


def _fits_usm(device: Device, desc: ImageDescriptor) -> bool:
    """Whether linear memory backs images of this type and these sizes, at the smallest pitch."""
    if desc.channel.is_sampled_only:
        return False
    if desc.type is not ImageType.standard or desc.dimensions == 3 or not device.has(_USM_ASPECTS[desc.dimensions]):
        return False
    if desc.dimensions == 1:
        sizes = [(desc.width, "image_max_buffer_size")]
    else:
        align = limit(device, "image_row_pitch_align") or 1
        sizes = [
            (desc.width, "max_image_linear_width"),
            (desc.height, "max_image_linear_height"),
            (-(-desc.row_size // align) * align, "max_image_linear_row_pitch"),
        ]
    return all((bound := limit(device, name)) is None or size <= bound for size, name in sizes)
