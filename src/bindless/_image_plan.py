"""What an ``Image`` is made of, worked out once for all that are alike: descriptors and samplers are values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from .model.descriptor import ImageDescriptor
from .model.enums import AddressingMode, CoordinateNormalizationMode, FilteringMode, ImageChannelType, ImageType
from .model.errors import InvalidError
from .model.sampler import BindlessImageSampler
from .sycl.device import Device

__all__ = ["require_filter", "sampler_of", "stored_as"]

_KINDS_KEPT = 256
_Result = TypeVar("_Result")

Plan = tuple[ImageDescriptor, ImageDescriptor, tuple[int, ...]]


def _remembered(make: Callable[..., _Result]) -> Callable[..., _Result]:
    """Calls a function once for equal arguments. What cannot be hashed is an argument that it refuses, or a list."""
    kept = lru_cache(_KINDS_KEPT)(make)

    def call(*arguments: Any) -> _Result:
        try:
            return kept(*arguments)
        except TypeError:
            return make(*arguments)

    return call


@_remembered
def stored_as(
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    dimensions: int | None,
    channel_type: ImageChannelType | str | None,
    kind: ImageType,
    mipmaps: bool,
    device: Device,
) -> Plan:
    """The image that an array is, what is allocated for it on a device, and the array's shape with its channels.

    Raises:
        InvalidError: the shape or the dtype is not that of an image.
    """
    if 0 in shape:
        raise InvalidError(f"an array of shape {shape} has no pixels")
    array = np.broadcast_to(np.empty((), dtype), shape)
    described = ImageDescriptor.from_array(array, dimensions=dimensions, channel_type=channel_type, type=kind)
    return described, _device_descriptor(described, mipmaps, device), described.shape


@_remembered
def sampler_of(
    addressing: AddressingMode | str | Sequence[AddressingMode | str],
    coordinate: CoordinateNormalizationMode | str,
    filtering: FilteringMode | str,
    max_anisotropy: float,
) -> BindlessImageSampler:
    """The sampler asked for. Raises ``InvalidError`` for a mode that is not known."""
    return BindlessImageSampler(
        addressing, coordinate, filtering, mipmap_filtering=filtering, max_anisotropy=max_anisotropy
    )


def require_filter(described: ImageDescriptor, sampler: BindlessImageSampler, mipmaps: bool) -> None:
    """Refuses what neither the array nor the options alone can tell."""
    if sampler.filtering is FilteringMode.linear and described.dtype.itemsize == 4 and described.channel.is_integer:
        raise InvalidError(
            f"channel type {described.channel_type} cannot be filtered linearly: "
            'use filtering="nearest", or convert with array.astype("float32")'
        )
    if sampler.max_anisotropy and not mipmaps:
        raise InvalidError(f"max_anisotropy={sampler.max_anisotropy} needs mipmaps=True")


def _device_descriptor(described: ImageDescriptor, mipmaps: bool, device: Device) -> ImageDescriptor:
    """What is allocated for an image: more channels, a second layer or several levels than described."""
    channels = described.num_channels
    if channels == 3 and not device._backend.supports_format(device._record.native, described.channel_type, 3):
        channels = 4
    desc = replace(described, num_channels=channels)
    if mipmaps and desc.max_levels > 1:
        desc = replace(desc, type=ImageType.mipmap, num_levels=desc.max_levels)
    elif desc.type is ImageType.array and desc.array_size == 1:
        desc = replace(desc, array_size=2)  # the smallest image array has two layers
    desc.verify()
    return desc
