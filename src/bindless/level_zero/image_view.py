"""Image views: pixels read in another format than that of the memory (L0, "Images": layouts, types and swizzles)."""

from __future__ import annotations

from dataclasses import replace

from ..backends.contract import require_group
from ..bindless_images.context_tables import HandleRecord
from ..bindless_images.handles import known_memory
from ..bindless_images.image_mem import ImageMem
from ..drivers.level_zero._enums import ze_image_format_layout_t
from ..model.enums import ImageChannelType, ImageType
from ..model.errors import InvalidError, SyclRuntimeError
from ..model.image_handles import ImageMemHandle, SampledImageHandle, UnsampledImageHandle
from ..model.message_values import shown
from ..model.sampler import BindlessImageSampler
from ..sycl.device.device_context import Where, resolve

__all__ = ["create_image_view"]

_PREFIX = "ZE_IMAGE_FORMAT_LAYOUT_"
_BITS = {
    name: sum(map(int, name.split("_")))
    for name in (member.name.removeprefix(_PREFIX) for member in ze_image_format_layout_t)
    if name.replace("_", "").isdigit()
}
# What kernels read of each type.
_VALUES = {
    "uint": ImageChannelType.unsigned_int32,
    "sint": ImageChannelType.signed_int32,
    "unorm": ImageChannelType.fp32,
    "snorm": ImageChannelType.fp32,
    "float": ImageChannelType.fp32,
}
_SWIZZLES = "rgba01dx"


def create_image_view(
    memory: ImageMem | ImageMemHandle,
    *where: Where,
    layout: str,
    type: str = "unorm",
    swizzle: str = "rgba",
    sampler: BindlessImageSampler | None = None,
) -> SampledImageHandle | UnsampledImageHandle:
    """Make an image of image memory whose pixels have another format of the same size.

    Packed formats are read and written so: allocate an image of one 32-bit or 16-bit unsigned channel, copy the packed
    words to it, and make a view of layout ``10_10_10_2``, ``11_11_10`` or ``5_6_5``. Functions over coordinates and
    kernels take the handle like any other; `destroy_image_handle` ends it.

    Parameters
    ----------
    memory
        Image memory of `alloc_image_mem` or an `ImageMem`; no mipmap.
    *where
        A queue, or a device and a context: those of the memory.
    layout
        Bits of the channels, as in Level Zero's names: ``10_10_10_2``, ``8_8_8_8``. They are as many as those of a
        pixel of the memory.
    type
        ``uint``, ``sint``, ``unorm``, ``snorm`` or ``float``. Kernels read uint32, int32, and float32 of the others.
    swizzle
        What the four components of a value are: channels ``r``, ``g``, ``b``, ``a``, or the numbers ``0`` and ``1``.
        Also ``d`` (depth) and ``x`` (undefined), where the driver has them.
    sampler
        How it is sampled; an unsampled image without it.

    Returns
    -------
    SampledImageHandle or UnsampledImageHandle
        A handle of four components.

    Raises
    ------
    InvalidError
        The layout, type or swizzle is not known, the layout has another size than a pixel, or an argument is of the
        wrong type.
    SyclRuntimeError
        The memory is not of this context and device, or is a mipmap.
    FeatureNotSupportedError
        The backend has no such views, or the driver lacks the format.

    Examples
    --------
    >>> queue = bindless.Queue("level_zero")
    >>> words = np.array([[1023 | 512 << 10]], np.uint32)  # red 1, green a half
    >>> desc = bindless.ImageDescriptor(1, 1, num_channels=1, channel_type="unsigned_int32")
    >>> memory = bindless.ImageMem(desc, queue)
    >>> queue.ext_oneapi_copy(words[..., None], memory).wait()
    >>> view = bindless.level_zero.create_image_view(memory, queue, layout="10_10_10_2", swizzle="bgra")
    >>> values = bindless.fetch_image(queue, view, np.zeros((1, 2), np.int32))  # blue first
    """
    device, context = resolve(where)
    create = require_group(
        context._backend.format_views, "views of images in other formats", context.backend
    ).create_format_view
    record = known_memory(memory, context)
    if record is None or record.device != device:
        raise SyclRuntimeError(f"{memory!r} is no image memory of {device} in this context")
    held = record.descriptor
    if held.type is ImageType.mipmap:
        raise SyclRuntimeError("a view of a mipmap: make it of image memory of one level")
    _check(layout, type, swizzle, 8 * held.pixel_size)
    if sampler is not None and not isinstance(sampler, BindlessImageSampler):
        raise InvalidError(f"sampler={shown(sampler)} is no BindlessImageSampler")
    desc = replace(held, num_channels=4, channel_type=_VALUES[type])
    owner = record.keep(context)
    if owner is None:
        raise SyclRuntimeError(f"{memory!r} was freed")
    native = context._native_context, device._record.native
    number = create(*native, record.number, desc, layout, type, swizzle, sampler)
    sampled = sampler is not None
    context._handles[number << 1 | sampled] = HandleRecord(device, desc, sampler, False, owner, number)
    return SampledImageHandle(number, desc) if sampled else UnsampledImageHandle(number, desc)


def _check(layout: object, type: object, swizzle: object, bits: int) -> None:
    if layout not in _BITS:
        raise InvalidError(f"layout={shown(layout)}: it is one of {', '.join(_BITS)}")
    if type not in _VALUES:
        raise InvalidError(f"type={shown(type)}: it is one of {', '.join(_VALUES)}")
    if not isinstance(swizzle, str) or len(swizzle) != 4 or set(swizzle) - set(_SWIZZLES):
        raise InvalidError(f"swizzle={shown(swizzle)}: it is four of {', '.join(_SWIZZLES)}, such as 'bgra'")
    if _BITS[str(layout)] != bits:
        raise InvalidError(f"layout={shown(layout)} has {_BITS[str(layout)]} bits, a pixel of the memory has {bits}")
