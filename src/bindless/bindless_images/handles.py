"""Creation and destruction of images (Obtaining a handle to the image)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, overload

from ..model.aspects import Aspect
from ..model.enums import (
    AddressingMode,
    CubemapFilteringMode,
    FilteringMode,
    ImageChannelType,
    ImageType,
    Precision,
    UsmKind,
    coerce,
)
from ..model.errors import Error, FeatureNotSupportedError, InvalidError, SamplerWarning, SyclRuntimeError
from ..model.image_descriptor import ImageDescriptor
from ..model.image_handles import ImageMemHandle, SampledImageHandle, UnsampledImageHandle
from ..model.message_values import shown
from ..model.sampler import BindlessImageSampler
from ..sycl.device.device_context import Where, resolve
from ..sycl.usm import UsmArray, UsmPointer
from .computed_samples import require_computable
from .context_tables import HandleRecord, KnownMemory, handle_key
from .device_limits import Checked, limit, most_anisotropy, require, require_format, require_type
from .image_mem import ImageMem, as_error, verify

if TYPE_CHECKING:
    from ..sycl.device.context import Context
    from ..sycl.device.device import Device

__all__ = ["create_image", "destroy_image_handle", "known_memory"]

_WIDE_INTEGERS = (ImageChannelType.signed_int32, ImageChannelType.unsigned_int32)
_checked = Checked()
_WITHOUT_PERIOD = (
    AddressingMode.none,
    AddressingMode.clamp_to_edge,
    AddressingMode.ext_oneapi_clamp_to_border,
    AddressingMode.extent,
)


@overload
def create_image(
    memory: ImageMem | ImageMemHandle | UsmPointer | UsmArray,
    desc: ImageDescriptor,
    *where: Where,
    sampler: None = None,
    pitch: int = 0,
) -> UnsampledImageHandle: ...


@overload
def create_image(
    memory: ImageMem | ImageMemHandle | UsmPointer | UsmArray,
    desc: ImageDescriptor,
    *where: Where,
    sampler: BindlessImageSampler,
    pitch: int = 0,
    precision: Precision | str = Precision.hardware,
) -> SampledImageHandle: ...


def create_image(
    memory: ImageMem | ImageMemHandle | UsmPointer | UsmArray,
    desc: ImageDescriptor,
    *where: Where,
    sampler: BindlessImageSampler | None = None,
    pitch: int = 0,
    precision: Precision | str = Precision.hardware,
) -> UnsampledImageHandle | SampledImageHandle:
    """Makes an image of memory: sampled if there is a sampler, else unsampled.

    Several images of the same memory may exist. An image keeps its memory alive until it is destroyed with
    ``destroy_image_handle``; the handle itself is a number that may be copied anywhere.

    Parameters
    ----------
    memory : ImageMem | ImageMemHandle | UsmPointer | UsmArray
        Image memory, one level of a mipmap, or USM (one- and two-dimensional images; without a sampler where
        ``is_image_handle_supported`` says so).
    desc : ImageDescriptor
        The descriptor that the memory was allocated with; of the level for a level.
    sampler : BindlessImageSampler, optional
        How it is sampled.
    pitch : int, default 0
        Bytes between rows of two-dimensional USM; ignored otherwise.
    precision : Precision | str, default "hardware"
        Arithmetic of ``sample_image`` and the other functions with this handle, unless a call gives its own. A kernel
        that reads the handle always gets the texture unit.
    where : Queue | Device | Context
        A queue, or a device and a context: those of the memory.

    Returns
    -------
    UnsampledImageHandle | SampledImageHandle
        A ``SampledImageHandle`` with a sampler, else an ``UnsampledImageHandle``.

    Raises
    ------
    InvalidError
        An argument is of the wrong kind.
    SyclRuntimeError
        The descriptor is not valid, or the image cannot be made; the text says why.
    FeatureNotSupportedError
        The device lacks it; the text names the aspect. Or the sampler's addressing needs ``precision="exact"``.

    Warns
    -----
    SamplerWarning
        A mode that repeats texels with unnormalized coordinates, which samples as ``clamp_to_edge``;
        ``max_mipmap_level_clamp=0`` over a mipmap, which reads level 0 alone; ``max_anisotropy`` above the maximum of
        the device.

    See Also
    --------
    destroy_image_handle : Destroys the image.
    Image : Makes memory and image from an array.

    Notes
    -----
    sycl_ext_oneapi_bindless_images, "Obtaining a handle to the image".

    With linear filtering, the ``precision`` means:

    - ``hardware``: the device's texture unit. On GPUs the weights have 8 bits: a sample is wrong by up to 1/512 of the
      difference of neighbouring pixels for each axis (measured: up to 5 HU on CT).
    - ``exact``: unrounded weights, within 1e-6 of the range of the pixels.
    - ``reproducible``: the arithmetic of NVIDIA's texture units, computed: every device gives the reference device's
      bits. It is as accurate as ``hardware``.

    Where the device does not compute a precision itself, a kernel does, from a copy of the pixels that each call makes.

    Examples
    --------
    >>> queue = bindless.Queue("reference")
    >>> pixels = np.arange(12, dtype=np.float32).reshape(3, 4)
    >>> desc = bindless.ImageDescriptor.from_array(pixels)
    >>> memory = bindless.ImageMem(desc, queue)
    >>> event = queue.ext_oneapi_copy(pixels, memory)
    >>> event.wait()
    >>> handle = bindless.create_image(memory, desc, queue)
    >>> type(handle).__name__
    'UnsampledImageHandle'
    >>> bindless.destroy_image_handle(handle, queue)
    """
    try:
        device, context = resolve(where)
    except InvalidError:
        if where and isinstance(where[0], BindlessImageSampler):
            raise InvalidError("create_image: pass the sampler by name, sampler=...") from None
        raise
    if precision is not Precision.hardware:
        precision = _precision_of(precision, desc, device, sampler)
    if sampler is not None:
        settings = context._backend.sampler_settings
        if settings is not None:
            settings.require_same_settings(device._record.native)
    source: KnownMemory | None = None
    if type(memory) is ImageMemHandle:
        source = context._images.get(memory._raw_handle)
    elif type(memory) is ImageMem and memory._context is context:
        source = memory._resource
    if source is None or source.passed is not sampler or source.descriptor is not desc or source.device is not device:
        if isinstance(memory, (UsmPointer, UsmArray)):
            return _create_usm(memory, desc, device, context, sampler, pitch, precision)
        source = _check(memory, desc, device, context, sampler)
    if sampler is not None and sampler.computed_modes:
        sampler.require_exact(precision)
    owner = source.keep(context)
    if owner is None:
        raise _gone(memory)
    # The memory's own descriptor, which is equal: backends keep what they have worked out with the object.
    backend, native, allocated, raw = context._backend, context._native_context, source.descriptor, source.number
    try:
        if sampler is None:
            number = backend.create_unsampled_image(native, device._record.native, raw, allocated)
        else:
            passed = _passed(sampler.within(allocated.num_levels), device)
            number = backend.create_sampled_image(native, device._record.native, raw, allocated, passed)
    except Error as error:
        kind = "unsampled" if sampler is None else "sampled"
        raise as_error(SyclRuntimeError, error, f"no {kind} image of {desc}") from error
    sampled = sampler is not None
    record = HandleRecord(device, desc, sampler, False, owner, number, raw, precision)
    context._handles[number << 1 | sampled] = record  # handle_key
    return SampledImageHandle(number, desc) if sampled else UnsampledImageHandle(number, desc)


def _precision_of(
    value: Precision | str, desc: ImageDescriptor, device: Device, sampler: BindlessImageSampler | None
) -> Precision:
    """The precision of a new image, checked."""
    precision = coerce(Precision, value, "precision")
    if precision is Precision.hardware:
        return precision
    if not isinstance(sampler, BindlessImageSampler):
        raise InvalidError(f"precision={precision}: unsampled images are not filtered; give a sampler")
    if isinstance(desc, ImageDescriptor) and not device._backend.traits.computes_precisions:
        require_computable(desc, sampler, precision)
    return precision


def _passed(sampler: BindlessImageSampler, device: Device) -> BindlessImageSampler:
    """The sampler of the driver's handle, without what built-in kernels compute in place of the driver."""
    if not sampler.computed_modes or device._backend.traits.computes_precisions:
        return sampler
    return sampler.of_units


