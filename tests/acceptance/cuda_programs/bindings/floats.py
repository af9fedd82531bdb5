"""IEEE floats: exact fractions, rounded here to the type and in the direction of each operation."""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import Any

import numpy as np

from .bindings_rig import Module, same

N = 256

_MODES = ("rn", "rz", "ru", "rd")
_ROWS = "\n".join(
    f"    o[k++ * n + i] = __fadd_{m}(x, y); o[k++ * n + i] = __fmul_{m}(x, y); o[k++ * n + i] = __fdiv_{m}(x, y);"
    f" o[k++ * n + i] = __fsqrt_{m}(fabsf(x)); o[k++ * n + i] = __fmaf_{m}(x, y, z);"
    for m in _MODES
)
_DOUBLE_ROWS = "\n".join(
    f"    o[k++ * n + i] = __dadd_{m}(x, y); o[k++ * n + i] = __dmul_{m}(x, y); o[k++ * n + i] = __ddiv_{m}(x, y);"
    f" o[k++ * n + i] = __dsqrt_{m}(fabs(x)); o[k++ * n + i] = __fma_{m}(x, y, z);"
    for m in _MODES
)
SOURCE = (
    r"""
#define PLACE int i = blockIdx.x * blockDim.x + threadIdx.x, k = 0; if (i >= n) return;
extern "C" __global__ void singles(const float *a, const float *b, const float *c, float *o, int n) {
    PLACE
    float x = a[i], y = b[i], z = c[i];
"""
    + _ROWS
    + r"""
}
extern "C" __global__ void doubles(const double *a, const double *b, const double *c, double *o, int n) {
    PLACE
    double x = a[i], y = b[i], z = c[i];
"""
    + _DOUBLE_ROWS
    + r"""
}
extern "C" __global__ void conversions(const double *a, float *f, unsigned short *h, int *w, long long *l, int n) {
    PLACE
    double x = a[i]; float s = (float)x;
    f[i] = __double2float_rn(x); f[n + i] = __double2float_rz(x); f[2 * n + i] = __double2float_ru(x);
    f[3 * n + i] = __double2float_rd(x); f[4 * n + i] = rintf(s); f[5 * n + i] = truncf(s); f[6 * n + i] = floorf(s);
    f[7 * n + i] = ceilf(s); f[8 * n + i] = (float)(long long)x;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h[i]) : "f"(s)); asm("cvt.rz.f16.f32 %0, %1;" : "=h"(h[n + i]) : "f"(s));
    w[i] = (int)s; w[n + i] = __float2int_rn(s); w[2 * n + i] = __float2int_ru(s); w[3 * n + i] = __double2int_rd(x);
    l[i] = (long long)x; l[n + i] = __double2ll_rn(x);
}
extern "C" __global__ void comparisons(const float *a, const float *b, int *o, float *m, int n) {
    PLACE
    float x = a[i], y = b[i];
    o[i] = (x < y) | (x <= y) << 1 | (x == y) << 2 | (x != y) << 3 | (x > y) << 4 | (x >= y) << 5 | isnan(x) << 6
         | isinf(x) << 7 | (signbit(x) ? 1 : 0) << 8 | isfinite(y) << 9;
    m[i] = fminf(x, y); m[n + i] = fmaxf(x, y); m[2 * n + i] = copysignf(x, y); m[3 * n + i] = fabsf(x);
}
"""
)


@functools.lru_cache
def module() -> Module:
    return Module(SOURCE)


def rounded(value: Fraction, kind: Any, mode: str) -> Any:
    """The fraction, which is no overflow, in a type of numpy, rounded in a direction."""
    near = kind(float(value))
    exact = Fraction(float(near))
    if exact == value:
        return near
    other = np.nextafter(near, kind(-np.inf if exact > value else np.inf))
    below, above = sorted((near, other))
    if mode == "rd" or (mode == "rz" and value > 0):
        return below
    if mode in ("ru", "rz"):
        return above
    left, right = value - Fraction(float(below)), Fraction(float(above)) - value
    even = below if int(np.array(below).view(f"u{np.dtype(kind).itemsize}")) % 2 == 0 else above
    return even if left == right else below if left < right else above


