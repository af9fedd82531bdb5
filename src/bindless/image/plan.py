"""ImagePlan of an ``Image``: descriptor, shape and sampler, cached for equal arguments."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..model.arrays import DType
from ..model.enums import FilteringMode, ImageChannelType, ImageType, Precision
from ..model.errors import ArgumentError, InvalidError
from ..model.filter import name_of_boundary
from ..model.image_descriptor import ImageDescriptor
from ..model.sampler import BindlessImageSampler
from ..sycl.device.device import Device
from .filters import require_filter
from .options import ImageOptions

__all__ = ["ImagePlan", "device_descriptor", "plan_of_levels", "plan_of_memory", "planned", "taken_dtype"]

_KINDS_KEPT = 256


class ImagePlan(NamedTuple):
    """The plan of an ``Image``.

    Attributes
    ----------
    described : ImageDescriptor
        The image that the array is.
    stored : ImageDescriptor
        What is allocated for it on the device.
    has_channel_axis : bool
        Whether the array has its channels as its last axis.
    options : ImageOptions
        The options, with the channel type and the dimensions that the array has.
    sampler : BindlessImageSampler
        The sampler of the options.
    is_computed : bool
        Whether a texture unit has no part in its samples.
    handle_precision : Precision
        Of samples by handles; pictures that are computed need none.
    """

    described: ImageDescriptor
    stored: ImageDescriptor
    has_channel_axis: bool
    options: ImageOptions
    sampler: BindlessImageSampler
    is_computed: bool
    handle_precision: Precision


@lru_cache(_KINDS_KEPT)
def planned(device: Device, shape: tuple[int, ...], dtype: DType, options: ImageOptions) -> ImagePlan:
    """The plan of an array of this shape and dtype on a device, made once for equal arguments.

    Raises
    ------
    InvalidError
        The shape or the dtype is not that of an image, or the options do not fit it, or each other.
    """
    if 0 in shape:
        raise InvalidError(f"an array of shape {shape} has no pixels")
    array = np.broadcast_to(np.empty((), dtype), shape)
    described = ImageDescriptor.from_array(
        array, dimensions=options.dimensions, channel_type=options.channel_type, type=options.type
    )
    sampler, native = options.sampler, options.native
    _require_options(described, native, native.sampler)
    stored = device_descriptor(described, native.mipmaps, device)
    return _plan(described, stored, len(shape) == len(described.shape), options, sampler)


def plan_of_levels(device: Device, described: ImageDescriptor, count: int, options: ImageOptions) -> ImagePlan:
    """The plan of an image whose levels are given, as elements of memory.

    Raises
    ------
    InvalidError
        The options do not fit.
    """
    sampler, native = options.sampler, options.native
    _require_options(described, native, native.sampler)
    stored = device_descriptor(described, False, device)
    if native.mipmaps:
        stored = replace(stored, type=ImageType.mipmap, num_levels=count)
    return _plan(described, stored, described.num_channels > 1, options, sampler)


def plan_of_memory(stored: ImageDescriptor, options: ImageOptions) -> ImagePlan:
    """The plan of an image of memory with a descriptor, all of which the user sees.

    Raises
    ------
    InvalidError
        An option does not fit.
    """
    options = replace(options, mipmaps=stored.type is ImageType.mipmap)
    described = replace(stored, type=ImageType.standard, num_levels=1) if options.mipmaps else stored
    sampler = options.sampler
    _require_options(described, options, sampler)
    return _plan(described, stored, described.num_channels > 1, options, sampler)


def _plan(
    described: ImageDescriptor,
    stored: ImageDescriptor,
    has_channel_axis: bool,
    options: ImageOptions,
    sampler: BindlessImageSampler,
) -> ImagePlan:
    cubemap = described.type is ImageType.cubemap
    is_computed = options.filter.is_computed and not (options.mipmaps or cubemap)
    whole = replace(
        options,
        channel_type=described.channel_type,
        layers=described.type is ImageType.array,
        cubemap=cubemap,
        dimensions=described.dimensions,
    )
    precision = Precision.hardware if is_computed else options.filter.arithmetic
    return ImagePlan(described, stored, has_channel_axis, whole, sampler, is_computed, precision)


def taken_dtype(dtype: DType) -> DType:
    """The dtype that an array is taken as: float64 as float32, bool as uint8, others as they are in native order."""
    if dtype.isnative and dtype.kind not in "bf":
        return dtype
    if dtype.kind == "b":
        return np.dtype(np.uint8)
    return np.dtype(np.float32) if dtype.kind == "f" and dtype.itemsize == 8 else dtype.newbyteorder("=")


def _require_options(described: ImageDescriptor, options: ImageOptions, sampler: BindlessImageSampler) -> None:
    """Refuses what neither the array nor the options alone can tell."""
    if sampler.filtering is FilteringMode.linear and described.dtype.itemsize == 4 and described.channel.is_integer:
        raise InvalidError(
            f"channel type {described.channel_type} cannot be filtered linearly: "
            'use filtering="nearest", or convert with array.astype("float32")'
        )
    if described.channel_type is ImageChannelType.unorm_int8_srgb and described.num_channels == 2:
        raise InvalidError("srgb=True, two channels: the second would be green; give grey, or three or four channels")
    if sampler.max_anisotropy and described.type is not ImageType.standard:
        raise InvalidError(
            f"max_anisotropy={sampler.max_anisotropy}: it is for mipmaps, which {described.type} images have none of"
        )
    if sampler.max_anisotropy and not options.mipmaps:
        raise InvalidError(f"max_anisotropy={sampler.max_anisotropy} needs mipmaps=True")
    require_filter(options.filter, described, options.mipmaps)
    grid, shape = options.grid, described.extent[: described.dimensions][::-1]
    if grid is not None and grid.shape != shape:
        raise ArgumentError(f"grid has shape {grid.shape}, and the image {shape}: they are equal")
    if options.modes not in (1, 3, described.dimensions):
        modes = tuple(map(name_of_boundary, options.filter.boundary[: options.modes]))
        raise ArgumentError(
            f"addressing={modes} has {options.modes} modes: the image has {described.dimensions} axes, x first"
        )


def _device_channels(described: ImageDescriptor, device: Device) -> int:
    """As many as described, or the fewest more that the device has images of: many have none of three channels, some of
    OpenCL's none of two, or of four alone."""
    native, kind = device._record.native, described.channel_type
    for channels in range(described.num_channels, 5):
        if device._backend.supports_format(native, kind, channels):
            return channels
    return described.num_channels  # for the error that names it


def device_descriptor(described: ImageDescriptor, mipmaps: bool, device: Device) -> ImageDescriptor:
    """The allocated descriptor: padded channels, a second layer or the levels of a mipmap added."""
    desc = replace(described, num_channels=_device_channels(described, device))
    if mipmaps and desc.max_levels > 1:
        desc = replace(desc, type=ImageType.mipmap, num_levels=desc.max_levels)
    elif desc.type is ImageType.array and desc.array_size == 1:
        desc = replace(desc, array_size=2)  # the smallest image array has two layers
    desc.verify()
    return desc
