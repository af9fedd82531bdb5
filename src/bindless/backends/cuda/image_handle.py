"""Images: surface objects for unsampled access, texture objects for sampled access."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from ...drivers import cuda as driver
from ...drivers.common.cffi_types import CData
from ...model.enums import AddressingMode, Errc, FilteringMode, ImageType
from ...model.errors import SyclRuntimeError
from ...model.image_descriptor import ImageDescriptor
from ...model.sampler import BindlessImageSampler
from ..common import handle_table
from ..common.sampler import require_filterable
from .context import Context, View
from .device import Device
from .errors import SUCCESS, fail, release
from .fork_guard import refuse_in_fork
from .image_format import array_format, is_srgb, require_channels
from .image_storage import texture_kind
from .object_cache import view_to_rest, wake_view

__all__ = [
    "ADDRESS_MODES",
    "MAX_ANISOTROPY",
    "create_sampled_image",
    "create_sampled_image_usm",
    "create_unsampled_image",
    "destroy_image",
]

lib, ffi = driver.lib, driver.ffi

_create_texture, _create_surface = lib.bindless_texture_create_of_array, lib.bindless_surface_create
_destroy = lib.bindless_image_destroy

MAX_ANISOTROPY = 16

ADDRESS_MODES = {
    AddressingMode.none: lib.CU_TR_ADDRESS_MODE_WRAP,
    AddressingMode.repeat: lib.CU_TR_ADDRESS_MODE_WRAP,
    AddressingMode.mirrored_repeat: lib.CU_TR_ADDRESS_MODE_MIRROR,
    AddressingMode.clamp_to_edge: lib.CU_TR_ADDRESS_MODE_CLAMP,
    AddressingMode.ext_oneapi_clamp_to_border: lib.CU_TR_ADDRESS_MODE_BORDER,
}
_FILTER_MODES = {
    FilteringMode.nearest: lib.CU_TR_FILTER_MODE_POINT,
    FilteringMode.linear: lib.CU_TR_FILTER_MODE_LINEAR,
}


def _unknown(context: Context, device: Device, handle: int) -> NoReturn:
    context.primary(device)
    raise handle_table.unknown_on(device, handle, "cuda")


def _unique(numbers: dict[int, View], view: View, sampled: bool, number: int, again: Callable[[], int]) -> int:
    """The number of a new object, created again while an image of another device has the same number.

    Each CUDA context counts its numbers from the start, and a ``Context`` may hold several CUDA contexts.

    Parameters
    ----------
    numbers
        the images of the context.
    view
        record of the new object.
    number
        number of the first object; 0 if the driver refused.
    again
        creates another object.
    """
    rejected = []
    try:
        while number and numbers.setdefault(number, view) is not view:
            rejected.append(number)
            number = again()
        if not number:
            result = lib.bindless_refusal()
            refuse_in_fork()
            call = "cuTexObjectCreate" if sampled else "cuSurfObjectCreate"
            fail(result, call, "the image could not be made", Errc.runtime)
    finally:
        for other in rejected:
            _destroy(view[0].handle, other, sampled)
    return number


def create_unsampled_image(context: Context, device: Device, handle: int, desc: ImageDescriptor) -> int:
    """Create a surface object. It converts no values; the package's kernels do."""
    storage = context.images.get(handle)
    if storage is None or storage.primary.device is not device:
        _unknown(context, device, handle)
    if storage.is_mipmap:
        raise SyclRuntimeError(
            "an unsampled image cannot be made of a whole mipmap: make it of one level, from the handle that "
            "get_mip_level_mem_handle gives",
            backend="cuda",
        )
    if not storage.writable:
        raise SyclRuntimeError(
            f"{storage.desc} is larger than the surfaces of {device.name}: it can be a sampled image only",
            backend="cuda",
        )
    primary, surfaces = storage.primary, context.surfaces
    view = primary, handle, None
    number: int = wake_view(primary, handle, None) or _create_surface(primary.handle, handle)
    if number and surfaces.setdefault(number, view) is view:
        return number
    return _unique(surfaces, view, False, number, lambda: _create_surface(primary.handle, handle))


