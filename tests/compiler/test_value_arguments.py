"""Vectors and structures passed by value from numpy arrive byte for byte."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from tests.support.error_checks import raises

pytestmark = pytest.mark.skipif(
    not bl.kernels_available() and not os.environ.get("BINDLESS_TEST_KERNELS"),
    reason="needs a kernel compiler: pip install 'bindless[kernels]'",
)

Take = Callable[[str], bl.Kernel]

# OpenCL C's name, numpy's dtype, number of elements.
VECTORS = [
    ("float4", "f4", 4), ("float3", "f4", 3), ("float2", "f4", 2), ("float16", "f4", 16), ("double4", "f8", 4),
    ("double3", "f8", 3), ("half8", "f2", 8), ("char16", "i1", 16), ("uchar4", "u1", 4), ("uchar3", "u1", 3),
    ("short2", "i2", 2), ("ushort8", "u2", 8), ("int3", "i4", 3), ("uint4", "u4", 4), ("long2", "i8", 2),
    ("ulong3", "u8", 3),
]  # fmt: skip

TAKE = """
kernel void take_{0}(global {0} *out, int before, {0} value, int after) {{ out[0] = value; out[1] = before + after; }}
"""
NUMBERS = """
kernel void take_numbers(global double *out, float f, double d, int i, uchar u)
{ out[0] = f; out[1] = d; out[2] = i; out[3] = u; }
"""
# Types that not every device has.
HALVES = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n" + TAKE.format("half8")
DOUBLES = "".join(TAKE.format(name) for name, dtype, _ in VECTORS if dtype == "f8") + NUMBERS
SOURCE = (
    "".join(TAKE.format(name) for name, dtype, _ in VECTORS if dtype not in ("f2", "f8"))
    + """
