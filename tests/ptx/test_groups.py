"""Shared memory, atomics, barriers and warps."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tests.ptx.conftest import Load

Array = npt.NDArray[Any]
GENERATOR = np.random.default_rng(2)


def test_shared_memory(load: Load) -> None:
    module = load("shared")
    a = GENERATOR.integers(-50, 50, 1024).astype(np.float32)
    sums = module.launch("red", 4, 256, a, np.zeros(4, np.float32))[1]
    np.testing.assert_array_equal(sums, a.reshape(4, -1).sum(1))
    whole = GENERATOR.integers(0, 1000, 1024).astype(np.int32)
    factors = np.arange(128) % 3 + 10
    found = module.launch("dyn", 8, 128, whole, np.zeros_like(whole), shared=512)[1]
    np.testing.assert_array_equal(found.reshape(8, 128), whole.reshape(8, 128)[:, ::-1] * factors)
    bits = GENERATOR.integers(0, 2**32, 1000, np.uint32)
    counts = module.launch("hist", 4, 256, bits, np.zeros(16, np.uint32), np.int32(1000))[1]
    np.testing.assert_array_equal(counts, np.bincount(bits & 15, minlength=16))


def test_atomics(load: Load) -> None:
    start = np.array([0, 0, 10**6, 0, 3, 2**32 - 1, 0, 0, 0, 1, 10000], np.uint32)
    others = [np.zeros(2, np.int32), np.zeros(2, np.uint64), np.zeros(1, np.float32), np.zeros(1)]
    found = load("shared").launch("at", 1, 256, start, *others)
    up, down = 0, 3
    for _ in range(256):
        up = 0 if up >= 99 else up + 1
        down = 50 if down == 0 or down > 50 else down - 1
    mixed = [k * 7919 % 1000 for k in range(256)]
    wanted = [255 * 128, max(mixed), min(mixed) + 5, up, down, 0xFFFFFF00, 0xFFFFFFFF, 0, 512, 7, 10000 - 512]
    np.testing.assert_array_equal(found[0], wanted)
    np.testing.assert_array_equal(found[1], [-255, 0])
    np.testing.assert_array_equal(found[2], [255 * 128 << 33, 765])
    assert (found[3][0], found[4][0]) == (256, 128)


def _masks(bits: Array) -> Array:
    return (bits.astype(np.int64) << np.arange(32)).sum(-1)


def test_warps(load: Load) -> None:
    v = GENERATOR.integers(-50, 50, 256).astype(np.int32)
    found = load("warps").launch("k", 2, 128, v, np.zeros((8, 32, 16), np.int32))[1].astype(np.int64)
    w, lane = v.reshape(8, 32).astype(np.int64), np.arange(32)

    def shuffled(source: Array) -> Array:
        return np.take_along_axis(w, np.broadcast_to(source, w.shape), 1)

    same = w[:, :, None] & 3 == w[:, None, :] & 3
    odd = lane & 1 == 1
    wanted = [
        shuffled(np.where(lane + 3 < 32, lane + 3, lane)),
        shuffled(np.where(lane >= 5, lane - 5, lane)),
        shuffled(lane ^ 9),
        shuffled(w & 31),
        shuffled(np.where((lane & 7) + 3 < 8, lane + 3, lane)),
        _masks(w > 0)[:, None],
        (w > -60).all(1)[:, None],
        (w > 48).any(1)[:, None],
        w.sum(1)[:, None],
        w.max(1)[:, None],
        _masks(same),
        0,
        np.where(odd, 0xAAAAAAAA, (w[:, ::2] > 0).sum(1)[:, None]),
        np.where(odd, w[:, 1::2].sum(1)[:, None], w[:, 2:3]),
        np.repeat(v.reshape(8, 4, 8).sum(2), 8, 1),
        np.repeat((v.reshape(2, 128) > 0).sum(1), 4)[:, None] + 10000,
    ]
    for k, values in enumerate(wanted):
        expected = np.broadcast_to(values, w.shape)
        np.testing.assert_array_equal(found[:, :, k] & 2**32 - 1, expected & 2**32 - 1, err_msg=f"column {k}")


def test_special_registers(load: Load) -> None:
    found = load("warps").launch("sp", (1, 2), (48, 2), np.zeros((96, 4), np.uint32))[0]
    t = np.arange(96)
    np.testing.assert_array_equal(found, np.stack([(1 << t % 32) - 1, t % 32, t // 32, np.full(96, 3)], 1))
