"""The levels of a mipmap, each made from the one before: every pixel is the mean of the area that it covers.

An axis of even length has pairs; one of odd length 2 t + 1 has pixels that cover 2 + 1/t of the old ones, and the
weights of 2 i, 2 i + 1, 2 i + 2 are t - i, t and i + 1. Means are taken along x, y, z in double precision from the
stored pixels of the level before, and rounded once.

Where the package has a kernel in the language of the device's driver, the pixels never leave the device; elsewhere
the processor does the same arithmetic. Both give the same pixels.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..bindless_images import ImageMem, create_image, destroy_image_handle
from ..model.channels import Channel
from ..model.image_descriptor import ImageDescriptor
from ..submission.event import Event
from ..sycl.kernel.kernel import Kernel
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray
from .area_filter import to_storage
from .array_library import AnyArray
from .builtin_kernels import builtin_kernel, launch
from .row_blocks import in_blocks

__all__ = ["fill_levels", "halve"]

Array = npt.NDArray[Any]


def fill_levels(
    memory: ImageMem, desc: ImageDescriptor, pixels: AnyArray, queue: Queue, after: Iterable[Event] = ()
) -> Event:
    """Fills all levels of a mipmap from the pixels of level 0; waits.

    Parameters
    ----------
    memory : ImageMem
        Of the mipmap.
    desc : ImageDescriptor
        Its descriptor.
    pixels : AnyArray
        C-contiguous, of the shape and dtype of the descriptor; on the host or the device.
    queue : Queue
        Does the work.
    after : Iterable[Event], default ()
        What it comes after.

    Returns
    -------
    Event
        Of the last level.
    """
    first = desc.get_mip_level_desc(0)
    done = queue.ext_oneapi_copy(pixels, memory.get_mip_level_mem_handle(0), dst_desc=first, depends_on=after)
    kernel = builtin_kernel(queue, f"downsample_{desc.dimensions}d_{desc.channel.kind}")
    if kernel is not None:
        return _halve_on_device(memory, desc, kernel, queue, done)
    done.wait()
    smaller = pixels.numpy(queue) if isinstance(pixels, UsmArray) else pixels
    for level in range(1, desc.num_levels):
        smaller = halve(smaller, desc.channel)
        target = memory.get_mip_level_mem_handle(level)
        done = queue.ext_oneapi_copy(smaller, target, dst_desc=desc.get_mip_level_desc(level))
        done.wait()
    return done


# ------------------------------------------------------------------ on the device


def _halve_on_device(memory: ImageMem, desc: ImageDescriptor, kernel: Kernel, queue: Queue, ready: Event) -> Event:
    form = np.uint32(desc.channel.index << 16 | desc.num_channels << 24)
    levels = [desc.get_mip_level_desc(level) for level in range(desc.num_levels)]
    images = [
        create_image(memory.get_mip_level_mem_handle(level), levels[level], queue) for level in range(desc.num_levels)
    ]
    try:
        for level in range(1, desc.num_levels):
            above = levels[level - 1]
            sizes = (np.uint32(max(n, 1)) for n in (above.width, above.height, above.depth))
            x, y, z = levels[level].extent
            arguments = (images[level - 1], images[level], *sizes, form)
            ready = launch(queue, kernel, x * y * z, *arguments, depends_on=ready)
        ready.wait()
        return ready
    finally:
        for image in images:
            destroy_image_handle(image, queue)


# ------------------------------------------------------------------ on the processor


def halve(pixels: Array, channel: Channel) -> Array:
    """The next level of an image of one to three dimensions.

    Parameters
    ----------
    pixels : Array
        Shape ([depth,] [height,] width, channels), of the storage dtype.
    channel : Channel
        How it is read.
    """
    spatial = pixels.shape[:-1]
    depth, height, width = (1,) * (3 - len(spatial)) + spatial
    volume = pixels.reshape(depth, height, width, -1)
    values = _values(channel)
    result = np.empty((*(_halved(n) for n in volume.shape[:3]), volume.shape[3]), channel.storage)
    along_x, along_y, along_z = _weights(width), _weights(height), _weights(depth)

    def fill(start: int, stop: int) -> None:
        for z in range(result.shape[0]):
            total: Array | float = 0.0
            for tap, weight in enumerate(along_z):
                source = volume[2 * z + tap, 2 * start : 2 * stop + len(along_y) - 2]
                read = source.astype(np.float64) if values is None else values[source.view(_CODE[source.itemsize])]
                total = total + weight[z] * _mean(_mean(read, along_x, 1), along_y[:, start:stop], 0)
            if channel.kind == "f":  # rounded to what a device function writes, which is then rounded to a code
                total = np.asarray(total, np.float32).astype(np.float64)
            to_storage(np.asarray(total), channel, codes=False, out=result[z, start:stop])

    in_blocks(fill, result.shape[1], 8 * width * volume.shape[3])
    return result.reshape(*(_halved(n) for n in spatial), -1)


_CODE = {1: np.uint8, 2: np.uint16}


def _halved(length: int) -> int:
    return max(length // 2, 1)


def _weights(length: int) -> Array:
    """(taps, new length): of the pixels 2 i, 2 i + 1 and so on in the mean i."""
    size = _halved(length)
    if length == 1:
        return np.ones((1, 1))
    if length % 2 == 0:
        return np.full((2, size), 0.5)
    index = np.arange(size)
    return np.stack([size - index, np.full(size, size), index + 1]) / length


def _mean(values: Array, weights: Array, axis: int) -> Array:
    """Weighted sums of every second value and its neighbours along an axis of rows or columns."""
    taps, size = weights.shape
    total: Array | float = 0.0
    for tap in range(taps):
        taken = values[tap : tap + 2 * size - 1 : 2] if axis == 0 else values[:, tap : tap + 2 * size - 1 : 2]
        along = weights[tap][:, None, None] if axis == 0 else weights[tap][None, :, None]
        total = total + along * taken
    return np.asarray(total)


def _values(channel: Channel) -> Array | None:
    """Table from the codes of a normalized channel to the values read; None for other channels."""
    if not channel.normalized:
        return None
    codes = np.arange(1 << 8 * channel.size, dtype=_CODE[channel.size]).view(channel.storage)
    largest = np.float32(np.iinfo(channel.storage.name).max)
    values: Array = np.maximum(codes.astype(np.float32) / largest, np.float32(-1))
    return values.astype(np.float64)
