"""Ids, indices and addresses that count work-items: wrapping, diverging, ragged rows, compared with numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.support.error_checks import raises

COUNT = 333
ITEMS = np.arange(COUNT)


def test_numbers_that_wrap_within_a_batch(run: Any) -> None:
    text = """kernel void wrap(uint base, global uint *out, global ulong *wide, global long *narrow)
        { const uint i = (uint)get_global_id(0), n = base + i * 3u;
          out[i] = n < 5u ? 1u : n > base ? 2u : 3u; wide[i] = (ulong)n + 7; narrow[i] = (long)(int)n * 2; }"""
    for base in (2**32 - 100, 2**31 - 100, 2**32 - 3 * 64, 0):
        out, wide, narrow = run(
            text,
            "wrap",
            COUNT,
            np.uint32(base),
            np.zeros(COUNT, np.uint32),
            np.zeros(COUNT, np.uint64),
            np.zeros(COUNT, np.int64),
        )
        n = ((base + ITEMS * 3) % 2**32).astype(np.uint32)
        np.testing.assert_array_equal(out, np.where(n < 5, 1, np.where(n > base, 2, 3)))
        np.testing.assert_array_equal(wide, n.astype(np.uint64) + np.uint64(7))
        np.testing.assert_array_equal(narrow, n.astype(np.int32).astype(np.int64) * 2)


def test_values_that_leave_a_loop_at_different_steps(run: Any) -> None:
    """A counter is the same for all work-items within the loop, and not after it."""
    text = """kernel void leave(global const int *limits, global int *out)
        { const int i = (int)get_global_id(0); int k = 0, last = -1, sum = 0;
          for (; k < limits[i]; k++) { last = k * 2 + i; if (k % 3 == 2) continue; sum += k; if (sum > 40) break; }
          out[i] = k * 10000 + last * 100 + sum; }"""
    limits = (ITEMS * 7 % 23).astype(np.int32)
    _, out = run(text, "leave", COUNT, limits, np.zeros(COUNT, np.int32))

    def one(i: int) -> int:
        k, last, total = 0, -1, 0
        while k < limits[i]:
            last = k * 2 + i
            if k % 3 != 2:
                total += k
                if total > 40:
                    break
            k += 1
        return k * 10000 + last * 100 + total

    np.testing.assert_array_equal(out, [one(i) for i in range(COUNT)])


def test_switches_on_ids(run: Any) -> None:
    text = """kernel void choose(int same, global int *out)
        { const int i = (int)get_global_id(0); int n;
          switch (get_global_id(0)) { case 3: n = 5; break; case 64: n = 6; break; default: n = i; }
          switch (same) { case 1: n += 100; break; case 2: n *= 3; break; default: n = -n; }
          out[i] = n; }"""
    for same in (1, 2, 3):
        (out,) = run(text, "choose", COUNT, np.int32(same), np.zeros(COUNT, np.int32))
        n = np.where(ITEMS == 3, 5, np.where(ITEMS == 64, 6, ITEMS))
        np.testing.assert_array_equal(out, {1: n + 100, 2: n * 3, 3: -n}[same])


@pytest.mark.parametrize("width", [5, 16, 17, 64, 100, 333])
def test_rows_of_any_width(run: Any, width: int) -> None:
    """Reversed, transposed and repeated elements, inside of a border alone."""
    text = """kernel void rows(global const int *in, global int *out, global int *mirror, global short *cells)
        { const int x = (int)get_global_id(0), y = (int)get_global_id(1);
          const int w = (int)get_global_size(0), h = (int)get_global_size(1);
          mirror[y * w + w - 1 - x] = in[y * w + x];
          if (x > 0 && y > 0 && x < w - 1 && y < h - 1 && x % 5 != 3)
            { out[x * h + y] = in[y * w + x - 1] + in[y * w + x + 1] - in[y * w] + in[(y + 1) * w + x];
              cells[(y * w + x) * 2] = (short)x; } }"""
    height = 7
    values = np.random.default_rng(width).integers(0, 10**6, (height, width)).astype(np.int32)
    zeros = np.zeros((width, height), np.int32)
    _, out, mirror, cells = run(
        text, "rows", (height, width), values, zeros, values * 0, np.zeros((height, width, 2), np.int16)
    )
    np.testing.assert_array_equal(mirror, values[:, ::-1])
    inner = np.zeros((height, width), bool)
    inner[1:-1, 1:-1] = True
    inner &= np.arange(width) % 5 != 3
    around = np.zeros_like(values)
    around[1:-1, 1:-1] = values[1:-1, :-2] + values[1:-1, 2:] - values[1:-1, :1] + values[2:, 1:-1]
    np.testing.assert_array_equal(out, np.where(inner, around, 0).T)
    np.testing.assert_array_equal(cells[..., 0], np.where(inner, np.arange(width), 0))
    np.testing.assert_array_equal(cells[..., 1], 0)


@pytest.mark.parametrize("local", [None, 96])
@pytest.mark.parametrize("guard", [0, 1, 4000, 4096, 6719, 6720])
def test_rows_of_many_batches(run: Any, guard: int, local: int | None) -> None:
    """Numbers wrap, and work-items part, at any batch of a row."""
    text = """kernel void row(uint base, int guard, global const float *in, global float *out, global ulong *wide,
        global const uint *first, global uint *turn)
        { const int i = (int)get_global_id(0); const uint n = base + (uint)i * 3u;
          turn[i] = n < base ? first[0] + 1u : n;
          if (i >= guard) return;
          wide[i] = (ulong)n * 5u + (ulong)(i < 5000 ? i : 7);
          out[i] = in[i / 2] * (float)i + in[guard - 1 - i]; }"""
    count, values = 6720, np.random.default_rng(guard).random(6720).astype(np.float32)
    items = np.arange(count)
    inner = items < guard
    for base in (5, 2**32 - 3 * 2000 - 1):
        zeros = np.zeros(count, np.float32)
        start = np.zeros(count, np.uint32)
        first = np.full(1, base, np.uint32)
        _, out, wide, _, turn = run(
            text, "row", count, np.uint32(base), np.int32(guard), values, zeros, zeros.astype(np.uint64), first, start,
            local=local,
        )  # fmt: skip
        n = ((base + 3 * items) % 2**32).astype(np.uint32)
        np.testing.assert_array_equal(turn, np.where(n < base, np.uint32(base + 1), n))
        np.testing.assert_array_equal(
            wide, np.where(inner, n.astype(np.uint64) * 5 + np.where(items < 5000, items, 7), 0)
        )
        expected = values[items // 2] * items.astype(np.float32) + values[np.where(inner, guard - 1 - items, 0)]
        np.testing.assert_allclose(out, np.where(inner, expected, 0), rtol=1e-6)


def test_the_first_item_of_a_row_out_of_reach(queue: bl.Queue, run: Any) -> None:
    """The steps before the access run, of this batch and all before it."""
    if queue.device.backend is not bl.Backend.reference:
        pytest.skip("only the reference device names the item")
    text = """kernel void far(global int *out, long step, global const int *in)
        { const long i = get_global_id(0); out[i] = (int)i; out[i] += in[i * step]; }"""
    for step, item in ((1, 1000), (2, 500), (-1, 1)):
        out = bl.usm_empty((2000,), np.int32, queue)
        out.copy_from(np.zeros(2000, np.int32))
        with raises(bl.KernelError, names=("'far'", f"item_id ({item})", "reads 4 bytes")):
            run(text, "far", 2000, out, np.int64(step), np.zeros(1000, np.int32))
        ends = item // 64 * 64 + 64
        np.testing.assert_array_equal(out.numpy(queue)[:ends], np.arange(ends))


def test_equal_and_overlapping_addresses(run: Any) -> None:
    """Of work-items that store to one place, the last remains; a value that all load is one value."""
    text = """kernel void meet(global uchar *bytes, global int *last, global int *out)
        { const int i = (int)get_global_id(0);
          if (i < 300 && i % 7 != 0) *last = i;
          vstore4((uchar4)(i, i + 1, i + 2, i + 3), 0, bytes + i);
          out[i] = *last + i; }"""
    data, last, out = run(text, "meet", 64, np.zeros(67, np.uint8), np.zeros(1, np.int32), np.zeros(64, np.int32))
    assert last[0] == 62
    np.testing.assert_array_equal(out, 62 + np.arange(64))
    np.testing.assert_array_equal(data[64:], [64, 65, 66])


def test_the_first_active_item_out_of_reach(queue: bl.Queue, run: Any) -> None:
    if queue.device.backend is not bl.Backend.reference:
        pytest.skip("only the reference device names the item")
    text = """kernel void reach(int step, int start, global const int *in, global int *out)
        { const int i = (int)get_global_id(0); if (i % 3 != 1) out[i] = in[start + i * step]; }"""
    for step, start, item in ((10**7, 0, 2), (-(10**7), 0, 2), (0, 10**8, 0), (1, -(10**8), 0)):
        with raises(bl.KernelError, names=("'reach'", f"item_id ({item})", "reads 4 bytes")):
            run(
                text,
                "reach",
                COUNT,
                np.int32(step),
                np.int32(start),
                np.zeros(COUNT, np.int32),
                np.zeros(COUNT, np.int32),
            )
