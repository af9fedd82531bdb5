"""Image handles: numbers of a table. OpenCL has no image handles, so kernels accept them as arguments only: a launch
replaces the number by an image and a sampler. A number found in memory has no meaning in a kernel.
"""

from __future__ import annotations

import itertools

from ...drivers import opencl as driver
from ...drivers.common.cffi_types import CData
from ...model.create_once import create_once
from ...model.enums import AddressingMode, Errc, FilteringMode, ImageType
from ...model.errors import FeatureNotSupportedError, SyclRuntimeError
from ...model.image_descriptor import ImageDescriptor
from ...model.sampler import BindlessImageSampler
from ..common import handle_table
from ..common.linear_image import require_pitch, require_place, require_plane
from ..common.sampler import addressing_mode
from . import memory_buffers
from .context import Context
from .device import Device
from .errors import SUCCESS, create, fail
from .fork_guard import in_fork, refuse_in_fork
from .image_format import image_desc, image_format, require_format
from .image_memory import require_images
from .image_objects import View
from .known_answer_tests import LayerCoordinate, layer_coordinate
from .memory import pointer_info, row_reserve

__all__ = [
    "create_sampled_image",
    "create_sampled_image_usm",
    "create_unsampled_image",
    "create_unsampled_image_usm",
    "destroy_image",
]

lib, ffi = driver.lib, driver.ffi

# Handles of all contexts; distant from small numbers and from addresses.
_handles = itertools.count(0x0C1_0000_0000_0001)

_ADDRESS_MODES = {
    AddressingMode.none: lib.CL_ADDRESS_REPEAT,  # The behaviour of texture units; coordinates outside are undefined.
    AddressingMode.repeat: lib.CL_ADDRESS_REPEAT,
    AddressingMode.mirrored_repeat: lib.CL_ADDRESS_MIRRORED_REPEAT,
    AddressingMode.clamp_to_edge: lib.CL_ADDRESS_CLAMP_TO_EDGE,
    AddressingMode.ext_oneapi_clamp_to_border: lib.CL_ADDRESS_CLAMP,
}
_FILTER_MODES = {
    FilteringMode.nearest: lib.CL_FILTER_NEAREST,
    FilteringMode.linear: lib.CL_FILTER_LINEAR,
}
# Modes that OpenCL defines for normalized coordinates only; other coordinates are clamped, as in BI.
_WRAPPING = frozenset((AddressingMode.none, AddressingMode.repeat, AddressingMode.mirrored_repeat))


def _sampler(context: Context, desc: ImageDescriptor, sampler: BindlessImageSampler) -> CData:
    """The cl_sampler of a sampler, created once per context.

    Raises
    ------
    SyclRuntimeError
        OpenCL has no such sampler.
    FeatureNotSupportedError
        the modes of the dimensions differ.
    """
    if sampler.filtering is FilteringMode.linear and desc.channel.is_integer:
        raise SyclRuntimeError(
            f"filtering=linear with channel_type={desc.channel_type}: integers are not filtered; use nearest, or a "
            "normalized or floating-point image",
            backend="opencl",
        )
    mode = addressing_mode(desc, sampler, "OpenCL", "opencl")
    if mode in _WRAPPING and not sampler.is_normalized:
        mode = AddressingMode.clamp_to_edge
    key = int(sampler.is_normalized), _ADDRESS_MODES[mode], _FILTER_MODES[sampler.filtering]
    return create_once(context.samplers, context.loading, key, lambda: _create_sampler(context, *key))


def _create_sampler(context: Context, normalized: int, addressing: int, filtering: int) -> CData:
    if context.platform.version >= (2, 0) and driver.has("clCreateSamplerWithProperties"):
        listed = [
            lib.CL_SAMPLER_NORMALIZED_COORDS, normalized,
            lib.CL_SAMPLER_ADDRESSING_MODE, addressing,
            lib.CL_SAMPLER_FILTER_MODE, filtering,
            0,
        ]  # fmt: skip
        properties = ffi.new("cl_sampler_properties[]", listed)
        return create("clCreateSamplerWithProperties", context.handle, properties, code=Errc.runtime)
    return create("clCreateSampler", context.handle, normalized, addressing, filtering, code=Errc.runtime)


def _image(context: Context, device: Device, handle: int) -> CData:
    """The cl_mem of image memory."""
    refuse_in_fork()
    return handle_table.storage_on(context, device, handle, "opencl").handle


def create_unsampled_image(context: Context, device: Device, handle: int, desc: ImageDescriptor) -> int:
    """Create an image for fetches and writes."""
    view = View(_image(context, device, handle), desc)
    number = next(_handles)
    context.unsampled[number] = view
    return number


def create_sampled_image(
    context: Context, device: Device, handle: int, desc: ImageDescriptor, sampler: BindlessImageSampler
) -> int:
    """Create an image with a sampler."""
    image = _image(context, device, handle)
    scales_layers = desc.type is ImageType.array and sampler.is_normalized and _scales_layers(context.device(device))
    view = View(image, desc, _sampler(context, desc, sampler), scales_layers=scales_layers)
    number = next(_handles)
    context.sampled[number] = view
    return number


