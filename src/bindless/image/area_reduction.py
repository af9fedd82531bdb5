"""Reduced images: the means of areas, computed where the pixels are.

A back end that computes means itself reads them from the image. On GPUs built-in kernels do; elsewhere the processor
does, after a copy. All give the same pixels.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..bindless_images.scratch_memory import array_in, give_back, room, take
from ..kernels import choose
from ..model.area_mean import AreaMean
from ..model.arrays import DType
from ..model.aspects import Aspect
from ..model.channels import ELEMENTS
from ..model.enums import ImageType
from ..model.image_descriptor import ImageDescriptor
from ..sampling.packing import After
from ..submission.event import Event
from ..sycl.kernel.builtin import builtin_kernel, launch
from ..sycl.kernel.kernel import Kernel
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray, usm_empty
from .area_filter import area_means
from .array_library import AnyArray
from .device_image import ImageStore

__all__ = ["fill_means", "reduce_on_device"]

Extent = tuple[int, int, int]

_SUM = 8  # number of the kernels' type for sums, in addition to those of ELEMENTS
_MOST_PIXELS = 1 << 16  # along an axis: products of sizes fit 32 bits in the kernels
# Pixels of one mean from which on axes are reduced one after the other: by then one work-item has enough to do.
_LARGE_AREA = 1 << 10


def fill_means(
    queue: Queue, store: ImageStore, described: ImageDescriptor, sizes: tuple[int, ...], values: AnyArray
) -> After:
    """Makes an image smaller: each pixel is the mean of the area that it covers.

    Parameters
    ----------
    store : ImageStore
        Of the image.
    described : ImageDescriptor
        The descriptor as the user gave it; it has the layers and channels of the result.
    sizes : tuple[int, ...]
        New, in (x, y, z) order, none larger than the image's.
    values : AnyArray
        Shape ([layers,] [depth,] [height,] width, channels), contiguous, of the image's dtype, or float32 for means of
        stored codes that are not rounded. On the host this waits.

    Returns
    -------
    After
        The events of values on the device.
    """
    width, height, depth = (*sizes, 1, 1)[:3]
    size = (width, height, described.array_size if described.is_layered else depth)
    reduction = _Reduction(queue, store, described, described.extent, size)
    if queue._backend.area_means is not None:
        done = reduction.by_back_end(values)
    elif (kernel := reduction.kernel(values.dtype)) is not None:
        done = reduction.by_kernel(kernel, values)
    else:
        return reduction.by_processor(values)
    if isinstance(values, UsmArray):
        return (done,)
    done.wait()
    return ()


class _Reduction(NamedTuple):
    """A reduction of the first level of an image.

    Attributes
    ----------
    queue : Queue
        Does the work.
    store : ImageStore
        Of the image.
    described : ImageDescriptor
        As the user gave it.
    extent, size : Extent
        Pixels of the image and of the result; z counts layers where there are some.
    """

    queue: Queue
    store: ImageStore
    described: ImageDescriptor
    extent: Extent
    size: Extent

    def by_back_end(self, values: AnyArray) -> Event:
        """The means of the image's own memory."""
        queue, memory, desc = self.queue, self.store.memory(), self.described
        means = queue._backend.area_means
        assert means is not None
        raw, stored, _, _, keep = memory._image_memory()
        if stored.type is ImageType.mipmap:
            raw = memory.get_mip_level_mem_handle(0).raw_handle
        address = values.ctypes.data if isinstance(values, np.ndarray) else values.address
        kind, channels = desc.channel_type, desc.num_channels
        mean = AreaMean(raw, address, self.extent, self.size, kind, stored.num_channels, channels, values.dtype)
        native = queue._native
        return queue._stream.submit(
            lambda waits: means.area_mean(native, mean, waits), self.store.ready, (keep, values)
        )

    def kernel(self, dtype: DType) -> Kernel | None:
        """The built-in kernel for these pixels, or None where the processor is to do it."""
        device, kind = self.queue.device, self.described.dtype
        if not device.is_gpu() or dtype != kind or max(self.extent) >= _MOST_PIXELS:
            return None
        name = choose.area_means(kind, has_doubles=device.has(Aspect.fp64))
        return None if name is None else builtin_kernel(self.queue, name)

    def by_kernel(self, kernel: Kernel, values: AnyArray) -> Event:
        """Means of a copy of the pixels in linear memory of the device, which later copies use again."""
        queue, desc = self.queue, self.store.descriptor
        shape = desc.get_mip_level_desc(0).shape if desc.type is ImageType.mipmap else desc.shape
        start = room(math.prod(shape) * desc.channel.size)
        block = take(queue, start + (values.nbytes if isinstance(values, np.ndarray) else 0))
        pixels = array_in(queue, block, 0, shape, desc.dtype)
        copied = self.store.copy_to_device(pixels)
        means = array_in(queue, block, start, values.shape, values.dtype) if isinstance(values, np.ndarray) else values
        done = reduce_on_device(queue, kernel, pixels, means, self.extent, self.size, self.described, copied)
        if isinstance(values, np.ndarray):
            done = queue.memcpy(values, means, depends_on=done)
        done.wait()  # for the block
        give_back(queue, block)
        return done

    def by_processor(self, values: AnyArray) -> After:
        """Means of a copy of the pixels on the host."""
        pixels = self.store.download(0)
        result = values if isinstance(values, np.ndarray) else np.empty(values.shape, values.dtype)
        area_means(pixels, self.extent, self.size, self.described.channel, result)
        return () if result is values else (self.queue.memcpy(values, result),)


