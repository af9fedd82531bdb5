"""Kernels as users write them, compared with numpy: local memory, exchanges in loops, float16, functions of numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import device

Upload = Callable[[Any], bl.UsmArray]
RNG = np.random.default_rng(24)


def test_a_scan_in_two_halves_of_local_memory(queue: bl.Queue, upload: Upload) -> None:
    """The loop is unrolled: addresses of local memory become constants."""

    @bl.kernel
    def scan(values, out):
        both = device.local_array((2, 64), np.int32)
        place, i = device.local_id(0), device.item_id(0)
        source = 0
        both[0, place] = values[i]
        device.barrier()
        step = 1
        while step < 64:
            total = both[source, place]
            if place >= step:
                total += both[source, place - step]
            both[1 - source, place] = total
            source = 1 - source
            step *= 2
            device.barrier()
        out[i] = both[source, place]

    values = RNG.integers(-50, 50, 256).astype(np.int32)
    out = upload(np.zeros(256, np.int32))
    queue.parallel_for(bl.NdRange(256, 64), scan, upload(values), out).wait()
    np.testing.assert_array_equal(out.numpy(queue), values.reshape(4, 64).cumsum(1).ravel())


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64])
def test_an_exchange_in_a_loop(dtype: Any, queue: bl.Queue, upload: Upload) -> None:
    """The loop's variable is the pair that the exchange gives."""

    @bl.kernel
    def add(values, total):
        value = values[device.item_id(0)]
        old = total[0]
        while True:
            seen = device.atomic_compare_exchange(total, 0, old, old + value)
            if seen == old:
                break
            old = seen

    values = RNG.integers(0, 1000, 64).astype(dtype)
    total = upload(np.zeros(1, dtype))
    queue.parallel_for(64, add, upload(values), total).wait()
    assert total.numpy(queue).tolist() == [values.sum()]


def test_operations_of_float16(queue: bl.Queue, upload: Upload) -> None:
    @bl.kernel
    def compute(a, b, out, wide):
        i = device.item_id(0)
        out[i, 0], out[i, 1], out[i, 2] = a[i] / b[i], a[i] / 3, -a[i]
        out[i, 3], out[i, 4], out[i, 5] = a[i] // b[i], a[i] % b[i], a[i] ** 2
        out[i, 6], out[i, 7], out[i, 8] = max(a[i], b[i]), min(a[i], b[i], 1), abs(a[i])
        out[i, 9], out[i, 10], out[i, 11] = math.sqrt(b[i]), round(a[i]), math.floor(a[i])
        wide[i] = a[i] / 3 + b[i] * np.float32(0.1)

    if not queue.device.has(bl.Aspect.fp16):
        pytest.skip(f"{queue.device.name} has no float16")
    a = RNG.uniform(-40, 40, 64).astype(np.float16)
    b = RNG.uniform(0.5, 9, 64).astype(np.float16)
    out, wide = upload(np.zeros((64, 12), np.float16)), upload(np.zeros(64, np.float32))
    queue.parallel_for(64, compute, upload(a), upload(b), out, wide).wait()
    one = np.float16(1)
    expected = (
        a / b, a / np.float16(3), -a, a // b, a % b, a * a, np.maximum(a, b), np.minimum(np.minimum(a, b), one),
        np.abs(a), np.sqrt(b), np.round(a), np.floor(a),
    )  # fmt: skip
    # A quotient next to a whole number may be rounded before the floor.
    found = out.numpy(queue)
    for place, wanted in enumerate(expected):
        tolerance = 2e-2 if place in (3, 4) else 1e-3
        np.testing.assert_allclose(found[:, place], wanted, rtol=tolerance, atol=tolerance, err_msg=str(place))
    quotients = (a / np.float16(3)).astype(np.float32) + b.astype(np.float32) * np.float32(0.1)
    np.testing.assert_allclose(wide.numpy(queue), quotients, rtol=1e-6)


@bl.device_function
def weighted(value, *, weight=2, power=1):
    return value * weight + power


def test_functions_with_keyword_only_parameters(queue: bl.Queue, upload: Upload) -> None:
    @bl.kernel
    def run(values, out):
        i = device.item_id(0)
        out[i] = weighted(values[i]) + weighted(values[i], power=5) + weighted(values[i], weight=values[0], power=7)

    values = np.arange(2, 10)
    out = upload(np.zeros(8, np.int64))
    queue.parallel_for(8, run, upload(values), out).wait()
    assert out.numpy(queue).tolist() == (values * 2 + 1 + values * 2 + 5 + values * 2 + 7).tolist()


