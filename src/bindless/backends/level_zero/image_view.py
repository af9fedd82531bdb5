"""Views of image memory in another format of the same size: Level Zero's layouts, types and swizzles."""

from __future__ import annotations

from ...drivers import level_zero as driver
from ...model.enums import Errc
from ...model.errors import FeatureNotSupportedError
from ...model.image_descriptor import ImageDescriptor
from ...model.sampler import BindlessImageSampler
from .context import Context
from .device import Device
from .errors import SUCCESS, fail
from .image_format import image_desc
from .image_handle import handle_of, sampler_desc, storage_of
from .image_memory import bindless_desc

__all__ = ["create_format_view"]

lib, ffi = driver.lib, driver.ffi

_REFUSED = (lib.ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT, lib.ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION)


def create_format_view(
    context: Context,
    device: Device,
    handle: int,
    desc: ImageDescriptor,
    layout: str,
    kind: str,
    swizzle: str,
    sampler: BindlessImageSampler | None,
) -> int:
    """See ``FormatViewProtocol``."""
    storage = storage_of(context, device, handle)
    how = None if sampler is None else sampler_desc(desc, sampler)
    described = image_desc(desc, bindless_desc(how, sampled=how is not None))
    described.format.layout = getattr(lib, f"ZE_IMAGE_FORMAT_LAYOUT_{layout}")
    described.format.type = getattr(lib, f"ZE_IMAGE_FORMAT_TYPE_{kind.upper()}")
    for place, letter in zip("xyzw", swizzle.upper()):
        setattr(described.format, place, getattr(lib, f"ZE_IMAGE_FORMAT_SWIZZLE_{letter}"))
    driver_of = context.driver
    create = driver_of.function("zeImageViewCreateExt") or driver_of.require("zeImageViewCreateExp", "1.2")

    def make() -> object:
        slot = ffi.new("ze_image_handle_t *")
        result = create(context.handle, device.handle, described, storage.handle, slot)
        if result in _REFUSED:
            raise FeatureNotSupportedError(
                f"{device.name} has no such images of layout {layout}, type {kind} and swizzle {swizzle}",
                backend="level_zero",
            )
        if result != SUCCESS:
            fail(result, "zeImageViewCreateExt", f"layout {layout}, type {kind}, swizzle {swizzle}", Errc.runtime)
        return slot[0]

    return handle_of(context, device, make, desc, how)
