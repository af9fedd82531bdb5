"""Modules that use functions and variables of each other; the driver links them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.support.compile_kernels import assembled, compiled_text
from tests.support.error_checks import raises

X = np.random.default_rng(23).integers(-1000, 1000, 200).astype(np.int32)

MAIN = """
typedef struct { float2 at; int weight; } point;
int scaled(int x, global const int *table);
float4 mixed(float4 a, point p);
extern global int counter;
extern constant int factors[3];
kernel void first(global const int *in, global int *out, global float4 *wide)
{
    const size_t i = get_global_id(0);
    const point p = {(float2)(i, 2), in[i]};
    out[i] = scaled(in[i], in) + factors[i % 3];
    wide[i] = mixed((float4)(1, 2, 3, 4), p);
    atomic_add(&counter, 1);
}
"""
LIBRARY = """
typedef struct { float2 at; int weight; } point;
int inner(int x);
global int counter = 100;
constant int factors[3] = {5, -6, 7};
int scaled(int x, global const int *table)
{
    int sum = 0;
    for (int k = 0; k < (x & 7); k++)
        sum += table[k] * inner(x);
    return sum;
}
float4 mixed(float4 a, point p) { return a * p.at.x + (float4)(p.at.y) * p.weight; }
kernel void count(global int *out) { local int shared[3]; shared[0] = counter; out[0] = shared[0]; }
"""
INNER = "int inner(int x) { return x < 0 ? -x : x + 1; }"


def _object(queue: bl.Queue, text: str, keep: str) -> bl.KernelBundle:
    return bl.load_kernel_bundle(compiled_text(text, "spirv", keep), queue, state="object")


@pytest.fixture
def parts(device: bl.Device, queue: bl.Queue) -> list[bl.KernelBundle]:
    if device.backend not in (bl.Backend.reference, bl.Backend.level_zero):
        pytest.skip("the modules are SPIR-V")
    if device.backend is bl.Backend.level_zero and not device.has(bl.Aspect.online_linker):
        pytest.skip("the driver takes one module at a time")
    return [
        _object(queue, MAIN, "first"),
        _object(queue, LIBRARY, "count,scaled,mixed,counter,factors"),
        _object(queue, INNER, "inner"),
    ]


def test_functions_and_variables_of_other_modules(queue: bl.Queue, parts: Any) -> None:
    assert queue.device.has(bl.Aspect.online_linker)
    linked = parts[0].link(*parts[1:])
    assert set(linked.kernel_names) == {"first", "count"}
    data, out, wide = (bl.usm_empty(s, t, queue) for s, t in ((200, np.int32), (200, np.int32), ((200, 4), np.float32)))
    data.copy_from(X)
    queue.parallel_for(200, linked.get_kernel("first"), data, out, wide).wait_and_throw()
    inner = np.where(X < 0, -X, X + 1)
    wanted = np.array([X[: x & 7].sum() * f for x, f in zip(X, inner)]) + np.array([5, -6, 7])[np.arange(200) % 3]
    np.testing.assert_array_equal(out.numpy(queue), wanted)
    points = np.arange(200, dtype=np.float32)[:, None] * np.array([1, 2, 3, 4], np.float32) + 2 * X[:, None]
    np.testing.assert_array_equal(wide.numpy(queue), points.astype(np.float32))
    queue.parallel_for(1, linked.get_kernel("count"), out).wait_and_throw()
    assert out.numpy(queue)[0] == 300


def test_what_does_not_fit_together(queue: bl.Queue, parts: Any) -> None:
    main, library, inner = parts
    with raises(bl.BuildError, names=("module 2", "function 'inner'")):
        main.link(library)
    missing = r"function 'scaled'|variable '(counter|factors)'|function '.*mixed.*'"
    alone = rf"({missing}) is declared|unresolvable import counter"
    with raises(bl.BuildError, match=alone):
        main.link()
    with raises(bl.BuildError, names=("'inner'", "modules 2 and 3")):
        library.link(inner, _object(queue, INNER, "inner"))
    with raises(bl.BuildError, names="kernel 'count'"):
        inner.link(library, _object(queue, "kernel void count(global int *out) { out[0] = 1; }", "count"))
    other = _object(queue, "long inner(long x) { return x; }", "inner")
    with raises(bl.BuildError, match=r"another type than the parameter|a result type that the function 'inner'"):
        main.link(library, other)
    variable = _object(
        queue, INNER + "global long counter = 1; constant int factors[3] = {1};", "inner,counter,factors"
    )
    with raises(bl.BuildError, names="variable 'counter'"):
        main.link(variable)
    if queue.device.backend is bl.Backend.level_zero:  # where a module may be linked after it was loaded
        loaded = bl.load_kernel_bundle(compiled_text(MAIN, "spirv", "first"), queue)
        with pytest.raises(bl.Error, match="INVALID_MODULE_UNLINKED"):
            loaded.get_kernel("first")
        return
    with raises(bl.BuildError, match=missing):
        bl.load_kernel_bundle(compiled_text(MAIN, "spirv", "first"), queue)


def test_options_go_to_every_module(queue: bl.Queue, parts: Any) -> None:
    """Options of an object and of the link; an unknown option passes, as with Intel's driver."""
    if queue.device.backend is not bl.Backend.level_zero:
        with raises(bl.InvalidError):
            parts[0].link(*parts[1:], options="-ze-opt-disable")
        return
    parts[2] = bl.load_kernel_bundle(
        compiled_text(INNER, "spirv", "inner"), queue, state="object", options="-ze-opt-level=2"
    )
    linked = parts[0].link(*parts[1:], options="-ze-opt-disable")
    assert set(linked.kernel_names) == {"first", "count"}
    assert set(parts[0].link(*parts[1:], options="-no-such-option").kernel_names) == {"first", "count"}


