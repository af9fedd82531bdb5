"""Control flow, all address spaces, barriers and atomics: bit-exact on both devices and compared with numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.opencl.peers import Local

pytestmark = [
    pytest.mark.opencl,
    pytest.mark.skipif(not bl.kernels_available(), reason="needs a kernel compiler: pip install 'bindless[kernels]'"),
]

SOURCE = """
/* ---- control flow */
kernel void collatz(global uint *out, global const uint *in)
{
    uint n = in[get_global_id(0)], steps = 0;
    while (n != 1 && steps < 1000) { n = n & 1 ? 3 * n + 1 : n / 2; ++steps; }
    out[get_global_id(0)] = steps;
}
kernel void sieve(global int *out)
{
    const int n = (int)get_global_id(0);
    int found = n > 1;
    for (int d = 2; d * d <= n; ++d) {
        if (n % d) continue;
        found = 0;
        break;
    }
    out[n] = found;
}
kernel void states(global int *out, global const uchar *in, int length)
{
    int state = 0, sum = 0;
    global const uchar *text = in + get_global_id(0) * length;
    for (int i = 0; i < length; ++i) {
        switch (state) {
        case 0: state = text[i] > 200 ? 3 : text[i] & 1; break;
        case 1: sum += text[i]; /* falls through */
        case 2: state = text[i] % 5; break;
        case 3: if (text[i] < 10) goto done; state = 2; break;
        default: sum ^= text[i] << state; state = 0;
        }
    }
done:
    out[get_global_id(0)] = sum * 8 + state;
}

/* ---- vectors */
kernel void shuffles(global int4 *out, global const int4 *in)
{
    const int4 a = in[2 * get_global_id(0)], b = in[2 * get_global_id(0) + 1];
    int8 both = (int8)(a.wzyx, b.s3210);
    both.even = both.odd + 1;
    both.s07 = a.lo;
    const int4 chosen = select(a, b, a > b);
    out[3 * get_global_id(0)] = both.lo ^ both.hi.yxwz;
    out[3 * get_global_id(0) + 1] = chosen * (int4)(any(a == b), all(a < b), 1, -1);
    out[3 * get_global_id(0) + 2] = shuffle2(a, b, (uint4)(7, 2, 5, 0)) + as_int4(convert_float4(a % 1000));
}
kernel void threes(global float *out, global const float *in)
{
    const size_t i = get_global_id(0);
    const float3 v = vload3(i, in);
    vstore3(v.zxy * 2.0f, i, out);
}

/* ---- structures, pointers, private and constant memory */
typedef struct { int key; float value; short parts[3]; } record;
typedef struct { int first, second; uchar2 bytes; long wide; } choice;
constant int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
static int total(const record *r) { return r->key + r->parts[0] + r->parts[1] * r->parts[2]; }
kernel void records(global record *out, global const record *in, choice how)
{
    const size_t i = get_global_id(0);
    record mine = in[i];
    mine.key = total(&mine) * primes[i & 7] + how.first;
    mine.parts[i % 3] += (short)how.second;
    mine.value *= (float)how.bytes.y;
    out[i] = mine;
    out[i].parts[2] ^= (short)how.wide;
}
kernel void sorted(global int *out, global const int *in)
{
    int mine[16];
    for (int i = 0; i < 16; ++i) mine[i] = in[get_global_id(0) * 16 + i];
    for (int i = 1; i < 16; ++i)
        for (int j = i; j > 0 && mine[j - 1] > mine[j]; --j) {
            const int kept = mine[j]; mine[j] = mine[j - 1]; mine[j - 1] = kept;
        }
    for (int i = 0; i < 16; ++i) out[get_global_id(0) * 16 + i] = mine[i];
}

