"""``bindless bench``: a few seconds of measurements beside what else is installed."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from ._cli_devices import device_line
from ._cli_table import show_table
from .image import Image
from .images import sample_image
from .sycl.queue import Queue
from .sycl.usm import usm_empty

__all__ = ["compare"]

Array = npt.NDArray[Any]

_SIDE = 2048
_REPEATS = 5


def best_time(work: Callable[[], object]) -> float:
    """Seconds of the fastest of a few runs, after one to warm up."""
    work()
    times = []
    for _ in range(_REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def compare(queue: Queue, samples: int) -> None:
    """Prints times, throughput and ratios of sampling, uploading and downloading an image.

    Args:
        queue: whose device is measured.
        samples: coordinates of one call.
    """
    print(device_line(queue.device))
    rng = np.random.default_rng(1)
    pixels = rng.random((_SIDE, _SIDE, 4), np.float32)
    width = min(_SIDE, samples)
    rows = max(samples // width, 1)
    index = np.arange(width * rows)
    coords = np.empty((width * rows, 2), np.float32)
    coords[:, 0] = (index % width) * 0.97 + 1.3
    coords[:, 1] = (index // width) * (_SIDE / rows) * 0.97 + 1.6
    shuffled = rng.permutation(coords)

    measured = []
    with Image(pixels, queue=queue) as image:
        for name, points in (("neighbouring", coords), ("random", shuffled)):
            ours = best_time(lambda points=points: image.sample(points))  # type: ignore[misc]
            measured.append((f"linear, {name}", "bindless", len(points) / ours / 1e6, 1.0))
            there = _on_device(image, points)
            measured.append((f"linear, {name}", "bindless, on the device", len(points) / there / 1e6, there / ours))
            for peer, work in _peers(pixels, points):
                theirs = best_time(work)
                measured.append((f"linear, {name}", peer, len(points) / theirs / 1e6, theirs / ours))
        plain = best_time(pixels.copy)
        down = best_time(image.numpy)
    up = best_time(lambda: Image(pixels, queue=queue).close())
    show_table(
        f"sampling a {_SIDE} x {_SIDE} RGBA float32 image at {len(coords) / 1e6:.1f} M points, from numpy to numpy",
        ("work", "library", "M samples/s", "bindless is"),
        [(work, who, f"{rate:.1f}", f"{ratio:.2f} x as fast") for work, who, rate, ratio in measured],
    )
    gigabytes = pixels.nbytes / 1e9
    show_table(
        "moving the image",
        ("work", "GB/s", "beside array.copy()"),
        [
            ("make and close an Image", f"{gigabytes / up:.1f}", f"{plain / up:.2f} x as fast"),
            ("Image.numpy()", f"{gigabytes / down:.1f}", f"{plain / down:.2f} x as fast"),
            ("numpy: array.copy()", f"{gigabytes / plain:.1f}", "1.00 x as fast"),
        ],
    )


def _on_device(image: Image, points: Array) -> float:
    """Seconds of the same samples where coordinates and values stay on the device."""
    queue = image.queue
    handle = image._store.reader(image.sampler).handle
    with usm_empty(points.shape, np.float32, queue) as coords, usm_empty((len(points), 4), np.float32, queue) as values:
        queue.memcpy(coords, points, points.nbytes).wait()
        return best_time(lambda: sample_image(queue, handle, coords, out=values).wait())


def _peers(pixels: Array, points: Array) -> list[tuple[str, Callable[[], object]]]:
    """The same work, clamped at the edges, by the libraries that are installed; numpy always is."""
    peers: list[tuple[str, Callable[[], object]]] = [("numpy", lambda: _numpy_linear(pixels, points))]
    if find_spec("scipy") is not None:
        map_coordinates = import_module("scipy.ndimage").map_coordinates
        yx = np.ascontiguousarray(points[:, ::-1].T) - 0.5
        planes = [np.ascontiguousarray(pixels[..., channel]) for channel in range(4)]

        def scipy_linear() -> list[Array]:
            return [map_coordinates(plane, yx, order=1, mode="nearest") for plane in planes]

        peers.append(("scipy map_coordinates", scipy_linear))
    if find_spec("cv2") is not None:
        cv2 = import_module("cv2")
        grid = (points - 0.5).reshape(-1, min(2048, len(points)), 2) if len(points) % 2048 == 0 else None
        if grid is not None:
            peers.append(
                (
                    "OpenCV remap",
                    lambda: cv2.remap(pixels, grid, None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE),
                )
            )
    return peers


def _numpy_linear(pixels: Array, points: Array) -> Array:
    height, width = pixels.shape[:2]
    x, y = np.clip(points[:, 0] - 0.5, 0, width - 1), np.clip(points[:, 1] - 0.5, 0, height - 1)
    i, j = np.minimum(x.astype(np.int64), width - 2), np.minimum(y.astype(np.int64), height - 2)
    a, b = (x - i)[:, None], (y - j)[:, None]
    upper = pixels[j, i] * (1 - a) + pixels[j, i + 1] * a
    lower = pixels[j + 1, i] * (1 - a) + pixels[j + 1, i + 1] * a
    values: Array = upper * (1 - b) + lower * b
    return values
