"""OpenCL's platforms, devices and contexts made into objects of the package and back; extensions, counts and errors.

The driver's reference counts show whose an object is: at the end of each test nobody but the program holds it.
"""

from __future__ import annotations

import gc

import pytest

import bindless as bl
from bindless import opencl
from tests.interop.native_opencl.opencl_objects import SCALE, filled
from tests.interop.raw_opencl import Raw, ffi, lib
from tests.support.error_checks import raises
from tests.support.opencl_devices import settled

pytestmark = pytest.mark.opencl


# ---------------------------------------------------------------------- platforms, devices


def wait_for_threads(context: bl.NativeHandle) -> None:
    """Waits until the handle alone holds a context. A thread of PoCL lets go of a command shortly after its end; until
    then it uses the command's device, which it does not hold."""
    assert settled(lambda: opencl.get_reference_count(context), 1) == 1


def test_a_sub_device_made_elsewhere_is_retained_and_released(raw: Raw) -> None:
    if lib.CL_DEVICE_PARTITION_EQUALLY not in raw.facade._record.native.numbers(
        lib.CL_DEVICE_PARTITION_PROPERTIES, "cl_device_partition_property"
    ):
        pytest.skip("the device is not divided equally")
    parts, count = ffi.new("cl_device_id[64]"), ffi.new("cl_uint *")
    way = ffi.new("cl_device_partition_property[]", [lib.CL_DEVICE_PARTITION_EQUALLY, 1, 0])
    assert lib.clCreateSubDevices(raw.device, way, 64, parts, count) == 0
    native = parts[0]
    before = raw.count(native)
    device = bl.make_device("opencl", native)
    assert (device.parent, bl.get_native(device)) == (raw.facade, raw.number(native))
    assert raw.count(native) == before + 1
    with bl.Context(device) as context, bl.Queue(device, context) as queue:
        assert filled(queue, 3) == [3] * 4
        handle = bl.get_native(context)
    del context, queue
    wait_for_threads(handle)
    handle = bl.get_native(device)
    del device
    gc.collect()
    assert raw.count(native) == before + 1  # the handle's
    del handle
    assert raw.count(native) == before
    for part in parts[0 : count[0]]:
        lib.clReleaseDevice(part)


def test_sub_devices_with_their_contexts_and_queues(raw: Raw) -> None:
    """Of a sub-device made here or elsewhere there is one device, which contexts and queues tell."""
    if "partition_equally" not in raw.facade.get_info("partition_properties"):
        pytest.skip("the device is not divided equally")
    part = raw.facade.create_sub_devices("partition_equally", 1)[0]
    again = bl.make_device("opencl", bl.get_native(part))
    assert (again, again.parent, hash(again)) == (part, raw.facade, hash(part))
    parts = ffi.new("cl_device_id[64]")
    way = ffi.new("cl_device_partition_property[]", [lib.CL_DEVICE_PARTITION_EQUALLY, 1, 0])
    count = ffi.new("cl_uint *")
    assert lib.clCreateSubDevices(raw.device, way, 64, parts, count) == 0
    theirs = bl.make_device("opencl", parts[0])
    assert theirs == bl.make_device("opencl", raw.number(parts[0])) and theirs != part
    assert raw.count(parts[0]) == 2  # one for all devices of it
    slot = ffi.new("cl_int *")
    native = lib.clCreateContext(ffi.NULL, 1, parts, ffi.NULL, ffi.NULL, slot)
    assert slot[0] == 0
    command_queue = lib.clCreateCommandQueue(native, parts[0], 0, slot)
    assert slot[0] == 0
    told = bl.make_context("opencl", native).devices
    assert told in ((theirs,), (raw.facade,))  # PoCL's contexts tell the whole device
    with bl.make_context("opencl", native, theirs) as context:
        with bl.make_queue("opencl", command_queue, context) as queue:
            assert (context.devices, queue.device) == ((theirs,), theirs)
            assert filled(queue, 9) == [9] * 4
        bundle = bl.make_kernel_bundle("opencl", raw.program(SCALE, native), context)
        assert bundle.devices == (theirs,)
        bundle.close()
    del told, context, queue, bundle, theirs
    lib.clReleaseCommandQueue(command_queue)
    lib.clReleaseContext(native)
    gc.collect()
    if raw.facade.platform.name.startswith("Intel"):  # PoCL's queues keep theirs
        assert raw.count(parts[0]) == 1
    for each in parts[0 : count[0]]:
        lib.clReleaseDevice(each)


