"""Objects of OpenCL and of the package made of each other, on every OpenCL device that the loader finds.

Whose an object is, is seen in the driver's counts: at the end of each test nobody but the program holds what it made.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import opencl
from tests.interop.raw_opencl import Raw, ffi, lib
from tests.support.error_checks import raises
from tests.support.opencl_devices import parametrize_devices, require_device

pytestmark = pytest.mark.opencl

BOTH = pytest.mark.parametrize("ownership", [None, "keep", "transfer"])


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    parametrize_devices(metafunc)


@pytest.fixture
def raw(cl: bl.Device | None) -> Iterator[Raw]:
    """What a program makes; at the end of a test nobody else holds any of it."""
    made = Raw(require_device(cl))
    yield made
    made.close()


@pytest.fixture
def context(raw: Raw) -> Iterator[bl.Context]:
    """The program's context as one of the package."""
    made = bl.make_context("opencl", raw.context)
    yield made
    made.close()
    made._resource.close()  # at once, also where a failed test still holds it


@pytest.fixture
def queue(raw: Raw, context: bl.Context) -> Iterator[bl.Queue]:
    with bl.Queue(raw.facade, context) as made:
        yield made


def filled(queue: bl.Queue, value: int) -> list[int]:
    """Whether a queue works."""
    array = bl.usm_empty(4, "int32", queue)
    queue.fill(array, value).wait()
    found = [int(element) for element in array.numpy()]
    array.close()
    return found


# ---------------------------------------------------------------------- platforms, devices


def test_platforms_and_devices_are_those_listed(raw: Raw) -> None:
    platform = raw.facade.platform
    native = bl.get_native(platform, "opencl")
    assert native.type == "cl_platform_id"
    assert bl.make_platform("opencl", native) == platform
    assert bl.make_platform("opencl", ffi.cast("cl_platform_id", int(native))) == platform
    device = bl.get_native(raw.facade)
    assert device.type == "cl_device_id" and device == raw.number(raw.device)
    assert bl.make_device("opencl", raw.device) == bl.make_device("opencl", int(device)) == raw.facade
    assert raw.count(raw.device) == 1  # of whole devices there are no counts
    for make in (bl.make_platform, bl.make_device):
        with raises(bl.InvalidError):
            make("opencl", ffi.NULL)
        with raises(bl.InvalidError, match=r"is no (platform of|object of)"):
            make("opencl", 0x1000)
    with raises(bl.InvalidError, match="cl_platform_id.*cl_device_id"):
        bl.make_device("opencl", native)
    with raises(bl.InvalidError, match=r"no device of the opencl backend|no cl_device_id"):
        bl.make_device("opencl", int(native))


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
    del context, queue
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


@BOTH
def test_a_context_of_a_native_one(raw: Raw, ownership: str | None) -> None:
    native = raw.new_context()
    before = raw.count(native)
    context = bl.make_context("opencl", native, ownership=ownership)
    assert raw.count(native) == before + (ownership != "transfer")
    assert context.devices == (raw.facade,)  # the driver tells them
    handle = bl.get_native(context)
    assert (handle, handle.type) == (raw.number(native), "cl_context")
    with bl.Queue(raw.facade, context) as queue:
        assert filled(queue, 5) == [5] * 4
    del handle, queue
    context.close()
    del context
    gc.collect()
    if ownership == "transfer":
        raw.made.remove(native)  # gone with the context
    else:
        assert raw.count(native) == before


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
    assert opencl.get_reference_count(handle) == 1  # the handle's own


def test_contexts_that_are_refused_stay_the_program_s(raw: Raw) -> None:
    reference = bl.Device("reference:*:*")
    before = raw.count(raw.context)
    for error, match, arguments in (
        (bl.BackendMismatchError, "of the reference backend, the context of opencl", (raw.context, reference)),
        (bl.InvalidError, "Device", (raw.context, ["gpu"])),
        (bl.InvalidError, None, (0,)),
        (bl.InvalidError, "OpenCL", (0x7000_0000_0008, raw.facade)),
        (bl.InvalidError, "OpenCL", (raw.number(raw.context) + 4, raw.facade)),
        (bl.InvalidError, "cl_device_id.*cl_context", (raw.device, raw.facade)),
        (bl.InvalidError, None, ("context", raw.facade)),
    ):
        with raises(error, match=match):
            bl.make_context("opencl", *arguments)
    with raises(bl.InvalidError, match="ownership='take'"):
        bl.make_context("opencl", raw.context, ownership="take")
    assert raw.count(raw.context) == before


