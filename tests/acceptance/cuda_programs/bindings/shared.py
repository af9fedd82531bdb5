"""Shared memory and atomics."""

from __future__ import annotations

import functools

import numpy as np

from .bindings_rig import Module, same

SOURCE = r"""
typedef unsigned int u32; typedef unsigned long long u64;
extern "C" __global__ void sums(const float *a, float *o) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = a[blockIdx.x * 256 + t];
    __syncthreads();
    for (int k = 128; k; k >>= 1) { if (t < k) s[t] += s[t + k]; __syncthreads(); }
    if (!t) o[blockIdx.x] = s[0];
}
extern "C" __global__ void backwards(const int *a, int *o) {
    extern __shared__ int d[];
    __shared__ int f[3];
    int t = threadIdx.x, n = blockDim.x;
    if (t < 3) f[t] = t + 10;
    d[t] = a[blockIdx.x * n + t];
    __syncthreads();
    o[blockIdx.x * n + t] = d[n - 1 - t] * f[t % 3];
}
extern "C" __global__ void transpose(const double *a, double *o, int n) {
    __shared__ double tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = a[y * n + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x; y = blockIdx.x * 16 + threadIdx.y;
    o[y * n + x] = tile[threadIdx.x][threadIdx.y];
}
extern "C" __global__ void histogram(const u32 *a, u32 *o, int n) {
    __shared__ u32 h[16];
    if (threadIdx.x < 16) h[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&h[a[i] & 15], 1u);
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&o[threadIdx.x], h[threadIdx.x]);
}
extern "C" __global__ void all(u32 *o, int *s, u64 *q, float *f, double *d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&o[0], i); atomicMax(&o[1], i * 7919u % 1000u); atomicMin(&o[2], i * 7919u % 1000u + 5);
    atomicInc(&o[3], 99); atomicDec(&o[4], 50); atomicAnd(&o[5], ~(1u << (i & 7))); atomicOr(&o[6], 1u << (i & 31));
    atomicXor(&o[7], i); atomicSub(&o[8], 2); atomicExch(&o[9], 7);
    atomicMin(&s[0], -i); atomicMax(&s[1], i - 500);
    atomicAdd(&q[0], (u64)i << 33); atomicMax(&q[1], (u64)i * 3); atomicMin(&q[2], (u64)i + 4);
    atomicXor(&q[3], (u64)i << 20);
    atomicAdd(f, 1.0f); atomicAdd(d, 0.5);
    u32 old = o[10], last;
    do { last = old; old = atomicCAS(&o[10], last, last + 3); } while (old != last);
    atomicAdd_block(&o[11], 1u); atomicAdd_system(&o[12], 1u);
}
extern "C" __global__ void tickets(u32 *next, u32 *o) { o[atomicAdd(next, 1u)] = 1; }
__device__ u32 arrivals;
extern "C" __global__ void last_block(const int *a, int *parts, int *o) {
    __shared__ bool last;
    int t = threadIdx.x;
    atomicAdd(&parts[blockIdx.x], a[blockIdx.x * blockDim.x + t]);
    __threadfence();
    __syncthreads();
    if (!t) last = atomicAdd(&arrivals, 1u) == gridDim.x - 1;
    __syncthreads();
    if (last && t < gridDim.x) atomicAdd(o, parts[t]);
}
"""


@functools.lru_cache
def module() -> Module:
    return Module(SOURCE)


def check_sums_of_blocks() -> None:
    a = np.random.default_rng(0).normal(size=(6, 256)).astype(np.float32)
    expected = a.copy()
    for step in (128, 64, 32, 16, 8, 4, 2, 1):
        expected = expected[:, :step] + expected[:, step : 2 * step]
    same(module().run("sums", 6, 256, a, np.zeros(6, np.float32))[1], expected[:, 0])


def check_dynamic_shared_memory() -> None:
    for size in (1, 33, 128, 1024):
        a = np.arange(3 * size, dtype=np.int32).reshape(3, size) * 7
        expected = a[:, ::-1] * (np.arange(size) % 3 + 10)
        same(module().run("backwards", 3, size, a, np.zeros_like(a), shared=4 * size)[1], expected, str(size))


def check_a_transpose_through_tiles() -> None:
    a = np.random.default_rng(1).normal(size=(48, 48))
    actual = module().run("transpose", (3, 3), (16, 16), a, np.zeros_like(a), np.int32(48))[1]
    same(actual, np.ascontiguousarray(a.T))


def check_a_histogram() -> None:
    a = np.random.default_rng(2).integers(0, 2**32, 5000, np.uint32)
    actual = module().run("histogram", 7, 96, a, np.zeros(16, np.uint32), np.int32(a.size))[1]
    same(actual, np.bincount(a & 15, minlength=16))


def check_all_atomics() -> None:
    count = 512
    o, s = np.zeros(13, np.uint32), np.zeros(2, np.int32)
    o[2], o[5], o[8] = 2**32 - 1, 2**32 - 1, 5
    q = np.array([0, 0, 2**64 - 1, 0], np.uint64)
    start = o.copy()
    o, s, q, f, d = module().run("all", 4, 128, o, s, q, np.zeros(1, np.float32), np.zeros(1))
    i = np.arange(count, dtype=np.int64)
    expected = start.astype(np.int64)
    expected[0], expected[1], expected[2] = i.sum(), (i * 7919 % 1000).max(), (i * 7919 % 1000).min() + 5
    expected[3], expected[5], expected[6] = count % 100, (2**32 - 1) & ~0xFF, 2**32 - 1
    value = 0
    for _ in i:
        value = 50 if value == 0 or value > 50 else value - 1
    expected[4], expected[7] = value, np.bitwise_xor.reduce(i)
    expected[8], expected[9], expected[10] = 5 - 2 * count, 7, 3 * count
    expected[11] = expected[12] = count
    same(o, (expected % 2**32).astype(np.uint32))
    same(s, [-(count - 1), max(0, count - 1 - 500)])
    same(q, np.array([int(i.sum()) << 33, 3 * (count - 1), 4, int(np.bitwise_xor.reduce(i)) << 20], np.uint64))
    assert f[0] == count and d[0] == count / 2


def check_old_values_are_all_different() -> None:
    _, o = module().run("tickets", 8, 64, np.zeros(1, np.uint32), np.zeros(512, np.uint32))
    same(o, np.ones(512, np.uint32))


def check_the_last_block_sees_all_others() -> None:
    a = np.random.default_rng(3).integers(-1000, 1000, (16, 64), np.int32)
    _, parts, o = module().run("last_block", 16, 64, a, np.zeros(16, np.int32), np.zeros(1, np.int32))
    same(parts, a.sum(1))
    same(o, [a.sum()])
