"""Kernels of the package made of OpenCL's, and what the specification says of kernels of OpenCL C."""

from __future__ import annotations

import ctypes
import gc
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import opencl
from tests.interop.native_opencl.opencl_objects import CALLER, SCALE, TWICE, run
from tests.interop.raw_opencl import Raw, ffi, lib
from tests.support.error_checks import raises
from tests.support.opencl_devices import settled

pytestmark = pytest.mark.opencl


# ---------------------------------------------------------------------- kernels


def test_a_kernel_is_retained_and_released(raw: Raw, context: bl.Context, queue: bl.Queue) -> None:
    program = raw.built(SCALE)
    native = raw.kernel(program, "scale")
    before = raw.counts([native, program])
    for way in (context, bl.make_kernel_bundle("opencl", program, context)):
        kernel = bl.make_kernel("opencl", native, way)
        assert (kernel.name, kernel.context) == ("scale", context)
        assert raw.count(native) == before[0] + 1
        handle = bl.get_native(kernel)
        assert (handle, handle.type) == (raw.number(native), "cl_kernel")
        assert raw.count(native) == before[0] + 2
        del handle
        assert run(queue, kernel, np.float32(2), np.float32(4)) == [8.0] * 4
        del kernel
        assert raw.counts_after([native], before[:1]) == before[:1]
    del way
    assert raw.counts_after([native], before[:1]) == before[:1]
    if not raw.facade.platform.name.startswith("NVIDIA"):  # whose queues keep a program that has run; see Raw.close
        assert raw.counts_after([program], before[1:]) == before[1:]
    with raises(bl.InvalidError, names="KernelBundle"):
        bl.make_kernel("opencl", native)
    kernel = bl.make_kernel("opencl", native, context=context, ownership="transfer")
    raw.made.remove(native)
    assert run(queue, kernel, np.float32(2), np.float32(5)) == [10.0] * 4
    del kernel
    gc.collect()
    most = before[1] + raw.facade.platform.name.startswith("NVIDIA")
    assert settled(lambda: raw.count(program) <= most, True)


def test_a_kernel_whose_program_was_released(raw: Raw, context: bl.Context, queue: bl.Queue) -> None:
    """As PyOpenCL's kernels are once nobody has their program: a kernel keeps it, but Intel's driver forgets it."""
    programs = [raw.built(SCALE), raw.built(SCALE.replace("scale", "other")), raw.built(SCALE.replace("scale", "kept"))]
    natives = [raw.kernel(program, name) for program, name in zip(programs, ("scale", "other", "kept"))]
    for program in programs[:2]:
        raw.made.remove(program)
        assert lib.clReleaseProgram(program) == 0
    before = raw.counts(natives)
    kernel = bl.make_kernel("opencl", natives[0], context)
    assert (kernel.name, kernel.get_info("num_args")) == ("scale", 2)
    assert run(queue, kernel, np.float32(2), np.float32(4)) == [8.0] * 4
    bundle = opencl.create_bundle(context, raw.facade, natives)
    assert sorted(bundle.kernel_names) == ["kept", "other", "scale"] and bundle.has_kernel("other")
    for name in bundle.kernel_names:
        assert run(queue, bundle.get_kernel(name), np.float32(3), np.float32(5)) == [15.0] * 4
    with raises(bl.InvalidError, names="cl_context"):
        bl.make_kernel("opencl", natives[0], bl.Context(raw.facade))
    with raises(bl.InvalidError, names="cl_program"):
        bl.make_kernel("opencl", natives[0], bl.make_kernel_bundle("opencl", programs[2], context))
    bundle.close()
    del kernel, bundle
    assert raw.counts_after(natives, before) == before


def set_buffer(kernel: Any, index: int, buffer: Any) -> None:
    assert lib.clSetKernelArg(kernel, index, 8, ffi.new("cl_mem *", buffer)) == 0


def set_value(kernel: Any, index: int, value: np.generic) -> None:
    assert lib.clSetKernelArg(kernel, index, value.nbytes, value.tobytes()) == 0