# ---------------------------------------------------------------------- queues


@BOTH
@pytest.mark.parametrize("ordered", [True, False], ids=["in_order", "out_of_order"])
def test_a_queue_of_a_native_one(raw: Raw, context: bl.Context, ordered: bool, ownership: str | None) -> None:
    free = lib.CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE
    if not ordered and not raw.facade._record.native.number(lib.CL_DEVICE_QUEUE_PROPERTIES) & free:
        pytest.skip(f"{raw.facade.name} has no out-of-order queues")
    native = raw.queue(lib.CL_QUEUE_PROFILING_ENABLE | (0 if ordered else free))
    before = raw.count(native)
    queue = bl.make_queue("opencl", native, context, ownership=ownership)
    assert raw.count(native) == before + (ownership != "transfer")
    assert (queue.is_in_order, queue.device, queue.context) == (ordered, raw.facade, context)
    handle = bl.get_native(queue, "opencl")
    assert (handle, handle.type) == (raw.number(native), "cl_command_queue")
    array = bl.usm_empty(1000, "int32", queue)
    event = None
    for value in range(10):
        event = queue.fill(array, value, depends_on=() if ordered or event is None else event)
    assert event is not None
    event.wait()
    assert event.get_profiling_info("command_end") >= event.get_profiling_info("command_start") > 0
    assert np.array_equal(array.numpy(), np.full(1000, 9))
    array.close()
    del event, handle
    queue.close()
    del queue
    gc.collect()
    if ownership == "transfer":
        raw.made.remove(native)
    else:
        assert lib.clFinish(native) == 0  # it is the program's as before


def test_the_lifetimes_of_a_queue_and_its_native_one_are_not_tied(raw: Raw, context: bl.Context) -> None:
    queue = bl.Queue(raw.facade, context)
    handle = bl.get_native(queue)
    assert opencl.get_reference_count(handle) >= 2
    queue.close()  # "the cl_command_queue instance is still valid"
    assert lib.clFinish(ffi.cast("cl_command_queue", int(handle))) == 0
    again = bl.make_queue("opencl", handle, context, ownership="transfer")  # the handle's reference
    assert filled(again, 7) == [7] * 4
    again.close()
    native = raw.queue()
    made = bl.make_queue("opencl", native, context)
    raw.release(native)  # "the SYCL queue instance is still valid"
    assert filled(made, 8) == [8] * 4
    made.close()


def test_queues_that_are_refused_stay_the_program_s(raw: Raw, context: bl.Context) -> None:
    native = raw.queue()
    other = bl.Context(raw.facade)
    reference = bl.Device("reference:*:*")
    before = raw.count(native)
    for error, match, arguments in (
        (bl.InvalidError, "cl_context", (native, other)),
        (bl.InvalidError, "Context", (native, raw.context)),
        (bl.InvalidError, "Device", (native, context, "gpu")),
        (bl.BackendMismatchError, None, (native, bl.Context(reference))),
        (bl.BackendMismatchError, None, (native, context, reference)),
        (bl.InvalidError, None, (ffi.NULL, context)),
        (bl.InvalidError, "cl_context.*cl_command_queue", (raw.context, context)),
    ):
        with raises(error, match=match):
            bl.make_queue("opencl", *arguments)
    closed = bl.make_context("opencl", raw.context)
    closed.close()
    with raises(bl.InvalidError):
        bl.make_queue("opencl", native, closed)
    assert raw.count(native) == before