def test_what_the_driver_calls_visible_is_listed(raw: Raw) -> None:
    """All platforms are exported; a device's version is not above its platform's."""
    assert opencl.SYCL_BACKEND_OPENCL == 1
    slot = ffi.new("cl_uint *")
    assert lib.clGetPlatformIDs(0, ffi.NULL, slot) == 0
    handles = ffi.new("cl_platform_id[]", slot[0])
    assert lib.clGetPlatformIDs(slot[0], handles, ffi.NULL) == 0
    listed = [bl.get_native(found) for found in bl.get_platforms() if found.backend == "opencl"]
    assert sorted(listed) == sorted(raw.number(found) for found in handles)
    numbers = [int(part) for part in raw.facade.platform.version.split()[1].split(".")]
    assert tuple(map(int, raw.facade.get_info("version").split("."))) <= tuple(numbers)
    assert all(device.platform == raw.facade.platform for device in raw.facade.platform.get_devices())


def test_what_a_queue_needs_is_made_automatically(raw: Raw) -> None:
    selector = f"opencl:*:{bl.get_devices('opencl:*:*').index(raw.facade)}"
    with bl.Queue(selector) as queue:
        assert queue.device == raw.facade and queue.device.platform == raw.facade.platform
        assert queue.context.devices == (raw.facade,)
        native = ffi.cast("cl_command_queue", int(bl.get_native(queue)))
        slot = ffi.new("cl_context *")
        assert lib.clGetCommandQueueInfo(native, lib.CL_QUEUE_CONTEXT, 8, slot, ffi.NULL) == 0
        assert raw.number(slot[0]) == bl.get_native(queue.context)
        assert filled(queue, 2) == [2] * 4


# ---------------------------------------------------------------------- contexts


def test_errors_reach_the_handlers_of_contexts_and_queues(raw: Raw) -> None:
    """``asyncHandler`` of make_context, and that of make_queue before it."""
    if raw.facade.platform.name.startswith("Intel"):
        pytest.skip("Intel's runtime runs what waits for an event that failed; test_opencl_failures.py")
    of_context: list[bl.Error] = []
    of_queue: list[bl.Error] = []
    context = bl.make_context("opencl", raw.context, async_handler=of_context.extend)
    for handler, errors in ((None, of_context), (of_queue.extend, of_queue)):
        queue = bl.make_queue("opencl", raw.queue(), context, async_handler=handler)
        gate = raw.event()
        array = bl.usm_empty(4, "int32", queue)
        queue.fill(array, 1, depends_on=bl.make_event("opencl", gate, context))
        assert lib.clSetUserEventStatus(gate, lib.CL_OUT_OF_RESOURCES) == 0
        queue.wait_and_throw()
        assert len(errors) == 1 and opencl.get_error_code(errors[0]) < 0, (of_context, of_queue)
        array.close()
        queue.close()
    assert (len(of_context), len(of_queue)) == (1, 1)
    context.close()


def test_a_context_outlives_the_program_s_reference_and_the_other_way_round(raw: Raw) -> None:
    native = raw.new_context()
    context = bl.make_context("opencl", native)
    raw.release(native)
    with bl.Queue(raw.facade, context) as queue:
        assert filled(queue, 6) == [6] * 4
    handle = bl.get_native(context)
    context.close()
    del context, queue
    gc.collect()
    wait_for_threads(handle)  # the handle's own reference is left


# ---------------------------------------------------------------------- the rest


