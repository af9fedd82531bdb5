"""Rows of ``bindless bench`` about device functions: samples, fetches, writes, pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from ..bindless_images import (
    ImageMem,
    create_image,
    destroy_image_handle,
    fetch_image,
    sample_cubemap,
    sample_image,
    sample_image_array,
    sample_mipmap,
    write_image,
)
from ..image.coordinates import cube_directions
from ..image.image import Image
from ..model.arrays import Array
from ..model.aspects import Aspect
from ..model.enums import ImageType
from ..model.errors import FeatureNotSupportedError
from ..model.image_descriptor import ImageDescriptor
from ..model.sampler import BindlessImageSampler
from ..submission.event import Event
from ..sycl.usm import usm_empty
from .handwritten_kernels import by_hand
from .measure import Bench, Peer, Work
from .peer_libraries import available, remap_peers, sampling_peers_2d, sampling_peers_3d, warp_peers
from .processor_pictures import measure_processor_pictures

__all__ = ["measure_pictures", "measure_pixels", "measure_sampling", "sample_format"]


_ANGLE = np.deg2rad(10.0)
_FORMATS = (("fp32", 4), ("unorm_int8", 4), ("fp32", 1), ("fp16", 4), ("unorm_int16", 4), ("unorm_int8", 1))
# Target ratios on the processor: to OpenCV's remap, and to a loop in numba.
_GOAL_2D = {("fp32", 4): 1.6, ("unorm_int8", 4): 2.0, ("fp32", 1): 2.0}
_GOAL_3D = 2.0
_GOAL_LARGER = {"up": 1.0, "down": None}  # to OpenCV's resize
# Target percentage of memory bandwidth, on processors and on GPUs; texture units limit wider formats.
_GOAL_OF_TRAFFIC = {False: {("unorm_int8", 4): 50.0}, True: {("fp32", 1): 95.0}}
_GOAL_OF_PIXELS = 95.0  # on GPUs: fetches and writes are limited by memory alone
_GOAL_BY_HAND = 0.95  # of a handwritten kernel
_IN_A_ROW = 10  # GPU calls between two waits: this measures kernels; "calls" measures call overhead
_GOAL_FORM = 1 / 1.5  # relative to plain two-dimensional samples, for levels, layers and cubes
_LARGEST_PICTURE = 2048  # image side for comparisons with numpy and OpenCV
_SIZES = (256, 512, 1024, 2048, 4096)  # image sides of the plot


def _side(samples: int) -> int:
    """Return the side, a power of two, of the square image with about as many pixels as samples."""
    return 1 << max(int(np.log2(max(samples, 1))) // 2, 4)


def _points(bench: Bench, side: int, kind: str = "neighbouring") -> Array:
    """Return (N, 2) coordinates in an image of side x side pixels, of a rotated picture or random; N is a multiple of
    1024.
    """
    return _places(max(bench.samples // 1024, 1) * 1024, side, kind)


@lru_cache(maxsize=1)
def _places(count: int, side: int, kind: str) -> Array:
    if kind == "random":
        anywhere: Array = np.random.default_rng(7).random((count, 2), np.float32) * np.float32(side)
        return anywhere
    across = int(np.sqrt(count))
    index = np.arange(count)
    x, y = (index % across) * (side / across) - side / 2, (index // across) * (side / across) - side / 2
    u, v = np.cos(_ANGLE) * x - np.sin(_ANGLE) * y, np.sin(_ANGLE) * x + np.cos(_ANGLE) * y
    points: Array = np.stack([u, v], 1).astype(np.float32) + np.float32(side / 2)
    return points


def _pixels(shape: tuple[int, ...], dtype: npt.DTypeLike) -> Array:
    """Return random pixels that repeat 65536 numbers, which keeps the set-up short."""
    few = np.random.default_rng(1).random(1 << 16, np.float32)
    kind = np.dtype(dtype)
    values = few if kind.kind == "f" else few * np.iinfo(kind.name).max
    return np.resize(values.astype(kind), shape)


@contextmanager
def _image(bench: Bench, desc: ImageDescriptor, sampler: BindlessImageSampler | None) -> Iterator[Any]:
    """Return the handle of an image with random pixels in every level."""
    queue = bench.queue
    with ImageMem(desc, queue) as memory:
        if desc.type is ImageType.mipmap:
            for level in range(desc.num_levels):
                part = desc.get_mip_level_desc(level)
                handle = memory.get_mip_level_mem_handle(level)
                queue.ext_oneapi_copy(_pixels(part.shape, part.dtype), handle, dst_desc=part).wait()
        else:
            queue.ext_oneapi_copy(_pixels(desc.shape, desc.dtype), memory).wait()
        image = create_image(memory, desc, queue, sampler=sampler)
        try:
            yield image
        finally:
            queue.wait()
            destroy_image_handle(image, queue)


class _Arrays:
    """Arrays in memory local to the device: host arrays, or copies in device memory."""

    def __init__(self, bench: Bench) -> None:
        self._queue = bench.queue
        device = bench.queue.device
        self._on_host = device.has(Aspect.cpu) and device.has(Aspect.usm_system_allocations)

    def placed(self, array: Array) -> Any:
        if self._on_host:
            return np.ascontiguousarray(array)
        target = usm_empty(array.shape, array.dtype, self._queue)
        self._queue.memcpy(target, np.ascontiguousarray(array), array.nbytes).wait()
        return target

    def empty(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> Any:
        return np.empty(shape, dtype) if self._on_host else usm_empty(shape, dtype, self._queue)

    @property
    def times(self) -> int:
        """Number of calls in a row."""
        return 1 if self._on_host else _IN_A_ROW

    def repeated(self, call: Work) -> Work:
        """Call a device function repeatedly, and wait for the last call."""

        def work() -> None:
            for _ in range(self.times):
                event = call()
            if isinstance(event, Event):
                event.wait()

        return work


def _linear(normalized: bool = False, **options: Any) -> BindlessImageSampler:
    return BindlessImageSampler("clamp_to_edge", "normalized" if normalized else "unnormalized", "linear", **options)


def _nearest() -> BindlessImageSampler:
    return BindlessImageSampler("clamp_to_edge", "unnormalized", "nearest")


def _traffic(bench: Bench, count: int, coordinates: int, channels: int, desc: ImageDescriptor) -> float:
    """Return the seconds to move the coordinates, the float32 results and the image once."""
    return bench.traffic(count * (4 * coordinates + 4 * channels) + desc.nbytes)


def measure_sampling(bench: Bench) -> None:
    """Measure two dimensions in several formats, coherent and random; volumes, levels, gradients, layers, cubes."""
    on_gpu = bench.queue.device.has(Aspect.gpu)
    side = _side(bench.samples)
    arrays = _Arrays(bench)
    plain = 0.0
    for (channel_type, channels), kind in [*((each, "neighbouring") for each in _FORMATS), (("fp32", 4), "random")]:
        desc = ImageDescriptor(side, side, num_channels=channels, channel_type=channel_type)
        points = _points(bench, side, kind)
        goal = None if kind == "random" else 1.0 if on_gpu else _GOAL_2D.get((channel_type, channels))
        peers = {}
        if channel_type in ("fp32", "unorm_int8"):
            pixels = _pixels(desc.shape, desc.dtype)
            peers = sampling_peers_2d(pixels, points, on_gpu=on_gpu, goal=goal, times=arrays.times)
        name = f"sample 2D {channel_type} x{channels}, {kind}"
        percent = 0.0 if kind == "random" else _GOAL_OF_TRAFFIC[on_gpu].get((channel_type, channels), 0.0)
        seconds = _sample(bench, arrays, name, desc, points, peers, percent=percent)
        if (channel_type, channels, kind) == ("fp32", 4, "neighbouring"):
            plain = seconds
    _sample_volume(bench, arrays, on_gpu)
    _sample_forms(bench, arrays, plain)
    for length in _SIZES:
        if length <= 2 * side:
            desc = ImageDescriptor(length, length, num_channels=4, channel_type="unorm_int8")
            name = f"sample 2D unorm_int8 x4, image of {length} x {length}"
            _sample(bench, arrays, name, desc, _points(bench, length), {}, size=desc.nbytes)


def _sample(
    bench: Bench,
    arrays: _Arrays,
    name: str,
    desc: ImageDescriptor,
    points: Array,
    peers: dict[str, Peer],
    *,
    percent: float = 0.0,
    size: int = 0,
) -> float:
    count, channels, times = len(points), desc.num_channels, arrays.times
    integers = desc.channel.is_integer
    dtype, sampler = (desc.dtype, _nearest()) if integers else (np.dtype(np.float32), _linear())
    coords, out = arrays.placed(points), arrays.empty((count, channels), dtype)
    with _image(bench, desc, sampler) as handle:
        if desc.dimensions == 2 and not size:
            peers = by_hand("sample", handle, desc, coords, out, times, _GOAL_BY_HAND) | peers
        return bench.measure(
            name,
            arrays.repeated(lambda: sample_image(bench.queue, handle, coords, out=out, dtype=dtype)),
            peers,
            amount=count * times,
            unit="samples",
            bound="memory",
            bound_seconds=_traffic(bench, count, points.shape[1], channels, desc) * times,
            goal_percent=percent,
            size=size,
        )


def sample_format(bench: Bench, channel_type: str, channels: int) -> float:
    """Return the seconds of one call of plain two-dimensional samples, without peers."""
    side = _side(bench.samples)
    desc = ImageDescriptor(side, side, num_channels=channels, channel_type=channel_type)
    return _sample(bench, _Arrays(bench), "sample", desc, _points(bench, side), {})


def _sample_volume(bench: Bench, arrays: _Arrays, on_gpu: bool) -> None:
    side = round(_side(bench.samples) ** (2 / 3))
    line = np.linspace(0.5, side - 0.5, bench.samples)
    points = np.stack([line, (line * 1.7) % side, (line * 2.3) % side], 1).astype(np.float32)
    volume = _pixels((side, side, side), np.float32)
    desc = ImageDescriptor(side, side, side, num_channels=1, channel_type="fp32")
    goal = 1.0 if on_gpu else _GOAL_3D
    peers = sampling_peers_3d(volume, points, on_gpu=on_gpu, goal=goal, times=arrays.times)
    _sample(bench, arrays, "sample 3D fp32 x1", desc, points, peers)


def _sample_forms(bench: Bench, arrays: _Arrays, plain: float) -> None:
    """Compare levels, gradients, layers and cubes with plain samples of the same number of floats by this package."""
    queue, side, count = bench.queue, _side(bench.samples), bench.samples
    points = (_points(bench, side)[:count] / np.float32(side)).astype(np.float32)
    count = len(points)
    directions = np.resize(cube_directions(max(int(np.sqrt(count / 6)), 1)).reshape(-1, 3), (count, 3))
    levels = max(int(np.log2(side)), 2)
    coords, out = arrays.placed(points), arrays.empty((count, 4), np.float32)
    texel = np.float32(1 / side)
    steps = [np.tile(np.array([[u, v]], np.float32) * texel, (count, 1)) for u, v in ((3, 0.2), (0.1, 2.9), (9, 0.2))]
    dx, dy, far = map(arrays.placed, steps)
    mipmap = ImageDescriptor(side, side, num_channels=4, channel_type="fp32", type="mipmap", num_levels=levels)
    layered = ImageDescriptor(side, side // 2, num_channels=4, channel_type="fp32", type="array", array_size=2)
    faces = max(side // 2, 1)
    cube = ImageDescriptor(faces, faces, num_channels=4, channel_type="fp32", type="cubemap", array_size=6)
    mips: dict[str, Any] = {"mipmap_filtering": "linear", "max_mipmap_level_clamp": levels - 1.0}
    cubes = {"cubemap_filtering": "seamless"}

    def form(name: str, desc: ImageDescriptor, options: dict[str, Any], call: Callable[[Any], object]) -> None:
        goal = None if "anisotropy" in name or "gradients" in name else _GOAL_FORM
        try:
            with _image(bench, desc, _linear(True, **options)) as handle:
                peers = {"sample 2D fp32 x4": Peer(plain, goal=goal)}
                work = arrays.repeated(lambda: call(handle))
                bench.measure(f"{name}, fp32 x4", work, peers, amount=count * arrays.times, unit="samples")
        except FeatureNotSupportedError as error:
            bench.notes.append(f"{name}: {error}")

    form("sample a level", mipmap, mips, lambda h: sample_mipmap(queue, h, coords, level=1.0, out=out))
    form("sample between levels", mipmap, mips, lambda h: sample_mipmap(queue, h, coords, level=1.3, out=out))
    form("sample by gradients", mipmap, mips, lambda h: sample_mipmap(queue, h, coords, dx=dx, dy=dy, out=out))
    mips |= {"max_anisotropy": 16.0}
    form("sample with anisotropy", mipmap, mips, lambda h: sample_mipmap(queue, h, coords, dx=far, dy=dy, out=out))
    form("sample a layer", layered, {}, lambda h: sample_image_array(queue, h, coords, 1, out=out))
    around = arrays.placed(directions)
    form("sample a seamless cube", cube, cubes, lambda h: sample_cubemap(queue, h, around, out=out))


def measure_pixels(bench: Bench) -> None:
    """Compare fetches and writes of every pixel with numpy's indexing."""
    queue, side = bench.queue, _side(bench.samples)
    arrays = _Arrays(bench)
    y, x = np.mgrid[:side, :side]
    points = np.stack([x.ravel(), y.ravel()], 1).astype(np.int32)
    coords = arrays.placed(points)
    i, j = points[:, 0].copy(), points[:, 1].copy()
    for channel_type in ("fp32", "unorm_int8", "fp16"):
        desc = ImageDescriptor(side, side, num_channels=4, channel_type=channel_type)
        pixels, values = _pixels(desc.shape, desc.dtype), _pixels((side * side, 4), np.float32)
        out, colors = arrays.empty((side * side, 4), np.float32), arrays.placed(values)
        stored = _pixels((side * side, 4), desc.dtype)
        fetched: dict[str, Peer] = {}
        written: dict[str, Peer] = {}
        if not queue.device.has(Aspect.gpu):
            fetched = {"numpy indexing": Peer(_fetching(pixels, i, j))}
            written = {"numpy indexing": Peer(_writing(pixels, i, j, stored))}
        shared: dict[str, Any] = {
            "amount": side * side * arrays.times,
            "unit": "pixels",
            "bound": "memory",
            "bound_seconds": _traffic(bench, side * side, 2, 4, desc) * arrays.times,
            "goal_percent": _GOAL_OF_PIXELS if queue.device.has(Aspect.gpu) else 0.0,
        }
        with _image(bench, desc, None) as handle:
            fetched |= by_hand("fetch", handle, desc, coords, out, arrays.times, _GOAL_BY_HAND)
            fetch = lambda h=handle, o=out: fetch_image(queue, h, coords, out=o, dtype=np.float32)  # noqa: E731
            bench.measure(f"fetch 2D {channel_type} x4", arrays.repeated(fetch), fetched, **shared)
            written |= by_hand("write", handle, desc, coords, colors, arrays.times, _GOAL_BY_HAND)
            write = lambda h=handle, c=colors: write_image(queue, h, coords, c)  # noqa: E731
            bench.measure(f"write 2D {channel_type} x4", arrays.repeated(write), written, **shared)


