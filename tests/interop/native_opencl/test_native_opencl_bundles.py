"""Kernel bundles of the package made of OpenCL's programs."""

from __future__ import annotations

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

BROKEN = "kernel void broken(global int *data) { data[0] = nothing; }"


def program_in(raw: Raw, state: str) -> Any:
    """A native program of one kernel in one of the states that CL's table names."""
    make = {"none": raw.program, "compiled": raw.compiled, "library": raw.library, "executable": raw.built}
    return make[state](SCALE)


@pytest.mark.parametrize("wanted", ["input", "object", "executable"])
@pytest.mark.parametrize("state", ["none", "compiled", "library", "executable"])
def test_the_states_of_a_program_and_of_its_bundle(
    raw: Raw, context: bl.Context, queue: bl.Queue, state: str, wanted: str
) -> None:
    native = program_in(raw, state)
    before = raw.count(native)
    order = ["none", "compiled", "library", "executable"]
    allowed = {"input": ["none"], "object": order[:3], "executable": order}[wanted]
    if state not in allowed:
        for make in (
            lambda: bl.make_kernel_bundle("opencl", native, context, wanted),
            lambda: opencl.create_bundle(context, raw.facade, [native], wanted),
        ):
            with raises(bl.InvalidError, names=f"'{wanted}'"):
                make()
        assert raw.count(native) == before
        return
    bundle = bl.make_kernel_bundle("opencl", native, context, wanted)
    assert (bundle.state, bundle.devices, bundle.context) == (wanted, (raw.facade,), context)
    assert raw.count(native) > before  # a linked program may hold what it was linked of, too
    handles = bl.get_native(bundle)
    assert all(handle.type == "cl_program" for handle in handles) and raw.number(native) in handles
    del handles
    if wanted == "input":
        assert raw.binary_type(native) == lib.CL_PROGRAM_BINARY_TYPE_NONE
        executable = bundle.build()
    elif wanted == "object":
        assert raw.binary_type(native) != lib.CL_PROGRAM_BINARY_TYPE_NONE  # compiled as necessary
        executable = bundle.link()
    else:
        executable = bundle
    assert executable.kernel_names == ("scale",)
    assert run(queue, executable.get_kernel("scale"), np.float32(2), np.float32(3)) == [6.0] * 4
    executable.close()
    bundle.close()
    bundle.close()
    with raises(bl.InvalidError):
        bl.get_native(bundle)


@pytest.mark.parametrize("ownership", [None, "transfer"])
def test_a_program_is_retained_and_released(
    raw: Raw, context: bl.Context, queue: bl.Queue, ownership: str | None
) -> None:
    native = raw.built(SCALE)
    before = raw.count(native)
    bundle = bl.make_kernel_bundle("opencl", native, context, ownership=ownership)
    assert raw.count(native) == before + (ownership is None)
    if ownership is None:
        raw.release(native)  # the bundle has its own
    kernel = bundle.get_kernel("scale")
    del bundle  # the kernel keeps it
    assert run(queue, kernel, np.float32(1), np.float32(7)) == [7.0] * 4
    (handle,) = bl.get_native(kernel.bundle)
    del kernel
    gc.collect()
    assert settled(lambda: opencl.get_reference_count(handle), 1) == 1
    if ownership is not None:
        raw.made.remove(native)