/* ---- work-groups */
kernel void positions(global uint *out)
{
    const size_t i = get_global_id(0) + get_global_size(0) * (get_global_id(1) + get_global_size(1) * get_global_id(2));
    out[i] = (uint)(get_local_id(0) + 10 * get_local_id(1) + 100 * get_local_id(2) + 1000 * get_group_id(0)
             + 10000 * get_group_id(1) + 100000 * get_num_groups(0) + 1000000 * get_local_size(1)
             + 10000000 * get_work_dim());
}
kernel void scan(global int *out, global const int *in, local int *piece)
{
    const int i = (int)get_local_id(0), n = (int)get_local_size(0);
    piece[i] = in[get_global_id(0)];
    for (int step = 1; step < n; step *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const int add = i >= step ? piece[i - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        piece[i] += add;
    }
    out[get_global_id(0)] = piece[i];
}
kernel void transpose(global float *out, global const float *in)
{
    local float tile[8][9];
    const size_t x = get_global_id(0), y = get_global_id(1), w = get_global_size(0), h = get_global_size(1);
    tile[get_local_id(1)][get_local_id(0)] = in[y * w + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    const size_t tx = get_group_id(1) * 8 + get_local_id(0), ty = get_group_id(0) * 8 + get_local_id(1);
    out[ty * h + tx] = tile[get_local_id(0)][get_local_id(1)];
}
kernel void bitonic(global uint *data)
{
    local uint held[64];
    const uint i = (uint)get_local_id(0);
    held[i] = data[get_global_id(0)];
    for (uint size = 2; size <= 64; size *= 2)
        for (uint step = size / 2; step > 0; step /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            const uint other = i ^ step, a = held[i], b = held[other];
            barrier(CLK_LOCAL_MEM_FENCE);
            held[i] = ((i & size) == 0) == (i < other) ? min(a, b) : max(a, b);
        }
    data[get_global_id(0)] = held[i];
}

/* ---- atomics: Intel's CPU runtime has none for pointers to the generic address space, as those of OpenCL C 2 are */
kernel void histogram(global uint *bins, global const uchar *in)
{
    local uint mine[256];
    mine[get_local_id(0)] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&mine[in[get_global_id(0)]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&bins[get_local_id(0)], mine[get_local_id(0)]);
}
kernel void extremes(global int *out, global const int *in)
{
    const int value = in[get_global_id(0)];
    atomic_min(out, value);
    atomic_max(out + 1, value);
    atomic_xor(out + 2, value);
    atomic_or(out + 3, value);
    for (int seen = out[4], then;; seen = then) {
        then = atomic_cmpxchg(out + 4, seen, seen + value % 7);
        if (then == seen) break;
    }
}
kernel void tickets(global int *out, global int *next) { out[atomic_add(next, 1)] = 1; }
"""


@pytest.fixture(scope="module")
def module() -> bytes:
    return bl.build(SOURCE, targets="spirv").sections[0].data


def _ints(shape: Any, low: int, high: int, dtype: Any = np.int32) -> Any:
    return np.random.default_rng(7).integers(low, high, shape, dtype)


def _equal(results: tuple[list[Any], list[Any]], number: int = 0) -> Any:
    """The result array, after a check that both devices agree."""
    here, there = results
    np.testing.assert_array_equal(here[number], there[number])
    return here[number]


def test_loops(module: bytes, both: Any) -> None:
    values = _ints(500, 1, 100000, np.uint32)
    steps = _equal(both(module, "collatz", 500, np.zeros(500, np.uint32), values))
    for value, count in zip(values[:50].tolist(), steps):
        for _ in range(int(count)):
            value = 3 * value + 1 if value & 1 else value // 2
        assert value == 1
    primes = np.flatnonzero(_equal(both(module, "sieve", 1000, np.zeros(1000, np.int32))))
    assert primes[:6].tolist() == [2, 3, 5, 7, 11, 13] and primes.size == 168


def test_switches_and_jumps(module: bytes, both: Any) -> None:
    text = _ints((300, 40), 0, 256, np.uint8)
    assert np.unique(_equal(both(module, "states", 300, np.zeros(300, np.int32), text, np.int32(40)))).size > 100


def test_vectors(module: bytes, both: Any) -> None:
    values = _ints((200, 2, 4), -9999, 9999)
    values[::3, 1] = values[::3, 0]
    _equal(both(module, "shuffles", 200, np.zeros((200, 3, 4), np.int32), values))
    points = np.arange(300, dtype=np.float32).reshape(100, 3)
    found = _equal(both(module, "threes", 100, np.zeros((100, 3), np.float32), points))
    np.testing.assert_array_equal(found, points[:, [2, 0, 1]] * 2)


def test_structures(module: bytes, both: Any) -> None:
    record = np.dtype(
        {"names": ["key", "value", "parts"], "formats": ["i4", "f4", "3i2"], "offsets": [0, 4, 8], "itemsize": 16}
    )
    choice = np.dtype([("first", "i4"), ("second", "i4"), ("bytes", "2u1"), ("_gap", "6u1"), ("wide", "i8")])
    values, how = np.zeros(100, record), np.zeros((), choice)
    values["key"], values["value"], values["parts"] = _ints(100, -99, 99), _ints(100, 0, 99), _ints((100, 3), -99, 99)
    how["first"], how["second"], how["bytes"], how["wide"] = 5, -7, (1, 3), 0x123456789
    found = _equal(both(module, "records", 100, np.zeros(100, record), values, how))
    primes = np.array([2, 3, 5, 7, 11, 13, 17, 19])[np.arange(100) & 7]
    parts = values["parts"].astype(int)
    np.testing.assert_array_equal(found["key"], (values["key"] + parts[:, 0] + parts[:, 1] * parts[:, 2]) * primes + 5)
    np.testing.assert_array_equal(found["value"], values["value"] * 3)


def test_private_memory(module: bytes, both: Any) -> None:
    values = _ints((64, 16), -1000, 1000)
    found = _equal(both(module, "sorted", 64, np.zeros((64, 16), np.int32), values))
    np.testing.assert_array_equal(found, np.sort(values, axis=1))


def test_positions(module: bytes, both: Any) -> None:
    _equal(both(module, "positions", (12, 6, 4), np.zeros(288, np.uint32), local=(4, 3, 2)))


def test_local_memory_and_barriers(module: bytes, both: Any) -> None:
    values = _ints((8, 32), -100, 100)
    found = _equal(both(module, "scan", 256, np.zeros((8, 32), np.int32), values, Local(128), local=32))
    np.testing.assert_array_equal(found, np.cumsum(values, axis=1))
    matrix = np.random.default_rng(8).random((16, 24), np.float32)
    found = _equal(both(module, "transpose", (24, 16), np.zeros((24, 16), np.float32), matrix, local=(8, 8)))
    np.testing.assert_array_equal(found, matrix.T)
    words = _ints((4, 64), 0, 2**32, np.uint32)
    np.testing.assert_array_equal(_equal(both(module, "bitonic", 256, words, local=64)), np.sort(words, axis=1))


def test_atomics(module: bytes, both: Any) -> None:
    text = _ints(4096, 0, 256, np.uint8)
    bins = _equal(both(module, "histogram", 4096, np.zeros(256, np.uint32), text, local=256))
    np.testing.assert_array_equal(bins, np.bincount(text, minlength=256))
    values = _ints(1000, -(2**31), 2**31 - 1)
    found = _equal(both(module, "extremes", 1000, np.array([2**31 - 1, -(2**31), 0, 0, 0], np.int32), values))
    left = np.fmod(values.astype(np.int64), 7).sum()
    wanted = [values.min(), values.max(), np.bitwise_xor.reduce(values), np.bitwise_or.reduce(values), left]
    np.testing.assert_array_equal(found, wanted)
    taken = both(module, "tickets", 777, np.zeros(777, np.int32), np.zeros(1, np.int32))
    assert _equal(taken).all() and _equal(taken, 1)[0] == 777
