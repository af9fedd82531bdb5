"""Kernel signatures parsed from OpenCL C sources.

``tests/backends/opencl/test_opencl_kernels.py`` compares some with the drivers' answers.
"""

from __future__ import annotations

import pytest

from bindless.model.module import opencl_c
from bindless.model.module.description import Parameter


def told(text: str) -> list[tuple[str, str, str, int]] | None:
    """Name, type, kind and size of each parameter of the kernel ``k``."""
    parameters = opencl_c.entries(text.encode())["k"].parameters
    return None if parameters is None else [(part.name, part.type, part.kind, part.size) for part in parameters]


@pytest.mark.parametrize("head", ["kernel void k()", "__kernel void k(void)", "void kernel k ( void )"])
def test_nothing(head: str) -> None:
    assert told(f"{head} {{}}") == []


@pytest.mark.parametrize(
    ("declared", "name", "type_", "kind", "size"),
    [
        ("int a", "a", "int", "value", 4),
        ("const unsigned int a", "a", "uint", "value", 4),
        ("unsigned a", "a", "uint", "value", 4),
        ("unsigned long int a", "a", "ulong", "value", 8),
        ("signed char a", "a", "char", "value", 1),
        ("short int a", "a", "short", "value", 2),
        ("private const float3 v", "v", "float3", "value", 16),
        ("double16 v", "v", "double16", "value", 128),
        ("half h", "h", "half", "value", 2),
        ("struct pair p", "p", "struct pair", "value", 0),
        ("global float *restrict out", "out", "float*", "pointer", 8),
        ("__global const volatile uint4 * __restrict out", "out", "uint4*", "pointer", 8),
        ("global struct pair *p", "p", "struct pair*", "pointer", 8),
        ("float const global *in", "in", "float*", "pointer", 8),
        ("constant void *table", "table", "void*", "pointer", 8),
        ("global int data[]", "data", "int*", "pointer", 8),
        ("__local int* scratch", "scratch", "int*", "local", 0),
        ("image2d_t picture", "picture", "image2d_t", "image", 8),
        ("read_only image3d_t picture", "picture", "image3d_t", "image", 8),
        ("__write_only image2d_array_t result", "result", "write_only image2d_array_t", "image", 8),
        ("read_write image1d_buffer_t both", "both", "read_write image1d_buffer_t", "image", 8),
        ("sampler_t how", "how", "sampler_t", "sampler", 8),
    ],
)
def test_parameters(declared: str, name: str, type_: str, kind: str, size: int) -> None:
    assert told(f"kernel void k({declared}, int last) {{}}") == [(name, type_, kind, size), ("last", "int", "value", 4)]


@pytest.mark.parametrize(
    "declared",
    [
        "PICTURE",
        "PICTURE image",
        "real x",
        "size x",
        "global real *x",
        "global float x",
        "long long x",
        "int unsigned char x",
    ],
)
def test_what_the_rest_of_the_text_explains(declared: str) -> None:
    """Typedefs and macros may stand for pointers, images or several parameters."""
    assert told(f"kernel void k({declared}, int last) {{}}") is None


def test_around_them() -> None:
    text = """
    // kernel void commented(int a) {}
    /* kernel void k(int of, int another) {} */
    #define MADE(name) kernel void name(int a) \\
        { }
    float helper(float a) { return a; }
    kernel __attribute__((reqd_work_group_size(4, (2), 1))) __attribute__((vec_type_hint(float4)))
    void k(global float *out, /* what, if (anything) */ int a)
    { out[0] = helper(a); }
    kernel void two(int a) {}
    """
    assert told(text) == [("out", "float*", "pointer", 8), ("a", "int", "value", 4)]
    assert sorted(opencl_c.entries(text.encode())) == ["k", "two"]


def test_one_of_two() -> None:
    """The preprocessor selects one of the two kernels."""
    text = b"#if A\nkernel void k(int a) {}\n#else\nkernel void k(long a) {}\n#endif\nkernel void other(int a) {}"
    assert list(opencl_c.entries(text)) == ["other"]


def test_texts_that_are_none() -> None:
    for text in (
        b"",
        b"\xff\xfe\x00",
        b"kernel",
        b"kernel void",
        b"kernel void k(",
        b"kernel void k(int a",
        b"((((" * 999,
    ):
        assert opencl_c.entries(text) == {}


def test_what_drivers_tell() -> None:
    assert opencl_c.parameter("a", "ulong2", "") == Parameter("a", "ulong2", "value", 16)
    assert opencl_c.parameter("a", "float*", "local") == Parameter("a", "float*", "local", 0)
    assert opencl_c.parameter("a", "image2d_t", "global", "write_only") == Parameter(
        "a", "write_only image2d_t", "image", 8
    )
    assert opencl_c.parameter("a", "their_struct", "") == Parameter("a", "their_struct", "value", 0)