def test_a_binary_that_was_never_built_is_built(raw: Raw, context: bl.Context, queue: bl.Queue) -> None:
    """A driver calls it an executable, or even built; its kernels run, and nothing before them ends the process."""
    for form, state in ((raw.built(SCALE), "executable"), (raw.compiled(SCALE), "object")):
        size = ffi.new("size_t *")
        assert lib.clGetProgramInfo(form, lib.CL_PROGRAM_BINARY_SIZES, 8, size, ffi.NULL) == 0
        binary = ffi.new("unsigned char[]", size[0])
        pointers = ffi.new("unsigned char *[]", [binary])
        assert lib.clGetProgramInfo(form, lib.CL_PROGRAM_BINARIES, 8, pointers, ffi.NULL) == 0
        devices, slot = ffi.new("cl_device_id[]", [raw.device]), ffi.new("cl_int *")
        given = ffi.cast("unsigned char const **", pointers)
        native = lib.clCreateProgramWithBinary(raw.context, 1, devices, size, given, ffi.NULL, slot)
        assert slot[0] == 0
        raw.made.append(native)
        with raises(bl.InvalidError, names="'input'"):
            bl.make_kernel_bundle("opencl", native, context, "input")
        if state == "executable":
            with raises(bl.InvalidError, names="'object'"):
                bl.make_kernel_bundle("opencl", native, context, "object")
        for make in (
            lambda native: bl.make_kernel_bundle("opencl", native, context),
            lambda native: opencl.create_bundle(context, raw.facade, [native]),
        ):
            bundle = make(native)
            assert bundle.kernel_names == ("scale",)
            assert run(queue, bundle.get_kernel("scale"), np.float32(2), np.float32(3)) == [6.0] * 4
            bundle.close()
            del bundle


def test_the_log_of_a_program_that_does_not_build(raw: Raw, context: bl.Context) -> None:
    with raises(bl.InvalidError, names="CL_") as caught:
        bl.make_kernel_bundle("opencl", raw.program(BROKEN), context)
    assert opencl.get_error_code(caught.value) == lib.CL_BUILD_PROGRAM_FAILURE
    assert isinstance(caught.value.__cause__, bl.BuildError) and "nothing" in caught.value.__cause__.log


def test_arguments_of_programs_that_were_built_without_information(raw: Raw, context: bl.Context) -> None:
    """The text tells them where the driver does not."""
    bundle = bl.make_kernel_bundle("opencl", raw.built(SCALE, options=b""), context, ownership="keep")
    told = bundle.get_kernel("scale").arguments
    assert told == bl.load_kernel_bundle(SCALE.encode(), context).get_kernel("scale").arguments
    assert told is not None and all(part.name and part.type for part in told)


def test_a_bundle_of_several_programs(raw: Raw, context: bl.Context, queue: bl.Queue) -> None:
    first, second = raw.built(SCALE), raw.program("kernel void fill(global int *data) { data[get_global_id(0)] = 5; }")
    bundle = opencl.create_bundle(context, [raw.facade], [first, second])
    assert sorted(bundle.kernel_names) == ["fill", "scale"]
    assert [int(handle) for handle in bl.get_native(bundle)] == [raw.number(first), raw.number(second)]
    assert run(queue, bundle.get_kernel("fill"), np.int32(0)) == [5] * 4
    assert run(queue, bundle.get_kernel("scale"), np.float32(2), np.float32(2)) == [4.0] * 4
    bundle.close()
    # Compiled ones are linked with each other; those that are not compiled yet are.
    for parts in ([raw.compiled(CALLER), raw.compiled(TWICE)], [raw.compiled(TWICE), raw.compiled(CALLER)]):
        linked = opencl.create_bundle(context, raw.facade, parts)
        assert linked.kernel_names == ("run",)
        assert run(queue, linked.get_kernel("run"), np.int32(21), size=1)[0] == 42
        assert {raw.number(part) for part in parts} < set(bl.get_native(linked))
        linked.close()
    # So are those that nobody compiled and that need each other, with others that do not.
    for parts in (
        [raw.program(CALLER), raw.program(TWICE)],
        [raw.program(TWICE), raw.program(CALLER)],
        [raw.program(CALLER), raw.compiled(TWICE)],
        [raw.compiled(CALLER), raw.program(TWICE)],
        [raw.program(TWICE), raw.program(SCALE), raw.program(CALLER)],
        [raw.built(SCALE), raw.program(CALLER), raw.program(TWICE)],
    ):
        linked = opencl.create_bundle(context, raw.facade, parts)
        assert set(linked.kernel_names) == {"run"} | ({"scale"} if len(parts) == 3 else set())
        assert run(queue, linked.get_kernel("run"), np.int32(21), size=1)[0] == 42
        if len(parts) == 3:
            assert run(queue, linked.get_kernel("scale"), np.float32(2), np.float32(2)) == [4.0] * 4
        linked.close()
    # Programs that build by themselves are not linked: each may have a kernel of its own by one name.
    same = [raw.program(f"kernel void answer(global int *out) {{ out[0] = {number}; }}") for number in (1, 2)]
    separate = opencl.create_bundle(context, raw.facade, same)
    assert [int(handle) for handle in bl.get_native(separate)] == [raw.number(part) for part in same]
    separate.close()
    with pytest.raises(bl.BuildError):
        opencl.create_bundle(context, raw.facade, [raw.program(CALLER), raw.program(SCALE)])
    with pytest.raises(bl.BuildError) as caught:
        opencl.create_bundle(context, raw.facade, [raw.program(CALLER), raw.program(TWICE), raw.program(BROKEN)])
    assert "nothing" in caught.value.log
    objects = opencl.create_bundle(context, raw.facade, [raw.program(CALLER), raw.library(TWICE)], "object")
    assert objects.state is bl.BundleState.object
    linked = objects.link()
    assert run(queue, linked.get_kernel("run"), np.int32(4), size=1)[0] == 8
    linked.close()
    objects.close()
    sources = opencl.create_bundle(context, raw.facade, [raw.program(SCALE)], "input")
    assert sources.state is bl.BundleState.input
    sources.close()


