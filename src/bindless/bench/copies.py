"""Rows of ``bindless bench`` about image copies of several sizes, compared with ``memcpy`` or the driver's copy."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias, Union

import numpy as np

from ..bindless_images import ImageMem
from ..model.arrays import Array
from ..model.aspects import Aspect
from ..model.enums import Backend
from ..model.image_descriptor import ImageDescriptor
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray, usm_empty
from .measure import Bench, Peer, Work

__all__ = ["driver_copies", "measure_copies"]

_SIZES = tuple(kibibytes << 10 for kibibytes in (64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10))  # bytes
_MOST_ON_PROCESSORS = 64 << 20
_CALLED = 32 << 20  # least number of bytes copied in a round: a single short call measures the caches
_HOST, _DEVICE, _ARRAY = 1, 2, 3  # CUmemorytype
# Target ratios to the driver's copy on GPUs: of the largest size, and of all other sizes.
_GOAL = {"numpy to image": 4.0, "image to numpy": 3.0, "image to image": 4.0, "image to device memory": 4.0}

_Side: TypeAlias = Union[Array, UsmArray, ImageMem]


class _DriverCopies:
    """Driver copies without the facade: ``cuMemcpy3DAsync`` and a wait."""

    def __init__(self, bench: Bench) -> None:
        from ..drivers import cuda

        self._driver = cuda
        native: Any = bench.queue._native
        native.primary.activate()  # the context of the streams
        slot = cuda.ffi.new("CUstream *")
        cuda.check(cuda.lib.cuStreamCreate(slot, cuda.lib.CU_STREAM_NON_BLOCKING), "cuStreamCreate")
        self._stream = slot[0]

    def close(self) -> None:
        self._driver.check(self._driver.lib.cuStreamDestroy(self._stream), "cuStreamDestroy")

    def work(self, source: _Side, target: _Side, row: int, rows: int) -> Work:
        """Return a copy of ``rows`` of ``row`` bytes between arrays and images."""
        lib, check, stream = self._driver.lib, self._driver.check, self._stream
        (kind, begin), (to_kind, to) = _place(source), _place(target)

        def copy() -> None:
            result = lib.bindless_copy_box(
                stream, kind, begin, 0, 0, 0, row, rows, to_kind, to, 0, 0, 0, row, rows, row, rows, 1
            )
            check(result, "cuMemcpy3DAsync")
            check(lib.cuStreamSynchronize(stream), "cuStreamSynchronize")

        return copy


@contextmanager
def driver_copies(bench: Bench) -> Iterator[_DriverCopies | None]:
    """The driver's own copies; None where the driver is not CUDA."""
    if bench.queue.device.backend is not Backend.cuda:
        yield None
        return
    copies = _DriverCopies(bench)
    try:
        yield copies
    finally:
        copies.close()


def measure_copies(bench: Bench) -> None:
    """Measure copies from numpy to image and back, image to image, and image to linear device memory."""
    on_gpu = bench.queue.device.has(Aspect.gpu)
    with driver_copies(bench) as driver:
        for nbytes in _SIZES:
            if on_gpu or nbytes <= _MOST_ON_PROCESSORS:
                _measure_size(bench, nbytes, driver, on_gpu)


def _measure_size(bench: Bench, nbytes: int, driver: _DriverCopies | None, on_gpu: bool) -> None:
    queue = bench.queue
    side = int(np.sqrt(nbytes / 16))
    size = f"{nbytes >> 20} MiB" if nbytes >= 1 << 20 else f"{nbytes >> 10} KiB"
    pixels = np.full((side, side, 4), 0.5, np.float32)
    back = np.zeros_like(pixels)
    desc = ImageDescriptor.from_array(pixels)
    with (
        ImageMem(desc, queue) as first,
        ImageMem(desc, queue) as second,
        usm_empty(desc.shape, "float32", queue) as flat,
    ):
        places: dict[str, tuple[_Side, _Side]] = {
            "numpy to image": (pixels, first),
            "image to numpy": (first, back),
            "image to image": (first, second),
            "image to device memory": (first, flat),
        }
        for name, (source, target) in places.items():
            peers = {}
            goal = (_GOAL[name] if nbytes == _SIZES[-1] else 1.0) if on_gpu else 1.0
            if driver is not None:
                work = driver.work(source, target, side * 16, side)
                peers["the driver's own copy"] = Peer(work, goal=goal)
            elif not on_gpu:
                memmove = lambda: ctypes.memmove(back.ctypes.data, pixels.ctypes.data, pixels.nbytes)  # noqa: E731
                peers["memcpy"] = Peer(memmove, goal=goal)
            within = name in ("image to image", "image to device memory") or not on_gpu
            bench.measure(
                f"{name}, {size}",
                _copying(queue, source, target),
                peers,
                amount=pixels.nbytes,
                unit="bytes",
                calls=max(_CALLED // nbytes, 1),
                bound="memory" if within else "",
                bound_seconds=bench.traffic(2 * pixels.nbytes) if within else 0.0,
                size=pixels.nbytes,
            )


def _copying(queue: Queue, source: _Side, target: _Side) -> Work:
    return lambda: queue.ext_oneapi_copy(source, target).wait()


def _place(side: _Side) -> tuple[int, int]:
    if isinstance(side, np.ndarray):
        return _HOST, int(side.ctypes.data)
    if isinstance(side, UsmArray):
        return _DEVICE, int(side.pointer.address)
    return _ARRAY, int(side.get_handle().raw_handle)
