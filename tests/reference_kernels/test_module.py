"""Queries and inputs of a module: reflection, specialization constants, printf, program-scope variables."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.support.compile_kernels import compiled_text
from tests.support.error_checks import raises


@pytest.fixture(autouse=True)
def _only_the_reference(device: bl.Device) -> None:
    if device.backend is not bl.Backend.reference:
        pytest.skip("the modules are SPIR-V")


def test_reflection(queue: bl.Queue) -> None:
    text = """
    struct pair { float a; int b[3]; };
    __attribute__((reqd_work_group_size(4, 2, 1)))
    kernel void fixed(uchar small, float4 wide, global int *p, constant float *c, local int *l, struct pair s,
                      read_only image2d_t i, double d)
    {
        l[0] = (int)c[0] + small; p[0] = l[0] + (int)wide.x + s.b[1] + get_image_width(i) + (int)d;
    }
    kernel void none(void) {}"""
    bundle = bl.load_kernel_bundle(compiled_text(text, "spirv"), queue)
    assert bundle.kernel_names == ("fixed", "none")
    kernel = bundle.get_kernel("fixed")
    found = [(argument.kind, argument.size) for argument in kernel.arguments or ()]
    value = "value"
    pointer, local = ("pointer", 8), ("local", 8)
    assert found == [(value, 1), (value, 16), pointer, pointer, local, (value, 16), ("image", 8), (value, 8)]
    assert kernel.get_info("attributes") == "reqd_work_group_size(4, 2, 1)"
    assert bundle.get_kernel("none").arguments == ()
    with raises(bl.NdRangeError):
        queue.parallel_for(bl.NdRange((1, 2, 2), (1, 2, 2)), kernel)


SPECIALIZED = """
int __spirv_SpecConstant(int, int) __attribute__((overloadable));
float __spirv_SpecConstant(int, float) __attribute__((overloadable));
ulong __spirv_SpecConstant(int, ulong) __attribute__((overloadable));
kernel void test(global int *out, global float *f, global ulong *l)
{
    out[0] = __spirv_SpecConstant(7, 42) * 2;
    f[0] = __spirv_SpecConstant(8, 1.5f);
    l[0] = __spirv_SpecConstant(9, 1ul << 40) + 1;
}"""


@pytest.mark.parametrize("given", [{}, {7: -3}, {7: 100, 8: 0.25, 9: np.uint64(5)}])
def test_specialization_constants(queue: bl.Queue, given: dict[int, Any]) -> None:
    module = compiled_text(SPECIALIZED, "spirv")
    kernel = bl.load_kernel_bundle(module, queue, specialization=given).get_kernel("test")
    out, f, wide = (bl.usm_empty((1,), dtype, queue) for dtype in (np.int32, np.float32, np.uint64))
    queue.parallel_for(1, kernel, out, f, wide).wait_and_throw()
    assert out.numpy(queue)[0] == given.get(7, 42) * 2
    assert f.numpy(queue)[0] == given.get(8, 1.5)
    assert wide.numpy(queue)[0] == int(given.get(9, 1 << 40)) + 1


PRINTING = """
kernel void test(global const int *x)
{
    const int i = (int)get_global_id(0);
    if (x[i] == 3)
        printf("%d|%5u|%-4x|%c|%s|%.3f|%g|%v4d|%%|%lu|%hhd\\n", x[i], 7u, 255, 'q', "text", 1.25f, 2.5,
               (int4)(1, -2, 3, i), 1ul << 40, (char)-5);
}"""


def printed(tmp_path: Any, launch: Callable[[], bl.Event]) -> str:
    """What a launch writes to the standard output of the process."""
    sys.stdout.flush()
    kept = os.dup(1)
    try:
        with open(tmp_path / "out", "wb") as file:
            os.dup2(file.fileno(), 1)
            launch().wait_and_throw()
    finally:
        os.dup2(kept, 1)
        os.close(kept)
    return str((tmp_path / "out").read_text())


def test_printf(queue: bl.Queue, tmp_path: Any) -> None:
    kernel = bl.load_kernel_bundle(compiled_text(PRINTING, "spirv"), queue).get_kernel("test")
    x = bl.usm_empty((100,), np.int32, queue)
    values = np.zeros(100, np.int32)
    values[[5, 77]] = 3
    x.copy_from(values)
    text = printed(tmp_path, lambda: queue.parallel_for(100, kernel, x))
    lines = sorted(text.splitlines())
    row = "3|    7|ff  |q|text|1.250|2.5|1,-2,3,{}|%|1099511627776|-5"
    assert lines == [row.format(5), row.format(77)]


LONG = """
kernel void test(global const char *whole, global const char *more, global int *results)
{
    results[0] = printf("%s|\\n", whole);
    results[1] = printf("%s|\\n", more);
    results[2] = printf("%999d|%s|%%|\\n", 7, whole);
    results[3] = printf("%999d|%.3s|\\n", 7, more);
}"""


def test_a_text_that_exceeds_the_buffer_is_an_error(queue: bl.Queue, tmp_path: Any) -> None:
    """``printf`` prints texts up to the size of its buffer whole; a longer one is not printed, and returns -1."""
    kernel = bl.load_kernel_bundle(compiled_text(LONG, "spirv"), queue).get_kernel("test")
    whole, more = ("".join(chr(97 + i % 26) for i in range(size)) for size in (8190, 8191))
    texts = [usm_text(queue, text) for text in (whole, more)]
    results = bl.usm_empty(4, np.int32, queue)
    lines = printed(tmp_path, lambda: queue.parallel_for(1, kernel, *texts, results)).splitlines()
    assert results.numpy(queue).tolist() == [0, -1, -1, 0]
    assert lines == [f"{whole}|", f"{7:999d}|abc|"]


def usm_text(queue: bl.Queue, text: str) -> bl.UsmArray:
    """A string that kernels read."""
    data = np.frombuffer(f"{text}\0".encode(), np.int8)
    return bl.usm_empty(len(data), np.int8, queue).copy_from(data)


CONVERSIONS = """
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
kernel void test(global const float *x, constant char *text)
{
    printf("%d %i %u %o %x %X %c\\n", -7, 8, 4000000000u, 64, 255, 255, 65);
    printf("%hhd %hhu %hd %hx %ld %lx\\n", 300, -1, 70000, -2, -5000000000l, 1ul << 60);
    printf("%f %e %g %a %F %E %G %A\\n", x[0], x[0], x[0], x[0], x[0], x[0], x[0], x[0]);
    printf("%+d|% d|%05d|%-5d|%#x|%#o|%+.2f|%08.3f|%.0f|%.3d\\n", 5, 5, 5, 5, 255, 8, x[0], x[0], x[0], 7);
    printf("%s|%10s|%-6s|%.2s|%%|%5c|\\n", "word", "right", "left", "cut", 'q');
    printf("%v4hlf|%v2hlg|%v4hd|%v8hhu|%v3hlx|%v2ld|%v2lf|%v4hf\\n", (float4)(1, -2, 3, 4.5f), (float2)(0.5f, 1e9f),
           (short4)(1, -2, 3, -4), (uchar8)(0, 1, 2, 3, 4, 5, 6, 255), (uint3)(16, 255, ~0u), (long2)(1, -1l << 40),
           (double2)(1.25, -2), (half4)(1, 2, 3, 4));
    printf("%.1v2hlf|%5v2hld|%-4v2hhd|\\n", (float2)(1.26f, 2), (int2)(7, -8), (char2)(-1, 2));
    printf("%f %f %f\\n", INFINITY, -INFINITY, x[0] / 0.0f - x[0] / 0.0f);
}"""


def test_every_conversion_of_printf(queue: bl.Queue, tmp_path: Any) -> None:
    kernel = bl.load_kernel_bundle(compiled_text(CONVERSIONS, "spirv"), queue).get_kernel("test")
    x = bl.usm_empty((1,), np.float32, queue)
    x.copy_from(np.array([-2.5], np.float32))
    text = printed(tmp_path, lambda: queue.parallel_for(1, kernel, x, x))
    value = -2.5
    wanted = [
        "-7 8 4000000000 100 ff FF A",
        "44 255 4464 fffe -5000000000 1000000000000000",
        f"{value:f} {value:e} {value:g} -0x1.4p+1 {value:F} {value:E} {value:G} -0X1.4P+1",
        "+5| 5|00005|5    |0xff|010|-2.50|-002.500|-2|007",
        "word|     right|left  |cu|%|    q|",
        "1.000000,-2.000000,3.000000,4.500000|0.5,1e+09|1,-2,3,-4|0,1,2,3,4,5,6,255|10,ff,ffffffff|1,-1099511627776"
        "|1.250000,-2.000000|1.000000,2.000000,3.000000,4.000000",
        "1.3,2.0|    7,   -8|-1  ,2   |",
        "inf -inf nan",
    ]
    assert text.replace("-nan", "nan").splitlines() == wanted


def test_variables_of_the_program(queue: bl.Queue) -> None:
    """Program-scope variables keep their values until the module is destroyed."""
    text = """
    global int counter = 40;
    kernel void test(global int *out) { counter += 1; out[0] = counter; }"""
    kernel = bl.load_kernel_bundle(compiled_text(text, "spirv"), queue).get_kernel("test")
    out = bl.usm_empty((1,), np.int32, queue)
    for wanted in (41, 42, 43):
        queue.parallel_for(1, kernel, out).wait_and_throw()
        assert out.numpy(queue)[0] == wanted


def test_modules_and_kernels_are_given_back(device: bl.Device) -> None:
    from bindless.drivers import reference as driver

    count = driver.ffi.new("uint64_t *")

    def alive() -> int:
        driver.check(driver.lib.blrGetObjectCount(count), "blrGetObjectCount")
        return int(count[0])

    queue = bl.Queue(device)
    module = compiled_text("kernel void test(global int *out) { out[0] = 1; }", "spirv")
    before = alive()
    for _ in range(3):
        with bl.load_kernel_bundle(module, queue) as bundle:
            kernel = bundle.get_kernel("test")
            assert alive() == before + 2
            del kernel
        assert alive() == before


ALIGNED = """
global int first __attribute__((aligned(4096))) = 3, second __attribute__((aligned(256))) = 4;
kernel void test(global ulong *out) { out[0] = (ulong)&first; out[1] = (ulong)&second; out[2] = first++ + second++; }"""


def test_variables_of_the_program_are_aligned_as_they_ask(queue: bl.Queue) -> None:
    out = bl.usm_empty((3,), np.uint64, queue)
    module = compiled_text(ALIGNED, "ptx" if queue.device.backend is bl.Backend.cuda else "spirv")
    queue.parallel_for(1, bl.load_kernel_bundle(module, queue).get_kernel("test"), out).wait_and_throw()
    first, second, total = out.numpy(queue).tolist()
    assert (first % 4096, second % 256, total) == (0, 0, 7)
