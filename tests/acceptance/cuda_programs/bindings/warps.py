"""Warps: shuffles, votes, matches, reductions, and barriers that count."""

from __future__ import annotations

import functools

import numpy as np

from .bindings_rig import Array, Module, same

COUNT = 128

SOURCE = r"""
extern "C" __global__ void shuffles(const int *a, int *o, int n) {
    int t = threadIdx.x, v = a[t];
    int r[] = {__shfl_down_sync(~0u, v, 3), __shfl_up_sync(~0u, v, 5), __shfl_xor_sync(~0u, v, 9),
               __shfl_sync(~0u, v, v & 31), __shfl_down_sync(~0u, v, 3, 8), __shfl_up_sync(~0u, v, 2, 16),
               __shfl_sync(~0u, v, 5, 8)};
    for (int k = 0; k < sizeof r / sizeof *r; k++) o[k * n + t] = r[k];
}
extern "C" __global__ void long_shuffles(const double *a, double *o) {
    o[threadIdx.x] = __shfl_xor_sync(~0u, a[threadIdx.x], 1);
}
extern "C" __global__ void votes(const int *a, unsigned *o, int n) {
    int t = threadIdx.x, v = a[t], all;
    unsigned r[] = {__ballot_sync(~0u, v > 0), (unsigned)__all_sync(~0u, v > -60), (unsigned)__any_sync(~0u, v > 48),
                    __match_any_sync(~0u, v & 3), __match_all_sync(~0u, t >> 5, &all), (unsigned)all,
                    (unsigned)__reduce_add_sync(~0u, v), (unsigned)__reduce_min_sync(~0u, v),
                    __reduce_xor_sync(~0u, (unsigned)v), __activemask()};
    for (int k = 0; k < sizeof r / sizeof *r; k++) o[k * n + t] = r[k];
}
extern "C" __global__ void halves(const int *a, unsigned *o, int n) {
    int t = threadIdx.x, v = a[t];
    if (t & 1) { o[t] = __reduce_add_sync(0xaaaaaaaau, v); o[n + t] = __shfl_sync(0xaaaaaaaau, v, 3); }
    else { o[t] = __popc(__ballot_sync(0x55555555u, v > 0)); o[n + t] = __shfl_sync(0x55555555u, v, 2); }
    int s = v;
    for (int k = 4; k; k >>= 1) s += __shfl_xor_sync(0xffu << (t & 24), s, k, 8);
    o[2 * n + t] = s;
}
extern "C" __global__ void barriers(const int *a, int *o, int n) {
    int t = threadIdx.x, v = a[t];
    o[t] = __syncthreads_count(v > 0); o[n + t] = __syncthreads_or(v == 1000) != 0;
    o[2 * n + t] = __syncthreads_and(v > -1000) != 0;
}
extern "C" __global__ void scan(const int *a, int *o) {
    int t = threadIdx.x, v = a[t];
    for (int k = 1; k < 32; k <<= 1) { int w = __shfl_up_sync(~0u, v, k); if ((t & 31) >= k) v += w; }
    o[t] = v;
}
extern "C" __global__ void places(unsigned *o, int n) {
    unsigned lane, lower, warp, t = threadIdx.x + blockDim.x * threadIdx.y;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane)); asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lower));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
    o[t] = lane; o[n + t] = lower; o[2 * n + t] = warp;
}
"""


@functools.lru_cache
def module() -> Module:
    return Module(SOURCE)


def values() -> Array:
    return np.random.default_rng(7).integers(-50, 50, COUNT).astype(np.int32)


def moved(rows: Array, source: Array, width: int) -> Array:
    """The lanes of segments by their source lane; those outside keep their own value."""
    lanes = np.arange(32)
    first = lanes // width * width
    inside = (source >= first) & (source < first + width)
    return np.take_along_axis(rows, np.broadcast_to(np.where(inside, source, lanes), rows.shape), 1)


def check_shuffles() -> None:
    a = values()
    rows, lanes = a.reshape(-1, 32), np.arange(32)
    expected = [
        moved(rows, lanes + 3, 32), moved(rows, lanes - 5, 32), moved(rows, lanes ^ 9, 32),
        np.take_along_axis(rows, rows & 31, 1), moved(rows, lanes + 3, 8), moved(rows, lanes - 2, 16),
        moved(rows, lanes // 8 * 8 + 5, 8),
    ]  # fmt: skip
    actual = module().run("shuffles", 1, COUNT, a, np.zeros((7, COUNT), np.int32), np.int32(COUNT))[1]
    same(actual, np.stack([row.ravel() for row in expected]))


def check_shuffles_of_doubles() -> None:
    a = np.random.default_rng(8).normal(size=64)
    same(module().run("long_shuffles", 1, 64, a, np.zeros_like(a))[1], a.reshape(-1, 2)[:, ::-1].ravel())


def masks(tests: Array) -> Array:
    """The bits of lanes for which a test of shape (..., 32) holds."""
    return np.asarray((tests.astype(np.uint64) << np.arange(32, dtype=np.uint64)).sum(-1).astype(np.uint32))


def check_votes_and_reductions() -> None:
    a = values()
    rows = a.reshape(-1, 32)
    full = np.full(4, 2**32 - 1, np.uint32)
    equal = masks((rows[:, :, None] & 3) == (rows[:, None, :] & 3))
    expected = [masks(rows > 0), (rows > -60).all(1), (rows > 48).any(1), equal, full, np.ones(4),
                rows.sum(1), rows.min(1), np.bitwise_xor.reduce(rows, 1), full]  # fmt: skip
    spread = [np.broadcast_to(row.reshape(4, -1), (4, 32)).ravel().astype(np.int64) % 2**32 for row in expected]
    actual = module().run("votes", 1, COUNT, a, np.zeros((10, COUNT), np.uint32), np.int32(COUNT))[1]
    same(actual, np.stack(spread).astype(np.uint32))


def check_parts_of_warps() -> None:
    a = values()
    rows = a.reshape(-1, 32)
    odd = np.arange(32) % 2 == 1
    first = np.where(odd, rows[:, 1::2].sum(1)[:, None], (rows[:, ::2] > 0).sum(1)[:, None])
    second = np.where(odd, rows[:, 3][:, None], rows[:, 2][:, None])
    third = np.repeat(a.reshape(-1, 8).sum(1), 8)
    actual = module().run("halves", 1, COUNT, a, np.zeros((3, COUNT), np.uint32), np.int32(COUNT))[1]
    same(actual.view(np.int32), np.stack([first.ravel(), second.ravel(), third]))


def check_barriers_that_count() -> None:
    a = values()
    actual = module().run("barriers", 1, COUNT, a, np.zeros((3, COUNT), np.int32), np.int32(COUNT))[1]
    same(actual, np.repeat([[(a > 0).sum()], [0], [1]], COUNT, 1))


def check_a_scan() -> None:
    a = values()
    same(module().run("scan", 1, COUNT, a, np.zeros_like(a))[1], a.reshape(-1, 32).cumsum(1).ravel())


def check_lanes_of_blocks_with_two_axes() -> None:
    t = np.arange(120, dtype=np.uint32)
    actual = module().run("places", 1, (24, 5), np.zeros((3, 120), np.uint32), np.int32(120))[0]
    same(actual[:2], np.stack([t % 32, (np.uint32(1) << t % 32) - 1]))
    warps = [set(actual[2, t // 32 == warp].tolist()) for warp in range(4)]  # any numbers, one for each warp
    assert sorted(map(len, warps)) == [1] * 4 and len(set.union(*warps)) == 4, warps
