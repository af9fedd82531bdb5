"""Calls of pointers to functions: tables, callbacks, objects with tables of functions, and pointers that fault."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.support.compile_kernels import assembled, compiled_text
from tests.support.error_checks import raises

EXTENSION = "SPV_INTEL_function_pointers"
ITEMS = 300
X = np.random.default_rng(36).integers(0, 2**32, ITEMS).astype(np.uint32)
LANE = np.arange(ITEMS, dtype=np.uint32)
HEAD = """
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
typedef uint (*binary)(uint, uint);
__attribute__((noinline)) uint add(uint a, uint b) { return a + b; }
__attribute__((noinline)) uint mul(uint a, uint b) { return a * b; }
__attribute__((noinline)) uint mix(uint a, uint b)
{
    const uint n = a & 3;
    for (uint k = 0; k < n; k++) a ^= (b + k) << k;
    return a;
}
constant binary table[3] = {add, mul, mix};
"""


@pytest.fixture(autouse=True)
def _executor(device: bl.Device) -> None:
    if device.backend not in (bl.Backend.reference, bl.Backend.level_zero):
        pytest.skip("a test of the executor on processors")


def kernel(run: Any, body: str, *arguments: Any, head: str = HEAD, **options: Any) -> list[Any]:
    return run(head + body, "test", ITEMS, *arguments, local=100, passes="mem2reg", extensions=EXTENSION, **options)


def apply(which: Any, a: Any, b: Any) -> Any:
    """The function of the table that ``which`` chooses, in every element."""
    x = a.copy()
    for k in range(3):
        x = np.where(a & 3 > k, x ^ (b + np.uint32(k)) << np.uint32(k), x)
    return np.choose(which, [a + b, a * b, x])


def test_lanes_call_functions_of_a_table(run: Any) -> None:
    """Lanes of a sub-group choose differently, in a loop too; the sub-group is complete again behind each call."""
    text = """kernel void test(global uint *x, global uint *sums) {
        const size_t i = get_global_id(0);
        uint y = table[x[i] % 3](x[i], (uint)i);
        sums[i] = sub_group_reduce_add(1);
        for (uint k = 0; k < x[i] % 5; k++) y = table[(x[i] + k) % 3](y, k) + 1;
        x[i] = y; }"""
    out, sums = kernel(run, text, X, np.zeros(ITEMS, np.uint32))
    y = apply(X % 3, X, LANE)
    for k in range(4):
        y = np.where(k < X % 5, apply((X + np.uint32(k)) % 3, y, np.full_like(y, k)) + np.uint32(1), y)
    np.testing.assert_array_equal(out, y)
    np.testing.assert_array_equal(sums, np.where(np.arange(ITEMS) % 100 < 64, 64, 36))


def test_callbacks_call_further_ones(run: Any) -> None:
    """A function takes a function, and calls a third with it: the same function of another depth by name."""
    text = """
    __attribute__((noinline)) uint fold(binary f, uint a, uint n) {
        for (uint k = 0; k < n; k++) a = f(a, k);
        return a; }
    __attribute__((noinline)) uint inner(uint a, uint b) { return fold(add, a, b) ^ 5; }
    __attribute__((noinline)) uint outer(binary f, uint a) { return f(f(a, 3), 4); }
    kernel void test(global uint *x) {
        const size_t i = get_global_id(0);
        binary f = i & 1 ? inner : mul;
        x[i] = outer(f, x[i]) + fold(i & 2 ? add : mix, x[i], 3); }"""
    (out,) = kernel(run, text, X)

    def fold(choice: Any, a: Any, n: int) -> Any:
        for k in range(n):
            a = apply(choice, a, np.full_like(a, k))
        return a

    zero = np.zeros(ITEMS, np.int64)
    inner = fold(zero, fold(zero, X, 3) ^ np.uint32(5), 4) ^ np.uint32(5)
    product = X * np.uint32(12)
    expected = np.where(LANE & 1, inner, product) + fold(np.where(LANE & 2, 0, 2), X, 3)
    np.testing.assert_array_equal(out, expected)


VIRTUAL = """
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
typedef struct shape { constant struct methods *methods; float a, b; } shape;
struct methods { float (*area)(global const shape *); void (*grow)(global shape *, float); };
__attribute__((noinline)) float box(global const shape *s) { return s->a * s->b; }
__attribute__((noinline)) float disc(global const shape *s) { return s->a * s->a * 3; }
__attribute__((noinline)) void longer(global shape *s, float by) { s->b += by; }
__attribute__((noinline)) void wider(global shape *s, float by) { s->a += by + s->methods->area(s) * 0; }
constant struct methods boxes = {box, longer}, discs = {disc, wider};
kernel void create(global shape *s) {
    const size_t i = get_global_id(0);
    s[i].methods = i % 3 ? &boxes : &discs; s[i].a = i; s[i].b = 2; }