def test_what_was_released_too_early_or_too_often_is_told(raw: Raw, context: bl.Context) -> None:
    if raw.facade.platform.name.startswith(("rusticl", "NVIDIA")):
        pytest.skip("the driver looks into objects that it has freed, which may end the process")
    event = raw.event()
    number = raw.number(event)
    assert lib.clSetUserEventStatus(event, 0) == 0
    raw.release(event)
    with raises(bl.InvalidError, match=r"released too often or too early|INVALID_EVENT"):
        bl.make_event("opencl", number, context)
    kernel = raw.kernel(raw.built(SCALE), "scale")
    number = raw.number(kernel)
    raw.release(kernel)
    with raises(bl.InvalidError, match=r"released too often or too early|INVALID_KERNEL"):
        bl.make_kernel("opencl", number, context)
    zeros = np.zeros(64, np.uint64)  # memory that is there, and is no object
    with raises(bl.InvalidError):
        bl.make_context("opencl", zeros.ctypes.data)
    with raises(bl.InvalidError):
        opencl.get_reference_count(number)
    with raises(bl.InvalidError, match=r"released too often or too early|INVALID_KERNEL"):
        opencl.get_reference_count(bl.NativeHandle(number, "cl_kernel"))


# ---------------------------------------------------------------------- events


@BOTH
def test_an_event_of_a_native_one(raw: Raw, context: bl.Context, queue: bl.Queue, ownership: str | None) -> None:
    native = raw.event()
    before = raw.count(native)
    event = bl.make_event("opencl", native, context, ownership=ownership)
    assert raw.count(native) == before + (ownership != "transfer")
    (handle,) = bl.get_native(event)
    assert (handle, handle.type) == (raw.number(native), "cl_event")
    assert event.status is bl.EventStatus.submitted
    array = bl.usm_empty(4, "int32", queue)
    command = queue.fill(array, 6, depends_on=event)
    far = bl.Buffer(4, "int32")
    other = bl.Queue("reference:*:*")

    def group(handler: bl.Handler) -> None:  # a command of another driver waits for it, too
        handler.depends_on(event)
        handler.fill(far.get_access(handler, "write"), 7)

    task = other.submit(group)
    assert command.status is not bl.EventStatus.complete and task.status is not bl.EventStatus.complete
    assert lib.clSetUserEventStatus(native, lib.CL_COMPLETE) == 0
    for waited in (event, command, task):
        waited.wait()
    assert event.status is bl.EventStatus.complete
    assert list(array.numpy()) == [6] * 4
    array.close()
    far.close()
    other.close()
    if ownership == "transfer":
        raw.made.remove(native)


def test_an_event_of_several_native_ones(raw: Raw, context: bl.Context, queue: bl.Queue) -> None:
    natives = [raw.event() for _ in range(3)]
    event = bl.make_event("opencl", natives, context)
    assert [int(handle) for handle in bl.get_native(event)] == [raw.number(native) for native in natives]
    array = bl.usm_empty(4, "int32", queue)
    command = queue.fill(array, 4, depends_on=event)
    for native in natives:
        assert event.status is not bl.EventStatus.complete
        assert command.status is not bl.EventStatus.complete
        assert lib.clSetUserEventStatus(native, lib.CL_COMPLETE) == 0
    event.wait()
    command.wait()
    assert list(array.numpy()) == [4] * 4
    array.close()
    with raises(bl.InvalidError):
        bl.make_event("opencl", [], context)
    with raises(bl.InvalidError, match="cl_context"):
        bl.make_event("opencl", [natives[0], natives[1]], bl.Context(raw.facade))
    del event, command
    foreign = raw.event(raw.new_context())
    before = raw.counts([*natives, foreign])
    with raises(bl.InvalidError, match="cl_context"):  # none of them was transferred
        bl.make_event("opencl", [*natives, foreign], context, ownership="transfer")
    assert raw.counts([*natives, foreign]) == before
    assert lib.clSetUserEventStatus(foreign, lib.CL_COMPLETE) == 0
    taken = [raw.event(), raw.event()]
    numbers = [raw.number(native) for native in taken]
    event = bl.make_event("opencl", taken, context, ownership="transfer")
    assert [int(handle) for handle in bl.get_native(event)] == numbers
    assert raw.counts(taken) == [1, 1]
    for native in taken:
        assert lib.clSetUserEventStatus(native, lib.CL_COMPLETE) == 0
        raw.made.remove(native)
    event.wait()