def _check_values(desc: ImageDescriptor, sampler: BindlessImageSampler | None) -> None:
    if not isinstance(desc, ImageDescriptor):
        raise InvalidError(f"desc: {type(desc).__name__} is no ImageDescriptor")
    if sampler is not None and not isinstance(sampler, BindlessImageSampler):
        raise InvalidError(f"sampler: {type(sampler).__name__} is no BindlessImageSampler")
    verify(desc, SyclRuntimeError, "no image was made")
    if sampler is None and desc.channel.is_sampled_only:
        raise FeatureNotSupportedError(
            f"an unsampled image of {desc.channel_type}: samplers alone read it; give a sampler, whose filtering may "
            "be 'nearest'"
        )


def _check(
    memory: object, desc: ImageDescriptor, device: Device, context: Context, sampler: BindlessImageSampler | None
) -> KnownMemory:
    """All that can be wrong with an image of image memory; the memory remembers the sampler that has passed."""
    checked = (id(device._aspects), id(desc), id(sampler)) in _checked
    if not checked:
        _check_values(desc, sampler)
        require_type(device, desc)
    record = known_memory(memory, context)
    if record is None:
        raise _gone(memory)
    if record.device != device:
        raise SyclRuntimeError(f"{memory!r} was allocated on {record.device}: create the image there, not on {device}")
    if record.descriptor != desc:
        raise SyclRuntimeError(
            f"the descriptor {desc} is not the one that the memory was allocated with: {record.descriptor}"
        )
    if record.owner == "level":
        require(device, Aspect.ext_oneapi_mipmap_level_reference, "images made of one level of a mipmap")
    if not checked:
        if sampler is not None:
            if _check_sampler(device, desc, sampler):
                return record  # it is worth a warning each time
        elif desc.type is ImageType.mipmap:
            raise SyclRuntimeError(
                "an unsampled image of a whole mipmap cannot be made: give a sampler, or make it of one level "
                "(get_mip_level_mem_handle, get_mip_level_desc)"
            )
        _checked.add(device, desc, sampler)
    record.passed = sampler
    return record


