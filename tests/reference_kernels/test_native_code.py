"""Kernels as native code: the executor's numbers, bits and faults, for the same programs."""

from __future__ import annotations

import ctypes
import random
import time
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.backends.reference import module
from bindless.compiler import native_slots

COUNT = 333
INTEGERS = ("a", "b", "c", "d")
FLOATS = ("x", "y", "z")


class Program:
    """Statements on integers and floats, with loops and branches that differ between work-items."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._loops = 0
        self.text = "".join(self._statement(3) for _ in range(4))

    def _pick(self, *choices: str) -> str:
        return self._random.choice(choices)

    def _integer(self, depth: int) -> str:
        if depth == 0:
            return self._pick(*INTEGERS, f"{self._random.randrange(99)}L", "(long)(int)i")
        left, right = self._integer(depth - 1), self._integer(depth - 1)
        form = self._random.randrange(8)
        if form < 4:
            return f"({left} {self._pick('+', '-', '*', '^', '|', '&')} {right})"
        if form == 4:
            return f"({left} {self._pick('/', '%')} ({right} | 1))"
        if form == 5:
            return f"({left} {self._pick('>>', '<<')} ({right} & 31))"
        if form == 6:
            return f"(long)({self._pick('int', 'uint', 'short', 'uchar')}){left}"
        return f"({self._condition()} ? {left} : {right})"

    def _float(self, depth: int) -> str:
        if depth == 0:
            return self._pick(*FLOATS, f"{self._random.randrange(9)}.5f", "(float)(int)i")
        left, right = self._float(depth - 1), self._float(depth - 1)
        form = self._random.randrange(7)
        if form < 4:
            return f"({left} {self._pick('+', '-', '*', '/')} {right})"
        if form == 4:
            return f"{self._pick('sqrt', 'fabs', 'sin', 'floor')}({left})"
        if form == 5:
            return f"(float)((double){left} * {right})"
        return f"({self._condition()} ? {left} : {right})"

    def _condition(self) -> str:
        if self._random.random() < 0.25:
            line = self._pick(
                "(int)i", "(uint)i - 70u", "(long)i * 3", "(ulong)i", "(short)i", "(int)i + 0x7fffffc0", "-(int)i"
            )
            other = self._pick("100", "(int)a", "n", "64", "-9")
            return f"({line} {self._pick('<', '<=', '>', '>=', '==', '!=')} {other})"
        if self._random.random() < 0.4:
            return f"({self._float(1)} {self._pick('<', '>=', '==', '!=')} {self._float(1)})"
        return f"(({self._integer(1)} & 7) {self._pick('<', '>', '==', '!=')} {self._random.randrange(8)})"

    def _statement(self, depth: int) -> str:
        form = self._random.randrange(8)
        if depth == 0 or form < 2:
            return f"{self._pick(*INTEGERS)} = {self._integer(2)};\n"
        if form < 4:
            return f"{self._pick(*FLOATS)} = {self._float(2)};\n"
        block = "{ " + "".join(self._statement(depth - 1) for _ in range(2)) + "}\n"
        if form < 6:
            return f"if {self._condition()} {block} else {self._pick(*INTEGERS)} += p[i];\n"
        if form == 6:
            selector = self._pick("i", "(int)i & 3", "n", "(uint)a")
            return f"switch ({selector}) {{ case 1: {block} break; case 70: b ^= a; break; default: c += d; }}\n"
        self._loops += 1
        k = f"k{self._loops}"
        limit = self._pick("9", "(i & 7)", "n & 15")
        return f"for (int {k} = 0; {k} < {limit}; {k}++) {{ {block} if {self._condition()} break; }}\n"


@pytest.fixture
def functions(monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    """The native functions of all kernels from now on."""
    addresses: list[int | None] = []

    def note(text: bytes, wait: bool) -> int:
        slot = native_slots.native_slot(text, wait)
        addresses.append(native_slots.NativeSlot.from_address(slot).function)
        return slot

    monkeypatch.setattr(module, "native_slot", note)
    return addresses


def both_ways(monkeypatch: pytest.MonkeyPatch, call: Any) -> tuple[Any, Any]:
    """The results of a call with the executor alone, and with native code."""
    results = []
    for mode in ("0", "1"):
        monkeypatch.setenv("BINDLESS_REFERENCE_NATIVE", mode)
        results.append(call(f"// {mode}\n"))  # the fixture runs equal sources as one kernel
    return results[0], results[1]


@pytest.mark.parametrize("local", [None, 111])
@pytest.mark.parametrize("seed", range(6))
def test_random_programs(
    run: Any, monkeypatch: pytest.MonkeyPatch, functions: list[int | None], seed: int, local: int | None
) -> None:
    """In rows of work-items; and in work-groups, whose work-items exchange a value in the middle."""
    exchange = """{ const int at = (int)get_local_id(0); part[at] = a; barrier(CLK_LOCAL_MEM_FENCE);
        b += part[110 - at]; barrier(CLK_LOCAL_MEM_FENCE); }"""
    text = f"""kernel void test(global const long *p, global const float *q, int n, global long *out, global float *r)
        {{ {"local long part[111];" if local else ""}
        const size_t i = get_global_id(0); long a = p[i], b = i, c = n, d = 3; float x = q[i], y = i, z = 1;
        {Program(seed).text}
        {exchange if local else ""}
        {Program(seed + 100).text}
        out[i] = a + b * 3 + c * 5 + d * 7; r[i] = x + y + z; }}"""
    generator = np.random.default_rng(seed)
    p = generator.integers(-(2**40), 2**40, COUNT)
    q = generator.standard_normal(COUNT).astype(np.float32)

    def call(mark: str) -> Any:
        outputs = np.zeros(COUNT, np.int64), np.zeros(COUNT, np.float32)
        return run(
            f'{mark}#pragma clang diagnostic ignored "-Weverything"\n{text}',
            "test", COUNT, p, q, np.int32(seed), *outputs, local=local,
        )  # fmt: skip

    executor, native = both_ways(monkeypatch, call)
    assert functions
    assert all(functions)
    np.testing.assert_array_equal(native[-2], executor[-2])
    np.testing.assert_array_equal(np.isnan(native[-1]), np.isnan(executor[-1]))
    number = ~np.isnan(executor[-1])
    np.testing.assert_array_equal(native[-1][number].view(np.uint32), executor[-1][number].view(np.uint32))


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("most", [10, 2**31 - 1, 2**51, 2**52 + 5, 2**63 - 1])
def test_quotients(
    run: Any, monkeypatch: pytest.MonkeyPatch, functions: list[int | None], bits: int, most: int
) -> None:
    """Of numbers for which doubles serve, and of others; just below multiples, and negative ones."""
    generator, count, signed = np.random.default_rng(most % 97), 640, np.dtype(f"i{bits // 8}")
    kind, most = ("int" if bits == 32 else "long"), min(most, 2 ** (bits - 1) - 1)
    text = f"""kernel void test(global const {kind} *a, global const {kind} *b, global {kind} *out)
        {{ const size_t i = get_global_id(0); const {kind} x = a[i], y = b[i];
          const u{kind} p = (u{kind})x, q = (u{kind})y;
          out[4 * i] = x / y; out[4 * i + 1] = x % y; out[4 * i + 2] = ({kind})(p / q);
          out[4 * i + 3] = ({kind})(p % q); }}"""
    a = generator.integers(-most, most, count)
    b = generator.integers(-most, most, count) // generator.choice([1, 3, 1000, most // 2 + 1], count)
    b[::97], b[b == 0] = -1, 7
    a[:20] = b[:20] // 4 * 3 - 1
    a, b = a.astype(signed), b.astype(signed)
    executor, native = both_ways(
        monkeypatch, lambda mark: run(mark + text, "test", count, a, b, np.zeros((count, 4), signed))[-1]
    )
    assert all(functions)
    np.testing.assert_array_equal(native, executor)
    exact = [abs(int(x)) // abs(int(y)) * (1 if (x < 0) == (y < 0) else -1) for x, y in zip(a, b)]
    np.testing.assert_array_equal(native[:, 0].astype(object), exact)
    unsigned = np.dtype(f"u{bits // 8}")
    np.testing.assert_array_equal(native[:, 2].view(unsigned), a.view(unsigned) // b.view(unsigned))
    np.testing.assert_array_equal(native[:, 3].view(unsigned), a.view(unsigned) % b.view(unsigned))


@pytest.mark.parametrize(("count", "bad"), [(333, 332), (333, 70), (64, 0), (640, 200)])
def test_faults_name_the_same_work_item(
    run: Any, monkeypatch: pytest.MonkeyPatch, functions: list[int | None], count: int, bad: int
) -> None:
    """Stores before the fault read what they write, so that no operation may run twice."""
    text = """kernel void test(global const long *at, global int *sum, global int *out)
        { const size_t i = get_global_id(0); sum[i] += 1; if (sum[i] == 1) out[at[i]] = (int)i; }"""
    at = np.arange(count)
    at[bad:] = 1 << 40

    def call(mark: str) -> str:
        with pytest.raises(bl.KernelError) as error:
            run(mark + text, "test", count, at, np.zeros(count, np.int32), np.zeros(count, np.int32))
        return str(error.value).split(" at 0x")[0]

    executor, native = both_ways(monkeypatch, call)
    assert all(functions)
    assert f"({bad})" in executor
    assert native == executor


@pytest.mark.parametrize("bad", [0, 100, 130, 300])
def test_a_group_that_faults_behind_a_barrier(
    run: Any, monkeypatch: pytest.MonkeyPatch, functions: list[int | None], bad: int
) -> None:
    """The executor takes over all batches of the group: what they hold, and where they are."""
    text = """kernel void test(global const long *at, global int *out)
        { local int part[150]; const int i = (int)get_global_id(0), k = (int)get_local_id(0); int sum = 0;
          for (int step = 0; step < 3; step++) { part[k] = i + step; barrier(CLK_LOCAL_MEM_FENCE);
            sum += part[149 - k]; if (step == 1) out[at[i]] = sum; barrier(CLK_LOCAL_MEM_FENCE); }
          out[i] += sum; }"""
    at = np.arange(450)
    at[bad] = 1 << 40

    def call(mark: str) -> str:
        with pytest.raises(bl.KernelError) as error:
            run(mark + text, "test", 450, at, np.zeros(450, np.int32), local=150)
        return str(error.value).split(" at 0x")[0]

    executor, native = both_ways(monkeypatch, call)
    assert all(functions)
    assert f"({bad})" in executor
    assert native == executor


@pytest.mark.parametrize(
    ("size", "local"), [((7, 130), None), ((6, 128), (3, 128)), ((6, 96), (2, 32)), ((4, 70), (1, 35))]
)
def test_rows_of_two_dimensions(
    run: Any,
    monkeypatch: pytest.MonkeyPatch,
    functions: list[int | None],
    size: tuple[int, int],
    local: tuple[int, int] | None,
) -> None:
    text = """kernel void test(global long *out)
        { const size_t x = get_global_id(0), y = get_global_id(1);
          long n = x; n = n * 1000 + y; n = n * 1000 + get_local_id(0); n = n * 10 + get_local_id(1);
          n = n * 100 + get_group_id(0); n = n * 100 + get_group_id(1); n = n * 1000 + get_local_linear_id();
          out[y * get_global_size(0) + x] = n ^ (long)get_global_linear_id(); }"""
    executor, native = both_ways(
        monkeypatch, lambda mark: run(mark + text, "test", size, np.zeros(size, np.int64), local=local)[-1]
    )
    assert all(functions)
    rows, columns = np.indices(size)
    high, wide = local or (1, 1)
    n = (columns * 1000 + rows) * 1000 + columns % wide
    n = (n * 10 + rows % high) * 100 + columns // wide
    n = (n * 100 + rows // high) * 1000 + rows % high * wide + columns % wide
    if local is not None:  # without one, the driver chooses the work-groups
        np.testing.assert_array_equal(native, n ^ np.arange(n.size).reshape(size))
    np.testing.assert_array_equal(native, executor)


def test_barriers_and_local_memory(run: Any, monkeypatch: pytest.MonkeyPatch, functions: list[int | None]) -> None:
    text = """kernel void test(global const float *values, global float *sums)
        { local float part[128]; const int i = (int)get_local_id(0); part[i] = values[get_global_id(0)];
          for (int width = 64; width > 0; width /= 2) { barrier(CLK_LOCAL_MEM_FENCE);
            if (i < width) part[i] += part[i + width]; }
          if (i == 0) sums[get_group_id(0)] = part[0]; }"""
    values = np.arange(1280, dtype=np.float32)
    executor, native = both_ways(
        monkeypatch, lambda mark: run(mark + text, "test", 1280, values, np.zeros(10, np.float32), local=128)[-1]
    )
    assert all(functions)
    np.testing.assert_array_equal(native, values.reshape(10, 128).sum(1))
    np.testing.assert_array_equal(native, executor)


@pytest.mark.parametrize(
    ("size", "local"), [(1024, 256), (1000, 200), ((8, 128), (4, 64)), ((4, 256), (2, 128)), ((8, 128), (2, 128))]
)
@pytest.mark.parametrize("number", ["get_local_id(0)", "get_local_linear_id()"])
def test_batches_that_rest(
    run: Any,
    monkeypatch: pytest.MonkeyPatch,
    functions: list[int | None],
    size: Any,
    local: Any,
    number: str,
) -> None:
    """Batches without an item below a bound, which wait at the next barrier; rows of a group begin anew."""
    shape = np.broadcast_to(size, np.size(size))
    width = int(np.ravel(local)[-1])
    text = f"""kernel void test(global const int *values, int bound, global int *out)
        {{ local int part[512]; const int i = (int){number}, k = (int)get_local_linear_id();
          const size_t at = get_global_linear_id();
          part[k] = values[at]; barrier(CLK_LOCAL_MEM_FENCE);
          if (i < 128) part[k] += 1000; barrier(CLK_LOCAL_MEM_FENCE);
          if ((uint)i < (uint)bound) part[k] *= 3; barrier(CLK_LOCAL_MEM_FENCE);
          if (i < 3) {{ part[k] ^= part[{int(np.prod(local)) - 1} - k]; if (part[k] == 77) return; }}
          barrier(CLK_LOCAL_MEM_FENCE);
          if (i < 64) part[k] -= i; barrier(CLK_LOCAL_MEM_FENCE);
          out[at] = part[k]; }}"""
    values = np.random.default_rng(3).integers(0, 999, shape, dtype=np.int32)

    def call(mark: str) -> Any:
        return run(mark + text, "test", size, values, np.int32(70), np.zeros(shape, np.int32), local=local)[-1]

    executor, native = both_ways(monkeypatch, call)
    assert all(functions)
    np.testing.assert_array_equal(native, executor)
    i = np.arange(shape[-1]) % width
    if number == "get_local_id(0)" and width > 3:
        plain = np.where(i < 70, 3, 1) * (values + 1000 * (i < 128)) - np.where(i < 64, i, 0)
        np.testing.assert_array_equal(native[..., i >= 3], plain[..., i >= 3])


@pytest.mark.parametrize("bad", [0, 5, 40, 300])
def test_a_group_that_faults_while_batches_rest(
    run: Any, monkeypatch: pytest.MonkeyPatch, functions: list[int | None], bad: int
) -> None:
    text = """kernel void test(global const long *at, global int *out)
        { local int part[256]; const int i = (int)get_local_id(0); const size_t k = get_global_id(0);
          part[i] = (int)k; barrier(CLK_LOCAL_MEM_FENCE);
          if (i < 128) part[i] += part[i + 128]; barrier(CLK_LOCAL_MEM_FENCE);
          if (i < 64) out[at[k]] = part[i]; barrier(CLK_LOCAL_MEM_FENCE);
          out[k] += part[i]; }"""
    at = np.arange(512)
    at[bad] = 1 << 40

    def call(mark: str) -> str:
        with pytest.raises(bl.KernelError) as error:
            run(mark + text, "test", 512, at, np.zeros(512, np.int32), local=256)
        return str(error.value).split(" at 0x")[0]

    executor, native = both_ways(monkeypatch, call)
    assert all(functions)
    assert f"({bad})" in executor
    assert native == executor


def test_a_group_without_barriers_that_leaves(
    run: Any, monkeypatch: pytest.MonkeyPatch, functions: list[int | None]
) -> None:
    """The executor goes on with the second batch alone: the first one has run."""
    text = """kernel void test(global int *out, global int *other)
        { local int part[128]; const int i = (int)get_local_id(0); const size_t at = get_global_id(0);
          part[i] = i; out[at] += part[i] + 1; const int k = 63 - i; if (k < 64) other[at] = k | 64; }"""

    def call(mark: str) -> Any:
        return run(mark + text, "test", 256, np.zeros(256, np.int32), np.zeros(256, np.int32), local=128)

    executor, native = both_ways(monkeypatch, call)
    assert all(functions)
    i = np.arange(256, dtype=np.int32) % 128
    for results in (executor, native):
        np.testing.assert_array_equal(results[0], i + 1)
        np.testing.assert_array_equal(results[1], 63 - i | 64)


def test_strides_that_narrow_numbers_change(
    run: Any, monkeypatch: pytest.MonkeyPatch, functions: list[int | None]
) -> None:
    text = """kernel void test(global long *out)
        { local int part[128]; const int i = (int)get_local_id(0); part[i] = i;
          const ushort small = (ushort)(i * 70000); const long wide = (long)(short)(i * 700);
          const uchar byte = (uchar)(i * 3); const int line = i * -5;
          barrier(CLK_LOCAL_MEM_FENCE);
          out[get_global_id(0)] = small * 3L + wide * 7 + byte + line + part[127 - i]; }"""
    executor, native = both_ways(
        monkeypatch, lambda mark: run(mark + text, "test", 256, np.zeros(256, np.int64), local=128)[-1]
    )
    assert all(functions)
    i = np.arange(256) % 128
    expected = (i * 70000 % 65536) * 3 + (i * 700).astype(np.int16).astype(np.int64) * 7
    np.testing.assert_array_equal(native, expected + (i * 3).astype(np.uint8) - i * 5 + 127 - i)
    np.testing.assert_array_equal(native, executor)


@bl.kernel
def read_local(indices: Any, out: Any) -> None:
    """Read an array in local memory by an index, which is checked against its length."""
    part = bl.device.local_array(128, np.int32)
    item = bl.device.local_id(0)
    part[item] = np.int32(3) * item
    bl.device.barrier()
    out[bl.device.item_id(0)] = part[indices[bl.device.item_id(0)]] + part[127 - item]


@pytest.mark.parametrize("bad", [None, 128, -129, 1 << 40])
def test_arrays_in_local_memory(monkeypatch: pytest.MonkeyPatch, functions: list[int | None], bad: int | None) -> None:
    """Indices within the array, from its end where they are negative; others fault."""
    queue = bl.Queue("reference")
    items = np.arange(256)
    indices = (items * 37 % 256 - 128).astype(np.int64)
    if bad is not None:
        indices[200] = bad

    out = bl.usm_empty(256, np.int32, queue)
    at = bl.usm_empty(256, np.int64, queue).copy_from(indices)
    monkeypatch.setenv("BINDLESS_REFERENCE_NATIVE", "1")
    if bad is None:
        queue.parallel_for(bl.NdRange(256, 128), read_local, at, out).wait()
        np.testing.assert_array_equal(out.numpy(queue), 3 * (indices % 128) + 3 * (127 - items % 128))
    else:
        with pytest.raises(bl.KernelError, match=r"\(200\)"):
            queue.parallel_for(bl.NdRange(256, 128), read_local, at, out).wait()
    assert all(functions)


@pytest.mark.parametrize("first", [0, 1, 100, -64])
def test_sums_that_compilers_write_as_or(
    run: Any, monkeypatch: pytest.MonkeyPatch, functions: list[int | None], first: int
) -> None:
    """Indices of rows, and the same operation where lanes have bits in common with the number."""
    text = """kernel void test(global int *out, int first)
        { const int i = (int)get_global_id(0), k = i + first; int n = 0;
          if (k < 64) n = k | 64;
          if (k < 128 && i < 200) n += (k | 128) * 3;
          if ((uint)k < 32u) n ^= (int)((ulong)k | 96ul) * 5;
          out[i * 4 | 1] = n; out[i * 4 | 2] = k << 3 | 5; out[(i << 2) | 3] = (k * 6) | 1; out[i * 4] = k | 1; }"""

    def call(mark: str) -> Any:
        return run(mark + text, "test", COUNT, np.zeros(4 * COUNT, np.int32), np.int32(first))[0]

    executor, native = both_ways(monkeypatch, call)
    assert all(functions)
    k = np.arange(COUNT, dtype=np.int32) + np.int32(first)
    n = np.where(k < 64, k | 64, 0)
    n += np.where((k < 128) & (np.arange(COUNT) < 200), (k | 128) * 3, 0)
    n ^= np.where((k >= 0) & (k < 32), (k | 96) * 5, 0)
    np.testing.assert_array_equal(native.reshape(COUNT, 4), np.stack([k | 1, n, k << 3 | 5, k * 6 | 1], 1))
    np.testing.assert_array_equal(native, executor)


def test_the_driver_asks_for_native_code(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """After launches that took long; the launches before and after give the same."""
    monkeypatch.setenv("BINDLESS_REFERENCE_NATIVE", "background")
    monkeypatch.setattr(native_slots, "PATIENCE", 1)
    slots: list[native_slots.NativeSlot] = []

    def note(text: bytes, wait: bool) -> int:
        slots.append(native_slots.NativeSlot.from_address(native_slots.native_slot(text, wait)))
        return ctypes.addressof(slots[0])

    monkeypatch.setattr(module, "native_slot", note)
    text = "kernel void test(global int *out) { const int i = (int)get_global_id(0); out[i] = i * i - 3; }"
    before = run(text, "test", COUNT, np.zeros(COUNT, np.int32))[-1]
    end = time.monotonic() + 60
    while slots[0].function is None and time.monotonic() < end:
        time.sleep(0.01)
    assert slots[0].function is not None
    after = run(text, "test", COUNT, np.zeros(COUNT, np.int32))[-1]
    np.testing.assert_array_equal(before, np.arange(COUNT) ** 2 - 3)
    np.testing.assert_array_equal(after, before)
