"""Images: views of image memory, or of linear memory. Their device offsets are the handles of kernels."""

from __future__ import annotations

import functools
from collections.abc import Callable

from ...drivers import level_zero as driver
from ...drivers.common.cffi_types import CData
from ...model.enums import AddressingMode, Errc, FilteringMode
from ...model.errors import FeatureNotSupportedError, SyclRuntimeError
from ...model.image_descriptor import ImageDescriptor
from ...model.sampler import BindlessImageSampler
from ..common import handle_table
from ..common.linear_image import require_pitch, require_place, require_plane
from ..common.sampler import addressing_mode, require_filterable
from .context import Context
from .device import Device
from .errors import SUCCESS, fail
from .fork_guard import in_fork, refuse_in_fork
from .image_format import image_desc, require_format
from .image_memory import bindless_desc, make_resident, require_bindless
from .image_objects import View
from .memory import pitch_of, pointer_info

__all__ = [
    "create_sampled_image",
    "create_sampled_image_usm",
    "create_unsampled_image",
    "create_unsampled_image_usm",
    "destroy_image",
    "handle_of",
    "pitch_align",
    "sampler_desc",
    "storage_of",
]

lib, ffi = driver.lib, driver.ffi

_ADDRESS_MODES = {
    AddressingMode.none: lib.ZE_SAMPLER_ADDRESS_MODE_NONE,
    AddressingMode.repeat: lib.ZE_SAMPLER_ADDRESS_MODE_REPEAT,
    AddressingMode.mirrored_repeat: lib.ZE_SAMPLER_ADDRESS_MODE_MIRROR,
    AddressingMode.clamp_to_edge: lib.ZE_SAMPLER_ADDRESS_MODE_CLAMP,
    AddressingMode.ext_oneapi_clamp_to_border: lib.ZE_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER,
}
_FILTER_MODES = {
    FilteringMode.nearest: lib.ZE_SAMPLER_FILTER_MODE_NEAREST,
    FilteringMode.linear: lib.ZE_SAMPLER_FILTER_MODE_LINEAR,
}


def sampler_desc(desc: ImageDescriptor, sampler: BindlessImageSampler, next: CData = None) -> CData:
    """ze_sampler_desc_t.

    Raises
    ------
    SyclRuntimeError
        Level Zero has no such sampler.
    FeatureNotSupportedError
        the modes of the dimensions differ.
    """
    require_filterable(desc, sampler, "level_zero")
    mode = addressing_mode(desc, sampler, "Level Zero", "level_zero")
    return driver.make_struct(
        "ze_sampler_desc_t",
        next,
        addressMode=_ADDRESS_MODES[mode],
        filterMode=_FILTER_MODES[sampler.filtering],
        isNormalized=sampler.is_normalized,
    )


def handle_of(
    context: Context, device: Device, make: Callable[[], CData], desc: ImageDescriptor, sampler: CData = None
) -> int:
    """Register a new image under its kernel handle.

    Handles are offsets on a device, and a context may have several devices: an image is created again while an image of
    another device has the same handle.
    """
    views = context.unsampled if sampler is None else context.sampled
    rejected = []
    try:
        while True:
            image = make()
            handle = _offset_of(context, device, image, desc)
            view = View(context.handle, image, device, desc, sampler)
            if views.setdefault(handle, view) is view:
                return handle
            rejected.append(view)
    finally:
        for other in rejected:
            other.close()


def _offset_of(context: Context, device: Device, image: CData, desc: ImageDescriptor) -> int:
    """The kernel handle of an image; destroys the image if it has none."""
    make_resident(context, device, image)
    slot = ffi.new("uint64_t *")
    result = context.driver.require("zeImageGetDeviceOffsetExp", "1.9")(image, slot)
    if result != SUCCESS:
        lib.zeImageDestroy(image)
        fail(result, "zeImageGetDeviceOffsetExp", str(desc), Errc.runtime)
    return int(slot[0])


def storage_of(context: Context, device: Device, handle: int) -> CData:
    """Image memory by its handle."""
    refuse_in_fork()
    return handle_table.storage_on(context, device, handle, "level_zero")


def _view(context: Context, device: Device, handle: int, desc: ImageDescriptor, chained: CData) -> CData:
    """A view of image memory, with a chained descriptor."""
    storage = storage_of(context, device, handle)
    create = context.driver.function("zeImageViewCreateExt") or context.driver.require("zeImageViewCreateExp", "1.2")
    slot = ffi.new("ze_image_handle_t *")
    result = create(context.handle, device.handle, image_desc(desc, chained), storage.handle, slot)
    if result != SUCCESS:
        fail(result, "zeImageViewCreateExt", f"the image could not be made: {desc}", Errc.runtime)
    return slot[0]