def known_memory(memory: object, context: Context) -> KnownMemory | None:
    """The record of image memory, or None where it is none of this context."""
    if isinstance(memory, ImageMemHandle):
        return context._images.get(memory._raw_handle)
    if not isinstance(memory, ImageMem):
        raise InvalidError(
            f"create_image: {type(memory).__name__} is no memory; give an ImageMem, an ImageMemHandle, a UsmPointer or "
            "a UsmArray"
        )
    if memory.closed:
        raise SyclRuntimeError(f"{memory!r} owns no memory: it was made without a descriptor, or closed")
    record, home = memory._own()
    if home is not context and home != context:
        raise SyclRuntimeError(f"{memory!r} was allocated in another context: create the image there")
    return record


def _gone(memory: object) -> SyclRuntimeError:
    return SyclRuntimeError(
        f"{memory!r} is no image memory of this context: it was freed, or allocated in another context"
    )


def _check_sampler(device: Device, desc: ImageDescriptor, sampler: BindlessImageSampler) -> bool:
    """Check the descriptor and the sampler together; return whether a warning was given."""
    used = sampler.addressing[: desc.dimensions]
    if len(set(used)) > 1:
        require(device, Aspect.ext_oneapi_unique_addressing_per_dim, "a different addressing mode for each dimension")
    if sampler.max_anisotropy > 1 and desc.type is ImageType.mipmap:
        require(device, Aspect.ext_oneapi_mipmap_anisotropy, "anisotropic filtering of mipmaps")
    if desc.type is ImageType.cubemap and sampler.cubemap_filtering is CubemapFilteringMode.seamless:
        require(device, Aspect.ext_oneapi_cubemap_seamless_filtering, "seamless filtering of cubemaps")
    if desc.type is ImageType.mipmap and not sampler.is_normalized:
        raise SyclRuntimeError("a mipmap is sampled with normalized coordinates: give coordinate='normalized'")
    if sampler.filtering is FilteringMode.linear and desc.channel.is_integer:
        if desc.channel_type in _WIDE_INTEGERS:
            raise SyclRuntimeError(
                f"filtering=linear: {desc.channel_type} channels cannot be blended; use filtering='nearest', or fp32"
            )
        if not device._backend.traits.has_texture_units:
            raise SyclRuntimeError(
                f"filtering=linear: {device.name} does not blend integers; "
                "use filtering='nearest', or a normalized type"
            )
    surprises = list(_surprises(device, desc, sampler))
    for surprise in surprises:
        warnings.warn(surprise, SamplerWarning, stacklevel=4)  # of the caller of create_image, in two ways
    return bool(surprises)