def root(value: Fraction) -> Fraction:
    """The square root to 300 bits: exact where it is a float, and else no middle of two."""
    scale = 2**600
    whole = math.isqrt(value.numerator * scale * scale // value.denominator)
    exact = Fraction(whole, scale)
    return exact if exact * exact == value else exact + Fraction(1, scale * 4)


def compare_directions(kind: Any, name: str, exponents: int) -> None:
    generator = np.random.default_rng(exponents)
    arrays = []
    for _ in range(3):
        values = generator.uniform(1, 2, N) * 2.0 ** generator.integers(-exponents, exponents, N)
        arrays.append((values * generator.choice([-1, 1], N)).astype(kind))
    a, b, c = arrays
    b[:16] = a[:16] * kind(2) ** -generator.integers(0, 30, 16).astype(kind)
    a[24:32] = generator.integers(1, 1000, 8).astype(kind) ** 2
    rows = []
    for x, y, z in zip(*(map(float, values) for values in (a, b, c)), strict=True):
        fx, fy, fz = Fraction(x), Fraction(y), Fraction(z)
        exact = [fx + fy, fx * fy, fx / fy, root(abs(fx)), fx * fy + fz]
        rows.append([rounded(value, kind, mode) for mode in _MODES for value in exact])
    expected = np.array(rows, kind).T
    actual = module().run(name, N // 64, 64, a, b, c, np.zeros_like(expected), np.int32(N))[3]
    for index, row in enumerate(expected):
        # a sum of zero has a sign of its own
        same(actual[index] + kind(0), row + kind(0), f"{name} {_MODES[index // 5]} {index % 5}")


def check_singles() -> None:
    compare_directions(np.float32, "singles", 20)


def check_singles_of_all_exponents() -> None:
    compare_directions(np.float32, "singles", 60)


def check_doubles() -> None:
    compare_directions(np.float64, "doubles", 200)


def check_denormals() -> None:
    a = np.array([1, 2, 3, 0x7FFFFF, 0x800000, 0x800001, 0x80000001, 0x80400000] * 32, np.uint32).view(np.float32)
    b = np.full(N, 0.5, np.float32)
    actual = module().run("singles", N // 64, 64, a, b, a, np.zeros((20, N), np.float32), np.int32(N))[3]
    expected = [[rounded(Fraction(float(x)) / 2, np.float32, mode) for x in a] for mode in _MODES]
    for turn in range(4):
        row = np.array(expected[turn], np.float32)
        same(np.abs(actual[5 * turn + 1]), np.abs(row), f"denormal {_MODES[turn]}")


def check_conversions() -> None:
    generator = np.random.default_rng(5)
    a = generator.normal(size=N) * 2.0 ** generator.integers(-30, 29, N)
    a[:8] = [0.5, 1.5, 2.5, -0.5, -1.5, 65504, 65519.9, 1e-7]
    f = np.zeros((9, N), np.float32)
    h, w, whole = np.zeros((2, N), np.uint16), np.zeros((4, N), np.int32), np.zeros((2, N), np.int64)
    _, f, h, w, whole = module().run("conversions", N // 64, 64, a, f, h, w, whole, np.int32(N))
    exact, s = [Fraction(float(x)) for x in a], a.astype(np.float32)
    for index, mode in enumerate(_MODES):
        same(f[index], [rounded(x, np.float32, mode) for x in exact], f"to single {mode}")
    for index, function in enumerate((np.rint, np.trunc, np.floor, np.ceil)):
        same(f[4 + index], function(s), f"whole {index}")
    same(f[8], np.trunc(a).astype(np.float32) + np.float32(0), "of a long")
    small = np.abs(s) < 65504
    same(h[0][small], s[small].astype(np.float16).view(np.uint16), "to half")
    halves = [rounded(Fraction(float(x)), np.float16, "rz") for x in s[small]]
    same(h[1][small] & 0x7FFF, np.array(halves, np.float16).view(np.uint16) & 0x7FFF, "to half, rz")
    low, high = -(2.0**31), 2.0**31 - 1
    for index, values in enumerate((np.trunc(s), np.rint(s), np.ceil(s), np.floor(a))):
        same(w[index], np.clip(values.astype(np.float64), low, high).astype(np.int64), f"to int {index}")
    same(whole[0], np.trunc(a).astype(np.int64), "to long")
    same(whole[1], np.rint(a).astype(np.int64), "to long, rn")


def check_comparisons_and_nan() -> None:
    edges = np.array([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-40, 3e38], np.float32)
    a, b = (grid.ravel() for grid in np.meshgrid(edges, edges))
    n = a.size
    _, _, o, m = module().run(
        "comparisons", 2, 64, a, b, np.zeros(n, np.int32), np.zeros((4, n), np.float32), np.int32(n)
    )
    tests = [a < b, a <= b, a == b, a != b, a > b, a >= b, np.isnan(a), np.isinf(a), np.signbit(a), np.isfinite(b)]
    same(o, sum(test.astype(np.int32) << bit for bit, test in enumerate(tests)), "comparisons")
    with np.errstate(invalid="ignore"):
        for index, row in enumerate((np.fmin(a, b), np.fmax(a, b))):
            numbers = (~np.isnan(row)) & (row != 0)
            same(m[index][numbers], row[numbers], "smaller or larger")
            assert np.isnan(m[index][np.isnan(row)]).all()
    same(m[2].view(np.uint32) >> 31, np.signbit(b).astype(np.uint32), "sign")
    same(m[3][~np.isnan(a)], np.abs(a)[~np.isnan(a)], "magnitude")
