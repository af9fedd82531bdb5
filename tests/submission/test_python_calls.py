"""Python calls inside the package for one call of a user: first, second and later."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import bindless as bl
from tests.support.compile_kernels import load
from tests.support.pixels import random_pixels
from tests.support.python_calls import python_calls

MOST = (33, 30, 0)  # first, second, later
DESC = bl.ImageDescriptor(24, 10, num_channels=4, channel_type="unsigned_int16")
_ = DESC.nbytes, DESC.dtype  # a descriptor computes its properties once


@pytest.fixture(params=[True, False], ids=["in order", "out of order"])
def own(queue: bl.Queue, request: pytest.FixtureRequest) -> Iterator[bl.Queue]:
    with bl.Queue(queue.device, queue.context, in_order=request.param) as made:
        yield made


def require_few(calls: list[list[str]]) -> None:
    """First, second and three later calls: none has more than ``MOST``."""
    for found, most in zip(calls, (*MOST, MOST[2], MOST[2])):
        assert len(found) <= most, found
    assert len(calls) == len(MOST) + 2


def test_parallel_for(own: bl.Queue) -> None:
    """Three arguments: a number, and memory twice."""
    bundle = load(own, "simple")
    kernel = bundle.get_kernel("axpy")
    own.parallel_for(
        64, bundle.get_kernel("increment"), bl.usm_empty((64,), np.int32, own)
    ).wait()  # limits of the device
    x, y = (bl.usm_empty((64,), np.float32, own) for _ in range(2))
    calls = []
    for number in range(5):
        calls.append(python_calls(lambda number=number: own.parallel_for(64, kernel, float(number), x, y)))
        own.wait()
    require_few(calls)


def test_copies_to_images(own: bl.Queue) -> None:
    """Copies of other arrays of one shape."""
    with bl.ImageMem(DESC, own) as image:
        calls = []
        for seed in range(5):
            pixels = random_pixels(DESC, seed)
            calls.append(python_calls(lambda pixels=pixels: own.ext_oneapi_copy(pixels, image)))
            own.wait()
        result = np.empty(DESC.shape, DESC.dtype)
        own.ext_oneapi_copy(image, result).wait()
        assert np.array_equal(result, random_pixels(DESC, 4))
    require_few(calls)


def test_copies_from_images(own: bl.Queue) -> None:
    pixels = random_pixels(DESC, 0)
    with bl.ImageMem(DESC, own) as image:
        own.ext_oneapi_copy(pixels, image).wait()
        calls, result = [], np.empty(DESC.shape, DESC.dtype)
        for _ in range(5):
            calls.append(python_calls(lambda: own.ext_oneapi_copy(image, result)))
            own.wait()
        assert np.array_equal(result, pixels)
    require_few(calls)


def test_waits(own: bl.Queue) -> None:
    """A wait for commands that are complete. Lanes that count their commands need no Python beyond the call."""
    counts = own.backend == "cuda"
    memory = bl.usm_empty((64,), np.float32, own)
    for _ in range(4):
        own.fill(memory, 1.0).wait()
        calls = python_calls(own.wait)
        assert own._stream.idle and not any(item is memory for item in own._stream._batch)
        assert len(calls) <= (1 if counts else 30), calls