kernel void use(global shape *s, global float *areas) {
    const size_t i = get_global_id(0);
    s[i].methods->grow(&s[i], 1); areas[i] = s[i].methods->area(&s[i]); }
"""


def test_objects_keep_their_functions_from_kernel_to_kernel(queue: bl.Queue) -> None:
    bundle = bl.load_kernel_bundle(compiled_text(VIRTUAL, "spirv", "", "mem2reg", EXTENSION), queue)
    shapes = bl.usm_empty(ITEMS * 16, np.uint8, queue)
    areas = bl.usm_empty(ITEMS, np.float32, queue)
    queue.parallel_for(ITEMS, bundle.get_kernel("create"), shapes).wait_and_throw()
    queue.parallel_for(ITEMS, bundle.get_kernel("use"), shapes, areas).wait_and_throw()
    i = np.arange(ITEMS, dtype=np.float32)
    np.testing.assert_array_equal(areas.numpy(queue), np.where(np.arange(ITEMS) % 3, i * 3, (i + 1) ** 2 * 3))


def fault(queue: bl.Queue, text: str, *arguments: Any, names: Any = "'test'") -> None:
    bundle = bl.load_kernel_bundle(compiled_text(HEAD + text, "spirv", "", "mem2reg", EXTENSION), queue)
    memory = bl.usm_empty(64, np.uint64, queue)
    memory.copy_from(np.zeros(64, np.uint64))
    with raises(bl.KernelError, names=names):
        queue.parallel_for(64, bundle.get_kernel("test"), memory, *arguments).wait_and_throw()


@pytest.mark.parametrize(
    "text",
    [
        "kernel void test(global ulong *x) { x[0] = ((binary)x[get_global_id(0)])(1, 2); }",
        "kernel void test(global ulong *x) { x[0] = ((binary)(x[0] + 4096))(1, 2) + mul(1, 2); }",
        "kernel void test(global ulong *x) { x[0] = ((binary)((ulong)table[x[0]] + 1))(1, 2); }",
        "kernel void test(global ulong *x) { x[0] = ((uint (*)(uint, uint, uint))(ulong)table[x[0]])(1, 2, 3); }",
        "kernel void test(global ulong *x) { x[0] = ((float (*)(uint, uint))(ulong)table[x[0]])(1, 2); }",
    ],
    ids=["null", "an address of nothing", "beside a function", "more arguments", "another result"],
)
def test_pointers_that_fault(queue: bl.Queue, text: str) -> None:
    fault(queue, text)


def test_a_function_that_runs_already_faults(queue: bl.Queue) -> None:
    """Recursion through a pointer, where one work-item takes it; the others do not."""
    text = """
    __attribute__((noinline)) uint f(uint a, uint b);
    constant binary self[2] = {add, f};
    __attribute__((noinline)) uint f(uint a, uint b) { return self[b](a, 0) + 1; }
    kernel void test(global ulong *x, uint which) {
        const uint i = get_global_id(0);
        x[i] = f(i, i == which) + f(1, 0); }"""
    fault(queue, text, np.uint32(17), names="item_id (17)")


def test_a_circle_that_is_never_closed_runs(run: Any) -> None:
    text = """
    __attribute__((noinline)) uint f(uint a, uint b);
    __attribute__((noinline)) uint g(uint a, uint b);
    constant binary both[3] = {add, f, g};
    __attribute__((noinline)) uint f(uint a, uint b) { return both[b & 3](a, b >> 2) + 1; }
    __attribute__((noinline)) uint g(uint a, uint b) { return both[b & 3](a * 2, b >> 2) + 10; }
    kernel void test(global uint *x, global uint *out) {
        const uint i = get_global_id(0);
        out[i] = both[i % 3](x[i], i % 3 == 1 ? 2 : i % 3 == 2 ? 1 : 7) + f(x[i], 2) + g(x[i], 1); }"""
    out = kernel(run, text, X, np.zeros(ITEMS, np.uint32))[1]
    direct = (X * np.uint32(2) + np.uint32(11)) + (X * np.uint32(2) + np.uint32(11))
    first = np.choose(LANE % 3, [X + np.uint32(7), X * np.uint32(2) + np.uint32(11), X * np.uint32(2) + np.uint32(11)])
    np.testing.assert_array_equal(out, first + direct)


def test_barriers_in_functions_called_by_pointer(run: Any) -> None:
    text = """
    typedef uint (*shift)(local uint *, uint);
    __attribute__((noinline)) uint left(local uint *all, uint x) {
        const uint l = get_local_id(0), n = get_local_size(0);
        all[l] = x; barrier(CLK_LOCAL_MEM_FENCE);
        x = all[(l + 1) % n]; barrier(CLK_LOCAL_MEM_FENCE); return x; }
    __attribute__((noinline)) uint right(local uint *all, uint x) {
        const uint l = get_local_id(0), n = get_local_size(0);
        all[l] = x; barrier(CLK_LOCAL_MEM_FENCE);
        x = all[(l + n - 1) % n]; barrier(CLK_LOCAL_MEM_FENCE); return x; }
    constant shift shifts[2] = {left, right};
    kernel void test(global uint *x, local uint *all) {
        const size_t i = get_global_id(0);
        for (int k = 0; k < 3; k++) x[i] = shifts[get_group_id(0) & 1](all, x[i]); }"""
    (out,) = kernel(run, text, X, bl.LocalAccessor(400))
    np.testing.assert_array_equal(
        out, np.concatenate([np.roll(X[:100], -3), np.roll(X[100:200], 3), np.roll(X[200:], -3)])
    )


LIBRARY = """
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
typedef uint (*unary)(uint);
__attribute__((noinline)) static uint square(uint x) { return x * x; }
__attribute__((noinline)) static uint next(uint x) { return x + 1; }
unary choose(uint which) { return which ? square : next; }
kernel void library(global uint *x) { x[0] = choose(x[0])(3); }
"""
MAIN = """
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
typedef uint (*unary)(uint);
unary choose(uint which);
__attribute__((noinline)) uint half(uint x) { return x / 2; }
kernel void test(global uint *x) {
    const size_t i = get_global_id(0);
    unary f = i % 3 == 2 ? half : choose(i % 3);
    x[i] = f(x[i]); }