def test_bundles_of_several_that_are_refused(raw: Raw, context: bl.Context) -> None:
    native = raw.built(SCALE)
    kernel = raw.kernel(native, "scale")
    before = raw.counts([native, kernel])
    with raises(bl.BuildError, names="CL_BUILD_PROGRAM_FAILURE") as caught:
        opencl.create_bundle(context, raw.facade, [native, raw.program(BROKEN)])
    assert "nothing" in caught.value.log and caught.value.code is bl.Errc.build
    with raises(bl.BuildError, match=r"CL_LINK_PROGRAM_FAILURE|CL_BUILD_PROGRAM_FAILURE"):
        opencl.create_bundle(context, raw.facade, [raw.compiled(CALLER)])
    reference = bl.Device("reference:*:*")
    for error, match, arguments in (
        (bl.InvalidError, "natives=None: it is a list", (context, raw.facade, None)),
        (bl.InvalidError, "devices=3.*Device", (context, 3, [native])),
        (bl.InvalidError, "at least|one device", (context, [], [native])),
        (bl.InvalidError, None, (context, raw.facade, [])),
        (bl.InvalidError, None, (context, raw.facade, [native, kernel])),
        (bl.InvalidError, "'executable'", (context, raw.facade, [kernel], "object")),
        (bl.InvalidError, "cl_context", (bl.Context(raw.facade), raw.facade, [native])),
        (bl.InvalidError, "cl_context", (bl.Context(raw.facade), raw.facade, [kernel])),
        (bl.BackendMismatchError, None, (context, reference, [native])),
        (bl.BackendMismatchError, None, (bl.Context(reference), reference, [native])),
        (bl.InvalidError, "Context", (raw.context, raw.facade, [native])),
    ):
        with raises(error, match=match):
            opencl.create_bundle(*arguments)
    # A number alone is a program's; that of a kernel is no program, even where a driver believes what it is told.
    with pytest.raises(bl.Error, match=r"is no cl_program|of another cl_context") as caught:
        opencl.create_bundle(context, raw.facade, [raw.number(kernel)])
    assert caught.value.code in (bl.Errc.invalid, bl.Errc.build)
    assert raw.counts([native, kernel]) == before


def test_a_binary_of_another_device(raw: Raw, queue: bl.Queue) -> None:
    with raises(bl.BuildError, match=r"CL_INVALID_BINARY|CL_INVALID|neither SPIR-V") as caught:
        bl.load_kernel_bundle(b"\x7fELF" + bytes(60), queue)
    assert opencl.get_error_code(caught.value) < 0
