"""A garbage collection may run a finalizer that uses a queue during a call on the same queue."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.backends.opencl import memory
from bindless.backends.opencl.context import Context
from bindless.backends.opencl.event import Event, address_of
from bindless.backends.opencl.queue import Queue
from bindless.drivers import opencl as driver
from bindless.model.enums import UsmKind

pytestmark = pytest.mark.opencl

lib, ffi = driver.lib, driver.ffi


@pytest.fixture
def native(cl: bl.Device) -> Iterator[tuple[Context, Queue]]:
    context = Context([cl._record.native])
    queue = Queue(context, cl._record.native, True, False)
    yield context, queue
    queue.close()
    for base in tuple(context.allocations):
        memory.free(context, base)
    context.close()


def user_event(context: Context) -> Any:
    """An event that is completed by the test."""
    slot = ffi.new("cl_int *")
    made = lib.clCreateUserEvent(context.handle, slot)
    driver.check(slot[0], "clCreateUserEvent")
    return made


def test_a_queue_keeps_incomplete_and_failed_events(native: Any) -> None:
    """Complete ones are released once the number of events reaches the limit, and as soon as the queue is idle."""
    context, queue = native
    handles = [user_event(context) for _ in range(600)]
    for handle in handles:
        lib.clRetainEvent(handle)
        queue.note(handle)  # the event object is dropped at once
        if handle not in (handles[0], handles[-1], handles[300]):
            lib.clSetUserEventStatus(handle, lib.CL_COMPLETE)
    assert 3 <= queue.state.count < 300
    lib.clSetUserEventStatus(handles[300], lib.CL_OUT_OF_RESOURCES)
    assert not queue.is_idle()
    for handle in (handles[0], handles[-1]):
        lib.clSetUserEventStatus(handle, lib.CL_COMPLETE)
    assert queue.is_idle()
    assert queue.state.count == 1  # the failed one
    with pytest.raises(bl.SyclRuntimeError):
        queue.wait()
    assert queue.state.count == 0
    for handle in handles:
        slot = ffi.new("cl_uint *")
        assert lib.clGetEventInfo(handle, lib.CL_EVENT_REFERENCE_COUNT, 4, slot, ffi.NULL) == 0
        assert slot[0] == 1
        lib.clReleaseEvent(handle)


def test_threads_share_the_events_of_a_queue(native: Any) -> None:
    """Some threads submit, others ask and wait: each failure is reported once."""
    context, queue = native
    failed: list[bl.Error] = []

    def ask() -> None:
        while working:
            queue.is_idle()
            try:
                queue._raise_failures()
            except bl.ExceptionList as errors:
                failed.extend(errors)
            except bl.Error as error:
                failed.append(error)

    def submit() -> None:
        for number in range(300):
            handle = user_event(context)
            event = queue.note(handle)
            lib.clSetUserEventStatus(handle, lib.CL_OUT_OF_RESOURCES if number % 10 == 0 else lib.CL_COMPLETE)
            del event

    working = [True]
    asking = [threading.Thread(target=ask) for _ in range(2)]
    submitting = [threading.Thread(target=submit) for _ in range(3)]
    for thread in (*asking, *submitting):
        thread.start()
    for thread in submitting:
        thread.join()
    working.clear()
    for thread in asking:
        thread.join()
    try:
        queue.wait()
    except bl.ExceptionList as errors:
        failed.extend(errors)
    except bl.Error as error:
        failed.append(error)
    assert len(failed) == 3 * 30
    assert queue.state.count == 0


def test_a_command_that_a_finalizer_submits_in_between_counts(native: Any) -> None:
    """The queue is idle, and memory is freed, once every command is complete, in whatever order they were recorded."""
    context, queue = native
    address = memory.allocate(context, None, UsmKind.device, 64)
    first, second = (Event(address_of(user_event(context))) for _ in range(2))

    def command(handle: Any, count: int, waits: Any, event: Any) -> int:
        result = lib.clEnqueueMarkerWithWaitList(handle, count, waits, event)
        memory.fill(queue, address, b"\7", 64, [second])  # submitted after the marker and recorded before it
        return int(result)

    marker = queue.run(command, "clEnqueueMarkerWithWaitList", [first])
    lib.clSetUserEventStatus(first.handle, lib.CL_COMPLETE)
    marker.wait()
    assert not queue.is_idle()
    lib.clSetUserEventStatus(second.handle, lib.CL_COMPLETE)
    queue.wait()
    assert queue.is_idle()
    out = np.zeros(64, np.uint8)
    memory.copy(queue, out.ctypes.data, address, 64).wait()
    assert (out == 7).all()