def _fetching(pixels: Array, i: Array, j: Array) -> Work:
    largest = np.float32(255)
    return lambda: pixels[j, i] / largest if pixels.dtype == np.uint8 else pixels[j, i].astype(np.float32)


def _writing(pixels: Array, i: Array, j: Array, values: Array) -> Work:
    def write() -> None:
        pixels[j, i] = values

    return write


def measure_pictures(bench: Bench) -> None:
    """Measure ``Image`` from numpy to numpy: maps against a coordinate array and OpenCV, sizes against OpenCV."""
    side = min(_side(bench.samples), _LARGEST_PICTURE)
    matrix = np.array([[0.9, -0.2, 0.12 * side], [0.2, 0.9, -0.03 * side]])
    cv2 = available("cv2")
    y, x = np.mgrid[:side, :side] + 0.5
    points = np.stack([row[0] * x + (row[1] * y + row[2]) for row in matrix], -1).reshape(-1, 2).astype(np.float32)
    for dtype, channels, goal in (("uint8", 4, 1.0), ("uint8", 3, 1.0), ("float32", 4, 1.0), ("float32", 1, None)):
        pixels = _pixels((side, side, channels), dtype)
        with Image(pixels, queue=bench.queue) as image:
            shared: dict[str, Any] = {"amount": side * side, "unit": "pixels"}
            sample = lambda image=image: image.sample(points)  # noqa: E731
            bench.measure(f"Image.sample {dtype} x{channels}", sample, remap_peers(pixels, points), **shared)
            peers = {"sample() at an array of places": Peer(sample)}
            peers |= warp_peers(pixels, matrix, goal=goal)
            warp = lambda image=image: image.warp(matrix, (side, side))  # noqa: E731
            bench.measure(f"Image.warp {dtype} x{channels}", warp, peers, **shared)
            if channels == 4 or dtype == "float32":
                for name, size in (("up", side * 3 // 2), ("down", max(side * 2 // 5, 1))):
                    flags = 1 if name == "up" else 3  # OpenCV's INTER_LINEAR and INTER_AREA
                    shared["amount"] = size * size
                    resize = lambda image=image, size=size: image.resize((size, size))  # noqa: E731
                    theirs: dict[str, Peer] = {}
                    if cv2 is not None:
                        theirs["OpenCV resize"] = Peer(_resizing(cv2, pixels, size, flags), goal=_GOAL_LARGER[name])
                    bench.measure(f"Image.resize {name} {dtype} x{channels}", resize, theirs, **shared)
    measure_processor_pictures(bench)


def _resizing(cv2: ModuleType, pixels: Array, size: int, flags: int) -> Work:
    return lambda: cv2.resize(pixels, (size, size), interpolation=flags)