def test_extensions(raw: Raw) -> None:
    for where, call, native, name in (
        (raw.facade, "clGetDeviceInfo", raw.device, lib.CL_DEVICE_EXTENSIONS),
        (
            raw.facade.platform,
            "clGetPlatformInfo",
            ffi.cast("cl_platform_id", int(bl.get_native(raw.facade.platform))),
            lib.CL_PLATFORM_EXTENSIONS,
        ),
    ):
        size = ffi.new("size_t *")
        assert getattr(lib, call)(native, name, 0, ffi.NULL, size) == 0
        text = ffi.new("char[]", size[0])
        assert getattr(lib, call)(native, name, size[0], text, ffi.NULL) == 0
        listed = ffi.string(text).decode().split()
        assert listed and all(opencl.has_extension(where, extension) for extension in listed)
        for absent in ("cl_khr_wings", "cl_khr", "", "cl_khr_icd cl_khr_fp64"):
            assert not opencl.has_extension(where, absent)
    reference = bl.Device("reference:*:*")
    for other in (reference, reference.platform):
        with raises(bl.BackendMismatchError) as caught:
            opencl.has_extension(other, "cl_khr_fp16")
        assert caught.value.code is bl.Errc.backend_mismatch
    with raises(bl.InvalidError, names=("Platform", "Device")):
        opencl.has_extension("gpu", "cl_khr_fp16")
    with raises(bl.InvalidError):
        opencl.has_extension(raw.facade, 16)


def test_extensions_that_are_aspects(raw: Raw) -> None:
    has = raw.facade.has
    atomics = ("cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics")
    assert has("atomic64") == all(opencl.has_extension(raw.facade, name) for name in atomics)
    assert has("fp16") == opencl.has_extension(raw.facade, "cl_khr_fp16")
    assert raw.facade.platform.has("fp16") == all(device.has("fp16") for device in raw.facade.platform.get_devices())


def test_reference_counts_are_the_driver_s(raw: Raw) -> None:
    program = raw.built(SCALE)
    natives = [raw.context, raw.queue(), raw.event(), raw.buffer(16), program, raw.kernel(program, "scale")]
    for native in natives:
        assert opencl.get_reference_count(native) == raw.count(native)
    buffer = natives[3]
    assert lib.clRetainMemObject(buffer) == 0
    assert (
        opencl.get_reference_count(buffer)
        == opencl.get_reference_count(bl.NativeHandle(raw.number(buffer), "cl_mem"))
        == 2
    )
    assert lib.clReleaseMemObject(buffer) == 0
    assert lib.clSetUserEventStatus(natives[2], 0) == 0
    with raises(bl.InvalidError, names="cl_device_id"):
        opencl.get_reference_count(bl.get_native(raw.facade.platform))
    with raises(bl.InvalidError, names="cl_device_id"):
        opencl.get_reference_count("queue")


def test_a_handle_s_reference_is_given_away_once(raw: Raw, context: bl.Context) -> None:
    before = raw.count(raw.context)
    handle = bl.get_native(context)
    assert raw.count(raw.context) == before + 1
    number = handle.detach()
    assert type(number) is int
    del handle
    assert raw.count(raw.context) == before + 1  # now ours
    assert lib.clReleaseContext(raw.context) == 0
    assert raw.count(raw.context) == before


def test_error_codes(raw: Raw, context: bl.Context) -> None:
    queue = bl.Queue(raw.facade, context)
    with pytest.raises(bl.BuildError) as caught:
        bl.load_kernel_bundle(b"kernel void broken(global int *a) { a[0] = nothing; }", queue)
    assert opencl.get_error_code(caught.value) == lib.CL_BUILD_PROGRAM_FAILURE
    with pytest.raises(bl.InvalidError) as mine:
        queue.parallel_for(0.5, None)
    assert opencl.get_error_code(mine.value) == lib.CL_SUCCESS
    with pytest.raises(bl.Error) as other:
        bl.load_kernel_bundle(b"kernel", bl.Queue("reference:*:*"))
    assert opencl.get_error_code(other.value) == lib.CL_SUCCESS
    with raises(bl.InvalidError, names="bindless.Error"):
        opencl.get_error_code(ValueError())
    queue.close()
