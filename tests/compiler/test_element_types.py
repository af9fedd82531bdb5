"""Array arguments of kernels: the element type must match the source's type, or the launch is refused."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import pytest

import bindless as bl
from bindless.backends.contract import KernelArgument
from bindless.sycl.kernel.arguments import pack_arguments

FITS = [
    ("float*", "f4"), ("float*", "c8"), ("float4*", "f4"), ("float2*", "c8"), ("const float*", "f4"), ("float *", "f4"),
    ("double*", "f8"), ("double*", "c16"), ("half*", "f2"), ("int*", "i4"), ("int*", "u4"), ("uint*", "i4"),
    ("uint4*", "u4"), ("unsigned int*", "u4"), ("long*", "u8"), ("ulong*", "i8"), ("size_t*", "u8"), ("short*", "u2"),
    ("ushort*", "i2"), ("bool*", "?"), ("bool*", "u1"), ("long*", "m8[s]"),
    # Bytes, and types known from the source only.
    ("void*", "f8"), ("char*", "f8"), ("uchar*", "f4"), ("unsigned char*", "i4"), ("uchar4*", "f4"), ("pair_t*", "f8"),
    ("float**", "f8"), ("", "f8"),
    # Structures and raw bytes.
    ("float*", "f4, f4"), ("float4*", "4f4, i4"), ("int*", "V12"), ("float*", "S4"),
]  # fmt: skip
WRONG = [
    ("float*", "f8"), ("float*", "i4"), ("float*", "u4"), ("float*", "f2"), ("float*", "?"), ("float*", "u1"),
    ("float*", "c16"), ("float*", ">f4"), ("float4*", "f8"), ("double*", "f4"), ("double*", "i8"), ("double*", "c8"),
    ("half*", "u2"), ("half*", "f4"), ("int*", "f4"), ("int*", "i8"), ("uint*", "u1"), ("uint4*", "f4"),
    ("int*", ">i4"), ("long*", "i4"), ("long*", "f8"), ("ushort*", "f2"), ("size_t*", "u4"), ("bool*", "f4"),
    ("const uint*", "u2"), ("int*", "c8"),
]  # fmt: skip


def parameter(type_: str) -> KernelArgument:
    return KernelArgument(0, "data", "pointer", 8, type_)


@pytest.mark.parametrize(("type_", "dtype"), FITS)
def test_elements_that_fit(queue: bl.Queue, type_: str, dtype: str) -> None:
    array = bl.usm_empty(4, dtype, queue)
    assert pack_arguments("k", [parameter(type_)], [array], queue) == [array.address.to_bytes(8, "little")]


@pytest.mark.parametrize(("type_", "dtype"), WRONG)
def test_other_elements_are_refused_and_both_types_named(queue: bl.Queue, type_: str, dtype: str) -> None:
    array = bl.usm_empty(4, dtype, queue)
    with pytest.raises(bl.InvalidError) as refused:
        pack_arguments("k", [parameter(type_)], [array], queue)
    assert refused.value.code is bl.Errc.invalid
    assert str(np.dtype(dtype)) in str(refused.value) and type_ in str(refused.value)
    for fits in (array.view("u1"), array.pointer):  # raw memory, and memory without elements
        byte_pointer = parameter("char*") if fits is not array.pointer else parameter(type_)
        pack_arguments("k", [byte_pointer], [fits], queue)
    pack_arguments("k", [parameter(type_)], [array.pointer], queue)


# ---------------------------------------------------------------------- launches

SOURCE = """
kernel void scale(global float *data, float by) { data[get_global_id(0)] *= by; }
kernel void count(global uint *data) { data[get_global_id(0)] += 1; }
"""
needs_compiler = pytest.mark.skipif(
    not bl.kernels_available() and not os.environ.get("BINDLESS_TEST_KERNELS"),
    reason="needs a kernel compiler: pip install 'bindless[kernels]'",
)
ORDERS = pytest.mark.parametrize("own", [True, False], indirect=True, ids=["in order", "out of order"])


@pytest.fixture
def own(queue: bl.Queue, request: pytest.FixtureRequest) -> Iterator[bl.Queue]:
    with bl.Queue(queue.device, queue.context, in_order=request.param) as made:
        yield made


@pytest.fixture(scope="module")
def built() -> bl.KernelFile:
    return bl.build(SOURCE)


def of(queue: bl.Queue, values: object, dtype: str) -> bl.UsmArray:
    array = np.asarray(values, dtype)
    return bl.usm_empty(array.shape, array.dtype, queue).copy_from(array)


@needs_compiler
@ORDERS
def test_a_repeated_launch_refuses_another_dtype_each_time(own: bl.Queue, built: bl.KernelFile) -> None:
    kernel = bl.load_kernel_bundle(built, own).get_kernel("scale")
    good, more = of(own, [1, 2, 3, 4], "f4"), of(own, [5, 6, 7, 8], "f4")
    wrong = [of(own, [1, 2, 3, 4], dtype) for dtype in ("f8", "i4", "f2")]
    for turn in range(4):
        own.parallel_for(4, kernel, good, 2.0).wait()
        for array in wrong:
            before = array.numpy(own)
            with pytest.raises(bl.InvalidError) as refused:
                own.parallel_for(4, kernel, array, 2.0)
            assert refused.value.code is bl.Errc.invalid
            assert np.array_equal(array.numpy(own), before)
        own.parallel_for(4, kernel, more, 2.0).wait()
        assert good.numpy(own).tolist() == [2 ** (turn + 1) * n for n in (1, 2, 3, 4)]
        assert more.numpy(own).tolist() == [2 ** (turn + 1) * n for n in (5, 6, 7, 8)]


@needs_compiler
@ORDERS
def test_views_are_the_way_out(own: bl.Queue, built: bl.KernelFile) -> None:
    kernel = bl.load_kernel_bundle(built, own).get_kernel("scale")
    data = of(own, np.arange(8, dtype="f4").view("f8"), "f8")
    with pytest.raises(bl.InvalidError):
        own.parallel_for(8, kernel, data, 3.0)
    own.parallel_for(8, kernel, data.view("f4"), 3.0).wait()
    assert data.numpy(own).view("f4").tolist() == [3.0 * n for n in range(8)]


@needs_compiler
@ORDERS
def test_integers_of_either_sign_in_repeated_launches(own: bl.Queue, built: bl.KernelFile) -> None:
    kernel = bl.load_kernel_bundle(built, own).get_kernel("count")
    arrays = [of(own, [0, 1, 2, 3], dtype) for dtype in ("u4", "i4", "u4", "i4")]
    for _ in range(4):
        for array in arrays:
            own.parallel_for(4, kernel, array).wait()
    assert [array.numpy(own).tolist() for array in arrays] == [[4, 5, 6, 7]] * 4


@needs_compiler
@ORDERS
def test_a_bound_launch_refuses_another_dtype(own: bl.Queue, built: bl.KernelFile) -> None:
    bundle = bl.load_kernel_bundle(built, own)
    scale, count = bundle.get_kernel("scale"), bundle.get_kernel("count")
    floats, doubles = of(own, [1, 2, 3, 4], "f4"), of(own, [1, 2, 3, 4], "f8")
    with pytest.raises(bl.InvalidError):
        scale.bind(own, 4, doubles, 2.0)
    launch = scale.bind(own, 4, floats, 2.0)
    for _ in range(3):
        launch().wait()
        with pytest.raises(bl.InvalidError) as refused:
            launch[0] = doubles
        assert refused.value.code is bl.Errc.invalid
    assert floats.numpy(own).tolist() == [8, 16, 24, 32]
    bound = count.bind(own, 4, of(own, [0] * 4, "u4"))
    for dtype in ("i4", "u4", "i4"):
        bound().wait()
        bound[0] = array = of(own, [7] * 4, dtype)
        bound().wait()
        bound().wait()
        assert array.numpy(own).tolist() == [9] * 4


@needs_compiler
def test_accessors_graphs_and_arrays_of_others(queue: bl.Queue, built: bl.KernelFile) -> None:
    kernel = bl.load_kernel_bundle(built, queue).get_kernel("scale")
    numbers = np.array([1, 2, 3, 4], "f8")

    class Other:
        """Array of another library, known by its interface only."""

        def __init__(self, array: bl.UsmArray) -> None:
            self.array = array
            self.__dlpack__ = array.__dlpack__
            self.__dlpack_device__ = array.__dlpack_device__

    with bl.Buffer(numbers) as buffer, pytest.raises(bl.InvalidError):
        queue.submit(lambda h: h.parallel_for(4, kernel, buffer.get_access(h), 2.0))
    with bl.CommandGraph(queue) as graph, pytest.raises(bl.InvalidError):
        graph.parallel_for(4, kernel, of(queue, numbers, "f8"), 2.0)
    with pytest.raises(bl.InvalidError):
        queue.parallel_for(4, kernel, Other(of(queue, numbers, "f8")), 2.0)
    single = np.array([1, 2, 3, 4], "f4")
    with bl.Buffer(single) as buffer:
        queue.submit(lambda h: h.parallel_for(4, kernel, buffer.get_access(h), 2.0))
    assert single.tolist() == [2, 4, 6, 8]