def _surprises(device: Device, desc: ImageDescriptor, sampler: BindlessImageSampler) -> Iterator[str]:
    """Warn of properties that the sampler does not follow."""
    used = sampler.addressing[: desc.dimensions]
    if (
        not sampler.is_normalized
        and desc.type is not ImageType.cubemap
        and any(mode not in _WITHOUT_PERIOD for mode in used)
    ):
        modes = ", ".join(sorted({str(mode) for mode in used if mode not in _WITHOUT_PERIOD}))
        yield (
            f"addressing {modes} with unnormalized coordinates samples as clamp_to_edge: "
            "samplers wrap normalized coordinates only; use coordinate='normalized'"
        )
    if desc.type is ImageType.mipmap and sampler.max_mipmap_level_clamp == 0:
        yield (
            f"max_mipmap_level_clamp=0: of the {desc.num_levels} levels of this mipmap only level 0 is read; give the "
            "highest level to be read, or float('inf') for all"
        )
    most = most_anisotropy(device)
    if sampler.max_anisotropy > most:
        yield f"max_anisotropy={sampler.max_anisotropy:g} samples as {most}, the most that {device.name} does"


def _create_usm(
    memory: UsmPointer | UsmArray,
    desc: ImageDescriptor,
    device: Device,
    context: Context,
    sampler: BindlessImageSampler | None,
    pitch: int,
    precision: Precision,
) -> SampledImageHandle | UnsampledImageHandle:
    _check_values(desc, sampler)
    if desc.channel.is_sampled_only:
        raise FeatureNotSupportedError(
            f"an image of {desc.channel_type} cannot lie in USM: allocate an ImageMem, and copy the bytes there"
        )
    pointer = memory.pointer
    if isinstance(memory, UsmArray) and not memory.is_contiguous:
        raise SyclRuntimeError(f"{memory!r} is not contiguous: make the image of the whole array")
    unsampled = context._backend.unsampled_memory
    if sampler is None and unsampled is None:
        raise SyclRuntimeError(
            f"{device.name} has no unsampled images in USM: give a sampler, or allocate an ImageMem; "
            "see is_image_handle_supported"
        )
    if desc.type is not ImageType.standard:
        raise SyclRuntimeError(f"a {desc.type} image cannot lie in USM: allocate an ImageMem")
    if desc.dimensions == 3:
        raise SyclRuntimeError("a three-dimensional image cannot lie in USM: allocate an ImageMem")
    require_type(device, desc)
    if pointer.context is not context and pointer.context != context:
        raise SyclRuntimeError(f"{memory!r} was allocated in another context: create the image there")
    if pointer.kind is UsmKind.device and pointer.device is not device and pointer.device != device:
        raise SyclRuntimeError(f"{memory!r} was allocated on {pointer.device}: create the image there, not on {device}")
    if pointer.kind is UsmKind.shared:
        require(device, Aspect.ext_oneapi_bindless_images_shared_usm, "images in shared USM")
    if desc.dimensions == 1:
        require(device, Aspect.ext_oneapi_bindless_images_1d_usm, "one-dimensional images in USM")
    else:
        require(device, Aspect.ext_oneapi_bindless_images_2d_usm, "two-dimensional images in USM")
    require_format(device, desc)
    _check_usm_layout(memory, desc, device, pitch)
    if sampler is not None:
        sampler.require_exact(precision)
        _require_unfiltered_lines(device, desc, sampler)
        _check_sampler(device, desc, sampler)
    place = context._native, device._record.native, pointer.address, pitch if desc.height else 0, desc
    try:
        if sampler is None:
            assert unsampled is not None  # checked above
            number = unsampled.create_unsampled_image_usm(*place)
        else:
            number = context._backend.create_sampled_image_usm(*place, _passed(sampler.within(1), device))
    except Error as error:
        kind = "unsampled" if sampler is None else "sampled"
        raise as_error(SyclRuntimeError, error, f"no {kind} image of {desc} over {memory!r}") from error
    sampled = sampler is not None
    record = HandleRecord(device, desc, sampler, True, memory, number, place[3], precision)
    context._handles[handle_key(number, sampled)] = record
    return SampledImageHandle(number, desc) if sampled else UnsampledImageHandle(number, desc)


