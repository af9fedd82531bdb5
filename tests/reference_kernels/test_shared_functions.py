"""Functions of kernels that would be too large with their calls in place: their blocks exist once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindless as bl

ITEMS = 300
X = np.random.default_rng(7).integers(0, 2**32, ITEMS).astype(np.uint32)
LEVELS = 11  # of functions that call the one below twice: 2**10 calls of the lowest
TOWER = "__attribute__((noinline)) uint f0(uint x) {"
TOWER += "".join(f" x = x * {2 * i + 3}u ^ (x >> {i % 7 + 1});" for i in range(40)) + " return x; }\n"
TOWER += "".join(
    "__attribute__((noinline)) "
    f"uint f{k}(uint x) {{ uint a = f{k - 1}(x + {k}); return f{k - 1}(a ^ {k * 77}) + a; }}\n"
    for k in range(1, LEVELS)
)


def tower(x: Any, level: int = LEVELS - 1) -> Any:
    if level > 0:
        a = tower(x + np.uint32(level), level - 1)
        return tower(a ^ np.uint32(level * 77), level - 1) + a
    for i in range(40):
        x = x * np.uint32(2 * i + 3) ^ (x >> np.uint32(i % 7 + 1))
    return x


def small(x: Any) -> Any:
    return tower(x, 3)


@pytest.fixture(autouse=True)
def _executor(device: bl.Device) -> None:
    if device.backend is bl.Backend.cuda:
        pytest.skip("a test of the executor on processors")


def test_many_calls(run: Any) -> None:
    text = TOWER + "kernel void test(global uint *x) { x[get_global_id(0)] = f10(x[get_global_id(0)]); }"
    out = run(text, "test", ITEMS, X, local=50, passes="mem2reg")[-1]
    np.testing.assert_array_equal(out, tower(X))


def test_lanes_in_different_calls_meet_behind_them(run: Any) -> None:
    """Branches and loops with different numbers of calls; the sub-group is complete again behind each."""
    text = (
        "#pragma OPENCL EXTENSION cl_khr_subgroups : enable\n"
        + TOWER
        + """kernel void test(global uint *x, global uint *sums, uint never)
    {
        const size_t i = get_global_id(0);
        uint y = x[i];
        if (y & 1) y = f3(y) + 1; else if (y & 2) y = f3(y ^ 5) * 3;
        sums[2 * i] = sub_group_reduce_add(1);
        for (uint k = 0; k < x[i] % 5; k++) { y = f3(y + k); if (y & 4) continue; y = f3(y) - k; }
        sums[2 * i + 1] = sub_group_reduce_add(y & 0xffff);
        x[i] = never ? f10(y) : y;
    }"""
    )
    out, sums = run(text, "test", ITEMS, X, np.zeros((ITEMS, 2), np.uint32), np.uint32(0), local=100, passes="mem2reg")[
        :2
    ]
    y = np.where(X & 1, small(X) + np.uint32(1), np.where(X & 2, small(X ^ np.uint32(5)) * np.uint32(3), X))
    for k in range(4):
        here = k < X % 5
        z = small(y + np.uint32(k))
        y = np.where(here, np.where(z & 4, z, small(z) - np.uint32(k)), y)
    np.testing.assert_array_equal(out, y)
    for start in range(0, ITEMS, 100):
        for at, count in ((start, 64), (start + 64, 36)):
            part = slice(at, at + count)
            np.testing.assert_array_equal(sums[part], [[count, (y[part] & 0xFFFF).sum()]] * count)


def test_barriers_memory_and_structs(run: Any) -> None:
    """A shared function with a barrier, variables of its own, a struct and pointers of each kind."""
    text = (
        TOWER
        + """typedef struct { uint a; float b; ulong c; } three;
    __attribute__((noinline)) three turn(three t, local uint *all, private uint *own, global const uint *x)
    {
        const uint n = get_local_size(0), l = get_local_id(0);
        uint seen[3] = {t.a, f3(t.a), l};
        barrier(CLK_LOCAL_MEM_FENCE);
        all[l] = seen[t.a % 2];
        barrier(CLK_LOCAL_MEM_FENCE);
        *own += all[(l + 1) % n];
        three r = {all[(l + n - 1) % n] + x[0], t.b + 0.5f, t.c * 3 + seen[2]};
        return r;
    }
    kernel void test(global uint *x, global ulong *out, uint never, local uint *all)
    {
        const size_t i = get_global_id(0);
        three t = {x[i], 1.0f, i};
        uint own = 7;
        t = turn(t, all, &own, x + 1);
        t = turn(t, all, &own, x + 2);
        for (int k = 0; k < 3; k++) t = turn(t, all, &own, x + k);
        out[3 * i] = t.a; out[3 * i + 1] = own; out[3 * i + 2] = t.c + (ulong)(t.b * 4);
        if (never) out[i] = f10(own);
    }"""
    )
    out = run(
        text,
        "test",
        ITEMS,
        X,
        np.zeros((ITEMS, 3), np.uint64),
        np.uint32(0),
        bl.LocalAccessor(400),
        local=100,
        passes="mem2reg",
    )[1]
    a, own, c = X.copy(), np.full(ITEMS, 7, np.uint32), np.arange(ITEMS, dtype=np.uint64)
    lane = np.arange(ITEMS) % 100
    for first in (1, 2, 0, 1, 2):
        mine = np.where(a % 2, small(a), a).reshape(-1, 100)
        own += np.roll(mine, -1, 1).ravel()
        a = np.roll(mine, 1, 1).ravel() + X[first]
        c = c * np.uint64(3) + lane.astype(np.uint64)
    np.testing.assert_array_equal(out, np.stack([a, own, c + np.uint64(14)], 1))


def test_recursion_is_refused(queue: bl.Queue) -> None:
    from tests.support.compile_kernels import compiled_text

    text = (
        TOWER
        + """uint g(uint x); __attribute__((noinline)) uint h(uint x) { return x ? g(x - 1) + f10(x) : f10(x); }
    __attribute__((noinline)) uint g(uint x) { return x ? h(x / 2) + h(x) : 1; }
    kernel void test(global uint *x) { x[0] = g(x[0]); }"""
    )
    module = compiled_text(text, "spirv", "", "mem2reg", "")
    with pytest.raises(bl.BuildError):
        bl.load_kernel_bundle(module, queue)
