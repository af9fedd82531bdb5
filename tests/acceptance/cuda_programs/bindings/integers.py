"""Integers and bits."""

from __future__ import annotations

import functools

import numpy as np

from .bindings_rig import Array, Module, same

N = 512

SOURCE = r"""
typedef unsigned int u32; typedef unsigned long long u64;
#define PLACE int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;
extern "C" __global__ void words(const u32 *a, const u32 *b, const u32 *c, u32 *o, int n) {
    PLACE
    u32 x = a[i], y = b[i], z = c[i];
    u32 r[] = {(u32)__popc(x), (u32)__clz(x), __brev(x), (u32)__ffs(x), __umulhi(x, y), (u32)__mulhi((int)x, (int)y),
               __funnelshift_l(x, y, z), __funnelshift_rc(x, y, z & 63), __byte_perm(x, y, 0x7250),
               __dp4a(x, y, z), (u32)__dp4a((int)x, (int)y, (int)z), __usad(x, y, z),
               (u32)((int)x / ((int)y | 1)), (u32)((int)x % ((int)y | 1)), x / (y | 1), x % (y | 1),
               __vmaxs2(x, y), __vaddus4(x, y), __vabsdiffu4(x, y), __vcmpgtu2(x, y),
               x >> (z & 31), (u32)((int)x >> (z & 31)), (x & y) | (~x & z), (x ^ y) & (x ^ z)};
    for (int k = 0; k < sizeof r / sizeof *r; k++) o[k * n + i] = r[k];
}
extern "C" __global__ void longs(const u64 *a, const u64 *b, u64 *o, int n) {
    PLACE
    u64 x = a[i], y = b[i];
    u64 r[] = {__umul64hi(x, y), (u64)__mul64hi((long long)x, (long long)y), x / (y | 1), x % (y | 1),
               (u64)((long long)x / ((long long)y | 1)), (u64)((long long)x % ((long long)y | 1)),
               (u64)__popcll(x), (u64)__clzll(x), __brevll(x), x << (y & 63), (u64)((long long)x >> (y & 63)),
               (u64)(((unsigned __int128)x * y + x) >> 37)};
    for (int k = 0; k < sizeof r / sizeof *r; k++) o[k * n + i] = r[k];
}
extern "C" __global__ void narrow(const u32 *a, const u32 *b, int *o, int n) {
    PLACE
    signed char x = a[i]; unsigned char y = b[i]; short z = a[i] >> 8; unsigned short w = b[i] >> 8;
    o[i] = x * y; o[n + i] = z * w + x; o[2 * n + i] = (signed char)(x + y); o[3 * n + i] = (unsigned short)(z - w);
}
"""


@functools.lru_cache
def module() -> Module:
    return Module(SOURCE)


def inputs(bits: int) -> tuple[Array, Array, Array]:
    """Random words of all lengths, with the edges."""
    generator = np.random.default_rng(bits)
    kind = np.dtype(f"u{bits // 8}")
    edges = np.array([0, 1, 2**bits - 1, 2 ** (bits - 1), 2 ** (bits - 1) - 1], kind)
    arrays = []
    for turn in range(3):
        values = generator.integers(0, 2**bits, N, kind, endpoint=False) >> generator.integers(0, bits, N).astype(kind)
        values[: edges.size] = np.roll(edges, turn)
        arrays.append(values)
    return arrays[0], arrays[1], arrays[2]


def signed(value: int, bits: int) -> int:
    return value - 2**bits if value >> (bits - 1) else value


def quotient(x: int, y: int) -> int:
    """Rounded towards zero, as in C."""
    whole = abs(x) // abs(y)
    return whole if (x < 0) == (y < 0) else -whole


def parts(value: int, bits: int) -> list[int]:
    return [value >> at & (2**bits - 1) for at in range(0, 32, bits)]


def join(values: list[int], bits: int) -> int:
    return sum((value & (2**bits - 1)) << index * bits for index, value in enumerate(values))


def leading(value: int, bits: int) -> int:
    return bits - value.bit_length()


def reverse(value: int, bits: int) -> int:
    return int(f"{value:0{bits}b}"[::-1], 2)


def word_results(x: int, y: int, z: int) -> list[int]:
    sx, sy = signed(x, 32), signed(y, 32)
    odd = signed(y | 1, 32)
    pair = x | y << 32
    bytes_ = [x & 255, y >> 8 & 255, x >> 16 & 255, y >> 24]  # the selector 0x7250, from its lowest digit: 0, 5, 2, 7
    low, high = parts(x, 8), parts(y, 8)
    halves = list(zip(parts(x, 16), parts(y, 16), strict=True))
    return [
        x.bit_count(), leading(x, 32), reverse(x, 32), (x & -x).bit_length(), x * y >> 32, sx * sy >> 32,
        (pair << (z & 31)) >> 32, pair >> min(z & 63, 32), join(bytes_, 8),
        z + sum(a * b for a, b in zip(low, high, strict=True)),
        z + sum(signed(a, 8) * signed(b, 8) for a, b in zip(low, high, strict=True)), abs(x - y) + z,
        quotient(sx, odd), sx - odd * quotient(sx, odd), x // (y | 1), x % (y | 1),
        join([max(signed(a, 16), signed(b, 16)) for a, b in halves], 16),
        join([min(a + b, 255) for a, b in zip(low, high, strict=True)], 8),
        join([abs(a - b) for a, b in zip(low, high, strict=True)], 8), join([-(a > b) for a, b in halves], 16),
        x >> (z & 31), sx >> (z & 31), (x & y) | (~x & z), (x ^ y) & (x ^ z),
    ]  # fmt: skip


def long_results(x: int, y: int) -> list[int]:
    sx, sy = signed(x, 64), signed(y, 64)
    odd = signed(y | 1, 64)
    return [
        x * y >> 64, sx * sy >> 64, x // (y | 1), x % (y | 1), quotient(sx, odd), sx - odd * quotient(sx, odd),
        x.bit_count(), leading(x, 64), reverse(x, 64), x << (y & 63), sx >> (y & 63), (x * y + x) % 2**128 >> 37,
    ]  # fmt: skip


def check_words() -> None:
    a, b, c = inputs(32)
    rows = [word_results(int(x), int(y), int(z)) for x, y, z in zip(a, b, c, strict=True)]
    expected = np.array([[value % 2**32 for value in row] for row in rows], np.uint32).T
    actual = module().run("words", N // 64, 64, a, b, c, np.zeros_like(expected), np.int32(N))[3]
    for index, row in enumerate(expected):
        same(actual[index], row, f"word {index}")


def check_longs() -> None:
    a, b, _ = inputs(64)
    rows = [long_results(int(x), int(y)) for x, y in zip(a, b, strict=True)]
    expected = np.array([[value % 2**64 for value in row] for row in rows], np.uint64).T
    actual = module().run("longs", N // 64, 64, a, b, np.zeros_like(expected), np.int32(N))[2]
    for index, row in enumerate(expected):
        same(actual[index], row, f"long {index}")


def check_narrow_types() -> None:
    a, b, _ = inputs(32)
    x, y = a.astype(np.int8).astype(int), b.astype(np.uint8).astype(int)
    z, w = (a >> 8).astype(np.int16).astype(int), (b >> 8).astype(np.uint16).astype(int)
    expected = np.stack([x * y, z * w + x, (x + y).astype(np.int8), (z - w).astype(np.uint16)])
    actual = module().run("narrow", N // 64, 64, a, b, np.zeros((4, N), np.int32), np.int32(N))[2]
    same(actual, expected, "narrow")
