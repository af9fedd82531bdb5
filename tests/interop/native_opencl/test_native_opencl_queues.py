"""Queues and events of the package made of OpenCL's, and the other way round."""

from __future__ import annotations

import numpy as np
import pytest

import bindless as bl
from bindless import opencl
from tests.interop.native_opencl.opencl_objects import SCALE, filled
from tests.interop.raw_opencl import Raw, ffi, lib
from tests.support.error_checks import raises

pytestmark = pytest.mark.opencl


# ---------------------------------------------------------------------- queues


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
    with raises(bl.InvalidError, names="cl_context"):
        bl.make_event("opencl", [natives[0], natives[1]], bl.Context(raw.facade))
    del event, command
    foreign = raw.event(raw.new_context())
    before = raw.counts([*natives, foreign])
    with raises(bl.InvalidError, names="cl_context"):  # none of them was transferred
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