def texture_descriptor(desc: ImageDescriptor, sampler: BindlessImageSampler, fetch_only: bool = False) -> CData:
    """CUDA_TEXTURE_DESC of a sampler for an image.

    Every addressing mode is always set: a one-dimensional texture is a row of a two-dimensional one, and a border in y
    would contribute to its values. The driver's trilinear optimisation is always off: it would change the weights of
    mipmap levels with anisotropy on. Directions of a cubemap are always normalized.
    """
    cubemap = desc.type is ImageType.cubemap
    used = 2 if cubemap else desc.dimensions
    modes = [ADDRESS_MODES[mode] for mode in sampler.addressing[:used]]
    flags = lib.CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION
    if desc.channel.is_integer:
        flags |= lib.CU_TRSF_READ_AS_INTEGER
    if is_srgb(desc.channel_type):
        flags |= lib.CU_TRSF_SRGB
    if (sampler.is_normalized or cubemap) and not fetch_only:
        flags |= lib.CU_TRSF_NORMALIZED_COORDINATES
    if cubemap and sampler.cubemap_filtering == "seamless":
        flags |= lib.CU_TRSF_SEAMLESS_CUBEMAP
    return ffi.new(
        "CUDA_TEXTURE_DESC *",
        {
            "addressMode": modes + [lib.CU_TR_ADDRESS_MODE_CLAMP] * (3 - used),
            "filterMode": _FILTER_MODES[sampler.filtering],
            "flags": flags,
            "maxAnisotropy": min(int(sampler.max_anisotropy), MAX_ANISOTROPY),
            "mipmapFilterMode": _FILTER_MODES[sampler.mipmap_filtering],
            "mipmapLevelBias": 0.0,
            "minMipmapLevelClamp": sampler.min_mipmap_level_clamp,
            "maxMipmapLevelClamp": sampler.max_mipmap_level_clamp,
            "borderColor": [0.0] * 4,
        },
    )


def _require_filtering(desc: ImageDescriptor, sampler: BindlessImageSampler) -> None:
    """Raise an error for samplers that the texture units do not support."""
    require_filterable(desc, sampler, "cuda")
    if desc.type is ImageType.mipmap and not sampler.is_normalized:
        raise SyclRuntimeError(
            "coordinate=unnormalized with a mipmap: levels differ in size, so only normalized coordinates make sense",
            backend="cuda",
        )


def create_sampled_image(
    context: Context, device: Device, handle: int, desc: ImageDescriptor, sampler: BindlessImageSampler
) -> int:
    """Create a texture object over a CUDA array or a mipmapped array."""
    storage = context.images.get(handle)
    if storage is None or storage.primary.device is not device:
        _unknown(context, device, handle)
    primary, mipmap, textures = storage.primary, storage.is_mipmap, context.textures
    kind = storage.texture_kind if desc is storage.desc else texture_kind(desc)
    texture = sampler.prepared.get(kind) or _prepare(desc, sampler, kind)
    view = primary, handle, texture
    number: int = wake_view(primary, handle, texture) or _create_texture(primary.handle, handle, mipmap, texture)
    if number and textures.setdefault(number, view) is view:
        return number
    return _unique(textures, view, True, number, lambda: _create_texture(primary.handle, handle, mipmap, texture))


def _prepare(desc: ImageDescriptor, sampler: BindlessImageSampler, kind: str) -> CData:
    """The texture descriptor of a sampler for images of one kind; the sampler caches it."""
    _require_filtering(desc, sampler)
    texture = sampler.prepared[kind] = texture_descriptor(desc, sampler)
    return texture


