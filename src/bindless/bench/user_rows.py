"""Rows of ``bindless bench`` about what users do, from array to array, next to what they would write instead."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..bindless_images import ImageMem, create_image, destroy_image_handle, sample_image
from ..image.image import Image
from ..model.arrays import Array
from ..model.aspects import Aspect
from ..model.enums import UsmKind
from ..model.errors import Error
from ..model.image_descriptor import ImageDescriptor
from ..model.sampler import BindlessImageSampler
from ..sycl.usm import usm_empty
from .measure import ALONE, CONSTRUCTION, TRANSFERS, Bench, Peer
from .peer_libraries import available
from .user_peers import (
    enlarge_peers,
    level_peers,
    sample_peers,
    shrink_peers,
    upload_peers,
    volume_peers,
    warp_peers,
)

__all__ = ["measure_user"]


_WHOLE = f"{CONSTRUCTION}, {TRANSFERS}"
_UPLOAD = f"{CONSTRUCTION}, upload"

# Pixels of the pictures on GPUs (4K) and on processors (1080p), and sides of the volumes. Construction is of 4K.
_PICTURE = {True: (2160, 3840), False: (1080, 1920)}
_VOLUME = {True: 256, False: 96}
_FRAMES = 10
_FEW, _MANY = 1000, 4_000_000

# Targets: the least ratio to peers, of mipmaps, means of areas and enlargements; percentages of the bound.
_GOAL_LEVELS = 2.0
_GOAL_AREAS = {True: 3.0, False: 1.5}
_GOAL_LARGER = 1.0
_GOAL_UPLOAD = {True: 100 / 1.3, False: 100 / 1.5}
_GOAL_FRAMES = 100 / 1.2
_GOAL_UPDATE = 3e-4  # seconds of all levels, from pixels on the device
_GOAL_MANY = 0.1  # seconds of small pictures


def measure_user(bench: Bench) -> None:
    """Measure pictures, a video loop, thumbnails as layers, and samples at ready coordinates."""
    on_gpu = bench.queue.device.has(Aspect.gpu)
    scale = min(bench.samples / 1e6, 1.0) ** 0.5
    height, width = (max(int(side * scale), 32) for side in _PICTURE[on_gpu])
    name = _name_of(height, width)
    rng = np.random.default_rng(21)
    pixels = rng.integers(0, 256, (height, width, 3)).astype(np.uint8)
    sections: tuple[Callable[[], None], ...] = (
        lambda: _measure_construction(bench, rng, scale, on_gpu),
        lambda: _measure_levels(bench, name, pixels, on_gpu),
        lambda: _measure_maps(bench, f"{name} RGB", pixels, on_gpu),
        lambda: _measure_video(bench, f"{name} RGB", pixels, on_gpu),
        lambda: _measure_layers(bench, rng, scale, on_gpu),
        lambda: _measure_points(bench, scale, on_gpu),
        lambda: _measure_volume(bench, rng, max(int(_VOLUME[on_gpu] * scale), 8), on_gpu),
    )
    for measure in sections:
        try:
            measure()
        except Error as error:
            bench.notes.append(str(error))


def _pinned_seconds(bench: Bench, nbytes: int, *, back: bool = False) -> float:
    """Seconds of a copy between pinned host memory and the device; on processors of ``numpy.copyto``."""
    queue = bench.queue
    if not queue.device.has(Aspect.gpu):
        source = np.ones(nbytes, np.uint8)
        target = np.ones(nbytes, np.uint8)
        return bench.least(lambda: np.copyto(target, source))
    with usm_empty(nbytes, np.uint8, queue, kind=UsmKind.host) as host, usm_empty(nbytes, np.uint8, queue) as device:
        sides = (host, device) if back else (device, host)
        return bench.least(lambda: queue.memcpy(*sides).wait())


def _make(bench: Bench, pixels: Array, **options: Any) -> None:
    with Image(pixels, queue=bench.queue, **options):
        pass
    bench.queue.wait()


def _measure_construction(bench: Bench, rng: np.random.Generator, scale: float, on_gpu: bool) -> None:
    height, width = (max(int(side * scale), 32) for side in _PICTURE[True])
    size = _name_of(height, width)
    for form, channels in (("RGB", 3), ("RGBA", 4)):
        pixels = rng.integers(0, 256, (height, width, channels)).astype(np.uint8)
        bench.measure(
            f"Image({size} {form})",
            partial(_make, bench, pixels),
            upload_peers(pixels, on_gpu=on_gpu),
            includes=_UPLOAD,
            bound="pinned upload" if on_gpu else "memcpy",
            bound_seconds=_pinned_seconds(bench, pixels.nbytes),
            goal_percent=_GOAL_UPLOAD[on_gpu],
        )


def _name_of(height: int, width: int) -> str:
    return {2160: "4K", 1080: "1080p"}.get(height, f"{width} x {height}")


def _measure_levels(bench: Bench, name: str, pixels: Array, on_gpu: bool) -> None:
    if not bench.queue.device.has(Aspect.ext_oneapi_mipmap):
        bench.notes.append(f"Image({name}, mipmaps=True): the device has no mipmaps")
        return
    opaque = np.dstack([pixels, np.full(pixels.shape[:2], 255, np.uint8)])
    for form, picture in (("RGB", pixels), ("RGBA", opaque), ("RGBA float32", opaque.astype(np.float32))):
        bench.measure(
            f"Image({name} {form}, mipmaps=True)",
            partial(_make, bench, picture, mipmaps=True),
            level_peers(picture, on_gpu=on_gpu, goal=_GOAL_LEVELS if form != "RGB" else None),
            includes=_UPLOAD,
        )
    with (
        Image(opaque, mipmaps=True, queue=bench.queue) as image,
        usm_empty(opaque.shape, np.uint8, bench.queue) as there,
    ):
        there.copy_from(opaque)

        def update() -> None:
            image.update(there)
            bench.queue.wait()

        goal = _GOAL_UPDATE if on_gpu else 0.0
        title = f"update of {name} RGBA with mipmaps"
        bench.measure(title, update, includes="a copy on the device", goal_seconds=goal)


def _measure_maps(bench: Bench, name: str, pixels: Array, on_gpu: bool) -> None:
    height, width = pixels.shape[:2]
    matrix = np.array([[0.9, -0.2, 0.12 * width], [0.2, 0.9, -0.03 * height]])
    small, large = (max(width // 3, 1), max(height // 3, 1)), (width * 3 // 2, height * 3 // 2)

    def whole(work: Callable[[Image], object]) -> Callable[[], object]:
        def run() -> object:
            with Image(pixels, queue=bench.queue) as image:
                return work(image)

        return run

    warps = warp_peers(pixels, matrix, on_gpu=on_gpu, goal=1.0)
    areas = shrink_peers(pixels, small, on_gpu=on_gpu, goal=_GOAL_AREAS[on_gpu])
    larger = enlarge_peers(pixels, large, on_gpu=on_gpu, goal=_GOAL_LARGER)
    rows: tuple[tuple[str, Callable[[Image], object], dict[str, Peer]], ...] = (
        ("warp", lambda image: image.warp(matrix, (height, width)), warps),
        ("resize to a third, areas", lambda image: image.resize(small[::-1]), areas),
        ("resize to one and a half", lambda image: image.resize(large[::-1]), larger),
    )
    for title, work, peers in rows:
        bench.measure(f"Image({name}) and {title}", whole(work), peers, includes=_WHOLE)
        alone = {key: Peer(peer.work) for key, peer in peers.items()}
        with Image(pixels, queue=bench.queue) as image:
            bench.measure(f"{title} of an Image of {name}", partial(work, image), alone, includes="download")


def _measure_video(bench: Bench, name: str, pixels: Array, on_gpu: bool) -> None:
    """Frames from numpy through one warp to numpy."""
    height, width = pixels.shape[:2]
    matrix = np.array([[0.98, -0.05, 0.03 * width], [0.05, 0.98, -0.01 * height]])
    frames = [np.roll(pixels, shift, 1) for shift in (0, width // 3)]
    peers = warp_peers(pixels, matrix, on_gpu=on_gpu, goal=1.0)
    up, down = (_pinned_seconds(bench, pixels.nbytes, back=back) for back in (False, True))

    def loop() -> None:
        result = np.empty_like(pixels)
        with Image(frames[1], queue=bench.queue) as image:
            for number in range(_FRAMES):
                image.update(frames[number % 2])
                image.warp(matrix, (height, width), out=result)

    bench.measure(
        f"{_FRAMES} frames of {name}: update and warp",
        loop,
        {key: Peer(peer.work, 1 / _FRAMES, peer.goal) for key, peer in peers.items()},
        includes=_WHOLE,
        bound="pinned copies" if on_gpu else "memcpy",
        bound_seconds=_FRAMES * (up + down),
        goal_percent=_GOAL_FRAMES if on_gpu else 0.0,
    )


def _measure_layers(bench: Bench, rng: np.random.Generator, scale: float, on_gpu: bool) -> None:
    """Small pictures: an image each, and layers of one image, also of more than the device has in one."""
    for count, side in ((2048, 32), (2048, 64), (10_000, 32)):
        number = max(int(count * scale), 4)
        pictures = rng.integers(0, 256, (number, side, side, 4)).astype(np.uint8)
        peers = upload_peers(pictures, on_gpu=on_gpu)
        goal = _GOAL_MANY if count == 2048 else 0.0
        if goal:
            name = f"{number} Images of {side} x {side}"
            bench.measure(name, partial(_made_each, bench, pictures), includes=_UPLOAD, goal_seconds=goal)
        name = f"Image of {number} layers of {side} x {side}"
        work = partial(_make, bench, pictures, layers=True)
        bench.measure(name, work, peers, includes=_UPLOAD, goal_seconds=goal)


def _made_each(bench: Bench, pictures: Array) -> None:
    images = [Image(picture, queue=bench.queue) for picture in pictures]
    bench.queue.wait()
    for image in images:
        image.close()


def _measure_points(bench: Bench, scale: float, on_gpu: bool) -> None:
    """Samples at coordinates that lie on the device, one call and its wait."""
    side = max(int(1024 * scale), 16)
    pixels = np.random.default_rng(2).random((side, side, 4), np.float32)
    many = max(int((_MANY if on_gpu else _MANY // 4) * scale**2), _FEW)
    for count in (_FEW, many):
        points = (np.random.default_rng(3).random((count, 2)) * side).astype(np.float32)
        _measure_samples(bench, f"sample_image, {count} coordinates", pixels, points, on_gpu)


def _measure_samples(bench: Bench, name: str, pixels: Array, points: Array, on_gpu: bool) -> None:
    """Samples with arrays of this package and, where it is installed, with tensors of torch."""
    queue, channels = bench.queue, pixels.shape[-1]
    desc = ImageDescriptor.from_array(pixels, dimensions=points.shape[1])
    sampler = BindlessImageSampler("clamp_to_edge", "unnormalized", "linear")
    peers = sample_peers(pixels, points, on_gpu=on_gpu, goal=1.0)
    with ImageMem(desc, queue) as memory:
        queue.ext_oneapi_copy(pixels, memory).wait()
        handle = create_image(memory, desc, queue, sampler=sampler)
        try:
            with (
                usm_empty(points.shape, np.float32, queue) as coords,
                usm_empty((len(points), channels), np.float32, queue) as out,
            ):
                coords.copy_from(points)
                bench.measure(name, lambda: sample_image(queue, handle, coords, out=out).wait(), peers, includes=ALONE)
            torch = available("torch")
            if torch is None or (on_gpu and not torch.cuda.is_available()):
                return
            tensor = torch.from_numpy(points).to("cuda" if on_gpu else "cpu")
            result = torch.empty((len(points), channels), device=tensor.device)

            def sample() -> None:
                sample_image(queue, handle, tensor, out=result)
                queue.wait()

            bench.measure(f"{name}, torch tensors", sample, peers, includes=ALONE)
        finally:
            destroy_image_handle(handle, queue)


def _measure_volume(bench: Bench, rng: np.random.Generator, side: int, on_gpu: bool) -> None:
    """A turned volume: samples at ready coordinates, and from array to array."""
    volume = rng.random((side, side, side), np.float32)
    angle = np.deg2rad(20)
    turn = np.array([[1, 0, 0], [0, np.cos(angle), -np.sin(angle)], [0, np.sin(angle), np.cos(angle)]])  # (z, y, x)
    offset = (side - 1) / 2 - turn @ np.full(3, (side - 1) / 2)
    index = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), -1).reshape(-1, 3)
    points = np.ascontiguousarray((index @ turn.T + offset)[:, ::-1] + 0.5, np.float32)
    _measure_samples(bench, f"{side}^3 samples of a volume, affine", volume[..., None], points, on_gpu)

    def whole() -> Array:
        with Image(volume, dimensions=3, queue=bench.queue) as image:
            values: Array = image.sample(points)
            return values

    peers = volume_peers(volume, turn, offset, on_gpu=on_gpu)
    name = f"Image({side}^3) and sample at an array of coordinates"
    bench.measure(name, whole, peers, includes=_WHOLE)
