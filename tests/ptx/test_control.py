"""Parameters, control flow, functions, recursion, memory of variables, faults."""

from __future__ import annotations

import math

import numpy as np
import pytest

import bindless as bl
from tests.ptx.compiler import Compiler, Module
from tests.ptx.conftest import Load

GENERATOR = np.random.default_rng(3)
T = np.arange(64)
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def test_structs_are_arguments(load: Load, queue: bl.Queue) -> None:
    layout = np.dtype([("a", "i4"), ("_", "i4"), ("b", "f8"), ("c", "i2", 5), ("__", "i2", 3), ("p", "u8")])
    memory = bl.usm_empty((64,), np.float32, queue)
    memory.copy_from(np.arange(64, dtype=np.float32))
    first = np.zeros(1, layout)
    first["a"], first["b"], first["c"], first["p"] = 3, 4.7, [1, 2, 30, 4, 5], int(memory.pointer)
    second = first.copy()
    second["c"] = [100, 200, 300, 400, 500]
    out = np.zeros(64, np.int32)
    found = load("control").launch("st", 1, 64, first, out, out, second)[1]
    np.testing.assert_array_equal(found, 3 + 4 + 30 + T + np.array([100, 200, 300, 400, 500])[T % 5])


def _steps(value: int) -> int:
    count = 0
    while value != 1:
        value = 3 * value + 1 if value & 1 else value >> 1
        count += 1
    return count


def test_loops_diverge(load: Load) -> None:
    a = GENERATOR.integers(1, 1000, 500).astype(np.uint32)
    found = load("control").launch("collatz", 4, 128, a, np.zeros(500, np.int32), np.int32(500))[1]
    np.testing.assert_array_equal(found, [_steps(int(value)) for value in a])


def test_switches_and_private_arrays(load: Load) -> None:
    module = load("control")
    v = GENERATOR.integers(-1000, 1000, 256).astype(np.int32)
    wanted = [[x + 1, x * 3, x - 7, x ^ 0x55, x << 2, int(x / 3), -x, -x][x & 7] for x in (int(value) for value in v)]
    np.testing.assert_array_equal(module.launch("sw", 2, 128, v, np.zeros_like(v))[1], wanted)
    sums = [sum(int(v[(i + ((i * k) & 15)) & 255]) * k for k in range(16)) for i in range(64)]
    np.testing.assert_array_equal(module.launch("loc", 1, 64, v, np.zeros(64, np.int32))[1], sums)


def test_functions_by_name_and_pointer(load: Load) -> None:
    module = load("control")
    x = GENERATOR.integers(-9, 9, 64).astype(np.float32)
    wanted = np.where(T & 1, x - T, x * T + 1) + x * 6 + T + x * 2 + 1
    np.testing.assert_array_equal(module.launch("fn", 1, 64, x, np.zeros_like(x), np.int32(64))[1], wanted)
    np.testing.assert_array_equal(
        module.launch("virt", 1, 64, np.zeros(64, np.int32))[0], np.where(T & 1, T * 2, T + 1)
    )


def test_variables(load: Load) -> None:
    module = load("control")
    np.testing.assert_array_equal(module.launch("con", 1, 64, np.zeros(64, np.int32))[0], T % 8 + 6)
    assert module.variable("gg").view(np.int32).tolist() == [9]


def test_printf(load: Load, capfd: pytest.CaptureFixture[str]) -> None:
    load("control").launch("pr", 1, 32, np.int32(7))
    assert capfd.readouterr().out == f"hi 7 0.000000 abc {7 << 33}\nhi 8 0.500000 abc {7 << 33}\n"


def test_recursion(load: Load) -> None:
    module = load("recursion")
    found = module.launch("k", 1, 64, np.zeros((64, 4), np.int32))[0]
    fibonacci = [0, 1]
    for _ in range(12):
        fibonacci.append(sum(fibonacci[-2:]))
    np.testing.assert_array_equal(found[:, 0], [math.factorial(i % 13) for i in range(64)])
    np.testing.assert_array_equal(found[:, 1], [fibonacci[i % 12] for i in range(64)])
    np.testing.assert_array_equal(found[:, 2], 1 - T % 20 % 2)
    np.testing.assert_array_equal(found[:, 3], T % 4 * 2 + 3)
    a = GENERATOR.integers(0, 1000, (64, 32)).astype(np.int32)
    np.testing.assert_array_equal(module.launch("s", 1, 64, a)[0], np.sort(a, 1))