def create_sampled_image_usm(
    context: Context, device: Device, address: int, pitch: int, desc: ImageDescriptor, sampler: BindlessImageSampler
) -> int:
    """Create a texture object over linear memory: one dimension for fetches only, two dimensions for sampling too."""
    require_channels(desc.num_channels)
    _require_filtering(desc, sampler)
    if desc.type is not ImageType.standard or not 1 <= desc.dimensions <= 2:
        what = f"a {desc.type} image" if desc.type is not ImageType.standard else f"{desc.dimensions} dimensions"
        raise SyclRuntimeError(
            f"{what} over USM: linear memory backs standard images of one or two dimensions; copy it to image memory",
            backend="cuda",
        )
    resource = (
        _linear(device, address, desc, sampler) if desc.dimensions == 1 else _pitched(device, address, pitch, desc)
    )
    texture = texture_descriptor(desc, sampler, fetch_only=desc.dimensions == 1)
    primary = context.primary(device)

    def make() -> int:
        return lib.bindless_texture_create(primary.handle, resource, texture)

    return _unique(context.textures, (primary, 0, texture), True, make(), make)


def _require_multiple(name: str, value: int, unit: int, way_out: str) -> None:
    if value % unit:
        raise SyclRuntimeError(f"{name} {value:#x} is no multiple of {unit} bytes: {way_out}", backend="cuda")


def _linear(device: Device, address: int, desc: ImageDescriptor, sampler: BindlessImageSampler) -> CData:
    if sampler.filtering is FilteringMode.linear:
        raise SyclRuntimeError(
            "filtering=linear over one-dimensional USM: NVIDIA's linear textures are only fetched. Use a pitched 2D "
            "image of height 1 (height=1 in the descriptor), or image memory",
            backend="cuda",
        )
    alignment = device.attribute(lib.CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT) or 1
    _require_multiple("address", address, alignment, "start the image at the beginning of an allocation")
    widest = device.attribute(lib.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH)
    if desc.width > widest:
        raise SyclRuntimeError(
            f"width={desc.width}: one-dimensional USM images of {device.name} have at most {widest} pixels",
            backend="cuda",
        )
    resource = ffi.new("CUDA_RESOURCE_DESC *")
    resource.resType = lib.CU_RESOURCE_TYPE_LINEAR
    linear = resource.res.linear
    linear.devPtr = address
    linear.format = array_format(desc.channel_type)
    linear.numChannels = desc.num_channels
    linear.sizeInBytes = desc.row_size
    return resource


def _pitched(device: Device, address: int, pitch: int, desc: ImageDescriptor) -> CData:
    unit = device.attribute(lib.CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT) or 1
    if pitch < desc.row_size:
        raise SyclRuntimeError(
            f"pitch {pitch} is less than a row of {desc.row_size} bytes ({desc.width} pixels of {desc.pixel_size}); "
            "pitched_alloc_device gives a valid one",
            backend="cuda",
        )
    _require_multiple("pitch", pitch, unit, "pitched_alloc_device gives a valid one")
    alignment = device.attribute(lib.CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT) or 1
    _require_multiple("address", address, alignment, "start the image at the beginning of an allocation")
    limits = (
        ("width", desc.width, lib.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH),
        ("height", desc.height, lib.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT),
        ("pitch", pitch, lib.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH),
    )
    for name, value, attribute in limits:
        if value > device.attribute(attribute):
            raise SyclRuntimeError(
                f"{name}={value}: USM images of {device.name} have at most {device.attribute(attribute)}",
                backend="cuda",
            )
    resource = ffi.new("CUDA_RESOURCE_DESC *")
    resource.resType = lib.CU_RESOURCE_TYPE_PITCH2D
    pitched = resource.res.pitch2D
    pitched.devPtr = address
    pitched.format = array_format(desc.channel_type)
    pitched.numChannels = desc.num_channels
    pitched.width = desc.width
    pitched.height = desc.height
    pitched.pitchInBytes = pitch
    return resource


def destroy_image(context: Context, handle: int, sampled: bool) -> None:
    """Destroy an image in the CUDA context that created it: in another context the number names another object."""
    views = context.textures if sampled else context.surfaces
    view = views.pop(handle, None) or handle_table.take_view(views, handle, sampled, "cuda")
    primary, memory, texture = view
    if memory and view_to_rest(primary, memory, texture, handle):
        return
    result = _destroy(primary.handle, handle, sampled)
    if result != SUCCESS:
        release(result, "cuTexObjectDestroy" if sampled else "cuSurfObjectDestroy")
