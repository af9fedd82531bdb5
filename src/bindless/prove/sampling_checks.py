"""Sampling cases of ``bindless doctor --prove``: every image type, format, filter, addressing and coordinate mode."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

import numpy as np

from ..bindless_images import (
    ImageMem,
    create_image,
    destroy_image_handle,
    fetch_image,
    fetch_image_array,
    pitched_alloc_device,
    sample_image,
    sample_image_array,
)
from ..bindless_images.device_limits import require
from ..model.arrays import Array
from ..model.aspects import Aspect
from ..model.errors import SamplerWarning
from ..model.image_descriptor import ImageDescriptor
from ..model.image_handles import SampledImageHandle
from ..model.sampler import BindlessImageSampler
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmPointer, free

__all__ = ["Sampling", "samplings"]


_FLOATS = ("fp32", "fp16", "unorm_int8", "unorm_int16", "snorm_int8", "snorm_int16")
_INTEGERS = ("unsigned_int8", "unsigned_int16", "unsigned_int32", "signed_int8", "signed_int16", "signed_int32")
_MODES = ("repeat", "mirrored_repeat", "clamp_to_edge", "ext_oneapi_clamp_to_border")
_SIZES = (13, 9, 5)
_LAYERS = 3
_POINTS = 256
# Numbers that no formula likes.
_ODD = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, 1e9, -1e9, 3e-39, 0.0, -0.0], np.float32)


@dataclass(frozen=True)
class Sampling:
    """One image, one sampler, and points.

    Attributes
    ----------
    dimensions : int
        1, 2 or 3.
    layered : bool
        Whether it is an array of images.
    pitched : bool
        Whether it lies in rows of linear memory.
    channel_type, channels
        Its format.
    filtering, addressing, normalized
        The sampler; without filtering pixels are fetched.
    """

    dimensions: int
    layered: bool
    channel_type: str
    channels: int
    pitched: bool = False
    filtering: str = ""
    addressing: str = "clamp_to_edge"
    normalized: bool = True

    @property
    def family(self) -> str:
        """Description of the case: image and operation."""
        kind = " layers" if self.layered else " pitched" if self.pitched else ""
        return f"{self.dimensions}D{kind} {self.filtering or 'fetch'}"

    def __str__(self) -> str:
        if not self.filtering:
            return f"{self.family} {self.channel_type} x{self.channels}"
        how = "normalized" if self.normalized else "pixels"
        return f"{self.family} {self.addressing} {how} {self.channel_type} x{self.channels}"

    def run(self, queue: Queue) -> Array:
        """Results of a device, (points, channels), for the same points and pixels on each device."""
        rng = np.random.default_rng(7)
        shape = (*((_LAYERS,) if self.layered else ()), *reversed(_SIZES[: self.dimensions]), self.channels)
        width, height, depth = (*_SIZES[: self.dimensions], 0, 0)[:3]
        desc = ImageDescriptor(
            width,
            height,
            depth,
            num_channels=self.channels,
            channel_type=self.channel_type,
            type="array" if self.layered else "standard",
            array_size=_LAYERS if self.layered else 1,
        )
        sampler = BindlessImageSampler(
            self.addressing, "normalized" if self.normalized else "unnormalized", self.filtering or "nearest"
        )
        with _image(queue, desc, _pixels(rng, shape, self.channel_type), sampler, self.pitched) as handle:
            return self._read(queue, handle, rng)

    def _read(self, queue: Queue, handle: SampledImageHandle, rng: np.random.Generator) -> Array:
        layers = rng.integers(0, _LAYERS, _POINTS).astype(np.uint32)
        dtype = np.float32 if self.channel_type == "fp16" else None
        if not self.filtering:
            places = np.stack([rng.integers(0, size, _POINTS) for size in _SIZES[: self.dimensions]], 1)
            whole = places.astype(np.int32)
            if self.layered:
                return np.asarray(fetch_image_array(queue, handle, whole, layers, dtype=dtype))
            return np.asarray(fetch_image(queue, handle, whole, dtype=dtype))
        coordinates = _coordinates(rng, self.dimensions, self.normalized)
        if self.layered:
            return np.asarray(sample_image_array(queue, handle, coordinates, layers, dtype=dtype))
        return np.asarray(sample_image(queue, handle, coordinates, dtype=dtype))


@contextmanager
def _image(
    queue: Queue, desc: ImageDescriptor, pixels: Array, sampler: BindlessImageSampler, pitched: bool
) -> Iterator[SampledImageHandle]:
    """An image with these pixels."""
    with ExitStack() as stack:
        memory: ImageMem | UsmPointer
        pitch = 0
        if pitched:
            require(queue.device, Aspect.ext_oneapi_bindless_images_2d_usm, "images in USM")
            memory, pitch = pitched_alloc_device(desc, queue)
            stack.callback(free, memory, queue)
            queue.ext_oneapi_copy(pixels, memory, dst_desc=desc, dst_pitch=pitch).wait()
        else:
            memory = stack.enter_context(ImageMem(desc, queue))
            queue.ext_oneapi_copy(pixels, memory).wait()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SamplerWarning)
            handle = create_image(memory, desc, queue, sampler=sampler, pitch=pitch)
        assert isinstance(handle, SampledImageHandle)
        stack.callback(destroy_image_handle, handle, queue)
        yield handle


def _pixels(rng: np.random.Generator, shape: tuple[int, ...], channel_type: str) -> Array:
    if channel_type in ("fp32", "fp16"):
        return rng.standard_normal(shape).astype(np.float32 if channel_type == "fp32" else np.float16)
    kind = np.dtype(f"{'u' if channel_type.startswith('un') else 'i'}{int(channel_type.rpartition('int')[2]) // 8}")
    limits = np.iinfo(kind)
    return rng.integers(limits.min, limits.max, shape, kind, endpoint=True)


def _coordinates(rng: np.random.Generator, dimensions: int, normalized: bool) -> Array:
    """(points, dimensions) float32, in and around the image; the last ones are odd."""
    extent = np.array(_SIZES[:dimensions], np.float64)
    places = (rng.random((_POINTS, dimensions)) * 3 - 1) * extent
    places[: _POINTS // 4] = np.round(places[: _POINTS // 4] * 2) / 2
    coordinates = (places / extent if normalized else places).astype(np.float32)
    coordinates[-len(_ODD) :, 0] = _ODD
    return coordinates


def samplings() -> Iterator[Sampling]:
    """All of them."""
    images = (
        Sampling(1, False, "", 0),
        Sampling(2, False, "", 0),
        Sampling(3, False, "", 0),
        Sampling(1, True, "", 0),
        Sampling(2, True, "", 0),
        Sampling(2, False, "", 0, pitched=True),
    )
    formats = itertools.product((1, 2, 4), (*_FLOATS, *_INTEGERS))
    for kind, (channels, channel_type) in itertools.product(images, formats):
        image = replace(kind, channel_type=channel_type, channels=channels)
        yield image
        for filtering, addressing in itertools.product(("nearest", "linear"), _MODES):
            if filtering == "linear" and channel_type in _INTEGERS:
                continue
            for normalized in (True, False):
                if normalized or addressing not in ("repeat", "mirrored_repeat"):  # which need normalized ones
                    yield replace(image, filtering=filtering, addressing=addressing, normalized=normalized)