def test_an_event_that_failed(raw: Raw, context: bl.Context) -> None:
    native = raw.event()
    event = bl.make_event("opencl", native, context)
    assert lib.clSetUserEventStatus(native, lib.CL_OUT_OF_RESOURCES) == 0
    with pytest.raises(bl.Error, match="CL_OUT_OF_RESOURCES") as caught:
        event.wait()
    assert opencl.get_error_code(caught.value) == lib.CL_OUT_OF_RESOURCES


def test_a_command_after_an_event_that_failed(raw: Raw, context: bl.Context, queue: bl.Queue) -> None:
    if raw.facade.platform.name.startswith("Intel"):
        pytest.skip("Intel's runtime runs it, or ends the process, for programs of raw calls too")
    native = raw.event()
    after = queue.memset(bl.usm_empty(16, "int32", queue), 1, depends_on=bl.make_event("opencl", native, context))
    assert lib.clSetUserEventStatus(native, lib.CL_OUT_OF_RESOURCES) == 0
    with pytest.raises(bl.Error) as caught:
        after.wait()
    failed = lib.CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
    assert opencl.get_error_code(caught.value) in (failed, lib.CL_OUT_OF_RESOURCES)


def test_the_native_events_of_a_command(raw: Raw, context: bl.Context, queue: bl.Queue) -> None:
    array = bl.usm_empty(1000, "int32", queue)
    (handle,) = bl.get_native(queue.fill(array, 3), "opencl")  # the event is dropped at once, the handle is good
    waits = ffi.new("cl_event[]", [ffi.cast("cl_event", int(handle))])
    assert lib.clWaitForEvents(1, waits) == 0
    assert list(array.numpy()) == [3] * 1000
    again = bl.make_event("opencl", handle, context, ownership="transfer")
    again.wait()
    with raises(bl.InvalidError):
        bl.get_native(bl.Event())
    array.close()


# ---------------------------------------------------------------------- buffers


@BOTH
@pytest.mark.parametrize("late", [False, True], ids=["at_once", "available_event"])
def test_a_buffer_of_a_native_one(
    raw: Raw, context: bl.Context, queue: bl.Queue, late: bool, ownership: str | None
) -> None:
    contents = np.arange(100, dtype=np.float32)
    native = raw.buffer(contents)
    before = raw.count(native)
    gate = raw.event() if late else None
    options: dict[str, Any] = {}
    if gate is not None:
        options["available_event"] = bl.make_event("opencl", gate, context)
    buffer = bl.make_buffer("opencl", native, context, "float32", ownership=ownership, **options)
    options.clear()
    assert raw.count(native) == before + (ownership != "transfer")
    assert buffer.shape == (100,)
    (handle,) = bl.get_native(buffer)
    assert (handle, handle.type) == (raw.number(native), "cl_mem")
    bundle = bl.load_kernel_bundle(SCALE.encode(), queue)
    scale = bundle.get_kernel("scale")

    def group(handler: bl.Handler) -> None:
        handler.parallel_for(100, scale, buffer.get_access(handler, "read_write"), np.float32(3))

    event = queue.submit(group)
    if gate is not None:
        assert event.status is not bl.EventStatus.complete
        assert lib.clSetUserEventStatus(gate, lib.CL_COMPLETE) == 0
    event.wait()
    with buffer.get_host_access("read") as values:
        assert np.array_equal(values, contents * 3)
    with bl.Queue("reference:*:*") as other:  # used elsewhere the contents move
        other.submit(lambda handler: handler.fill(buffer.get_access(handler, "write", offset=90, range=10), 1.0))
        queue.submit(group).wait()
        with buffer.get_host_access("read") as values:
            assert np.array_equal(values, np.r_[contents[:90] * 9, np.full(10, 3, np.float32)])
    del handle, event
    bundle.close()
    plain = raw.queue()
    if ownership == "transfer":
        buffer.close()
        raw.made.remove(native)
        return
    buffer.close()  # waits for what uses it: the memory is the program's again
    assert np.array_equal(raw.read(plain, native, contents)[:90], contents[:90] * 9)


