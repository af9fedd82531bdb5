"""Lane-varying handles in ``bindless doctor --prove``: kernels whose neighbouring work-items use different images.

A GPU executes work-items in groups, and some of its image instructions take one handle for a group: the driver's
compiler splits the group by handles. Each check runs a kernel of ``csrc/kernels/source/lanes.cl`` on 2 to 1,000 images
whose pixels are all different, and compares with numpy, bit for bit: samples lie at the centres of pixels.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..bindless_images import ImageMem, create_image, destroy_image_handle
from ..kernels import source
from ..model.arrays import Array
from ..model.aspects import Aspect
from ..model.errors import FeatureNotSupportedError, SamplerWarning
from ..model.image_descriptor import ImageDescriptor
from ..model.ranges import NdRange
from ..model.sampler import BindlessImageSampler
from ..sycl.kernel.bundle import load_kernel_bundle
from ..sycl.kernel.kernel import Kernel
from ..sycl.queue.queue import Queue
from ..sycl.usm import usm_empty

__all__ = ["LANE_CHECKS", "LaneCheck", "lane_checks"]


_WIDTH, _HEIGHT, _DEPTH, _LAYERS, _LEVELS = 8, 4, 4, 3, 3
_ITEMS, _GROUP = 1024, 64


@dataclass(frozen=True)
class LaneCheck:
    """A kernel and the number of images that its work-items use.

    Attributes
    ----------
    kernel : str
        Name without its prefix.
    images : int
        Their number.
    """

    kernel: str
    images: int

    def __str__(self) -> str:
        return f"handles per lane, {self.kernel}, {self.images} images"

    def run(self, queue: Queue) -> tuple[Array, Array]:
        """Return the results of the device and the right ones, both of one shape."""
        with _Images(queue) as images:
            return _RUNS[self.kernel](images, self.images)


class _Images(ExitStack):
    """Images of a queue that live until the end of a check."""

    def __init__(self, queue: Queue) -> None:
        super().__init__()
        self.queue = queue

    def sampled(self, kind: str, count: int) -> tuple[Array, list[Array]]:
        """Handles of images of one kind, and their pixels."""
        handles, pixels = [], []
        for number in range(count):
            handle, values = self._image(kind, number)
            handles.append(int(handle))
            pixels.append(values)
        return np.array(handles, np.uint64), pixels

    def memory(self, count: int, *, first: int = 0) -> tuple[Array, list[ImageMem], Array]:
        """Handles of unsampled images, their memory and their pixels."""
        desc = _descriptor("flat")
        pixels = np.stack([_pixels(desc.shape, first + number) for number in range(count)])
        memories = [self._memory(desc, values) for values in pixels]
        handles = []
        for memory in memories:
            handle = create_image(memory, desc, self.queue)
            self.callback(destroy_image_handle, handle, self.queue)
            handles.append(int(handle))
        return np.array(handles, np.uint64), memories, pixels

    def _memory(self, desc: ImageDescriptor, values: Array) -> ImageMem:
        memory: ImageMem = self.enter_context(ImageMem(desc, self.queue))
        self.queue.ext_oneapi_copy(values, memory).wait()
        return memory

    def _image(self, kind: str, number: int) -> tuple[Any, Any]:
        desc = _descriptor(kind)
        if kind == "levels":
            memory: ImageMem = self.enter_context(ImageMem(desc, self.queue))
            levels: list[Array] = []
            for level in range(_LEVELS):
                part = desc.get_mip_level_desc(level)
                levels.append(_pixels(part.shape, number * _LEVELS + level))
                to = memory.get_mip_level_mem_handle(level)
                self.queue.ext_oneapi_copy(levels[-1], to, dst_desc=part).wait()
            values: Any = levels
        else:
            values = _pixels(desc.shape, number)
            memory = self._memory(desc, values)
        where = "normalized" if kind == "levels" else "unnormalized"
        more: dict[str, Any] = {"mipmap_filtering": "nearest", "max_mipmap_level_clamp": 2} if kind == "levels" else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SamplerWarning)
            sampler = BindlessImageSampler("clamp_to_edge", where, "nearest", **more)
            handle = create_image(memory, desc, self.queue, sampler=sampler)
        self.callback(destroy_image_handle, handle, self.queue)
        return handle, values

    def array(self, values: Array) -> Any:
        """A device array with these values."""
        memory = self.enter_context(usm_empty(values.shape, values.dtype, self.queue))
        memory.copy_from(np.ascontiguousarray(values))
        return memory

    def launch(self, name: str, *arguments: object, channels: int = 4) -> Array:
        """Results of a kernel, (items, channels), whose last argument they are."""
        out = self.array(np.zeros((_ITEMS, channels), np.float32))
        self._kernel_launch(name, *arguments, out)
        values = np.zeros((_ITEMS, channels), np.float32)
        self.queue.memcpy(values, out).wait()
        return values

    def _kernel_launch(self, name: str, *arguments: object) -> None:
        self.queue.parallel_for(NdRange(_ITEMS, _GROUP), _kernel(self.queue, name), *arguments).wait_and_throw()

    def write(self, *arguments: object) -> None:
        """Run the kernel that has no results of its own."""
        self._kernel_launch("write", *arguments)


def _kernel(queue: Queue, name: str) -> Kernel:
    traits = queue._backend.traits
    if traits.images_are_arguments:
        raise FeatureNotSupportedError(
            f"{queue.device.name}: OpenCL C has no image handles in memory, and these kernels keep them there",
            backend=str(queue.backend),
        )
    data = source("lanes", traits.build_target)
    return load_kernel_bundle(data, queue).get_kernel(f"bindless_lanes_{name}")


def _descriptor(kind: str) -> ImageDescriptor:
    fp32: dict[str, Any] = {"num_channels": 4, "channel_type": "fp32"}
    if kind == "volume":
        return ImageDescriptor(_WIDTH, _HEIGHT, _DEPTH, num_channels=1, channel_type="fp32")
    if kind == "layers":
        return ImageDescriptor(_WIDTH, _HEIGHT, type="array", array_size=_LAYERS, **fp32)
    if kind == "levels":
        return ImageDescriptor(_WIDTH, _HEIGHT, type="mipmap", num_levels=_LEVELS, **fp32)
    return ImageDescriptor(_WIDTH, _HEIGHT, **fp32)


def _pixels(shape: tuple[int, ...], number: int) -> Array:
    """Whole numbers below 2**24 that differ between all pixels of all images."""
    size = int(np.prod(shape))
    values: Array = np.arange(size, dtype=np.float32) + np.float32(number * size)
    return values.reshape(shape)


def _which(images: int) -> npt.NDArray[np.uint32]:
    """The image of each item: alternating, at random, in runs, and the same for a whole group."""
    part = _ITEMS // 4
    item = np.arange(part)
    parts = (item, np.random.default_rng(9).integers(0, images, part), item // 5, item // _GROUP)
    return (np.concatenate(parts) % images).astype(np.uint32)


_ITEM = np.arange(_ITEMS)


def _at(item: Array) -> tuple[Array, Array, Array]:
    """Column, row and slice of the pixel of an item, as lanes.cl computes them."""
    return item * 5 % _WIDTH, item // 3 % _HEIGHT, item // 7 % _DEPTH


def _flat(pixels: list[Array], which: Array, item: Array = _ITEM) -> Array:
    x, y, _ = _at(item)
    texels: Array = np.stack(pixels)[which, y, x]
    return texels


def _plain(images: _Images, count: int) -> tuple[Array, Array]:
    handles, pixels = images.sampled("flat", count)
    which = _which(count)
    values = images.launch("memory", images.array(handles), images.array(which))
    return values, _flat(pixels, which)


def _shuffled(images: _Images, count: int) -> tuple[Array, Array]:
    handles, pixels = images.sampled("flat", count)
    which = _which(count)
    values = images.launch("shuffle", images.array(handles), images.array(which))
    return values, _flat(pixels, which[_ITEM ^ 1])


def _local(images: _Images, count: int) -> tuple[Array, Array]:
    handles, pixels = images.sampled("flat", count)
    which = _which(count)
    values = images.launch("local", images.array(handles), images.array(which))
    return values, _flat(pixels, which[_ITEM ^ (_GROUP - 1)])


def _volume(images: _Images, count: int) -> tuple[Array, Array]:
    handles, pixels = images.sampled("volume", count)
    which, all_ = _which(count), np.stack(pixels)[..., 0]
    values = images.launch("volume", images.array(handles), images.array(which))
    x, y, z = _ITEM * 5 % (_WIDTH - 2) + 1, _ITEM // 3 % (_HEIGHT - 2) + 1, _ITEM // 7 % (_DEPTH - 2) + 1
    expected = (
        all_[which, z, y, x + 1] - all_[which, z, y, x - 1],
        all_[which, z, y + 1, x] - all_[which, z, y - 1, x],
        all_[which, z + 1, y, x] - all_[which, z - 1, y, x],
        all_[which, z, y, x],
    )
    return values, np.stack(expected, 1)


def _steps(images: _Images, count: int) -> tuple[Array, Array]:
    handles, pixels = images.sampled("volume", count)
    which, all_ = _which(count), np.stack(pixels)[..., 0]
    arguments = images.array(handles), images.array(which), np.float32(1.5), np.float32(1)
    values = images.launch("steps", *arguments)
    expected = (all_[which, 1, 1, 1], all_[which, 1, 1, 2], all_[which, 1, 2, 1], all_[which, 2, 1, 1])
    return values, np.stack(expected, 1)


def _differences(images: _Images, count: int) -> tuple[Array, Array]:
    handles, pixels = images.sampled("volume", count)
    which, all_ = _which(count), np.stack(pixels)[..., 0]
    x, y, z = _ITEM * 5 % (_WIDTH - 1), _ITEM // 3 % (_HEIGHT - 1), _ITEM // 7 % (_DEPTH - 1)
    places = np.stack([x, y, z], 1).astype(np.float32) + np.float32(2.5)
    arguments = images.array(handles), images.array(which), images.array(places), np.float32(2), np.float32(1)
    values = images.launch("differences", *arguments)
    value = all_[which, z, y, x]
    steps = all_[which, z, y, x + 1], all_[which, z, y + 1, x], all_[which, z + 1, y, x]
    return values, np.stack([value, *(step - value for step in steps)], 1)


def _layers(images: _Images, count: int) -> tuple[Array, Array]:
    handles, pixels = images.sampled("layers", count)
    which = _which(count)
    values = images.launch("layers", images.array(handles), images.array(which))
    x, y, _ = _at(_ITEM)
    return values, np.stack(pixels)[which, _ITEM % _LAYERS, y, x]


def _mipmap(images: _Images, count: int) -> tuple[Array, Array]:
    handles, pixels = images.sampled("levels", count)
    which = _which(count)
    values = images.launch("mipmap", images.array(handles), images.array(which))
    x, y, _ = _at(_ITEM)
    expected = [pixels[which[i]][i % _LEVELS][y[i] >> i % _LEVELS, x[i] >> i % _LEVELS] for i in range(_ITEMS)]
    return values, np.stack(expected)


def _divergent(images: _Images, count: int) -> tuple[Array, Array]:
    flat, pixels = images.sampled("flat", count)
    volumes, voxels = images.sampled("volume", count)
    which = _which(count)
    values = images.launch("divergent", images.array(flat), images.array(which), images.array(volumes))
    x, y, z = _at(_ITEM)
    expected = np.where((_ITEM % 3 == 0)[:, np.newaxis], _flat(pixels, which), np.float32(0))
    deep = _ITEM % 3 == 1
    expected[deep, 0] = np.stack(voxels)[which, z, y, x, 0][deep]
    both = deep & (_ITEM & 4 != 0)
    expected[both, 1] = _flat(pixels, which, _ITEM + 1)[both, 0]
    return values, expected


def _loop(images: _Images, count: int) -> tuple[Array, Array]:
    handles, pixels = images.sampled("flat", count)
    which = _which(count)
    values = images.launch("loop", images.array(handles), images.array(which), np.uint32(count))
    expected = np.zeros((_ITEMS, 4), np.float32)
    for step in range(5):
        here = step <= _ITEM % 5
        expected[here] += _flat(pixels, (which + np.uint32(3 * step)) % count, _ITEM + step)[here]
    return values, expected


def _chain(images: _Images, count: int) -> tuple[Array, Array]:
    handles, pixels = images.sampled("flat", count)
    which = _which(count)
    values = images.launch("chain", images.array(handles), images.array(which), np.uint32(count))
    expected = np.repeat(which[:, np.newaxis], 4, 1).astype(np.float32)
    for step in range(4):
        expected = _flat(pixels, expected[:, 0].astype(np.uint32) % count, _ITEM + step)
    return values, expected


def _arguments(images: _Images, count: int) -> tuple[Array, Array]:
    handles, pixels = images.sampled("flat", count)
    which = _which(count)
    values = images.launch("arguments", *(handle for handle in handles), images.array(which))
    return values, _flat(pixels, which % 4)


def _widths(images: _Images, count: int) -> tuple[Array, Array]:
    handles, pixels = images.sampled("flat", count)
    which = _which(count)
    channels = np.array([1, 2, 4], np.uint32)[np.random.default_rng(2).integers(0, 3, _ITEMS)]
    values = images.launch("widths", images.array(handles), images.array(which), images.array(channels))
    present = np.arange(4) < channels[:, np.newaxis]
    return values, np.where(present, _flat(pixels, which), np.float32(0))


def _structures(images: _Images, count: int) -> tuple[Array, Array]:
    handles, pixels = images.sampled("flat", count)
    which = _which(count)
    x, y, _ = _at(np.arange(count))
    entries = np.zeros(count, np.dtype([("image", np.uint64), ("x", np.int32), ("y", np.int32)]))
    entries["image"], entries["x"], entries["y"] = handles, x, y
    values = images.launch("structures", images.array(entries.view(np.uint8)), images.array(which))
    return values, np.stack(pixels)[which, y[which], x[which]]


def _written(images: _Images, count: int) -> tuple[Array, Array]:
    handles, _, pixels = images.memory(count)
    targets, memories, expected = images.memory(_ITEMS // (_WIDTH * _HEIGHT), first=count)
    which = _which(count)
    images.write(images.array(handles), images.array(which), images.array(targets), np.uint32(len(targets)))
    pixel = _ITEM // len(targets)
    x, y = pixel % _WIDTH, pixel // _WIDTH
    expected[_ITEM % len(targets), y, x] = pixels[which, y, x]
    values = np.zeros_like(expected)
    for memory, part in zip(memories, values):
        images.queue.ext_oneapi_copy(memory, part).wait()
    return values, expected


_RUNS: dict[str, Callable[[_Images, int], tuple[Array, Array]]] = {
    "memory": _plain,
    "volume": _volume,
    "steps": _steps,
    "differences": _differences,
    "layers": _layers,
    "mipmap": _mipmap,
    "divergent": _divergent,
    "loop": _loop,
    "chain": _chain,
    "arguments": _arguments,
    "shuffle": _shuffled,
    "local": _local,
    "widths": _widths,
    "structures": _structures,
    "write": _written,
}

_NEEDS = {"layers": Aspect.ext_oneapi_image_array, "mipmap": Aspect.ext_oneapi_mipmap}

LANE_CHECKS = tuple(
    LaneCheck(name, count)
    for name in _RUNS
    for count in ((4,) if name == "arguments" else (2, 33, 1000) if name == "memory" else (2, 33))
)
"""All of them."""


def lane_checks(queue: Queue) -> Iterator[LaneCheck]:
    """The checks that the aspects of the device allow."""
    device = queue.device
    if device.has(Aspect.ext_oneapi_bindless_images):
        yield from (check for check in LANE_CHECKS if check.kernel not in _NEEDS or device.has(_NEEDS[check.kernel]))
