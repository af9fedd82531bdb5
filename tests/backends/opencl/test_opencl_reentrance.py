"""A garbage collection may run a finalizer that uses a queue during a call on the same queue."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.backends.opencl import memory
from bindless.backends.opencl import queue as _queue
from bindless.backends.opencl.context import Context
from bindless.backends.opencl.event import Event
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


def gate(context: Context) -> Event:
    """A user event, completed by the test."""
    slot = ffi.new("cl_int *")
    made = lib.clCreateUserEvent(context.handle, slot)
    driver.check(slot[0], "clCreateUserEvent")
    return Event(made, "gate", False)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("call", ["_prune", "_raise_failures"])
def test_letting_go_of_events_is_entered_again(native: Any, call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    context, queue = native
    done, held = gate(context), gate(context)
    lib.clSetUserEventStatus(done.handle, lib.CL_COMPLETE)
    for event in (done, held):
        queue.note(event)
    asked, late = _queue.statuses_of, []

    def asked_again(handles: Sequence[Any]) -> list[int]:
        found = asked(handles)
        if not late:  # actions of a finalizer
            late.append(queue.note(gate(context)))
            queue._prune()
            queue._raise_failures()
        return found

    monkeypatch.setattr(_queue, "statuses_of", asked_again)
    ended = threading.Event()

    def work() -> None:
        getattr(queue, call)()
        ended.set()

    threading.Thread(target=work, daemon=True).start()
    assert ended.wait(30), "the queue waits for itself"
    assert queue.recent == [held, late[0]]
    for event in (held, late[0]):
        lib.clSetUserEventStatus(event.handle, lib.CL_COMPLETE)


def test_a_command_that_a_finalizer_submits_in_between_counts(native: Any) -> None:
    """The queue is idle, and memory is freed, once every command is complete, in whatever order they were recorded."""
    context, queue = native
    address = memory.allocate(context, None, UsmKind.device, 64)
    first, second = gate(context), gate(context)

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
