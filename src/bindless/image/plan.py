"""Plan of an ``Image``: descriptor, shape and sampler, cached for equal arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..model.enums import (
    AddressingMode,
    CoordinateNormalizationMode,
    FilteringMode,
    ImageChannelType,
    ImageType,
    Interpolation,
    Precision,
)
from ..model.errors import ArgumentError, InvalidError
from ..model.filter import Filter
from ..model.image_descriptor import ImageDescriptor
from ..model.message_values import shown
from ..model.sampler import BindlessImageSampler
from ..sycl.device.device import Device
from .filters import filter_of, require_filter

__all__ = ["Plan", "device_descriptor", "plan_of_memory", "planned", "taken_dtype"]

_KINDS_KEPT = 256


class Plan(NamedTuple):
    """The plan of an ``Image``.

    Attributes
    ----------
    described : ImageDescriptor
        The image that the array is.
    stored : ImageDescriptor
        What is allocated for it on the device.
    shape : tuple[int, ...]
        Of the array, with its channels.
    has_channel_axis : bool
        Whether the array has them as its last axis.
    sampler : BindlessImageSampler
        The sampler asked for.
    filter : Filter
        The filter asked for.
    """

    described: ImageDescriptor
    stored: ImageDescriptor
    shape: tuple[int, ...]
    has_channel_axis: bool
    sampler: BindlessImageSampler
    filter: Filter


def planned(*arguments: Any) -> Plan:
    """``_planned``, worked out once for equal arguments."""
    try:
        plan = _remembered(*arguments)
    except TypeError:  # one cannot be hashed: it is a list, or refused
        plan = None
    return _planned(*arguments) if plan is None else plan  # not in the handler: errors have no other as their context


def _planned(
    device: Device,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    dimensions: int | None,
    channel_type: ImageChannelType | str | None,
    mipmaps: bool,
    layers: bool,
    cubemap: bool,
    addressing: AddressingMode | str | Sequence[AddressingMode | str],
    filtering: FilteringMode | Interpolation | str,
    coordinate: CoordinateNormalizationMode | str,
    max_anisotropy: float,
    precision: Precision | str = Precision.hardware,
    fill: float = 0.0,
    nan: str = "propagate",
) -> Plan:
    """The plan of an array of this shape and dtype on a device, with the options of ``Image``.

    Raises
    ------
    InvalidError
        The shape or the dtype is not that of an image, an option is not known, or they do not fit.
    """
    if layers and cubemap:
        raise InvalidError(
            f"layers={layers}, cubemap={cubemap}: an image is one of the two; make one Image for each cubemap"
        )
    kind = ImageType.array if layers else ImageType.cubemap if cubemap else ImageType.standard
    wanted = filter_of(addressing, filtering, precision, fill, nan)
    sampler = _sampler_of(wanted, coordinate, max_anisotropy)
    if 0 in shape:
        raise InvalidError(f"an array of shape {shape} has no pixels")
    array = np.broadcast_to(np.empty((), dtype), shape)
    described = ImageDescriptor.from_array(array, dimensions=dimensions, channel_type=channel_type, type=kind)
    _require_filter(described, sampler, mipmaps)
    require_filter(wanted, described, mipmaps)
    _require_modes(addressing, described)
    stored = device_descriptor(described, mipmaps, device)
    return Plan(described, stored, described.shape, len(shape) == len(described.shape), sampler, wanted)


_remembered = lru_cache(_KINDS_KEPT)(_planned)


def plan_of_memory(
    stored: ImageDescriptor,
    addressing: AddressingMode | str | Sequence[AddressingMode | str],
    filtering: FilteringMode | Interpolation | str,
    coordinate: CoordinateNormalizationMode | str,
    max_anisotropy: float,
    precision: Precision | str = Precision.hardware,
    fill: float = 0.0,
    nan: str = "propagate",
) -> Plan:
    """The plan of an image of memory with a descriptor, all of which the user sees.

    Raises
    ------
    InvalidError
        An option is not known, or does not fit.
    """
    mipmaps = stored.type is ImageType.mipmap
    described = replace(stored, type=ImageType.standard, num_levels=1) if mipmaps else stored
    wanted = filter_of(addressing, filtering, precision, fill, nan)
    sampler = _sampler_of(wanted, coordinate, max_anisotropy)
    _require_filter(described, sampler, mipmaps)
    require_filter(wanted, described, mipmaps)
    _require_modes(addressing, described)
    return Plan(described, stored, described.shape, described.num_channels > 1, sampler, wanted)


def _sampler_of(
    filter_: Filter, coordinate: CoordinateNormalizationMode | str, max_anisotropy: float
) -> BindlessImageSampler:
    """The sampler of a filter, as far as texture units have it."""
    mode = filter_.sampler_filtering
    return BindlessImageSampler(
        filter_.addressing, coordinate, mode, mipmap_filtering=mode, max_anisotropy=max_anisotropy
    )


def _require_modes(addressing: object, described: ImageDescriptor) -> None:
    if not isinstance(addressing, str):
        modes = len(tuple(addressing))  # type: ignore[arg-type]
        if modes not in (1, 3, described.dimensions):
            raise ArgumentError(
                f"addressing={shown(addressing)} has {modes} modes: the image has {described.dimensions} axes, x first"
            )


def taken_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype that an array is taken as: float64 as float32, bool as uint8, others as they are in native order."""
    if dtype.isnative and dtype.kind not in "bf":
        return dtype
    if dtype.kind == "b":
        return np.dtype(np.uint8)
    return np.dtype(np.float32) if dtype.kind == "f" and dtype.itemsize == 8 else dtype.newbyteorder("=")


def _require_filter(described: ImageDescriptor, sampler: BindlessImageSampler, mipmaps: bool) -> None:
    """Refuses what neither the array nor the options alone can tell."""
    if sampler.filtering is FilteringMode.linear and described.dtype.itemsize == 4 and described.channel.is_integer:
        raise InvalidError(
            f"channel type {described.channel_type} cannot be filtered linearly: "
            'use filtering="nearest", or convert with array.astype("float32")'
        )
    if sampler.max_anisotropy and described.type is not ImageType.standard:
        raise InvalidError(
            f"max_anisotropy={sampler.max_anisotropy}: it is for mipmaps, which {described.type} images have none of"
        )
    if sampler.max_anisotropy and not mipmaps:
        raise InvalidError(f"max_anisotropy={sampler.max_anisotropy} needs mipmaps=True")


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
