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


HEAP = (
    HEAD
    + """
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func free(.param .b64 p);
.visible .entry take(.param .u64 out, .param .u64 bytes, .param .u32 frees)
{
    .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<8>;
    ld.param.u64 %rd0, [out]; ld.param.u64 %rd1, [bytes]; ld.param.u32 %r0, [frees];
    mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 8; add.u64 %rd0, %rd0, %rd2;
    { .param .b64 n; .param .b64 r; st.param.b64 [n], %rd1; call.uni (r), malloc, (n); ld.param.b64 %rd3, [r]; }
    st.global.u64 [%rd0], %rd3;
    setp.eq.u64 %p0, %rd3, 0; @%p0 bra END;
    st.u64 [%rd3], %rd3;
    setp.eq.u32 %p1, %r0, 0; @%p1 bra END;
    { .param .b64 p; st.param.b64 [p], %rd3; call.uni free, (p); }
END:
    ret;
}
"""
)


@pytest.mark.parametrize("bytes_", [1, 16, 17, 100, 1000, 5000])
def test_malloc_gives_blocks_apart(compiler: Compiler, queue: bl.Queue, bytes_: int) -> None:
    module = Module(compiler.compile(HEAP), queue)
    (out,) = module.launch("take", 1, 256, np.zeros(256, np.uint64), np.uint64(bytes_), np.uint32(0))
    places = np.sort(out.astype(np.int64))
    assert (places % 16 == 0).all() and (np.diff(places) >= bytes_).all()
    assert (places >= module.base).all() and (places + bytes_ <= module.base + module.memory.shape[0]).all()


def test_malloc_ends_with_the_heap_and_free_gives_back(compiler: Compiler, queue: bl.Queue) -> None:
    module = Module(compiler.compile(HEAP, heap_bytes=1 << 16), queue)
    out = np.zeros(64, np.uint64)
    for _ in range(20):  # 64 blocks of 512 bytes each time, more than the heap in all
        (places,) = module.launch("take", 1, 64, out, np.uint64(400), np.uint32(1))
        assert places.all()
    (places,) = module.launch("take", 1, 64, out, np.uint64(3000), np.uint32(0))
    count = np.count_nonzero(places)
    assert 0 < count < 64 and np.unique(places[places != 0]).size == count
    assert not module.launch("take", 1, 64, out, np.uint64(1 << 16), np.uint32(0))[0].any()
    assert not module.launch("take", 1, 64, out, np.uint64(2**64 - 8), np.uint32(0))[0].any()


def test_a_malloc_of_the_module_is_its_own(compiler: Compiler, queue: bl.Queue) -> None:
    own = """.visible .func (.param .b64 r) malloc(.param .b64 n) { st.param.b64 [r], 0; ret; }
             .visible .func free(.param .b64 p) { ret; }"""
    module = Module(compiler.compile(HEAP, HEAD + own), queue)
    assert not module.launch("take", 1, 32, np.ones(32, np.uint64), np.uint64(8), np.uint32(1))[0].any()


@pytest.mark.parametrize("alignment", [16, 64, 128, 256])
def test_variables_have_their_alignment_in_each_lane(compiler: Compiler, queue: bl.Queue, alignment: int) -> None:
    text = f"""
.visible .entry k(.param .u64 out)
{{
    .local .align 4 .b8 first[4]; .local .align {alignment} .b8 second[5];
    .shared .align 4 .b8 third[4]; .shared .align {alignment} .b8 fourth[5];
    .reg .b32 %r<4>; .reg .b64 %rd<8>;
    ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 16; add.u64 %rd0, %rd0, %rd1;
    mov.u64 %rd2, first; st.local.u32 [%rd2], %r0; mov.u32 %r1, third; st.shared.u32 [%r1], %r0;
    mov.u64 %rd3, second; cvta.local.u64 %rd3, %rd3; st.global.u64 [%rd0], %rd3;
    mov.u64 %rd4, fourth; cvta.shared.u64 %rd4, %rd4; st.global.u64 [%rd0+8], %rd4;
    ret;
}}"""
    module = Module(compiler.compile(HEAD + text), queue)
    (out,) = module.launch("k", 1, 96, np.zeros((96, 2), np.uint64))
    assert (out % alignment == 0).all() and out.all()


def test_a_result_that_the_definition_lacks_is_any(compiler: Compiler, queue: bl.Queue) -> None:
    caller = """
.extern .func (.param .b64 r) put(.param .b64 p);
.visible .entry k(.param .u64 out)
{
    .reg .b64 %rd<4>;
    ld.param.u64 %rd0, [out];
    { .param .b64 p; .param .b64 r; st.param.b64 [p], %rd0; call.uni (r), put, (p); ld.param.b64 %rd1, [r]; }
    ret;
}"""
    callee = """
.visible .func put(.param .b64 p)
{ .reg .b64 %rd<2>; .reg .b32 %r<2>; ld.param.b64 %rd0, [p]; mov.u32 %r0, 5; st.u32 [%rd0], %r0; ret; }"""
    module = Module(compiler.compile(HEAD + caller, HEAD + callee), queue)
    assert module.launch("k", 1, 1, np.zeros(1, np.uint32))[0][0] == 5


def test_sections_of_a_debugger_are_skipped(compiler: Compiler) -> None:
    kernel = ".visible .entry k() { ret; }\n"
    for section in (
        ".section .debug_str {\n.b8 1,2 // }\n.b64 k\n}",
        "\t.section\t.debug_info\n\t{\n.b32 7\n$L__info:\n\t}",
    ):
        compiled = compiler.compile(HEAD + kernel + section)
        assert compiled.entry_count == 1
    with pytest.raises(Exception, match="line"):
        compiler.compile(HEAD + kernel + ".section .debug_info { .b8 1")