def _scales_layers(device: Device) -> bool:
    """Whether kernels need to divide the layer number when coordinates are normalized.

    Raises
    ------
    FeatureNotSupportedError
        the driver selects wrong layers in any case.
    """
    coordinate = layer_coordinate(device)
    if coordinate == LayerCoordinate.UNKNOWN:
        raise FeatureNotSupportedError(
            f"coordinate=normalized: the driver of {device.name} ({device.driver_version}) finds the wrong layers of "
            "image arrays with it; use unnormalized coordinates",
            backend="opencl",
        )
    return coordinate == LayerCoordinate.SCALED


def create_sampled_image_usm(
    context: Context, device: Device, address: int, pitch: int, desc: ImageDescriptor, sampler: BindlessImageSampler
) -> int:
    """A two-dimensional image over linear memory."""
    place = _require_over_memory(context, device, address, pitch, desc)
    how = _sampler(context, desc, sampler)
    number = next(_handles)
    context.sampled[number] = View(_over_buffer(context, place, address, pitch, desc), desc, how, owned=True)
    return number


def create_unsampled_image_usm(
    context: Context, device: Device, address: int, pitch: int, desc: ImageDescriptor
) -> int:
    """A two-dimensional image over linear memory, for fetches and writes."""
    place = _require_over_memory(context, device, address, pitch, desc)
    number = next(_handles)
    context.unsampled[number] = View(_over_buffer(context, place, address, pitch, desc), desc, owned=True)
    return number


def _require_over_memory(context: Context, device: Device, address: int, pitch: int, desc: ImageDescriptor) -> Device:
    """Check that the device supports this image over this memory; return the device."""
    refuse_in_fork()
    place = context.device(device)
    require_images(place)
    require_format(place, desc)
    require_plane(desc, "opencl")
    if desc.dimensions == 1:
        raise FeatureNotSupportedError(
            "a one-dimensional image over USM: OpenCL has none that is sampled. Use a pitched 2D image of height 1 "
            "(height=1 in the descriptor), or image memory; ask "
            "device.has(Aspect.ext_oneapi_bindless_images_1d_usm) first",
            backend="opencl",
        )
    if not place.has_linear_images:
        raise FeatureNotSupportedError(
            f"{place.name} has no images over linear memory (cl_khr_image2d_from_buffer): ask "
            "device.has(Aspect.ext_oneapi_bindless_images_2d_usm) first",
            backend="opencl",
        )
    _require_linear(context, place, address, pitch, desc)
    return place


def _over_buffer(context: Context, device: Device, address: int, pitch: int, desc: ImageDescriptor) -> CData:
    """An image over a buffer over the memory; the image keeps the buffer."""
    nbytes = pitch * desc.height
    details = f"{desc} over {address:#x} with pitch {pitch}"
    own = context.allocation_of(address)
    if own is not None and own.buffer is not None:
        unit = device.linear_alignment * desc.pixel_size
        return _create(context, memory_buffers.buffer_of(context, address, unit), pitch, desc, details)
    if own is not None and nbytes > own.base + own.size + row_reserve(device) - address:
        raise SyclRuntimeError(
            f"{desc.height} whole rows with pitch {pitch} take {nbytes} bytes, and OpenCL requires the whole last one; "
            f"{own.base + own.size - address} are left of the allocation at {own.base:#x}",
            backend="opencl",
        )
    buffer = create(
        "clCreateBuffer",
        context.handle,
        lib.CL_MEM_READ_WRITE | lib.CL_MEM_USE_HOST_PTR,
        nbytes,
        ffi.cast("void *", address),
        details=details,
        code=Errc.runtime,
    )
    try:
        return _create(context, buffer, pitch, desc, details)
    finally:
        lib.clReleaseMemObject(buffer)


def _create(context: Context, buffer: CData, pitch: int, desc: ImageDescriptor, details: str) -> CData:
    native = image_desc(desc)
    native.image_row_pitch = pitch
    native.mem_object = buffer
    slot = ffi.new("cl_int *")
    chosen = image_format(desc.channel_type, desc.num_channels)
    image = lib.clCreateImage(context.handle, lib.CL_MEM_READ_WRITE, chosen, native, ffi.NULL, slot)
    if slot[0] != SUCCESS:
        fail(slot[0], "clCreateImage", details, Errc.runtime)
    return image


def _require_linear(context: Context, device: Device, address: int, pitch: int, desc: ImageDescriptor) -> None:
    """Check that the pitch is valid, the sizes are within the device's limits, and the image lies in memory of the
    context.
    """
    require_pitch(pitch, desc, "opencl")
    unit = device.linear_alignment * desc.pixel_size
    for name, value in (("pitch", pitch), ("address", address)):
        if value % unit:
            raise SyclRuntimeError(
                f"{name}={value} is no multiple of {unit} bytes, {device.linear_alignment} pixels: "
                "pitched_alloc_device gives a valid one",
                backend="opencl",
            )
    most = device.number(lib.CL_DEVICE_IMAGE2D_MAX_WIDTH), device.number(lib.CL_DEVICE_IMAGE2D_MAX_HEIGHT)
    require_place(address, pitch, desc, most, pointer_info(context, address), device.name, "opencl")


def destroy_image(context: Context, handle: int, sampled: bool) -> None:
    """Destroy an image, not its memory; kernels that use it are complete."""
    view = handle_table.take_view(context.sampled if sampled else context.unsampled, handle, sampled, "opencl")
    context.change()
    if not in_fork():
        view.close()
