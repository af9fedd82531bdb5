"""Divergence and recursion: loops, switches, calls of pointers, recursion, local arrays, printf and malloc."""

from __future__ import annotations

import functools
import math
import os
import sys
import tempfile

import numpy as np
from cuda.bindings import driver

from .bindings_rig import Module, call, launch, same

N = 256

SOURCE = r"""
extern "C" __global__ void collatz(const unsigned *a, int *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, k = 0;
    if (i >= n) return;
    for (unsigned v = a[i]; v != 1; k++) v = v & 1 ? 3 * v + 1 : v >> 1;
    o[i] = k;
}
extern "C" __global__ void choose(const int *a, int *o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = a[i], r;
    switch (v & 7) { case 0: r = v + 1; break; case 1: r = v * 3; break; case 2: r = v - 7; break;
                     case 3: r = v ^ 0x55; break; case 4: r = v << 2; break; case 5: r = v / 3; break;
                     default: r = -v; }
    o[i] = r;
}
extern "C" __global__ void primes(int *o) {
    int v = threadIdx.x + 2, r = 1;
    for (int d = 2; d < v; d++) { if (v % d) continue; r = 0; break; }
    o[threadIdx.x] = r;
}
__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int square(int x) { return x * x; }
__device__ int (*const table[2])(int) = {twice, square};
class Base { public: __device__ virtual int value(int x) { return x + 1; } };
class Other : public Base { public: __device__ int value(int x) override { return 5 * x; } };
extern "C" __global__ void pointers(int *o) {
    Base base; Other other;
    Base *p = threadIdx.x % 3 ? &base : &other;
    o[threadIdx.x] = table[threadIdx.x & 1](threadIdx.x) * 1000 + p->value(threadIdx.x);
}
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ __noinline__ int ackermann(int m, int n) {
    return !m ? n + 1 : !n ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
__device__ __noinline__ void sort(int *a, int l, int r) {
    if (l >= r) return;
    int p = a[(l + r) / 2], i = l, j = r;
    while (i <= j) { while (a[i] < p) i++; while (a[j] > p) j--;
                     if (i <= j) { int t = a[i]; a[i++] = a[j]; a[j--] = t; } }
    sort(a, l, j); sort(a, i, r);
}
extern "C" __global__ void recursion(int *o, int n) {
    int t = threadIdx.x;
    o[t] = fibonacci(t % 12); o[n + t] = ackermann(2, t % 4);
}
extern "C" __global__ void sorts(int *a) {
    int b[24];
    for (int k = 0; k < 24; k++) b[k] = a[threadIdx.x * 24 + k];
    sort(b, 0, 23);
    for (int k = 0; k < 24; k++) a[threadIdx.x * 24 + k] = b[k];
}
struct Record { int a; double b; short c[5]; char d; };
extern "C" __global__ void records(Record s, const Record *r, double *o) {
    Record v = r[threadIdx.x];
    o[threadIdx.x] = s.a + s.b * v.a + v.b + s.c[v.c[1] % 5] - v.d;
}
extern "C" __global__ void print(int n) {
    if (threadIdx.x == 1) printf("%d %5.2f %s %lld %c %x\n", n, 0.25 * n, "text", (long long)n << 33, 'c', 255);
}
"""

HEAP = r"""
extern "C" __global__ void heap(int *o) {
    int n = threadIdx.x % 7 + 1, s = 0, *p = (int *)malloc(n * sizeof *p);
    if (!p) { o[threadIdx.x] = -1; return; }
    for (int k = 0; k < n; k++) p[k] = k * threadIdx.x;
    for (int k = 0; k < n; k++) s += p[k];
    free(p);
    o[threadIdx.x] = s;
}
"""


@functools.lru_cache
def module() -> Module:
    return Module(SOURCE)


def check_loops_of_different_length() -> None:
    a = np.arange(1, N + 1, dtype=np.uint32)
    counts = []
    for value in map(int, a):
        count = 0
        while value != 1:
            value, count = (3 * value + 1 if value % 2 else value // 2), count + 1
        counts.append(count)
    same(module().run("collatz", 4, 80, a, np.zeros(N, np.int32), np.int32(N))[1], counts)


def check_switches() -> None:
    a = np.random.default_rng(0).integers(-1000, 1000, N).astype(np.int32)
    cases = [a + 1, a * 3, a - 7, a ^ 0x55, a << 2, np.trunc(a / 3).astype(np.int32), -a, -a]
    same(module().run("choose", 4, 64, a, np.zeros_like(a))[1], np.choose(a & 7, cases))


def check_break_and_continue() -> None:
    expected = [all(v % d for d in range(2, v)) for v in range(2, 130)]
    same(module().run("primes", 1, 128, np.zeros(128, np.int32))[0], expected)


def check_pointers_and_virtual_functions() -> None:
    t = np.arange(96)
    expected = np.where(t % 2, t * t, 2 * t) * 1000 + np.where(t % 3, t + 1, 5 * t)
    same(module().run("pointers", 1, 96, np.zeros(96, np.int32))[0], expected)


def check_recursion() -> None:
    fibonacci = [0, 1]
    while len(fibonacci) < 12:
        fibonacci.append(sum(fibonacci[-2:]))
    t = np.arange(64)
    expected = np.stack([np.array(fibonacci)[t % 12], 2 * (t % 4) + 3])
    same(module().run("recursion", 1, 64, np.zeros((2, 64), np.int32), np.int32(64))[0], expected)


def check_sorts_in_local_memory() -> None:
    a = np.random.default_rng(1).integers(-99, 99, (64, 24)).astype(np.int32)
    same(module().run("sorts", 1, 64, a)[0], np.sort(a, 1))


def check_records_by_value_and_in_memory() -> None:
    kind = np.dtype([("a", "i4"), ("b", "f8"), ("c", "i2", 5), ("d", "i1")], align=True)
    generator = np.random.default_rng(2)
    rows = np.zeros(33, kind)
    rows["a"], rows["b"], rows["d"] = (
        generator.integers(0, 99, 33),
        generator.normal(size=33),
        generator.integers(-9, 9, 33),
    )
    rows["c"] = generator.integers(0, 50, (33, 5))
    one = rows[5]
    expected = one["a"] + one["b"] * rows["a"] + rows["b"] + one["c"][rows["c"][:, 1] % 5] - rows["d"]
    same(module().run("records", 1, 32, one, rows[1:], np.zeros(32))[1], expected[1:])


def check_printf() -> None:
    sys.stdout.flush()
    with tempfile.TemporaryFile() as file:
        own = os.dup(1)
        os.dup2(file.fileno(), 1)
        try:
            launch(module().function("print"), 1, 32, np.int32(6))
            call(driver.cuCtxSynchronize)
        finally:
            os.dup2(own, 1)
            os.close(own)
        file.seek(0)
        assert file.read() == b"6  1.50 text %d c ff\n" % (6 << 33)


def check_malloc_in_kernels() -> None:
    t = np.arange(128)
    expected = [int(v) * math.comb(int(v) % 7 + 1, 2) for v in t]
    same(Module(HEAP).run("heap", 1, 128, np.zeros(128, np.int32))[0], expected)
