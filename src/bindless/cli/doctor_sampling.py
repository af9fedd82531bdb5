"""Sampling checks of ``bindless doctor``: known texels of every image type and format, and means of two."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..bindless_images import ImageMem, create_image, destroy_image_handle, sample_image, sample_image_array
from ..model.arrays import Array, DType
from ..model.aspects import Aspect
from ..model.channels import CHANNELS
from ..model.enums import ImageChannelType
from ..model.errors import Error, SamplerWarning
from ..model.image_descriptor import ImageDescriptor
from ..model.sampler import BindlessImageSampler
from ..sycl.device.device import Device
from ..sycl.queue.queue import Queue

__all__ = ["KnownImage", "known_images", "sampled_formats"]


_SIZES = (5, 4, 3)
_LAYERS = 3
# Filters of 8-bit weights, and of 8-bit results, are within one step of the range.
_STEP = 1 / 128


@dataclass(frozen=True)
class KnownImage:
    """An image whose texels are known.

    Attributes
    ----------
    dimensions : int
        1, 2 or 3.
    layered : bool
        Whether it is an array of images.
    channel_type, channels
        Its format.
    """

    dimensions: int
    layered: bool
    channel_type: ImageChannelType
    channels: int

    def __str__(self) -> str:
        layers = " array" if self.layered else ""
        return f"{self.dimensions}D{layers} {self.channel_type} x{self.channels}"

    @property
    def descriptor(self) -> ImageDescriptor:
        """Descriptor of the image."""
        width, height, depth = (*_SIZES[: self.dimensions], 0, 0)[:3]
        return ImageDescriptor(
            width,
            height,
            depth,
            num_channels=self.channels,
            channel_type=self.channel_type,
            type="array" if self.layered else "standard",
            array_size=_LAYERS if self.layered else 1,
        )

    def fault(self, queue: Queue) -> str:
        """Return the first wrong samples of a device, in words; empty where all are right."""
        desc = self.descriptor
        texels = _texels(desc)
        values = _values(texels, desc)
        with ImageMem(desc, queue) as memory:
            queue.ext_oneapi_copy(texels, memory).wait()
            size = np.array(_SIZES[: self.dimensions], np.float32)
            centres = np.stack([axis.ravel() for axis in np.indices(_SIZES[: self.dimensions][::-1])[::-1]], 1) + 0.5
            pixels = self._sample(queue, memory, "normalized", "nearest", centres / size)
            # Normalized values are within a unit of the last place of float32.
            fault = _difference("texels at normalized coordinates", pixels, values.reshape(pixels.shape), 1e-6)
            if fault or desc.channel.is_integer:
                return fault
            between = np.full((1, self.dimensions), 0.5, np.float32)
            between[0, 0] = 1  # of the first two texels
            pixels = self._sample(queue, memory, "unnormalized", "linear", between)
            means = values.reshape(len(pixels), -1, self.channels)[:, :2].mean(axis=1, keepdims=True)
            return _difference("means of two texels", pixels, means, _STEP * float(np.abs(values).max()))

    def _sample(self, queue: Queue, memory: ImageMem, coordinate: str, filtering: str, places: Array) -> Array:
        """(layers, points, channels)"""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SamplerWarning)
            sampler = BindlessImageSampler("clamp_to_edge", coordinate, filtering)
            handle = create_image(memory, self.descriptor, queue, sampler=sampler)
        dtype = np.float32 if self.channel_type is ImageChannelType.fp16 else None
        coords = places.astype(np.float32)
        try:
            if not self.layered:
                return np.asarray(sample_image(queue, handle, coords, dtype=dtype))[np.newaxis]
            layers = np.repeat(np.arange(_LAYERS, dtype=np.uint32), len(coords))
            every = np.tile(coords, (_LAYERS, 1))
            pixels = np.asarray(sample_image_array(queue, handle, every, layers, dtype=dtype))
            return pixels.reshape(_LAYERS, len(coords), self.channels)
        finally:
            destroy_image_handle(handle, queue)


def _texels(desc: ImageDescriptor) -> Array:
    """All different as far as the type has so many numbers, over its whole range."""
    count = int(np.prod(desc.shape))
    if desc.dtype.kind == "f":
        values = np.arange(count) - 42.0
    else:
        low, high = _range(desc.dtype)
        values = np.array([low + (high - low) * step // (count - 1) for step in range(count)], desc.dtype)
    return values.astype(desc.dtype).reshape(desc.shape)


def _values(texels: Array, desc: ImageDescriptor) -> Array:
    """Return the values of texels as kernels read them."""
    if texels.dtype.kind == "f":
        return np.asarray(texels, np.float32)
    if desc.channel.is_integer:
        return texels
    return np.asarray(texels / np.float64(_range(texels.dtype)[1]), np.float32)


def _range(dtype: DType) -> tuple[int, int]:
    """Least and most of integers; the least signed one is the next, normalized, and left out."""
    bits = 8 * dtype.itemsize
    return (0, 2**bits - 1) if dtype.kind == "u" else (1 - 2 ** (bits - 1), 2 ** (bits - 1) - 1)


def _difference(what: str, values: Array, reference: Array, tolerance: float) -> str:
    exact = values.dtype.kind != "f"
    right = values == reference if exact else np.isclose(values, reference, rtol=0, atol=tolerance)
    if right.all():
        return ""
    layer, point, channel = (int(index) for index in np.argwhere(~right)[0])
    return (
        f"{int((~right).sum())} of {right.size} {what} are wrong, such as {values[layer, point, channel]} for "
        f"{reference[layer, point, channel]} in layer {layer}"
    )


def sampled_formats(device: Device) -> list[str]:
    """The channel types of a device that samplers alone read: blocks, ten bits and sRGB."""
    offers, native = device._backend.supports_format, device._record.native
    kinds = [(str(kind), kind, channel.channels) for kind, channel in CHANNELS.items() if channel.is_sampled_only]
    return [name for name, kind, channels in kinds if offers(native, kind, channels)]


def known_images(device: Device) -> Iterator[KnownImage]:
    """Yield an image of every kind and format that a device supports."""
    kinds = [(1, False), (2, False), (3, False)]
    if device.has(Aspect.ext_oneapi_image_array):
        kinds += [(1, True), (2, True)]
    plain = [channel_type for channel_type, channel in CHANNELS.items() if not channel.is_sampled_only]
    for (dimensions, layered), channel_type, channels in itertools.product(kinds, plain, (1, 2, 3, 4)):
        try:
            there = device._backend.supports_format(device._record.native, channel_type, channels)
        except Error:
            there = True  # the sample tells why
        if there:
            yield KnownImage(dimensions, layered, channel_type, channels)