"""


def test_functions_of_another_module(device: bl.Device, queue: bl.Queue) -> None:
    if not device.has(bl.Aspect.online_linker):
        pytest.skip("the driver takes one module at a time")
    parts = [
        bl.load_kernel_bundle(compiled_text(text, "spirv", keep, "mem2reg", EXTENSION), queue, state="object")
        for text, keep in ((MAIN.replace("half", "halve"), "test"), (LIBRARY, "library,choose"))
    ]
    x = bl.usm_empty(ITEMS, np.uint32, queue)
    x.copy_from(X)
    queue.parallel_for(ITEMS, parts[0].link(parts[1]).get_kernel("test"), x).wait_and_throw()
    np.testing.assert_array_equal(x.numpy(queue), np.choose(LANE % 3, [X + np.uint32(1), X * X, X // 2]))


ASSEMBLY = """
OpCapability Addresses
OpCapability Kernel
OpCapability FunctionPointersINTEL
OpExtension "SPV_INTEL_function_pointers"
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %test "test"
%void = OpTypeVoid
%uint = OpTypeInt 32 0
%function = OpTypeFunction %void
%code = OpTypePointer CodeSectionINTEL %function
%one = OpConstant %uint 1
%pointer = OpConstantFunctionPointerINTEL %code {target}
%test = OpFunction %void None %function
%start = OpLabel
%call = OpFunctionPointerCallINTEL {call}
OpReturn
OpFunctionEnd
"""


@pytest.mark.parametrize(
    ("target", "call"),
    [("%void", "%void %pointer"), ("%test", "%void %one"), ("%test", "%uint %pointer %call")],
    ids=["no function", "no pointer", "no argument"],
)
def test_modules_that_are_refused(queue: bl.Queue, target: str, call: str) -> None:
    with raises(bl.BuildError):
        bl.load_kernel_bundle(assembled(ASSEMBLY.format(target=target, call=call)), queue).get_kernel("test")