@pytest.mark.parametrize("apart", [False, True], ids=["", "as on NVIDIA"])
@pytest.mark.parametrize("ordered", [True, False])
def test_arguments_set_before_stay_set(
    raw: Raw, context: bl.Context, ordered: bool, apart: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if apart:
        if raw.facade._record.native.has_usm:
            pytest.skip("a device with unified memory is not asked whether it is NVIDIA's")
        monkeypatch.setitem(raw.facade._record.native.__dict__, "takes_ptx", True)
    start = np.arange(8, dtype=np.float32)
    buffer, native = raw.buffer(start), raw.kernel(raw.built(SCALE), "scale")
    set_buffer(native, 0, buffer)
    set_value(native, 1, np.float32(3))
    kernel = bl.make_kernel("opencl", native, context)
    plain = raw.queue()
    with bl.Queue(raw.facade, context, in_order=ordered) as queue:
        for _ in range(3):  # the third time in a row it is a prepared one
            queue.parallel_for(8, kernel).wait()
        queue.submit(lambda handler: handler.parallel_for(8, kernel)).wait()
        assert np.array_equal(raw.read(plain, buffer, start), start * 81)
        # Those of a command group are set for it, and are what is set then.
        array = bl.usm_empty(8, "float32", queue)
        array.copy_from(start)
        queue.parallel_for(8, kernel, array, np.float32(2)).wait()
        assert np.array_equal(array.numpy(), start * 2)
        with raises(bl.InvalidError, match=r"takes 2 arguments|2 parameters"):
            queue.parallel_for(8, kernel, array)
        made = opencl.create_bundle(context, raw.facade, [native])
        set_buffer(native, 0, buffer)
        set_value(native, 1, np.float32(1 / 81))
        queue.parallel_for(8, made.get_kernel("scale")).wait()
        assert np.allclose(raw.read(plain, buffer, start), start, rtol=1e-6)
        array.close()
        own = bl.load_kernel_bundle(SCALE.encode(), queue)  # one of the package's has none
        with raises(bl.InvalidError):
            queue.parallel_for(8, own.get_kernel("scale"))
        own.close()
        made.close()


def test_arguments_are_set_in_the_command_group(queue: bl.Queue) -> None:
    """Arguments are those of the launch, or set before it one by one or together, accessors too."""
    data = bl.usm_empty(8, "float32", queue)
    start = np.arange(8, dtype=np.float32)
    with bl.load_kernel_bundle(SCALE.encode(), queue) as bundle, bl.Buffer(start.copy()) as buffer:
        kernel = bundle.get_kernel("scale")

        def one_by_one(handler: bl.Handler) -> None:
            handler.set_arg(1, np.float32(7))
            handler.set_arg(0, data)
            handler.set_arg(1, np.float32(3))
            handler.parallel_for(8, kernel)

        def together(handler: bl.Handler) -> None:
            handler.set_args(buffer.get_access(handler), np.float32(5))
            handler.parallel_for(8, kernel)

        data.copy_from(start)
        queue.submit(one_by_one).wait()
        queue.submit(together).wait()
        assert np.array_equal(data.numpy(), start * 3)
        with buffer.get_host_access("read") as found:
            assert np.array_equal(found, start * 5)

        def refused(*calls: Any) -> None:
            def group(handler: bl.Handler) -> None:
                for name, *arguments in calls:
                    getattr(handler, name)(*arguments)

            with raises(bl.InvalidError):
                queue.submit(group)

        launch = ("parallel_for", 8, kernel)
        refused(("set_arg", 1, np.float32(1)), launch)
        refused(("set_arg", 0, data), launch)
        refused(("set_arg", -1, data), launch)
        refused(("set_arg", "0", data), launch)
        refused(("set_args", data, np.float32(1)), (*launch, data, np.float32(1)))
        refused((*launch, data, np.float32(1)), ("set_arg", 0, data))
        refused(("set_args", data), ("fill", data, 1))
        data.close()


def test_a_bundle_of_kernels_has_their_programs(raw: Raw, context: bl.Context, queue: bl.Queue) -> None:
    programs = [raw.built(SCALE), raw.built("kernel void fill(global int *data) { data[get_global_id(0)] = 5; }")]
    natives = [raw.kernel(programs[0], "scale"), raw.kernel(programs[1], "fill")]
    before = raw.counts([*programs, *natives])
    bundle = opencl.create_bundle(context, [raw.facade], natives)
    assert bundle.state is bl.BundleState.executable and sorted(bundle.kernel_names) == ["fill", "scale"]
    assert set(bl.get_native(bundle)) == {raw.number(program) for program in programs}
    for native, name in zip(natives, ("scale", "fill")):
        assert bl.get_native(bundle.get_kernel(name)) == raw.number(native)
    assert all(now > then for now, then in zip(raw.counts([*programs, *natives]), before))
    assert run(queue, bundle.get_kernel("fill"), np.int32(0)) == [5] * 4
    bundle.close()
    del bundle
    assert raw.counts_after([*programs, *natives], before) == before


# ---------------------------------------------------------------------- ranges

# Each row of the table of CL's "OpenCL kernel conventions and SYCL": the range, a query of OpenCL C, and what it gives:
# the size of a dimension of the SYCL range, or every index in it.
ROWS = [
    ((5, 3, 2), "get_global_size(2)", ("size", 0)),
    ((5, 3, 2), "get_global_size(1)", ("size", 1)),
    ((5, 3, 2), "get_global_size(0)", ("size", 2)),
    ((5, 3, 2), "get_global_id(2)", ("id", 0)),
    ((5, 3, 2), "get_global_id(1)", ("id", 1)),
    ((5, 3, 2), "get_global_id(0)", ("id", 2)),
    ((5, 3), "get_global_size(1)", ("size", 0)),
    ((5, 3), "get_global_size(0)", ("size", 1)),
    ((5, 3), "get_global_id(1)", ("id", 0)),
    ((5, 3), "get_global_id(0)", ("id", 1)),
    ((5,), "get_global_size(0)", ("size", 0)),
    ((5,), "get_global_id(0)", ("id", 0)),
]


def test_ranges_are_reversed_row_by_row(raw: Raw, context: bl.Context, queue: bl.Queue) -> None:
    queries = sorted({query for _, query, _ in ROWS})
    place = "get_global_id(0) + get_global_size(0) * (get_global_id(1) + get_global_size(1) * get_global_id(2))"
    text = "\n".join(
        f"kernel void query{number}(global int *out) {{ out[{place}] = {query}; }}"
        for number, query in enumerate(queries)
    )
    bundle = bl.make_kernel_bundle("opencl", raw.program(text), context)
    for range_, query, (what, dimension) in ROWS:
        out = bl.usm_empty(range_, "int32", queue)
        kernel = bundle.get_kernel(f"query{queries.index(query)}")
        local = tuple(1 for _ in range_)
        for space in (range_, bl.Range(*range_), bl.NdRange(range_, local)):
            queue.memset(out, 255, out.nbytes).wait()
            queue.parallel_for(space, kernel, out).wait()
            # Linear ids agree, so the array has the shape of the range.
            expected = np.indices(range_)[dimension] if what == "id" else np.full(range_, range_[dimension])
            assert np.array_equal(out.numpy(), expected), (range_, query)
        out.close()
    bundle.close()


def test_work_groups_are_reversed_too(raw: Raw, context: bl.Context, queue: bl.Queue) -> None:
    text = """kernel void groups(global int *out)
{
    if (get_global_id(0) + get_global_id(1) + get_global_id(2) == 0) {
        for (int at = 0; at < 3; ++at) out[at] = get_local_size(at);
        out[3] = get_num_groups(0);  // PoCL 6 and 7 do not know it of a loop's counter
        out[4] = get_num_groups(1);
        out[5] = get_num_groups(2);
    }
}"""
    bundle = bl.make_kernel_bundle("opencl", raw.program(text), context)
    out = bl.usm_empty(6, "int32", queue)
    queue.parallel_for(bl.NdRange((2, 6, 8), (1, 2, 4)), bundle.get_kernel("groups"), out).wait()
    assert list(out.numpy()) == [4, 2, 1, 2, 3, 2]
    out.close()
    bundle.close()


def test_copies_of_boxes_are_reversed_too(raw: Raw, context: bl.Context, queue: bl.Queue) -> None:
    """What is last in a SYCL range is unit stride in OpenCL's copies as well."""
    pixels = np.arange(2 * 3 * 4 * 4, dtype=np.float32).reshape(2, 3, 4, 4)
    native = raw.image(pixels)
    image = bl.make_unsampled_image("opencl", native, context)
    assert tuple(image.get_range()) == (4, 3, 2) and image.shape == (2, 3, 4, 4)
    with image.get_host_access("read") as values:
        assert np.array_equal(values, pixels)
    image.close()
    whole = np.arange(4 * 5 * 6, dtype=np.int32).reshape(4, 5, 6)
    expected, part = whole.copy(), np.full((2, 3, 4), -1, np.int32)
    found = np.zeros_like(part)
    with bl.Buffer(whole) as buffer:

        def write(handler: bl.Handler) -> None:
            handler.copy(part, buffer.get_access(handler, "write", range=(2, 3, 4), offset=(1, 2, 0)))

        def read(handler: bl.Handler) -> None:
            handler.copy(buffer.get_access(handler, "read", range=(2, 3, 4), offset=(0, 1, 2)), found)

        queue.submit(write)
        queue.submit(read).wait()
    expected[1:3, 2:5, 0:4] = -1
    assert np.array_equal(whole, expected) and np.array_equal(found, expected[0:2, 1:4, 2:6])


# ---------------------------------------------------------------------- what kernels receive

RECEIVE = """
typedef struct { int a; float b; } Pair;
kernel void spaces(global int *out, constant int *constants, local int *shared, int count)
{
    int private_copy = constants[get_local_id(0)];
    shared[get_local_id(0)] = private_copy * 10;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = shared[get_local_size(0) - 1 - get_local_id(0)] + count;
}
"""


def test_memory_regions_and_accessors(raw: Raw, context: bl.Context, queue: bl.Queue) -> None:
    """Accessors are ``__global T *`` and ``__constant T *``, local ones ``__local T *``."""
    bundle = bl.load_kernel_bundle(RECEIVE.encode(), queue)
    values = np.arange(4, dtype=np.int32)
    out, constants = bl.Buffer(8, "int32"), bl.Buffer(values)

    def group(handler: bl.Handler) -> None:
        handler.parallel_for(
            bl.NdRange(8, 4),
            bundle.get_kernel("spaces"),
            out.get_access(handler, "write"),
            constants.get_access(handler, "read", target="constant_buffer"),
            bl.LocalAccessor(16),
            opencl.cl_int(7),
        )

    queue.submit(group).wait()
    with out.get_host_access("read") as found:
        assert list(found) == [int(value) * 10 + 7 for value in values[::-1]] * 2

    def ranged(handler: bl.Handler) -> None:
        handler.parallel_for(
            bl.NdRange(2, 2),
            bundle.get_kernel("spaces"),
            out.get_access(handler, "write", range=2, offset=3),
            constants.get_access(handler, "read", offset=2, target="constant_buffer"),
            bl.LocalAccessor(8),
            opencl.cl_int(1),
        )

    queue.submit(ranged).wait()
    with out.get_host_access("read", range=2, offset=3) as found:
        assert list(found) == [31, 21]
    out.close()
    constants.close()
    bundle.close()


SCALARS = {
    "cl_bool": (None, "b", 1, None),
    "cl_char": ("char", "i", 1, -7),
    "cl_uchar": ("uchar", "u", 1, 200),
    "cl_short": ("short", "i", 2, -30000),
    "cl_ushort": ("ushort", "u", 2, 60000),
    "cl_int": ("int", "i", 4, -(2**30)),
    "cl_uint": ("uint", "u", 4, 2**32 - 5),
    "cl_long": ("long", "i", 8, -(2**60)),
    "cl_ulong": ("ulong", "u", 8, 2**64 - 5),
    "cl_size_t": (None, "u", 8, None),
    "cl_float": ("float", "f", 4, 1.5),
    "cl_double": ("double", "f", 8, 1.25),
    "cl_half": ("half", "f", 2, 0.5),
}


def test_the_aliases_of_scalar_types(raw: Raw, context: bl.Context, queue: bl.Queue) -> None:
    """Sizes and signs are those of the driver's compiler."""
    offered = {"half": raw.facade.has("fp16"), "double": raw.facade.has("fp64")}
    there = {name: row for name, row in SCALARS.items() if row[0] is not None and offered.get(row[0], True)}
    enabled = "".join(
        f"#pragma OPENCL EXTENSION {extension} : enable\n"
        for kind, extension in (("half", "cl_khr_fp16"), ("double", "cl_khr_fp64"))
        if offered[kind]
    )
    text = enabled + "\n".join(
        f"kernel void take_{kind}(global {kind} *out, global int *size, {kind} value)"
        f" {{ out[0] = value; size[0] = sizeof({kind}); }}"
        for kind, _, _, _ in there.values()
    )
    bundle = bl.load_kernel_bundle(text.encode(), queue)
    size = bl.usm_empty(1, "int32", queue)
    for name, (kind, form, nbytes, value) in SCALARS.items():
        dtype = np.dtype(getattr(opencl, name))
        assert (dtype.kind, dtype.itemsize) == (form, nbytes), name
        if name not in there:
            continue
        out = bl.usm_empty(1, dtype, queue)
        queue.parallel_for(1, bundle.get_kernel(f"take_{kind}"), out, size, getattr(opencl, name)(value)).wait()
        assert out.numpy()[0] == value and size.numpy()[0] == nbytes, name
        out.close()
    assert opencl.cl_bool(True) == 1 and opencl.cl_bool(False) == 0
    assert 8 * np.dtype(opencl.cl_size_t).itemsize == raw.facade.get_info("address_bits")
    size.close()
    bundle.close()


HALVES = b"""#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void halves(global half *data) { data[get_global_id(0)] = data[get_global_id(0)] * (half)2; }
"""


def test_half_precision_needs_its_aspect(raw: Raw, queue: bl.Queue, request: pytest.FixtureRequest) -> None:
    """Kernels with halves run where there is ``Aspect.fp16``; memory of halves is everywhere."""
    start = np.array([0.5, -1.25, 1e-7, 30000], np.float16)
    array = bl.usm_empty(4, opencl.cl_half, queue)
    array.copy_from(start)
    assert np.array_equal(array.numpy(), start)
    if raw.facade.has("fp16"):
        with bl.load_kernel_bundle(HALVES, queue) as bundle:
            queue.parallel_for(4, bundle.get_kernel("halves"), array).wait()
        assert np.array_equal(array.numpy(), start * np.float16(2))
    else:
        if raw.facade.platform.name.startswith("NVIDIA"):
            reason = "its compiler takes half without cl_khr_fp16"
            request.applymarker(pytest.mark.xfail(strict=True, raises=pytest.fail.Exception, reason=reason))
        for state in ("executable", "object"):
            with pytest.raises(bl.KernelNotSupportedError) as caught:
                bl.load_kernel_bundle(HALVES, queue, state=state)
            assert caught.value.code is bl.Errc.kernel_not_supported
            assert opencl.get_error_code(caught.value) < 0
    array.close()


def test_an_error_of_another_kind_is_one_of_the_build(raw: Raw, queue: bl.Queue) -> None:
    """Memory of halves is read and written without ``Aspect.fp16``: what is wrong here is something else."""
    text = b"kernel void store(global half *data) { vstore_half(nothing, 0, data); }"
    with pytest.raises(bl.BuildError) as caught:
        bl.load_kernel_bundle(text, queue)
    assert caught.value.code is bl.Errc.build and "nothing" in caught.value.log


def test_images_are_written_in_three_dimensions_where_the_driver_does(raw: Raw, queue: bl.Queue) -> None:
    pixels = np.zeros((2, 3, 4, 4), np.float32)
    text = b"""#ifdef cl_khr_3d_image_writes
#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable
#endif
kernel void put(write_only image3d_t image)
{
    int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
    write_imagef(image, at, convert_float4(at));
}"""
    image = bl.UnsampledImage(pixels, dimensions=3)
    expected = np.stack([*np.indices((2, 3, 4))[::-1], np.zeros((2, 3, 4))], -1)

    def group(handler: bl.Handler) -> None:
        handler.parallel_for((2, 3, 4), bundle.get_kernel("put"), image.get_access(handler, "write"))

    if raw.facade._record.native.writes_3d:
        bundle = bl.load_kernel_bundle(text, queue)
        queue.submit(group).wait()
        image.close()
        assert np.array_equal(pixels, expected)
        bundle.close()
    else:
        with pytest.raises(bl.Error):
            bundle = bl.load_kernel_bundle(text, queue)
            queue.submit(group).wait()
        image.close()


def test_functions_of_opencl_c_are_linked_online(raw: Raw, queue: bl.Queue) -> None:
    """A kernel calls a function of another text by its declaration."""
    library = bl.load_kernel_bundle(TWICE.encode(), queue, state="object")
    caller = bl.load_kernel_bundle(CALLER.encode(), queue, state="object")
    for handle in bl.get_native(library):
        assert handle.type == "cl_program" and opencl.get_reference_count(handle) >= 2
    unbuilt = bl.load_kernel_bundle(CALLER.encode(), queue, state="input")
    for bundle in (unbuilt, caller):
        with bundle.compile_with_source(TWICE) as added, bundle.build_with_source(TWICE) as built:
            assert added.state is bl.BundleState.object and built.state is bl.BundleState.executable
            assert run(queue, built.get_kernel("run"), np.int32(8), size=1)[0] == 16
            with caller.link(added) as joined:
                assert run(queue, joined.get_kernel("run"), np.int32(9), size=1)[0] == 18
    with caller.link(library) as linked, raises(bl.InvalidError):
        linked.build_with_source(TWICE)
    with raises(bl.BuildError):
        caller.build_with_source("no OpenCL C")
    unbuilt.close()
    with caller.link(library) as linked:
        assert run(queue, linked.get_kernel("run"), np.int32(8), size=1)[0] == 16
    with raises(bl.BuildError, match=r"CL_LINK_PROGRAM_FAILURE|CL_BUILD_PROGRAM_FAILURE"):
        caller.link()
    library.close()
    caller.close()


def test_work_item_functions_and_printf(raw: Raw, queue: bl.Queue, capfd: pytest.CaptureFixture[str]) -> None:
    """What CL compares with SYCL is there as OpenCL C has it: queries, vector loads, barriers, printf."""
    text = b"""kernel void items(global int *out, global int const *in, local int *shared)
{
    vstore4(vload4(get_local_id(0), in), get_local_id(0), shared);
    barrier(CLK_LOCAL_MEM_FENCE);
    int at = get_global_linear_id();
    out[at] = shared[4 * (get_local_size(0) - 1 - get_local_id(0))] + 1000 * get_group_id(0);
    if (at == 5)
        printf("item %d\\n", at);
}"""
    bundle = bl.load_kernel_bundle(text.replace(b"get_global_linear_id()", b"get_global_id(0)"), queue)
    source, out = bl.usm_empty(16, "int32", queue), bl.usm_empty(8, "int32", queue)
    source.copy_from(np.arange(16, dtype=np.int32))
    queue.parallel_for(bl.NdRange(8, 4), bundle.get_kernel("items"), out, source, bl.LocalAccessor(64)).wait()
    assert list(out.numpy()) == [12, 8, 4, 0, 1012, 1008, 1004, 1000]
    queue.wait()
    ctypes.CDLL(None).fflush(None)
    assert "item 5" in capfd.readouterr().out
    for memory in (source, out):
        memory.close()
    bundle.close()
