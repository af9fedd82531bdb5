"""Run a configuration on a device, through the public interface alone."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

import bindless as bl

from .configuration import Array, Configuration

_MODES = {"clamp_to_border": "ext_oneapi_clamp_to_border"}
_Handle = bl.SampledImageHandle


def _descriptor(configuration: Configuration) -> bl.ImageDescriptor:
    base = configuration.pixels()[0]
    layered = configuration.type in ("array", "cubemap")
    sizes = base.shape[1:-1] if layered else base.shape[:-1]
    width, height, depth = (*reversed(sizes), 0, 0)[:3]
    return bl.ImageDescriptor(
        width,
        height,
        depth,
        num_channels=configuration.channels,
        channel_type=configuration.channel_type,
        type=configuration.type,
        num_levels=configuration.levels,
        array_size=base.shape[0] if layered else 1,
    )


def _sampler(configuration: Configuration) -> bl.BindlessImageSampler:
    modes = [_MODES.get(mode, mode) for mode in configuration.addressing]
    modes += ["clamp_to_edge"] * (3 - len(modes))
    return bl.BindlessImageSampler(
        modes,
        "normalized" if configuration.normalized else "unnormalized",
        configuration.filtering,
        mipmap_filtering=configuration.mipmap_filtering,
        min_mipmap_level_clamp=configuration.min_level,
        max_mipmap_level_clamp=configuration.max_level,
        max_anisotropy=configuration.max_anisotropy,
        cubemap_filtering="seamless" if configuration.seamless else "disjointed",
    )


def _create(
    memory: bl.ImageMem | bl.UsmPointer,
    desc: bl.ImageDescriptor,
    queue: bl.Queue,
    configuration: Configuration,
    pitch: int = 0,
) -> _Handle:
    with warnings.catch_warnings():
        # Unnormalized repetition clamps; some configurations test this.
        warnings.simplefilter("ignore", bl.SamplerWarning)
        handle = bl.create_image(memory, desc, queue, sampler=_sampler(configuration), pitch=pitch)
    assert isinstance(handle, bl.SampledImageHandle)
    return handle


@contextmanager
def _image(queue: bl.Queue, configuration: Configuration) -> Iterator[_Handle]:
    """Create the configuration's image in image memory."""
    desc = _descriptor(configuration)
    with bl.ImageMem(desc, queue) as memory:
        for level, pixels in enumerate(configuration.pixels()):
            if configuration.levels > 1:
                target = memory.get_mip_level_mem_handle(level)
                queue.ext_oneapi_copy(pixels, target, dst_desc=desc.get_mip_level_desc(level)).wait()
            else:
                queue.ext_oneapi_copy(pixels, memory).wait()
        handle = _create(memory, desc, queue, configuration)
        try:
            yield handle
        finally:
            bl.destroy_image_handle(handle, queue)


@contextmanager
def _plain_memory(queue: bl.Queue, configuration: Configuration) -> Iterator[_Handle]:
    """Create the configuration's image in memory outside of images: pitched rows, or one row."""
    desc = _descriptor(configuration)
    pixels = configuration.pixels()[0]
    if configuration.memory == "pitch2d":
        pointer, pitch = bl.pitched_alloc_device(desc, queue)
        queue.ext_oneapi_copy(pixels, pointer, dst_desc=desc, dst_pitch=pitch).wait()
    else:
        pointer, pitch = bl.malloc_device(pixels.nbytes, queue), 0
        queue.memcpy(pointer, pixels, pixels.nbytes).wait()
    try:
        handle = _create(pointer, desc, queue, configuration, pitch)
        try:
            yield handle
        finally:
            bl.destroy_image_handle(handle, queue)
    finally:
        bl.free(pointer, queue)


def _call(queue: bl.Queue, handle: _Handle, configuration: Configuration) -> Array:
    coordinates = configuration.point("coordinates")
    operation, kind = configuration.operation, configuration.type
    dtype = np.float32 if configuration.channel_type == "fp16" else None  # as returned by a texture instruction
    if operation == "fetch":
        if kind == "array":
            return bl.fetch_image_array(queue, handle, coordinates, configuration.point("layers"), dtype=dtype)
        return bl.fetch_image(queue, handle, coordinates, dtype=dtype)
    if operation == "sample_lod":
        return bl.sample_mipmap(queue, handle, coordinates, level=configuration.point("levels"), dtype=dtype)
    if operation == "sample_gradient":
        dx, dy = configuration.point("gradient_x"), configuration.point("gradient_y")
        return bl.sample_mipmap(queue, handle, coordinates, dx=dx, dy=dy, dtype=dtype)
    if kind == "array":
        return bl.sample_image_array(queue, handle, coordinates, configuration.point("layers"), dtype=dtype)
    if kind == "cubemap":
        return bl.sample_cubemap(queue, handle, coordinates, dtype=dtype)
    return bl.sample_image(queue, handle, coordinates, dtype=dtype)


def run(queue: bl.Queue, configuration: Configuration) -> Array:
    """Return the results of the queue's device: (points, channels) of the value type."""
    place = _image if configuration.memory == "array" else _plain_memory
    with place(queue, configuration) as handle:
        return np.asarray(_call(queue, handle, configuration))