DEEP = (
    HEAD
    + """
.func (.param .b32 r) deep(.param .b32 n)
{
    .reg .b32 %r<5>; .reg .pred %p;
    ld.param.b32 %r1, [n];
    mov.b32 %r3, 0;
    setp.eq.s32 %p, %r1, 0;
    @%p bra END;
    add.s32 %r2, %r1, -1;
    { .param .b32 a; .param .b32 b;
      st.param.b32 [a], %r2;
      call.uni (b), deep, (a);
      ld.param.b32 %r3, [b]; }
    add.s32 %r3, %r3, %r1;
END:
    st.param.b32 [r], %r3;
    ret;
}
.visible .entry k(.param .u64 out, .param .u32 n)
{
    .reg .b32 %r<3>; .reg .b64 %rd<2>;
    ld.param.u32 %r1, [n];
    ld.param.u64 %rd1, [out];
    { .param .b32 a; .param .b32 b;
      st.param.b32 [a], %r1;
      call.uni (b), deep, (a);
      ld.param.b32 %r2, [b]; }
    st.global.u32 [%rd1], %r2;
    ret;
}
"""
)


def test_recursion_ends_with_a_fault(load: Load) -> None:
    module = load(DEEP)
    assert module.launch("k", 1, 1, np.zeros(1, np.int32), np.uint32(40))[0].tolist() == [820]
    with pytest.raises(bl.Error):
        module.launch("k", 1, 1, np.zeros(1, np.int32), np.uint32(1000))


@pytest.mark.parametrize("fault", ["trap;", "mov.u64 %rd1, 64; st.global.u32 [%rd1], 1;", "brkpt;"])
def test_faults(load: Load, fault: str) -> None:
    module = load(HEAD + ".entry k()\n{ .reg .b64 %rd<2>;\n" + fault + "\nret; }")
    with pytest.raises(bl.Error):
        module.launch("k", 1, 1)


def test_guards_keep_values(load: Load) -> None:
    """Of results, stores, returns and labels in scopes of their own."""
    text = """
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .pred %p<3>;
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [out];
    mad.wide.u32 %rd2, %r1, 4, %rd1;
    setp.lt.u32 %p1|%p2, %r1, 4;
    mov.u32 %r2, 7;
    @%p1 add.u32 %r2, %r2, %r1;
    @!%p1 mul.lo.u32 %r2, %r2, 2;
    @%p2 ld.global.u32 %r3, [%rd2];
    @%p2 add.u32 %r2, %r2, %r3;
    { .reg .b32 %r2; mov.u32 %r2, 99; bra L; L: }
    setp.eq.u32 %p1, %r1, 6;
    @%p1 exit;
    st.global.u32 [%rd2], %r2;
}
"""
    found = load(HEAD + text).launch("k", 1, 8, np.full(8, 100, np.uint32))[0]
    assert found.tolist() == [7, 8, 9, 10, 114, 114, 100, 114]


def test_texts_are_linked(compiler: Compiler, queue: bl.Queue) -> None:
    one = (
        HEAD
        + """
.extern .func (.param .b32 r) twice(.param .b32 a);
.extern .global .u32 offset;
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<4>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    ld.global.u32 %r1, [offset];
    { .param .b32 a; .param .b32 b;
      st.param.b32 [a], %r1;
      call.uni (b), twice, (a);
      ld.param.b32 %r2, [b]; }
    st.global.u32 [%rd1], %r2;
    ret;
}
"""
    )
    two = (
        HEAD
        + """
.visible .global .u32 offset = 21;
.visible .func (.param .b32 r) twice(.param .b32 a)
{
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [a];
    shl.b32 %r2, %r1, 1;
    st.param.b32 [r], %r2;
    ret;
}
"""
    )
    module = Module(compiler.compile(one, two), queue)
    assert module.launch("k", 1, 1, np.zeros(1, np.uint32))[0].tolist() == [42]
