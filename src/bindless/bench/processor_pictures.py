"""Rows of ``bindless bench`` about pictures on the processor: enlarged pictures of floats next to OpenCV's, and
``bindless.torch.grid_sample`` next to torch's, with its gradients.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from ..image.image import Image
from ..model.arrays import Array
from ..model.enums import Backend
from .measure import ALONE, Bench, Peer
from .peer_libraries import available

__all__ = ["enlarge_work", "gradient_work", "measure_processor_pictures"]

_SOURCE = (540, 960)  # pixels of a picture to be enlarged
_PLANES, _VOLUME = (2, 16, 256, 256), (1, 1, 64, 64, 64)  # shapes of batches for grid_sample
_GOAL_LARGER = 1.0  # least ratio to OpenCV
_TURN = {2: [[0.9, -0.2, 0.1], [0.2, 0.9, 0.0]], 3: [[0.9, -0.2, 0.0, 0.1], [0.2, 0.9, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]}


def measure_processor_pictures(bench: Bench) -> None:
    """Measure them on the reference device; sizes shrink with ``--megasamples``."""
    if bench.queue.device.backend is not Backend.reference:
        return
    scale = min(bench.samples / 1e6, 1.0)
    height, width = (max(int(side * scale**0.5), 8) for side in _SOURCE)
    for precision in ("exact", "hardware"):
        for channels in (1, 4):
            for factor in (2.0, 1.3):
                _measure_enlargement(bench, (height, width, channels), precision, factor)
    for shape in (_PLANES, _VOLUME):
        dims = len(shape) - 2
        sides = (max(int(side * scale ** (1 / dims)), 4) for side in shape[2:])
        _measure_gradients(bench, (*shape[:2], *sides))


def _measure_enlargement(bench: Bench, shape: tuple[int, int, int], precision: str, factor: float) -> None:
    pixels = np.random.default_rng(41).random(shape, np.float32)
    height, width = (int(side * factor) for side in shape[:2])
    cv2 = available("cv2")
    peers = {} if cv2 is None else {"OpenCV resize": Peer(enlarge_work(cv2, pixels, height, width), goal=_GOAL_LARGER)}
    with Image(pixels, queue=bench.queue, precision=precision) as image:
        out = np.empty((height, width, shape[2]), np.float32)
        bench.measure(
            f"Image.resize up float32 x{shape[2]} by {factor:g}, {precision}, out=",
            lambda: image.resize((height, width), out=out),
            peers,
            amount=height * width,
            unit="pixels",
        )


def enlarge_work(cv2: Any, pixels: Array, height: int, width: int) -> Callable[[], Any]:
    """OpenCV's ``resize`` into an array that is made once."""
    out = np.empty((height, width, pixels.shape[2]), np.float32)
    return lambda: cv2.resize(pixels, (width, height), dst=out, interpolation=cv2.INTER_LINEAR).reshape(out.shape)


def _measure_gradients(bench: Bench, shape: tuple[int, ...]) -> None:
    torch = available("torch")
    if torch is None:
        return
    dims, size = len(shape) - 2, math.prod(shape[2:])
    ours = gradient_work(torch, import_module("bindless.torch").grid_sample, shape)
    theirs = gradient_work(torch, torch.nn.functional.grid_sample, shape)
    title = f"grid_sample {dims}D {' x '.join(map(str, shape))} and both gradients, affine"
    peers = {"torch grid_sample": Peer(theirs)}
    bench.measure(title, ours, peers, amount=shape[0] * size, unit="samples", includes=ALONE)


def gradient_work(torch: Any, grid_sample: Any, shape: tuple[int, ...]) -> Callable[[], Any]:
    """A function like ``grid_sample`` at the places of an affine map, and the gradients of images and places."""
    generator = torch.Generator().manual_seed(42)
    images = torch.rand(shape, generator=generator).requires_grad_()
    turn = torch.tensor(_TURN[len(shape) - 2]).repeat(shape[0], 1, 1)
    grid = torch.nn.functional.affine_grid(turn, shape, align_corners=False).requires_grad_()
    weights = torch.rand(shape, generator=generator)

    def run() -> Any:
        values = grid_sample(images, grid, mode="bilinear", padding_mode="border", align_corners=False)
        return torch.autograd.grad(values, (images, grid), weights)

    return run