@pytest.mark.parametrize("where", ["here", "host", "elsewhere"])
def test_at_its_end_a_buffer_gives_its_memory_back(raw: Raw, context: bl.Context, queue: bl.Queue, where: str) -> None:
    """With what was written last, wherever that was, and without a reference: nobody had to wait before."""
    native = raw.buffer(np.zeros(1000, np.int32))
    before = raw.count(native)
    buffer = bl.make_buffer("opencl", native, context, "int32")
    queue.submit(lambda handler: handler.fill(buffer.get_access(handler, "write"), 1))
    expected = np.ones(1000, np.int32)
    with bl.Queue("reference:*:*") as other:
        if where == "host":
            with buffer.get_host_access("write", range=10, offset=5) as values:
                values[:] = 2
            expected[5:15] = 2
        elif where == "elsewhere":
            other.submit(lambda handler: handler.fill(buffer.get_access(handler, "write", range=10, offset=990), 3))
            expected[990:] = 3
        queue.submit(lambda handler: handler.fill(buffer.get_access(handler, "write", range=1), 4))
        expected[0] = 4
        buffer.close()
    if raw.facade.platform.name != "rusticl":  # whose events hold it: four of each queue
        assert raw.count(native) == before
    assert np.array_equal(raw.read(raw.queue(), native, expected), expected)


def test_the_native_buffers_of_a_buffer(raw: Raw, context: bl.Context, queue: bl.Queue) -> None:
    buffer = bl.Buffer(np.arange(8, dtype=np.int32))
    with raises(bl.FeatureNotSupportedError, match="get_native_mem"):
        bl.get_native(buffer)
    assert bl.get_native(buffer, "opencl") == ()  # no context has it yet
    seen = []

    def group(handler: bl.Handler) -> None:
        accessor = buffer.get_access(handler, "read_write")
        handler.host_task(lambda interop: seen.append((interop.get_native_mem(accessor), interop.get_native_queue())))

    bundle = bl.load_kernel_bundle(NEGATE, queue)
    negate = bundle.get_kernel("negate")
    queue.submit(lambda handler: handler.parallel_for(8, negate, buffer.get_access(handler, "read_write"))).wait()
    natives = bl.get_native(buffer)
    assert [handle.type for handle in natives] == ["cl_mem"]
    plain = raw.queue()
    found = raw.read(plain, ffi.cast("cl_mem", int(natives[0])), np.empty(8, np.int32))
    assert list(found) == [0, -1, -2, -3, -4, -5, -6, -7]
    queue.submit(group).wait()
    assert seen and seen[0][0] > 0 and seen[0][1] == bl.get_native(queue)
    with bl.Context(raw.facade) as second, bl.Queue(raw.facade, second) as other:
        other.submit(lambda handler: handler.fill(buffer.get_access(handler, "write"), 1)).wait()
        both = bl.get_native(buffer)
        assert len(set(both)) == 2 and natives[0] in both
        contexts = {opencl.get_reference_count(handle) > 0 for handle in both}
        assert contexts == {True}
        del both
        buffer.close()
    with raises(bl.InvalidError):
        bl.get_native(buffer)
    bundle.close()
    del natives, other, second


def test_buffers_that_are_refused_stay_the_program_s(raw: Raw, context: bl.Context) -> None:
    native = raw.buffer(64)
    image = raw.image(np.zeros((2, 2, 4), np.float32))
    before = raw.count(native)
    for error, match, arguments, named in (
        (bl.InvalidError, None, (native, context, "int32", (4, 4)), {}),
        (bl.InvalidError, None, (native, context, "int32", 17), {}),
        (bl.InvalidError, "cl_context", (native, bl.Context(raw.facade), "int32"), {}),
        (bl.InvalidError, None, (image, context, "int32"), {}),
        (bl.InvalidError, "Event", (native, context, "int32"), {"available_event": 1}),
        (bl.InvalidError, None, (0, context, "int32"), {}),
    ):
        with raises(error, match=match):
            bl.make_buffer("opencl", *arguments, **named)
        with raises(error, match=match):
            bl.make_buffer("opencl", *arguments, ownership="transfer", **named)
    assert raw.count(native) == before


# ---------------------------------------------------------------------- images

PIXELS = {
    1: np.arange(8 * 4, dtype=np.float32).reshape(8, 4),
    2: np.arange(3 * 8 * 4, dtype=np.float32).reshape(3, 8, 4),
    3: np.arange(2 * 3 * 8 * 4, dtype=np.float32).reshape(2, 3, 8, 4),
}
_TYPES = {1: ("image1d_t", "x"), 2: ("image2d_t", "(int2)(x, y)"), 3: ("image3d_t", "(int4)(x, y, z, 0)")}


