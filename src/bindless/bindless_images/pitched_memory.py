"""Linear memory for two-dimensional images (Allocating USM image memory)."""

from __future__ import annotations

import operator
from typing import Any, SupportsIndex, overload

from ..model.aspects import Aspect
from ..model.enums import ImageType, UsmKind
from ..model.errors import Error, InvalidError, MemoryAllocationError
from ..model.image_descriptor import ImageDescriptor
from ..model.message_values import shown
from ..submission.active_streams import make_room, sweep
from ..sycl.device.device_context import Where, resolve_where
from ..sycl.usm import UsmPointer
from .image_mem import as_error, verify

__all__ = ["pitched_alloc_device"]

_LARGEST = 2**63 - 1
_ELEMENT_SIZES = (1, 2, 3, 4, 6, 8, 12, 16)


@overload
def pitched_alloc_device(desc: ImageDescriptor, /, *where: Where) -> tuple[UsmPointer, int]: ...


@overload
def pitched_alloc_device(
    width_in_bytes: int, height: int, element_size_bytes: int, /, *where: Where
) -> tuple[UsmPointer, int]: ...


def pitched_alloc_device(*arguments: Any) -> tuple[UsmPointer, int]:
    """Allocates device memory whose rows lie as the device wants those of images.

    ``pitched_alloc_device(desc, *where)`` for an image of one or two dimensions, or
    ``pitched_alloc_device(width_in_bytes, height, element_size_bytes, *where)``; both give the same pitch for
    the same image.

    Parameters
    ----------
    desc
        A standard image of one or two dimensions.
    width_in_bytes
        Bytes of a row.
    height
        Rows.
    element_size_bytes
        Bytes of a pixel.
    where
        A queue, or a device and a context.

    Returns
    -------
    tuple[UsmPointer, int]
        The pointer, which ends as those of ``malloc_device`` do, and the row pitch in bytes.

    Raises
    ------
    InvalidError
        An argument is of the wrong kind.
    MemoryAllocationError
        The descriptor is not valid, a size is 0 or too large, there is not enough memory, or the device has no images
        in USM (``Aspect.ext_oneapi_bindless_images_2d_usm``).

    Notes
    -----
    sycl_ext_oneapi_bindless_images, "Allocating image memory".

    Examples
    --------
    >>> queue = bindless.Queue("reference")
    >>> desc = bindless.ImageDescriptor(100, 3, num_channels=1, channel_type="unorm_int8")
    >>> pointer, pitch = bindless.pitched_alloc_device(desc, queue)
    >>> pitch >= 100
    True
    >>> bindless.free(pointer, queue)
    """
    if arguments and isinstance(arguments[0], ImageDescriptor):
        desc, where = arguments[0], arguments[1:]
        verify(desc, MemoryAllocationError, "no memory was allocated")
        if desc.type is not ImageType.standard or desc.dimensions == 3:
            what = "three-dimensional" if desc.dimensions == 3 else desc.type
            raise MemoryAllocationError(f"a {what} image cannot lie in USM: allocate an ImageMem")
        sizes = (desc.row_size, max(desc.height, 1), desc.pixel_size)
    else:
        if len(arguments) < 3:
            raise InvalidError(
                "pitched_alloc_device: give (desc, *where) or (width_in_bytes, height, element_size_bytes, *where)"
            )
        width = _size("width_in_bytes", arguments[0])
        sizes = (width, _size("height", arguments[1]), _size("element_size_bytes", arguments[2]))
        where = arguments[3:]
        if sizes[2] not in _ELEMENT_SIZES:
            raise MemoryAllocationError(
                f"element_size_bytes={shown(sizes[2])}: pixels have {', '.join(map(str, _ELEMENT_SIZES))} bytes"
            )
    device, context = resolve_where(*where)
    if not device.has(Aspect.ext_oneapi_bindless_images_2d_usm):
        raise MemoryAllocationError(
            f"{device.name} does not support images in USM: ask "
            "device.has(Aspect.ext_oneapi_bindless_images_2d_usm) first, and use malloc_device for other memory",
            backend=str(device.backend),
        )
    width, height, element = sizes
    if width * height > _LARGEST:
        raise MemoryAllocationError(f"{shown(height)} rows of {shown(width)} bytes: no device has that much memory")
    backend, native = context._backend, device._record.native
    sweep()
    try:
        try:
            address, pitch = backend.allocate_pitched(context._native, native, width, height, element)
        except MemoryAllocationError:
            make_room()
            address, pitch = backend.allocate_pitched(context._native, native, width, height, element)
    except Error as error:
        raise as_error(MemoryAllocationError, error, f"{height} rows of {width} bytes were not allocated") from error
    return UsmPointer._adopt(address, pitch * height, UsmKind.device, device, context), pitch


def _size(name: str, value: SupportsIndex) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidError(f"{name}={shown(value)} is not an integer") from None
    if number < 1:
        raise MemoryAllocationError(f"{name}={shown(number)}: it is at least 1")
    return number