def create_unsampled_image(context: Context, device: Device, handle: int, desc: ImageDescriptor) -> int:
    """A view for fetches and writes."""
    return handle_of(context, device, lambda: _view(context, device, handle, desc, bindless_desc()), desc)


def create_sampled_image(
    context: Context, device: Device, handle: int, desc: ImageDescriptor, sampler: BindlessImageSampler
) -> int:
    """A view with a sampler."""
    how = sampler_desc(desc, sampler)
    chained = bindless_desc(how, sampled=True)
    return handle_of(context, device, lambda: _view(context, device, handle, desc, chained), desc, how)


@functools.cache
def pitch_align(device: Device) -> int:
    """Alignment in bytes of the pitch of every image over linear memory: that of the narrowest image."""
    with_context = Context([device])
    try:
        return max(pitch_of(with_context, device, 1, 1, size) for size in (1, 2, 4, 8, 16))
    finally:
        with_context.close()


def create_sampled_image_usm(
    context: Context, device: Device, address: int, pitch: int, desc: ImageDescriptor, sampler: BindlessImageSampler
) -> int:
    """A two-dimensional image over linear memory."""
    return _over_memory(context, device, address, pitch, desc, sampler)


def create_unsampled_image_usm(
    context: Context, device: Device, address: int, pitch: int, desc: ImageDescriptor
) -> int:
    """A two-dimensional image over linear memory, for fetches and writes."""
    return _over_memory(context, device, address, pitch, desc, None)


def _over_memory(
    context: Context,
    device: Device,
    address: int,
    pitch: int,
    desc: ImageDescriptor,
    sampler: BindlessImageSampler | None,
) -> int:
    refuse_in_fork()
    place = context.device(device)
    require_bindless(place)
    require_format(place, desc)
    require_plane(desc, "level_zero")
    if desc.dimensions == 1:
        raise FeatureNotSupportedError(
            "a one-dimensional image over USM: Level Zero has none. Use a pitched 2D image of height 1 (height=1 in "
            "the descriptor), or image memory; ask device.has(Aspect.ext_oneapi_bindless_images_1d_usm) first",
            backend="level_zero",
        )
    _require_linear(context, place, address, pitch, desc)
    pitched = _pitched_desc(context, place, address, pitch, desc)
    how = None if sampler is None else sampler_desc(desc, sampler, pitched)
    described = image_desc(desc, bindless_desc(pitched if how is None else how, sampled=how is not None))

    def make() -> CData:
        slot = ffi.new("ze_image_handle_t *")
        result = lib.zeImageCreate(context.handle, place.handle, described, slot)
        if result != SUCCESS:
            fail(result, "zeImageCreate", f"{desc} over {address:#x} with pitch {pitch}", Errc.runtime)
        return slot[0]

    return handle_of(context, place, make, desc, how)


def _pitched_desc(context: Context, device: Device, address: int, pitch: int, desc: ImageDescriptor) -> CData:
    """ze_image_pitched_exp_desc_t, chained to a pitch other than the driver's own if needed."""
    custom = None
    if pitch != pitch_of(context, device, desc.width, desc.height, desc.pixel_size):
        custom = driver.make_struct("ze_custom_pitch_exp_desc_t", rowPitch=pitch, slicePitch=pitch * desc.height)
    return driver.make_struct("ze_image_pitched_exp_desc_t", custom, ptr=ffi.cast("void *", address))


def _require_linear(context: Context, device: Device, address: int, pitch: int, desc: ImageDescriptor) -> None:
    """Check that the pitch is valid, the sizes are within the device's limits, and the image lies in memory of the
    context.
    """
    require_pitch(pitch, desc, "level_zero")
    unit = pitch_align(device)
    if pitch % unit:
        raise SyclRuntimeError(
            f"pitch={pitch} is no multiple of {unit} bytes: pitched_alloc_device gives a valid one",
            backend="level_zero",
        )
    most = int(device.pitched.maxImageLinearWidth), int(device.pitched.maxImageLinearHeight)
    require_place(address, pitch, desc, most, pointer_info(context, address), device.name, "level_zero")


def destroy_image(context: Context, handle: int, sampled: bool) -> None:
    """Destroy an image, not its memory; kernels that use it are complete."""
    view = handle_table.take_view(context.sampled if sampled else context.unsampled, handle, sampled, "level_zero")
    if not in_fork():
        view.close()