def test_functions_of_numbers(queue: bl.Queue, upload: Upload) -> None:
    @bl.kernel
    def run(a, b, out):
        i = device.item_id(0)
        x, y = a[i], b[i]
        out[i, 0], out[i, 1] = math.fmod(x, y), math.remainder(x, y)
        out[i, 2], out[i, 3] = math.ldexp(x, 3), math.nextafter(x, y)
        out[i, 4], out[i, 5] = np.clip(x, -1, 2.5), np.where(x < y, x, 7)
        out[i, 6] = np.logical_and(x > 0, y > 2) + 2 * np.logical_or(x > 0, y > 2) + 4 * np.logical_xor(x > 0, y > 2)
        out[i, 7] = math.fmod(i, 3)

    a, b = RNG.uniform(-9, 9, 64).astype(np.float32), RNG.uniform(0.5, 4, 64).astype(np.float32)
    out = upload(np.zeros((64, 8), np.float32))
    queue.parallel_for(64, run, upload(a), upload(b), out).wait()
    first, second = a > 0, b > 2
    expected = (
        np.fmod(a, b), [math.remainder(x, y) for x, y in zip(a.tolist(), b.tolist())], a * 8, np.nextafter(a, b),
        np.clip(a, -1, 2.5), np.where(a < b, a, 7), (first & second) + 2 * (first | second) + 4 * (first ^ second),
        np.arange(64) % 3,
    )  # fmt: skip
    np.testing.assert_allclose(out.numpy(queue), np.stack(expected, 1).astype(np.float32), rtol=1e-6)


def test_a_generator_and_a_hash_of_unsigned_numbers(queue: bl.Queue, upload: Upload) -> None:
    """Operations give 64 bits; a conversion wraps."""

    @bl.kernel
    def run(seeds, random, hashes):
        i = device.item_id(0)
        x = np.uint32(seeds[i] ^ (seeds[i] << 13))
        x = np.uint32(x ^ (x >> 17))
        random[i] = np.uint32(x ^ (x << 5)) * 2654435761
        hash_ = np.uint64(14695981039346656037)
        for byte in range(4):
            hash_ = (hash_ ^ np.uint64((seeds[i] >> (8 * byte)) & 255)) * np.uint64(1099511628211)
        hashes[i] = hash_

    seeds = RNG.integers(0, 2**32, 64, dtype=np.uint32)
    random, hashes = upload(np.zeros(64, np.uint32)), upload(np.zeros(64, np.uint64))
    queue.parallel_for(64, run, upload(seeds), random, hashes).wait()
    wanted, sums = [], []
    for seed in seeds.tolist():
        x = (seed ^ (seed << 13)) % 2**32
        x ^= x >> 17
        wanted.append((x ^ (x << 5)) % 2**32 * 2654435761 % 2**32)
        total = 14695981039346656037
        for byte in range(4):
            total = (total ^ (seed >> (8 * byte)) & 255) * 1099511628211 % 2**64
        sums.append(total)
    assert random.numpy(queue).tolist() == wanted
    assert hashes.numpy(queue).tolist() == sums