def image_kernels(dimensions: int) -> bytes:
    """Kernels over every pixel: one reads by a sampler, one writes twice the place's number."""
    kind, place = _TYPES[dimensions]
    enabled = "#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable\n" if dimensions == 3 else ""
    where = """    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    size_t at = x + get_global_size(0) * (y + get_global_size(1) * z);
"""
    return f"""{enabled}
kernel void fetch(read_only {kind} image__bindless_image, sampler_t image__bindless_sampler, global float4 *out)
{{
{where}    out[at] = read_imagef(image__bindless_image, image__bindless_sampler, {place});
}}
kernel void apart(read_only {kind} image, sampler_t sampler, global float4 *out)
{{
{where}    out[at] = read_imagef(image, sampler, {place});
}}
kernel void plain(read_only {kind} image, global float4 *out)
{{
{where}    out[at] = read_imagef(image, {place});
}}
kernel void put(write_only {kind} image)
{{
{where}    write_imagef(image, {place}, (float4)(2.0f * at));
}}
""".encode()


NEAREST = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "nearest")


@pytest.mark.parametrize("dimensions", [1, 2, 3])
@pytest.mark.parametrize("late", [False, True], ids=["at_once", "available_event"])
def test_images_of_native_ones(raw: Raw, context: bl.Context, queue: bl.Queue, dimensions: int, late: bool) -> None:
    pixels = PIXELS[dimensions]
    native = raw.image(pixels)
    before = raw.count(native)
    options: dict[str, Any] = {}
    gate = None
    if late:
        gate = raw.event()
        options["available_event"] = bl.make_event("opencl", gate, context)
    bundle = bl.load_kernel_bundle(image_kernels(dimensions), queue)
    sampled = bl.make_sampled_image("opencl", native, context, NEAREST, **options)
    plain = bl.make_unsampled_image("opencl", native, context, **options)
    options.clear()
    assert raw.count(native) == before + 2
    for image in (sampled, plain):
        assert tuple(image.get_range()) == pixels.shape[-2::-1]
        assert image.descriptor.channel_type == "fp32" and image.descriptor.num_channels == 4
        assert [(int(handle), handle.type) for handle in bl.get_native(image)] == [(raw.number(native), "cl_mem")]
    range_ = pixels.shape[:-1]
    out = bl.usm_empty((*range_, 4), "float32", queue)

    def fetch(handler: bl.Handler) -> None:
        handler.parallel_for(range_, bundle.get_kernel("fetch"), sampled.get_access(handler), out)

    def read(handler: bl.Handler) -> None:
        handler.parallel_for(range_, bundle.get_kernel("plain"), plain.get_access(handler, "read"), out)

    event = queue.submit(fetch)
    if gate is not None:
        assert event.status is not bl.EventStatus.complete
        assert lib.clSetUserEventStatus(gate, lib.CL_COMPLETE) == 0
    event.wait()
    assert np.array_equal(out.numpy(), pixels)
    queue.memset(out, 0, out.nbytes).wait()

    def fetch_apart(handler: bl.Handler) -> None:
        access = sampled.get_access(handler)
        handler.parallel_for(range_, bundle.get_kernel("apart"), access, access, out)

    def fetch_without(handler: bl.Handler) -> None:
        handler.parallel_for(range_, bundle.get_kernel("apart"), *[plain.get_access(handler, "read")] * 2, out)

    queue.submit(fetch_apart).wait()  # the image and its sampler, by one accessor
    assert np.array_equal(out.numpy(), pixels)
    with raises(bl.InvalidError, match=r"argument 1 .*an unsampled image: a sampler is that of a sampled one"):
        queue.submit(fetch_without)
    if dimensions < 3 or opencl.has_extension(raw.facade, "cl_khr_3d_image_writes"):
        for loaded in (bundle, bl.load_kernel_bundle(image_kernels(dimensions), queue)):  # the second from the cache
            put = loaded.get_kernel("put")
            with raises(bl.InvalidError, match="argument 0"):  # R63
                queue.submit(lambda handler, put=put: handler.parallel_for(range_, put, sampled.get_access(handler)))
        del put, loaded
    queue.memset(out, 0, out.nbytes).wait()
    queue.submit(read).wait()
    assert np.array_equal(out.numpy(), pixels)
    sampled.close()
    # "only allowed on a device if the extension cl_khr_3d_image_writes is supported"
    if dimensions < 3 or opencl.has_extension(raw.facade, "cl_khr_3d_image_writes"):
        queue.submit(
            lambda handler: handler.parallel_for(range_, bundle.get_kernel("put"), plain.get_access(handler, "write"))
        )
        expected = np.broadcast_to(2.0 * np.arange(pixels.size // 4, dtype=np.float32)[:, None], (pixels.size // 4, 4))
        with plain.get_host_access("read") as values:
            assert np.array_equal(values.reshape(-1, 4), expected)
        plain.close()  # waits: the pixels are the program's again
        with raises(bl.InvalidError):
            bl.get_native(plain)
        assert np.array_equal(raw.read_image(raw.queue(), native, pixels).reshape(-1, 4), expected)
    plain.close()
    bundle.close()
    out.close()
    del event


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_at_its_end_an_image_gives_its_memory_back(
    raw: Raw, context: bl.Context, queue: bl.Queue, dimensions: int
) -> None:
    """With the pixels that the host wrote last."""
    pixels = PIXELS[dimensions]
    native = raw.image(pixels)
    image = bl.make_unsampled_image("opencl", native, context)
    with image.get_host_access("write") as values:
        values[...] = -pixels.reshape(values.shape)
    image.close()
    if raw.facade.platform.name != "rusticl":  # as above
        assert raw.count(native) == 1
    assert np.array_equal(raw.read_image(raw.queue(), native, pixels), -pixels)


def test_images_that_are_refused_stay_the_program_s(raw: Raw, context: bl.Context) -> None:
    image = raw.image(PIXELS[2])
    array = raw.image(np.zeros((2, 3, 8, 4), np.float32), lib.CL_MEM_OBJECT_IMAGE2D_ARRAY, layers=2)
    buffer = raw.buffer(64)
    before = raw.counts([image, array, buffer])
    for ownership in ("keep", "transfer"):
        for error, match, arguments in (
            (bl.InvalidError, "is a buffer", (buffer, context, NEAREST)),
            (bl.InvalidError, "is an array", (array, context, NEAREST)),
            (bl.InvalidError, "BindlessImageSampler", (image, context, "linear")),
            (bl.InvalidError, "cl_context", (image, bl.Context(raw.facade), NEAREST)),
            (bl.InvalidError, None, (ffi.NULL, context, NEAREST)),
            (
                bl.FeatureNotSupportedError,
                "one mode for all dimensions|unique_addressing",
                (image, context, bl.BindlessImageSampler(("repeat", "clamp_to_edge", "repeat"), "normalized")),
            ),
        ):
            with raises(error, match=match):
                bl.make_sampled_image("opencl", *arguments, ownership=ownership)
        with raises(bl.InvalidError, match="Event"):
            bl.make_unsampled_image("opencl", image, context, available_event=raw.context, ownership=ownership)
    assert raw.counts([image, array, buffer]) == before
    made = bl.make_unsampled_image("opencl", image, context, ownership="transfer")
    made.close()
    raw.made.remove(image)
    with raises(bl.FeatureNotSupportedError):
        bl.make_unsampled_image("reference", 1, bl.Context("reference:*:*"))


# ---------------------------------------------------------------------- the rest

NEGATE = b"kernel void negate(global int *data) { data[get_global_id(0)] *= -1; }"
SCALE = "kernel void scale(global float *data, float factor) { data[get_global_id(0)] *= factor; }"


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
    with raises(bl.InvalidError, match="Platform.*Device"):
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
    with raises(bl.InvalidError, match="cl_device_id"):
        opencl.get_reference_count(bl.get_native(raw.facade.platform))
    with raises(bl.InvalidError, match="cl_device_id"):
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
    with raises(bl.InvalidError, match=r"bindless\.Error"):
        opencl.get_error_code(ValueError())
    queue.close()