def test_calls_that_go_round_between_modules(queue: bl.Queue, parts: Any) -> None:
    one = _object(
        queue, "int b(int); int a(int x) { return x + b(x); } kernel void k(global int *o) { *o = a(*o); }", "a,k"
    )
    two = _object(queue, "int a(int); int b(int x) { return a(x) * 2; }", "b")
    with raises(bl.BuildError, match="calls itself"):
        one.link(two)


def test_modules_of_any_order_with_constants_of_their_own(queue: bl.Queue, parts: Any) -> None:
    """Specialization constants belong to their module; imports lead from and to both."""
    text = """int __spirv_SpecConstant(int, int) __attribute__((overloadable));
    int other(int x);
    int mine(int x) { return x * __spirv_SpecConstant(1, 10); }
    kernel void NAME(global int *out) { out[0] = other(mine(1)) + get_local_size(0); }"""
    first = compiled_text(
        text.replace("NAME", "one").replace("mine", "left").replace("other", "right"), "spirv", "one,left"
    )
    second = compiled_text(
        text.replace("NAME", "two").replace("mine", "right").replace("other", "left"), "spirv", "two,right"
    )
    for order in (False, True):
        objects = [
            bl.load_kernel_bundle(module, queue, state="object", specialization={1: value})
            for module, value in ((first, 3), (second, 5))
        ]
        linked = objects[order].link(objects[not order])
        out = bl.usm_empty((1,), np.int32, queue)
        for name in ("one", "two"):
            queue.parallel_for(1, linked.get_kernel(name), out).wait_and_throw()
            assert out.numpy(queue)[0] == 16


OFF = """
int __spirv_SpecConstant(int, int) __attribute__((overloadable));
int ray_query(int x);
__attribute__((noinline)) int deeper(int x) { return ray_query(x) + 1; }
kernel void test(global int *out)
{
    const size_t i = get_global_id(0);
    out[i] = __spirv_SpecConstant(1, 0) ? deeper(out[i]) + ray_query(3) : (int)i;
}
"""


def test_an_undefined_function_matters_where_it_is_called(device: bl.Device, queue: bl.Queue) -> None:
    """A specialization constant switches the calls off, as SYCL programs do for parts of a GPU that others lack."""
    if device.backend not in (bl.Backend.reference, bl.Backend.level_zero):
        pytest.skip("the modules are SPIR-V")
    module = compiled_text(OFF, "spirv", "test", "mem2reg")
    out = bl.usm_empty((9,), np.int32, queue)
    queue.parallel_for(9, bl.load_kernel_bundle(module, queue).get_kernel("test"), out).wait_and_throw()
    np.testing.assert_array_equal(out.numpy(queue), np.arange(9))
    if device.backend is bl.Backend.reference:
        with raises(bl.BuildError, names="function 'ray_query'"):
            bl.load_kernel_bundle(module, queue, specialization={1: 1})


def test_linked_once_is_no_conflict(queue: bl.Queue, parts: Any) -> None:
    """Several modules may define a function of linkage LinkOnceODR."""
    text = """OpCapability Addresses
    OpCapability Linkage
    OpCapability Kernel
    OpExtension "SPV_KHR_linkonce_odr"
    OpMemoryModel Physical64 OpenCL
    OpDecorate %f LinkageAttributes "inner" LinkOnceODR
    %uint = OpTypeInt 32 0
    %seven = OpConstant %uint 7
    %type = OpTypeFunction %uint %uint
    %f = OpFunction %uint None %type
    %x = OpFunctionParameter %uint
    %start = OpLabel
    %y = OpIAdd %uint %x %seven
    OpReturnValue %y
    OpFunctionEnd"""
    once = [bl.load_kernel_bundle(assembled(text), queue, state="object") for _ in range(2)]
    source = "int inner(int); kernel void k(global int *out) { out[0] = inner(out[0]); }"
    linked = _object(queue, source, "k").link(*once)
    out = bl.usm_empty((1,), np.int32, queue)
    out.copy_from(np.array([3], np.int32))
    queue.parallel_for(1, linked.get_kernel("k"), out).wait_and_throw()
    assert out.numpy(queue)[0] == 10