def test_loops_with_else_and_breaks(queue: bl.Queue, upload: Upload) -> None:
    @bl.kernel
    def find(grid, out):
        i = device.item_id(0)
        found = -1
        for y in range(grid.shape[0]):
            for x in range(grid.shape[1] - 1, -1, -2):
                if grid[y, x] == i:
                    found = y * 100 + x
                    break
                elif grid[y, x] < 0:
                    continue
            else:
                continue
            break
        else:
            found = -2
        out[i] = found

    grid = RNG.permutation(120).reshape(10, 12).astype(np.int32) - 5
    out = upload(np.zeros(100, np.int32))
    queue.parallel_for(100, find, upload(grid), out).wait()
    rows, columns = (np.argsort(grid.ravel())[5:105] // 12, np.argsort(grid.ravel())[5:105] % 12)
    assert out.numpy(queue).tolist() == np.where(columns % 2 == 1, rows * 100 + columns, -2).tolist()


def test_whole_numbers_divide_as_in_python(queue: bl.Queue, upload: Upload) -> None:
    @bl.kernel
    def run(a, b, out):
        i = device.item_id(0)
        quotient, rest = divmod(a[i], b[i])
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = a[i] // b[i], a[i] % b[i], quotient, rest
        out[i, 4], out[i, 5], out[i, 6], out[i, 7] = a[i] >> 2, a[i] << 3, ~a[i] ^ b[i], -a[i] // 3

    a, b = RNG.integers(-1000, 1000, 80), RNG.integers(1, 30, 80) * RNG.choice([-1, 1], 80)
    for dtype in (np.int16, np.int32, np.int64):
        out = upload(np.zeros((80, 8), np.int64))
        queue.parallel_for(80, run, upload(a.astype(dtype)), upload(b.astype(dtype)), out).wait()
        expected = a // b, a % b, a // b, a % b, a >> 2, a << 3, ~a ^ b, -a // 3
        np.testing.assert_array_equal(out.numpy(queue), np.stack(expected, 1))


def test_powers_with_constant_exponents(queue: bl.Queue, upload: Upload) -> None:
    """They are products: exact for integers, and of the type of the base."""

    @bl.kernel
    def run(values, whole, out, powers):
        i = device.item_id(0)
        out[i, 0], out[i, 1], out[i, 2] = values[i] ** 2, values[i] ** 5, values[i] ** 0
        cube = whole[i]
        cube **= 3
        powers[i, 0], powers[i, 1], powers[i, 2] = whole[i] ** 2, cube, whole[i] ** 7

    values, whole = RNG.uniform(-3, 3, 40).astype(np.float32), np.arange(-20, 20).astype(np.int8)
    out, powers = upload(np.zeros((40, 3), np.float32)), upload(np.zeros((40, 3), np.int64))
    queue.parallel_for(40, run, upload(values), upload(whole), out, powers).wait()
    wide = values.astype(np.float64)
    np.testing.assert_allclose(out.numpy(queue), np.stack([wide**2, wide**5, wide**0], 1), rtol=5e-7)
    assert powers.numpy(queue).tolist() == [[n**2, n**3, n**7] for n in whole.tolist()]


def test_a_fourier_transform_in_local_memory(queue: bl.Queue, upload: Upload) -> None:
    """Its first step reverses the five bits of an index."""

    @bl.kernel
    def transform(values, out):
        real, imaginary = device.local_array(32, np.float32), device.local_array(32, np.float32)
        place, turned = device.local_id(0), 0
        for bit in range(5):
            turned |= ((place >> bit) & 1) << (4 - bit)
        real[turned], imaginary[turned] = values[place].real, values[place].imag
        half = 1
        while half < 32:
            device.barrier()
            number = place % half
            first = place - place % (2 * half) + number
            angle = -math.pi * number / half
            low = complex(real[first], imaginary[first])
            high = complex(real[first + half], imaginary[first + half]) * complex(math.cos(angle), math.sin(angle))
            total = low + high if place % (2 * half) < half else low - high
            device.barrier()
            real[place], imaginary[place] = total.real, total.imag
            half *= 2
        out[place] = complex(real[place], imaginary[place])

    values = (RNG.normal(size=32) + 1j * RNG.normal(size=32)).astype(np.complex64)
    out = upload(np.zeros(32, np.complex64))
    queue.parallel_for(bl.NdRange(32, 32), transform, upload(values), out).wait()
    np.testing.assert_allclose(out.numpy(queue), np.fft.fft(values), atol=1e-5)


def test_rows_of_structures_in_local_memory(queue: bl.Queue, upload: Upload) -> None:
    """LLVM makes one copy of the loop, whose addresses have attributes."""

    @bl.kernel
    def centre(bodies, out):
        tile = device.local_array((32, 4), np.float32)
        place, total = device.local_id(0), 0.0
        for axis in range(3):
            tile[place, axis] = bodies[device.item_id(0)].position[axis]
        tile[place, 3] = bodies[device.item_id(0)].mass
        device.barrier()
        for other in range(32):
            total += tile[other, 3] * tile[other, place % 3]
        out[device.item_id(0)] = total

    bodies = np.zeros(64, np.dtype([("position", np.float32, (3,)), ("mass", np.float32)]))
    bodies["position"], bodies["mass"] = RNG.random((64, 3)), RNG.random(64)
    out = upload(np.zeros(64, np.float32))
    queue.parallel_for(bl.NdRange(64, 32), centre, upload(bodies), out).wait()
    sums = (bodies["mass"][:, None] * bodies["position"]).reshape(2, 32, 3).sum(1)
    np.testing.assert_allclose(out.numpy(queue), sums[:, np.arange(32) % 3].ravel(), rtol=1e-5)
