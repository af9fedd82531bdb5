"""Kernels in SPIR-V of many kinds on the processor, each compared with numba or numpy.

BINDLESS_REFERENCE_THREADS=1 NUMBA_NUM_THREADS=1 pytest tests/benchmarks/test_spirv_kernels.py -q
... --device level_zero        the same kernels through Level Zero, on the package's own driver
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.support.compile_kernels import load

Compare = Callable[..., Any]
ROUNDS = 5


@pytest.fixture(scope="module")
def processor(device: bl.Device) -> Iterator[bl.Queue]:
    if device.backend not in ("reference", "level_zero"):
        pytest.skip("measures what runs kernels on the processor: --device reference or level_zero")
    with bl.Queue(device, in_order=True) as queue:
        yield queue


@pytest.fixture(scope="module")
def numba() -> Any:
    return pytest.importorskip("numba", reason="pip install numba")


def _memory(queue: bl.Queue, values: Any) -> bl.UsmArray:
    memory = bl.usm_empty(values.shape, values.dtype, queue)
    memory.copy_from(values)
    return memory


def test_saxpy(compare: Compare, processor: bl.Queue, numba: Any) -> None:
    count = 1 << 20
    x, y = np.random.default_rng(1).random((2, count), np.float32)
    ours_x, ours_y = _memory(processor, x), _memory(processor, y)
    kernel = load(processor, "throughput").get_kernel("saxpy")

    @numba.njit(fastmath=False)
    def saxpy(a: Any, x: Any, y: Any) -> None:
        for i in range(x.size):
            y[i] = a * x[i] + y[i]

    processor.parallel_for(count, kernel, np.float32(1.5), ours_x, ours_y).wait()
    np.testing.assert_array_equal(ours_y.numpy(processor), np.float32(1.5) * x + y)
    compare(
        lambda: processor.parallel_for(count, kernel, np.float32(0.5), ours_x, ours_y).wait(),
        {"numba": lambda: saxpy(np.float32(0.5), x, y)},
        rounds=ROUNDS,
        items=count,
    )


def test_mandelbrot(compare: Compare, processor: bl.Queue, numba: Any) -> None:
    side, most = 512, 256
    kernel = load(processor, "throughput").get_kernel("mandelbrot")
    out = bl.usm_empty((side, side), np.int32, processor)

    @numba.njit(fastmath=False)
    def mandelbrot(out: Any, most: int) -> None:
        for row in range(side):
            for column in range(side):
                x = np.float32(-2.0) + np.float32(3.0) * np.float32(column) / np.float32(side)
                y = np.float32(-1.5) + np.float32(3.0) * np.float32(row) / np.float32(side)
                re = im = np.float32(0)
                steps = 0
                while re * re + im * im <= np.float32(4) and steps < most:
                    re, im = re * re - im * im + x, np.float32(2) * re * im + y
                    steps += 1
                out[row, column] = steps

    expected = np.empty((side, side), np.int32)
    mandelbrot(expected, most)
    sizes = np.uint32(side), np.uint32(side), np.int32(most)
    processor.parallel_for((side, side), kernel, out, *sizes).wait()
    assert np.mean(out.numpy(processor) != expected) < 0.01  # numba may fuse a product and a sum
    compare(
        lambda: processor.parallel_for((side, side), kernel, out, *sizes).wait(),
        {"numba": lambda: mandelbrot(expected, most)},
        rounds=ROUNDS,
        items=float(expected.sum()),
        unit="steps",
    )


def test_matrix_product(compare: Compare, processor: bl.Queue, numba: Any) -> None:
    size = 256
    a, b = np.random.default_rng(2).integers(-8, 8, (2, size, size)).astype(np.float32)
    left, right, out = _memory(processor, a), _memory(processor, b), bl.usm_empty((size, size), np.float32, processor)
    kernel = load(processor, "throughput").get_kernel("matrix_product")

    @numba.njit(fastmath=False)
    def product(a: Any, b: Any, out: Any) -> None:
        for i in range(size):
            for j in range(size):
                out[i, j] = 0
            for k in range(size):
                for j in range(size):
                    out[i, j] += a[i, k] * b[k, j]

    def ours() -> None:
        processor.parallel_for(bl.NdRange((size, size), (16, 16)), kernel, left, right, out, np.uint32(size)).wait()

    ours()
    np.testing.assert_array_equal(out.numpy(processor), a @ b)
    peer_out = np.empty((size, size), np.float32)
    compare(ours, {"numba": lambda: product(a, b, peer_out)}, rounds=ROUNDS, items=size**3, unit="products")


def test_total(compare: Compare, processor: bl.Queue) -> None:
    count, items = 1 << 20, 1 << 14
    values = np.random.default_rng(3).integers(0, 1000, count).astype(np.uint32)
    memory, out = _memory(processor, values), _memory(processor, np.zeros(1, np.uint32))
    kernel = load(processor, "throughput").get_kernel("total")

    def ours() -> None:
        processor.parallel_for(bl.NdRange(items, 64), kernel, memory, out, np.uint32(count)).wait()

    ours()
    assert out.numpy(processor)[0] == values.sum()
    compare(ours, {"numpy": lambda: values.sum(dtype=np.uint32)}, rounds=ROUNDS, items=count)


def test_histogram(compare: Compare, processor: bl.Queue) -> None:
    count = 1 << 19
    values = np.random.default_rng(4).integers(0, 256, count).astype(np.uint8)
    memory, out = _memory(processor, values), _memory(processor, np.zeros(256, np.uint32))
    kernel = load(processor, "throughput").get_kernel("histogram")

    def ours() -> None:
        processor.parallel_for(count, kernel, memory, out).wait()

    ours()
    np.testing.assert_array_equal(out.numpy(processor), np.bincount(values, minlength=256))
    compare(ours, {"numpy": lambda: np.bincount(values, minlength=256)}, rounds=ROUNDS, items=count)


def test_blur(compare: Compare, processor: bl.Queue, numba: Any) -> None:
    side = 256
    pixels = np.random.default_rng(5).integers(0, 256, (side, side, 4)).astype(np.float32)
    desc = bl.ImageDescriptor(side, side, num_channels=4, channel_type="fp32")
    memory = bl.ImageMem(desc, processor)
    processor.ext_oneapi_copy(pixels, memory).wait()
    image = bl.create_image(memory, desc, processor)
    out = bl.usm_empty((side, side, 4), np.float32, processor)
    kernel = load(processor, "throughput", "blur").get_kernel("blur")
    weights = np.array([1, 4, 6, 4, 1], np.float32) / 16

    @numba.njit(fastmath=False)
    def blur(pixels: Any, out: Any) -> None:
        for y in range(side):
            for x in range(side):
                for c in range(4):
                    total = np.float32(0)
                    for j in range(-2, 3):
                        for i in range(-2, 3):
                            row, column = min(max(y + j, 0), side - 1), min(max(x + i, 0), side - 1)
                            total += weights[j + 2] * weights[i + 2] * pixels[row, column, c]
                    out[y, x, c] = total

    def ours() -> None:
        processor.parallel_for((side, side), kernel, image, out, np.int32(side), np.int32(side)).wait()

    ours()
    expected = np.empty_like(pixels)
    blur(pixels, expected)
    np.testing.assert_allclose(out.numpy(processor), expected, rtol=1e-5)
    compare(ours, {"numba": lambda: blur(pixels, expected)}, rounds=ROUNDS, items=side * side * 25, unit="fetches")
    bl.destroy_image_handle(image, processor)


def test_sample_image(compare: Compare, processor: bl.Queue, numba: Any) -> None:
    """The built-in function over arrays, which is SPIR-V on Level Zero: bilinear samples of RGBA8."""
    if processor.backend != "level_zero":
        pytest.skip("the reference samples in C: --device level_zero measures the kernel")
    count, side = 1 << 18, 512
    pixels = np.random.default_rng(6).integers(0, 256, (side, side, 4)).astype(np.uint8)
    coords = np.random.default_rng(7).uniform(1, side - 1, (count, 2)).astype(np.float32)
    desc = bl.ImageDescriptor(side, side, num_channels=4, channel_type="unorm_int8")
    memory = bl.ImageMem(desc, processor)
    processor.ext_oneapi_copy(pixels, memory).wait()
    sampler = bl.BindlessImageSampler("clamp_to_edge", filtering="linear")
    image = bl.create_image(memory, desc, processor, sampler=sampler)
    where, out = _memory(processor, coords), bl.usm_empty((count, 4), np.float32, processor)

    @numba.njit(fastmath=False)
    def bilinear(pixels: Any, coords: Any, out: Any) -> None:
        for n in range(coords.shape[0]):
            x, y = coords[n, 0] - np.float32(0.5), coords[n, 1] - np.float32(0.5)
            i, j = int(np.floor(x)), int(np.floor(y))
            a, b = x - i, y - j
            for c in range(4):
                top = pixels[j, i, c] * (1 - a) + pixels[j, i + 1, c] * a
                low = pixels[j + 1, i, c] * (1 - a) + pixels[j + 1, i + 1, c] * a
                out[n, c] = (top * (1 - b) + low * b) / 255

    def ours() -> None:
        bl.sample_image(processor, image, where, out=out).wait()

    ours()
    expected = np.empty((count, 4), np.float32)
    bilinear(pixels, coords, expected)
    np.testing.assert_allclose(out.numpy(processor), expected, atol=4 / 256)
    compare(ours, {"numba": lambda: bilinear(pixels, coords, expected)}, rounds=ROUNDS, items=count, unit="samples")
    bl.destroy_image_handle(image, processor)
