"""The language of kernels in Python: numbers, control flow, helpers and constants, against numpy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import device

Upload = Callable[[Any], bl.UsmArray]

COUNT = 257
SCALE = 2.5
TABLE = np.arange(10, dtype=np.float32) ** 2


@bl.device_function
def square(x):
    return x * x


@bl.device_function
def polynomial(x, terms=3):
    result = 0.0
    for k in range(terms):
        result = result * x + square(k + 1)
    return result


def test_numbers_constants_and_tables(queue: bl.Queue, upload: Upload) -> None:
    @bl.kernel
    def run(a, b, out, count):
        i = device.item_id(0)
        if i < count:
            out[i] = (a[i] + b[i]) * SCALE - a[i] / b[i] + TABLE[i % 10]

    rng = np.random.default_rng(1)
    a, b = rng.random((2, COUNT), np.float32) + 1
    out = upload(np.zeros(COUNT, np.float32))
    queue.parallel_for(300, run, upload(a), upload(b), out, COUNT).wait()
    expected = (a + b) * np.float32(SCALE) - a / b + TABLE[np.arange(COUNT) % 10]
    np.testing.assert_allclose(out.numpy(queue), expected, rtol=1e-6)


def test_integers_follow_python(queue: bl.Queue, upload: Upload) -> None:
    @bl.kernel
    def run(a, out):
        i = device.item_id(0)
        x = a[i]
        out[i, 0] = x // 7
        out[i, 1] = x % 7
        out[i, 2] = x << 3
        out[i, 3] = x >> 2
        out[i, 4] = x & 13
        out[i, 5] = x ^ 55
        out[i, 6] = ~x
        out[i, 7] = abs(x)
        out[i, 8] = max(x, 3)
        out[i, 9] = -x
        out[i, 10] = min(x, 5) | 1

    a = np.random.default_rng(2).integers(-1000, 1000, COUNT, dtype=np.int32)
    out = upload(np.zeros((COUNT, 11), np.int32))
    queue.parallel_for(COUNT, run, upload(a), out).wait()
    columns = [a // 7, a % 7, a << 3, a >> 2, a & 13, a ^ 55, ~a, abs(a), np.maximum(a, 3), -a, np.minimum(a, 5) | 1]
    np.testing.assert_array_equal(out.numpy(queue), np.stack(columns, 1))


def test_math_and_numpy_functions(queue: bl.Queue, upload: Upload) -> None:
    @bl.kernel
    def run(a, out):
        i = device.item_id(0)
        x = a[i]
        out[i, 0] = math.sqrt(x)
        out[i, 1] = x**2
        out[i, 2] = math.floor(x * 5)
        out[i, 3] = abs(-x)
        out[i, 4] = round(x * 3)
        out[i, 5] = math.pi
        out[i, 6] = np.sqrt(x)
        out[i, 7] = np.float32(i) * x
        out[i, 8] = np.minimum(x, 1)
        out[i, 9] = np.int32(x * 10)
        out[i, 10] = np.floor(x)
        out[i, 11] = np.abs(-x)
        out[i, 12] = np.sign(x - 1)
        out[i, 13] = math.copysign(x, -1)

    a = np.random.default_rng(3).random(COUNT, np.float32) + np.float32(0.5)
    out = upload(np.zeros((COUNT, 14), np.float32))
    queue.parallel_for(COUNT, run, upload(a), out).wait()
    columns = [
        np.sqrt(a), a**2, np.floor(a * 5), a, np.round(a * 3), np.full_like(a, math.pi), np.sqrt(a),
        np.arange(COUNT, dtype=np.float32) * a, np.minimum(a, 1), (a * 10).astype(np.int32), np.floor(a), a,
        np.sign(a - 1), -a,
    ]  # fmt: skip
    np.testing.assert_allclose(out.numpy(queue), np.stack(columns, 1), rtol=1e-6)


def test_transcendental_functions(queue: bl.Queue, upload: Upload) -> None:
    @bl.kernel
    def run(a, out):
        i = device.item_id(0)
        x = a[i]
        out[i, 0] = math.sin(x)
        out[i, 1] = math.exp(x)
        out[i, 2] = x**1.5
        out[i, 3] = math.atan2(x, 2.0)
        out[i, 4] = math.log(x)
        out[i, 5] = np.cos(x)
        out[i, 6] = math.hypot(x, 3)

    a = np.random.default_rng(4).random(COUNT, np.float32) + np.float32(0.5)
    out = upload(np.zeros((COUNT, 7), np.float32))
    queue.parallel_for(COUNT, run, upload(a), out).wait()
    wide = a.astype(np.float64)
    columns = [
        np.sin(wide), np.exp(wide), wide**1.5, np.arctan2(wide, 2), np.log(wide), np.cos(wide), np.hypot(wide, 3)
    ]  # fmt: skip
    np.testing.assert_allclose(out.numpy(queue), np.stack(columns, 1), rtol=3e-6, atol=1e-6)


def test_helpers_with_defaults_and_keywords(queue: bl.Queue, upload: Upload) -> None:
    @bl.kernel
    def run(a, out):
        i = device.item_id(0)
        out[i] = polynomial(a[i]) + polynomial(a[i], terms=2)

    a = np.random.default_rng(5).random(COUNT, np.float32)
    out = upload(np.zeros(COUNT, np.float32))
    queue.parallel_for(COUNT, run, upload(a), out).wait()
    np.testing.assert_allclose(out.numpy(queue), (a * a + 4 * a + 9) + (a + 4), rtol=1e-6)


def test_closures_over_constants(queue: bl.Queue, upload: Upload) -> None:
    def make(factor):
        @bl.kernel
        def run(out):
            out[device.item_id(0)] = factor

        return run

    out = upload(np.zeros(3, np.int32))
    for factor in (5, 7):
        queue.parallel_for(3, make(factor), out).wait()
        assert out.numpy(queue).tolist() == [factor] * 3


def test_loops_breaks_and_conditions(queue: bl.Queue, upload: Upload) -> None:
    @bl.kernel
    def run(out, most):
        i = device.item_id(0)
        steps, x = 0, i
        while x != 1 and steps < most:
            if x % 2 == 0:
                x //= 2
            else:
                x = 3 * x + 1
            steps += 1
            if steps > 90:
                break
        out[i] = steps if i > 0 else -1

    def collatz(x: int) -> int:
        steps = 0
        while x != 1 and steps <= 90:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            steps += 1
        return steps

    out = upload(np.zeros(COUNT, np.int64))
    queue.parallel_for(COUNT, run, out, 1000).wait()
    assert out.numpy(queue).tolist() == [-1, *(collatz(x) for x in range(1, COUNT))]


def test_half_precision_rounds_like_numpy(queue: bl.Queue, upload: Upload) -> None:
    @bl.kernel
    def run(a, out):
        i = device.item_id(0)
        out[i] = a[i] * 2 + a[i] * a[i]

    a = np.random.default_rng(6).random(COUNT).astype(np.float16)
    out = upload(np.zeros(COUNT, np.float16))
    queue.parallel_for(COUNT, run, upload(a), out).wait()
    np.testing.assert_array_equal(out.numpy(queue), a * np.float16(2) + a * a)


def test_complex_numbers(queue: bl.Queue, upload: Upload) -> None:
    @bl.kernel
    def run(a, out):
        i = device.item_id(0)
        z = a[i]
        for _ in range(3):
            z = z * z + a[i]
        out[i] = z.real

    rng = np.random.default_rng(7)
    a = ((rng.random(COUNT) + 1j * rng.random(COUNT)) * 0.3).astype(np.complex64)
    out = upload(np.zeros(COUNT, np.float32))
    queue.parallel_for(COUNT, run, upload(a), out).wait()
    z = a
    for _ in range(3):
        z = z * z + a
    np.testing.assert_allclose(out.numpy(queue), z.real, rtol=1e-4, atol=1e-6)


def test_double_precision_on_request(queue: bl.Queue, upload: Upload) -> None:
    if bl.Aspect.fp64 not in queue.device.get_info("aspects"):
        pytest.skip("the device has no float64")

    @bl.kernel(default_float=np.float64)
    def run(out):
        i = device.item_id(0)
        out[i] = i / 3 + 0.1

    out = upload(np.zeros(COUNT))
    queue.parallel_for(COUNT, run, out).wait()
    np.testing.assert_array_equal(out.numpy(queue), np.arange(COUNT) / 3 + 0.1)


def test_samples_an_image(queue: bl.Queue, upload: Upload) -> None:
    @bl.kernel
    def blur(image, out, radius):
        y, x = device.item_id(0), device.item_id(1)
        total = 0.0
        for i in range(-radius, radius + 1):
            total += device.sample_image(image, x + 0.5 + i, y + 0.5)[0]
        out[y, x] = total / (2 * radius + 1)

    if bl.Aspect.ext_oneapi_bindless_images not in queue.device.get_info("aspects"):
        pytest.skip("the device has no image handles that are numbers")
    picture = np.random.default_rng(8).random((24, 40), np.float32)
    out = upload(np.zeros_like(picture))
    descriptor = bl.ImageDescriptor.from_array(picture)
    with bl.ImageMem(descriptor, queue) as memory:
        queue.ext_oneapi_copy(picture, memory).wait()
        handle = bl.create_image(memory, descriptor, queue, sampler=bl.BindlessImageSampler("clamp_to_edge"))
        queue.parallel_for(picture.shape, blur, handle, out, 2).wait()
        bl.destroy_image_handle(handle, queue)
    padded = np.pad(picture, ((0, 0), (2, 2)), "edge")
    expected = sum(padded[:, i : i + 40] for i in range(5)) / 5
    np.testing.assert_allclose(out.numpy(queue), expected, rtol=1e-5)


def test_ranges_of_every_direction(queue: bl.Queue, upload: Upload) -> None:
    @bl.kernel
    def run(bounds, out):
        i = device.item_id(0)
        total = 0
        for value in range(bounds[i, 0], bounds[i, 1], bounds[i, 2]):
            total = total * 3 + value
        for value in range(bounds[i, 1]):
            total += value
        out[i] = total

    bounds = np.array(
        [(0, 5, 1), (5, 0, -1), (5, 0, 1), (0, 7, 3), (7, -4, -3), (2, 2, 1), (-3, 3, 2), (0, 5, 0)], np.int64
    )
    for dtype in (np.int32, np.int64):
        out = upload(np.zeros(len(bounds), np.int64))
        queue.parallel_for(len(bounds), run, upload(bounds.astype(dtype)), out).wait()
        expected = []
        for start, stop, step in bounds.tolist():
            total = 0
            for value in range(start, stop, step) if step else ():  # a step of 0 runs nothing
                total = total * 3 + value
            expected.append(total + sum(range(stop)))
        assert out.numpy(queue).tolist() == expected