def reduce_on_device(
    queue: Queue,
    kernel: Kernel,
    pixels: UsmArray,
    means: UsmArray,
    extent: Extent,
    size: Extent,
    described: ImageDescriptor,
    after: Event,
) -> Event:
    """Means of packed pixels on the device by the built-in kernel for them.

    Parameters
    ----------
    kernel : Kernel
        ``area_codes`` for integers of 8 and 16 bits, ``area_reals`` for halves and floats.
    pixels : UsmArray
        Contiguous; its last axis counts channels.
    means : UsmArray
        Contiguous, of the same dtype; it has the first ones of the channels.
    extent, size : Extent
        Pixels of both in (x, y, z) order; z counts layers where there are some.
    described : ImageDescriptor
        Of the pixels.
    after : Event
        What fills the pixels.
    """
    element, lowest = ELEMENTS[described.dtype], int(described.channel.normalized and described.dtype.kind == "i")
    ratios = [(new // (divisor := math.gcd(old, new)), old // divisor) for old, new in zip(extent, size)]
    divisor = np.uint64(math.prod(total for _, total in ratios))
    axes = [axis for axis in range(3) if extent[axis] != size[axis]]
    together = math.prod(extent) <= _LARGE_AREA * math.prod(size) or len(axes) < 2
    sums = np.dtype(np.float64 if described.dtype.kind == "f" else np.uint64)
    source, kind, lengths, done = pixels, element, extent, after
    for group in [axes] if together else [[axis] for axis in axes]:
        last = together or group == axes[-1:]
        x, y, z = (size[axis] if axis in group else lengths[axis] for axis in range(3))
        target = means if last else usm_empty((x * y * z, means.shape[-1]), sums, queue)
        made = element if last else _SUM
        steps = [ratios[axis] if axis in group else (1, 1) for axis in range(3)]
        numbers = (made, means.shape[-1], x, y, z, *(part for step in steps for part in step), lowest)
        done = launch(
            queue, kernel, x * y * z, source, *map(np.uint32, (kind, source.shape[-1], *lengths[:2])), target,
            *map(np.uint32, numbers), divisor, depends_on=done,
        )  # fmt: skip
        source, kind, lengths = target, made, (x, y, z)
    return done