typedef struct { float3 origin; float2 size; uchar4 tint[3]; long scale; } box_t;
kernel void take_box(global box_t *out, box_t box) { *out = box; }
typedef struct { float rows[4][4]; } matrix_t;
kernel void multiply(global float *out, matrix_t matrix, float4 vector)
{
    for (int i = 0; i < 4; ++i)
        out[i] = matrix.rows[i][0] * vector.x + matrix.rows[i][1] * vector.y + matrix.rows[i][2] * vector.z
                 + matrix.rows[i][3] * vector.w;
}
"""
)


@pytest.fixture(scope="module")
def built() -> bl.KernelFile:
    return bl.build(SOURCE)


@pytest.fixture
def bundle(built: bl.KernelFile, queue: bl.Queue) -> bl.KernelBundle:
    return bl.load_kernel_bundle(built, queue)


@pytest.fixture
def take(bundle: bl.KernelBundle, queue: bl.Queue) -> Take:
    """Return the kernel that takes a vector, or numbers."""

    def found(name: str) -> bl.Kernel:
        apart = {
            "half": (HALVES, bl.Aspect.fp16),
            "double": (DOUBLES, bl.Aspect.fp64),
            "numbers": (DOUBLES, bl.Aspect.fp64),
        }
        source, aspect = apart.get(name.rstrip("0123456789"), ("", None))
        if aspect is None:
            return bundle.get_kernel(f"take_{name}")
        if not queue.device.has(aspect):
            pytest.skip(f"{queue.device.name} has no {aspect}")
        return bl.load_kernel_bundle(bl.build(source), queue).get_kernel(f"take_{name}")

    return found


def _values(dtype: str, count: int) -> npt.NDArray[Any]:
    rng = np.random.default_rng(count)
    if dtype[0] == "f":
        return rng.standard_normal(count).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, count, dtype=dtype, endpoint=True)


@pytest.mark.parametrize(("name", "dtype", "count"), VECTORS)
def test_vectors(name: str, dtype: str, count: int, take: Take, queue: bl.Queue) -> None:
    kernel = take(name)
    values = _values(dtype, count)
    room = 4 if count == 3 else count
    padded = np.zeros(room, dtype)
    padded[:count] = values
    strided = np.repeat(values, 2)[::2]
    for given in (values, padded, strided, tuple(values.tolist()), list(values)):
        out = bl.usm_empty((2, room), dtype, queue)
        queue.single_task(kernel, out, 3, given, 4).wait()
        found = out.numpy(queue)[:, :count]
        np.testing.assert_array_equal(found[0], values)
        np.testing.assert_array_equal(found[1], np.full(count, 7, dtype))


def test_integers_of_either_sign(bundle: bl.KernelBundle, queue: bl.Queue) -> None:
    out = bl.usm_empty((2, 4), np.uint8, queue)
    queue.single_task(bundle.get_kernel("take_uchar4"), out, 0, (-1, 255, 0, -128), 0).wait()
    assert out.numpy(queue)[0].tolist() == [255, 255, 0, 128]
    signed = bl.usm_empty((2, 4), np.int32, queue)
    queue.single_task(bundle.get_kernel("take_int3"), signed, 0, (2**32 - 1, -1, 5), 0).wait()
    assert signed.numpy(queue)[0, :3].tolist() == [-1, -1, 5]


def test_structures(bundle: bl.KernelBundle, queue: bl.Queue) -> None:
    box = np.dtype(
        {"names": ["origin", "size", "tint", "scale"], "formats": ["3f4", "2f4", "(3,4)u1", "i8"],
         "offsets": [0, 16, 24, 40], "itemsize": 48}
    )  # fmt: skip
    value = np.zeros((), box)
    value["origin"], value["size"], value["scale"] = (1, 2, 3), (4, 5), -(2**60)
    value["tint"] = np.arange(12).reshape(3, 4)
    for given in (value, value[()], value.reshape(1), np.frombuffer(value.tobytes(), np.uint8)):
        out = bl.usm_empty((1,), box, queue)
        queue.single_task(bundle.get_kernel("take_box"), out, given).wait()
        found = out.numpy(queue)[0]
        for name in box.names or ():
            np.testing.assert_array_equal(found[name], value[name])


def test_arrays_within_structures(bundle: bl.KernelBundle, queue: bl.Queue) -> None:
    matrix = np.arange(16, dtype=np.float32).reshape(4, 4)
    vector = np.array([1, -2, 3, 5], np.float32)
    for given in (matrix, np.asfortranarray(matrix)):
        out = bl.usm_empty((4,), np.float32, queue)
        queue.single_task(bundle.get_kernel("multiply"), out, given, vector).wait()
        np.testing.assert_array_equal(out.numpy(queue), matrix @ vector)


def test_numbers_are_converted_to_the_source_s_type(take: Take, queue: bl.Queue) -> None:
    kernel = take("numbers")
    out = bl.usm_empty((4,), np.float64, queue)
    queue.single_task(kernel, out, 2, 3, 4, 5).wait()
    assert out.numpy(queue).tolist() == [2, 3, 4, 5]
    with raises(bl.InvalidError, names=("argument 3 ('i')", "4 bytes (int)", 4.5)):
        queue.single_task(kernel, out, 2.0, 3.0, 4.5, 5)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (
            "float4",
            np.zeros(3, "f4"),
            r"float4\).*it has 12 bytes \(float32 of shape \(3,\)\).*float4 takes 4 of float32",
        ),
        ("float4", np.zeros(2, "f8"), "its elements are float64, the parameter's float32: convert it with astype"),
        ("float4", np.zeros(4, "i4"), "its elements are int32, the parameter's float32"),
        ("int3", np.zeros(2, "i4"), r"int3 takes 3 of int32, or 4, the last of which is not used \(16 bytes\)"),
        ("float4", (1, 2, 3), "it has 3 elements: float4 takes 4 of float32"),
        ("int3", (1, 2.5, 3), "its element 2.5 is no integer"),
        ("float2", (1, "2"), "its element '2' is no number"),
        ("uchar4", (1, 2, 3, 256), "an element does not fit uint8"),
        ("char16", [0] * 15 + [-129], "an element does not fit int8"),
        ("half8", (1e6,) * 8, "an element does not fit float16"),
        ("float4", np.array([None] * 4), "it holds Python objects"),
    ],
)
def test_values_that_do_not_fit(name: str, value: Any, message: str, take: Take, queue: bl.Queue) -> None:
    kernel, out = take(name), bl.malloc_device(64, queue)
    with raises(bl.InvalidError, match=r"argument 2 \('value'\).*" + message):
        queue.single_task(kernel, out, 0, value, 0)


def test_structures_that_do_not_fit(bundle: bl.KernelBundle, queue: bl.Queue) -> None:
    out = bl.usm_empty((64,), np.uint8, queue)
    with raises(bl.InvalidError, names=("box_t", "48 bytes")):
        queue.single_task(bundle.get_kernel("take_box"), out, (1, 2))
    with raises(bl.InvalidError, names=(32, "(float64", "shape (4,))", "box_t", 48)):
        queue.single_task(bundle.get_kernel("take_box"), out, np.zeros(4))


@pytest.mark.usefixtures("needs_spirv")
def test_sources_that_tell_no_types(built: bl.KernelFile, queue: bl.Queue, tmp_path: Path) -> None:
    """SPIR-V without source text still has types; PTX alone has sizes."""
    section = next(s for s in built.sections if (s.language == "ptx") == (queue.device.backend is bl.Backend.cuda))
    kernel = bl.load_kernel_bundle(_without_strings(section.data), queue).get_kernel("take_int3")
    assert kernel.arguments is not None
    cuda = queue.device.backend is bl.Backend.cuda
    assert [argument.type for argument in kernel.arguments[1:]] == ([""] * 3 if cuda else ["int", "int3", "int"])
    out = bl.usm_empty((2, 4), np.int32, queue)
    queue.single_task(kernel, out, 3, np.array([7, 8, 9], np.int32), 4).wait()
    assert out.numpy(queue)[0, :3].tolist() == [7, 8, 9]
    if cuda:
        with raises(bl.InvalidError, match="the parameter's is unknown"):
            queue.single_task(kernel, out, 3, (7, 8, 9), 4)
    else:
        queue.single_task(kernel, out, 3, (-7, 8, 9), 4).wait()
        assert out.numpy(queue)[0, :3].tolist() == [-7, 8, 9]


def _without_strings(module: bytes) -> bytes:
    """Return the module without OpString; PTX has none."""
    if module[:4] != b"\x03\x02\x23\x07":
        return module
    words = np.frombuffer(module, "<u4")
    kept, at = [words[:5]], 5
    while at < len(words):
        length = int(words[at] >> 16)
        if words[at] & 0xFFFF != 7:
            kept.append(words[at : at + length])
        at += length
    return np.concatenate(kept).tobytes()