def _require_unfiltered_lines(device: Device, desc: ImageDescriptor, sampler: BindlessImageSampler) -> None:
    if desc.dimensions == 1 and sampler.filtering is FilteringMode.linear and device._backend.traits.has_texture_units:
        raise SyclRuntimeError(
            "filtering=linear on one-dimensional USM: texture units do not filter linear memory; "
            "make it a pitched 2D image of height 1"
        )


def _check_usm_layout(memory: UsmPointer | UsmArray, desc: ImageDescriptor, device: Device, pitch: int) -> None:
    """Sizes and pitch are ones that the device has, and the image fits the allocation."""
    if desc.dimensions == 1:
        checks = [("width", desc.width, "image_max_buffer_size")]
        needed = desc.row_size
    else:
        if not isinstance(pitch, int):
            raise InvalidError(f"pitch={shown(pitch)} is not an integer; it is bytes")
        align = limit(device, "image_row_pitch_align") or 1
        if pitch == 0:
            raise SyclRuntimeError(
                "pitch=0: a two-dimensional image in USM needs the pitch that pitched_alloc_device returned, or a "
                f"multiple of {align} bytes"
            )
        if pitch < desc.row_size:
            raise SyclRuntimeError(f"pitch={pitch}: a row of the image takes {desc.row_size} bytes")
        if pitch % align:
            raise SyclRuntimeError(
                f"pitch={pitch} is no multiple of {align} bytes (info.device.image_row_pitch_align): allocate with "
                "pitched_alloc_device"
            )
        checks = [
            ("width", desc.width, "max_image_linear_width"),
            ("height", desc.height, "max_image_linear_height"),
            ("pitch", pitch, "max_image_linear_row_pitch"),
        ]
        needed = pitch * (desc.height - 1) + desc.row_size
    for field, value, name in checks:
        bound = limit(device, name)
        if bound is not None and value > bound:
            raise SyclRuntimeError(
                f"{field}={value}: {device.name} has images in USM of at most {bound} (info.device.{name}); "
                "split the image, or allocate an ImageMem"
            )
    if needed > memory.nbytes:
        raise SyclRuntimeError(f"the image takes {needed} bytes, {memory!r} has {memory.nbytes}")


# ---------------------------------------------------------------------- end


def destroy_image_handle(handle: SampledImageHandle | UnsampledImageHandle, *where: Where) -> None:
    """Destroys an image, not its memory. Work in flight that reads it keeps it until it is complete.

    Parameters
    ----------
    handle : SampledImageHandle | UnsampledImageHandle
        The image, made by ``create_image``.
    where : Queue | Device | Context
        A queue, or a device and a context: those of the image.

    Raises
    ------
    SyclRuntimeError
        The handle is no image of this context, such as one that was destroyed already.

    Notes
    -----
    sycl_ext_oneapi_bindless_images, "Obtaining a handle to the image".

    Examples
    --------
    >>> queue = bindless.Queue("reference")
    >>> pixels = np.arange(12, dtype=np.float32).reshape(3, 4)
    >>> desc = bindless.ImageDescriptor.from_array(pixels)
    >>> memory = bindless.ImageMem(desc, queue)
    >>> event = queue.ext_oneapi_copy(pixels, memory)
    >>> event.wait()
    >>> handle = bindless.create_image(memory, desc, queue)
    >>> bindless.destroy_image_handle(handle, queue)
    """
    _, context = resolve(where)
    try:
        key = handle._raw_handle << 1 | handle._sampled  # handle_key
    except AttributeError:
        way = ": close() ends it" if hasattr(handle, "close") else ""
        raise InvalidError(f"destroy_image_handle: {type(handle).__name__} is no image handle{way}") from None
    record: HandleRecord | None = context._handles.pop(key, None)
    if record is None:
        raise SyclRuntimeError(
            f"{handle!r} is no image of this context: it was destroyed already, or made in another context"
        )
    backend, native = context._backend, context._native_context
    try:
        try:
            del record._unheld  # the beginning of ``Listed.end``: mostly nothing else has it
        except AttributeError:
            record.end(backend, native)
        else:
            backend.destroy_image(native, record.number, handle._sampled)
    except Error as error:
        raise as_error(SyclRuntimeError, error, f"{handle!r} was not destroyed") from error
