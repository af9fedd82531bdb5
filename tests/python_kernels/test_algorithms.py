"""Kernels in Python with divergence, local memory, structures and atomic operations, against numpy."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import device

Upload = Callable[[Any], bl.UsmArray]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(77)


@bl.kernel
def bitonic(values, out):
    n, i = device.local_range(0), device.local_id(0)
    keys = device.local_array(64, np.float32)
    keys[i] = values[device.item_id(0)]
    device.barrier()
    k = 2
    while k <= n:
        j = k >> 1
        while j > 0:
            other = i ^ j
            if other > i and (keys[i] > keys[other]) == ((i & k) == 0):
                keys[i], keys[other] = keys[other], keys[i]
            device.barrier()
            j >>= 1
        k <<= 1
    out[device.item_id(0)] = keys[i]


def test_sorts_in_local_memory(queue: bl.Queue, upload: Upload, rng: np.random.Generator) -> None:
    values, out = rng.random(256, np.float32), upload(np.zeros(256, np.float32))
    queue.parallel_for(bl.NdRange(256, 64), bitonic, upload(values), out).wait_and_throw()
    np.testing.assert_array_equal(out.numpy(queue).reshape(4, 64), np.sort(values.reshape(4, 64), 1))


PARTICLE = np.dtype(
    [
        ("at", np.float64, 3),
        ("id", np.uint16),
        ("tags", np.int8, (2, 2)),
        ("own", [("w", np.float16), ("k", np.int64)]),
    ],
    align=True,
)


@bl.kernel
def records(particles, out, pick):
    i = device.item_id(0)
    one = particles[i]
    total = 0.0
    for axis in range(3):
        total += one.at[axis] * (axis + 1)
    for a in range(2):
        for b in range(2):
            total += one.tags[a, b] * pick[a][b]
    particles[i].own.k = one.own.k * 3 - one.id
    particles[i].tags[1, 0] = np.int8(one.tags[0, 1] - 1)
    out[i] = total + one.own.w


def test_structures_in_structures(queue: bl.Queue, upload: Upload, rng: np.random.Generator) -> None:
    given = np.zeros(37, PARTICLE)
    given["at"], given["id"] = rng.normal(size=(37, 3)), rng.integers(0, 65535, 37)
    given["tags"], given["own"]["w"] = rng.integers(-120, 120, (37, 2, 2)), rng.random(37)
    given["own"]["k"] = rng.integers(-(2**50), 2**50, 37)
    particles, out, pick = upload(given), upload(np.zeros(37)), ((1, 2), (3, -4))
    queue.parallel_for(37, records, particles, out, pick).wait_and_throw()
    wanted = given["at"] @ [1, 2, 3] + (given["tags"] * np.array(pick)).sum((1, 2)) + given["own"]["w"]
    np.testing.assert_allclose(out.numpy(queue), wanted, rtol=1e-6)
    found = particles.numpy(queue)
    np.testing.assert_array_equal(found["own"]["k"], given["own"]["k"] * 3 - given["id"])
    np.testing.assert_array_equal(found["tags"][:, 1, 0], given["tags"][:, 0, 1] - 1)
    np.testing.assert_array_equal(found["tags"][:, 1, 1], given["tags"][:, 1, 1])


@bl.kernel
def strided(a, out):
    z, y, x = device.item_id(0), device.item_id(1), device.item_id(2)
    out[z, y, x] = a[z, y][-1 - x] + a[z, -1, x] + a[z, y, ::2][x // 2] + a[:, y, x][z] + a.shape[0] * 100


@pytest.mark.parametrize(
    "part", [(slice(None, None, -1), slice(None), slice(None, None, -1)), (slice(None), slice(None, None, -2))]
)
def test_negative_strides(part: Any, queue: bl.Queue, upload: Upload) -> None:
    given = np.arange(4 * 5 * 6, dtype=np.float32).reshape(4, 5, 6)
    view, seen = upload(given)[part], given[part]
    out = upload(np.zeros(seen.shape, np.float32))
    queue.parallel_for(seen.shape, strided, view, out).wait_and_throw()
    z, y, x = np.indices(seen.shape)
    wanted = seen[z, y, -1 - x] + seen[z, -1, x] + seen[z, y, 2 * (x // 2)] + seen + seen.shape[0] * 100
    np.testing.assert_array_equal(out.numpy(queue), wanted)


@bl.kernel
def chain(heads, links, keys):
    i = device.item_id(0)
    links[i] = device.atomic_exchange(heads, keys[i] % heads.shape[0], i)


def test_lists_by_exchange(queue: bl.Queue, upload: Upload, rng: np.random.Generator) -> None:
    keys = rng.integers(0, 1000, 500).astype(np.int32)
    heads, links = upload(np.full(13, -1, np.int32)), upload(np.zeros(500, np.int32))
    queue.parallel_for(500, chain, heads, links, upload(keys)).wait_and_throw()
    following = links.numpy(queue)
    for slot, at in enumerate(heads.numpy(queue)):
        found = []
        while at >= 0 and len(found) <= 500:
            found.append(int(at))
            at = following[at]
        assert sorted(found) == np.flatnonzero(keys % 13 == slot).tolist()


@bl.kernel
def count_keys(keys, table, counts):
    key = keys[device.item_id(0)]
    slot = np.int64(np.uint32(key * np.uint32(2654435761)) >> np.uint32(20)) % table.shape[0]
    while True:
        seen = device.atomic_compare_exchange(table, slot, np.uint32(0), key)
        if seen == 0 or seen == key:
            device.atomic_add(counts, slot, 1)
            break
        slot = (slot + 1) % table.shape[0]


def test_a_hash_table(queue: bl.Queue, upload: Upload, rng: np.random.Generator) -> None:
    keys = rng.integers(1, 200, 2000).astype(np.uint32)
    table, counts = upload(np.zeros(512, np.uint32)), upload(np.zeros(512, np.int32))
    queue.parallel_for(2000, count_keys, upload(keys), table, counts).wait_and_throw()
    found = dict(zip(table.numpy(queue).tolist(), counts.numpy(queue).tolist()))
    del found[0]
    assert found == dict(zip(*(part.tolist() for part in np.unique(keys, return_counts=True))))


@bl.device_function
def divisor(a, b):
    while b != 0:
        a, b = b, a % b
    return a


@bl.device_function
def steps_of(n, most=1000):
    steps = 0
    while n != 1 and steps < most:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps, n


@bl.device_function
def together(a, b, *, scale=2):
    return (divisor(a + 1, b + 1) * scale, steps_of(a + 1))


@bl.kernel
def numbers(a, b, out):
    i = device.item_id(0)
    common, (steps, last) = together(a[i], b[i], scale=3)
    for value in (common, steps, last):
        if value == 3:
            continue
        out[i] += value
    else:
        out[i] += 1000


def test_helpers_with_loops(queue: bl.Queue, upload: Upload, rng: np.random.Generator) -> None:
    a, b = rng.integers(0, 999, (2, 100))
    out = upload(np.zeros(100, np.int64))
    queue.parallel_for(100, numbers, upload(a), upload(b), out).wait_and_throw()
    wanted = []
    for one, other in zip(a.tolist(), b.tolist()):
        n, steps = one + 1, 0
        while n != 1 and steps < 1000:
            n, steps = (3 * n + 1 if n % 2 else n // 2), steps + 1
        wanted.append(1000 + sum(value for value in (3 * math.gcd(one + 1, other + 1), steps, n) if value != 3))
    assert out.numpy(queue).tolist() == wanted


@bl.kernel
def automaton(cells, rule, steps, out):
    i, n = device.local_id(0), device.local_range(0)
    state = device.local_array((2, 128), np.uint8)
    state[0, i] = cells[i]
    for step in range(steps):
        device.barrier()
        now, then = step % 2, (step + 1) % 2
        around = state[now, (i - 1) % n] << 2 | state[now, i] << 1 | state[now, (i + 1) % n]
        state[then, i] = np.uint8((rule >> around) & 1)
        out[step, i] = state[then, i]


def test_an_automaton_in_two_buffers(queue: bl.Queue, upload: Upload, rng: np.random.Generator) -> None:
    cells = rng.integers(0, 2, 128).astype(np.uint8)
    out = upload(np.zeros((40, 128), np.uint8))
    queue.parallel_for(bl.NdRange(128, 128), automaton, upload(cells), 110, 40, out).wait_and_throw()
    for row in out.numpy(queue):
        wide = cells.astype(int)
        cells = ((110 >> (np.roll(wide, 1) << 2 | wide << 1 | np.roll(wide, -1))) & 1).astype(np.uint8)
        np.testing.assert_array_equal(row, cells)


@bl.kernel
def rows(starts, data, out):
    i = device.item_id(0)
    total, first = np.int64(0), -1
    for k in range(starts[i], starts[i + 1]):
        value = data[k]
        if value < 0:
            continue
        if value == 50:
            break
        if first < 0:
            first = k
        total += value
    else:
        total += 10**12
    while True:
        if total % 7 == 0:
            break
        total += 1
    out[i] = total if first >= 0 else -total


def test_rows_of_different_lengths(queue: bl.Queue, upload: Upload, rng: np.random.Generator) -> None:
    starts = np.concatenate([[0], np.cumsum(rng.integers(0, 40, 60))]).astype(np.int32)
    data, out = rng.integers(-20, 60, starts[-1]).astype(np.int16), upload(np.zeros(60, np.int64))
    queue.parallel_for(60, rows, upload(starts), upload(data), out).wait_and_throw()
    wanted = []
    for first, end in itertools.pairwise(starts):
        row = data[first:end].astype(int)
        stop = np.flatnonzero(row == 50)
        used = row[: stop[0]] if len(stop) else row
        total = int(used[used >= 0].sum()) + (0 if len(stop) else 10**12)
        total += -total % 7
        wanted.append(total if (used >= 0).any() else -total)
    assert out.numpy(queue).tolist() == wanted


WEIGHTS = np.outer([1, 2, 1], [1, 2, 1]).astype(np.float32) / 16


@bl.kernel
def smoothed(image, out, mode):
    y, x = device.item_id(0), device.item_id(1)
    color = device.float4(0)
    for j in range(-1, 2):
        for i in range(-1, 2):
            if mode == 0:
                color += WEIGHTS[j + 1, i + 1] * device.sample_image(image, x + i + 0.5, y + j + 0.5)
            elif mode == 1:
                column, row = min(max(x + i, 0), out.shape[1] - 1), min(max(y + j, 0), out.shape[0] - 1)
                color += WEIGHTS[j + 1, i + 1] * device.fetch_image(image, column, row)
            else:
                return
    out[y, x, 0], out[y, x, 1], out[y, x, 2], out[y, x, 3] = color.zyxw


@pytest.mark.parametrize("mode", range(3))
def test_an_image_smoothed_with_a_constant_table(
    mode: int, queue: bl.Queue, upload: Upload, rng: np.random.Generator
) -> None:
    picture = rng.random((9, 11, 4), np.float32)
    padded = np.pad(picture, ((1, 1), (1, 1), (0, 0)), "edge")
    wanted = sum(WEIGHTS[j, i] * padded[j : j + 9, i : i + 11] for j in range(3) for i in range(3))[..., [2, 1, 0, 3]]
    out = upload(np.zeros_like(picture))
    with bl.Image(picture, queue=queue) as image:
        queue.parallel_for((9, 11), smoothed, image, out, mode).wait_and_throw()
    np.testing.assert_allclose(out.numpy(queue), wanted if mode < 2 else np.zeros_like(wanted), rtol=2e-5, atol=1e-6)
