"""Lifetimes of native objects and of the package's objects over them, beside each other."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

import bindless as bl
from tests.interop.native.native_rig import ITEMS, Rig
from tests.interop.native.reference_rig import call, lib
from tests.interop.native.test_native_objects import fill, works
from tests.support.error_checks import raises

GATED = pytest.mark.rigs("reference", "opencl", "level_zero")  # where a program completes an event
OWNING = pytest.mark.rigs("reference", "level_zero", "cuda")  # where one owner destroys an object


def fill_after(queue: bl.Queue, buffer: bl.Buffer, event: bl.Event, value: int) -> bl.Event:
    def group(handler: bl.Handler) -> None:
        handler.depends_on(event)
        handler.fill(buffer.get_access(handler, "write"), value)

    return queue.submit(group)


def test_a_queue_dropped_amid_its_work_ends_after_it(rig: Rig) -> None:
    kind = next(kind for kind in reversed(rig.kinds) if kind.startswith("queue"))
    native, gate = rig.new(kind), rig.spare("event")
    with rig.owner(native, "transfer"):
        queue = rig.adopt(kind, native, "transfer")
        array, event = fill(queue, 7, depends_on=rig.adopt("event", gate, "keep"))
        del queue
        gc.collect()
        assert rig.is_alive(native) is not False
        assert not rig.gates or event.status is not bl.EventStatus.complete
        rig.open(gate)
        event.wait()
        assert list(array.numpy()) == [7] * 4
        array.close()
        del event


@pytest.mark.rigs("opencl", "level_zero", "cuda")  # the reference driver counts references
def test_a_transferred_event_lives_until_what_waits_for_it(rig: Rig) -> None:
    native = rig.new("event")
    with rig.owner(native, "transfer"), bl.Queue(rig.device, rig.context, in_order=True) as queue:
        array, command = fill(queue, 9, depends_on=rig.adopt("event", native, "transfer"))
        gc.collect()
        assert rig.is_alive(native) is not False
        assert not rig.gates or command.status is not bl.EventStatus.complete
        rig.open(native)
        command.wait()
        assert list(array.numpy()) == [9] * 4
        array.close()
        queue.wait()
        del command


def test_the_native_event_of_a_command(rig: Rig) -> None:
    """The driver waits for it; it stays the package's, or has a reference of its own."""
    with bl.Queue(rig.device, rig.context) as queue:
        array = bl.usm_empty(1000, "int32", queue)
        event = queue.fill(array, 3)
        handle = rig.handle(event)
        assert handle.type == rig.kinds["event"]
        rig.wait(handle)
        event.wait()
        assert list(array.numpy()) == [3] * 1000
        if rig.backend in ("level_zero", "cuda"):
            with raises(bl.InvalidError):
                bl.make_event(rig.backend, handle, rig.context)
        ownership = "transfer" if rig.retains else "keep"  # of the reference that the handle has
        bl.make_event(rig.backend, handle, rig.context, ownership=ownership).wait()
        task = queue.submit(lambda handler: handler.host_task(lambda: None))
        task.wait()
        handle = rig.handle(task)  # of a barrier after it
        assert handle.type == rig.kinds["event"]
        rig.wait(handle)
        array.close()
        del handle, event, task


def test_the_native_queue_of_a_queue(rig: Rig) -> None:
    """A second queue over it, which the first one does not notice."""
    with bl.Queue(rig.device, rig.context, in_order=True) as queue:
        handle = bl.get_native(queue)
        if not rig.retains:
            with raises(bl.InvalidError):
                bl.make_queue(rig.backend, handle, rig.context)
        if rig.backend == "cuda":
            return  # a stream of the package is no other queue's
        with bl.make_queue(rig.backend, handle, rig.context, ownership="keep") as again:
            works(again, 3)
        works(queue, 4)
        del handle


@OWNING
def test_objects_of_the_package_are_not_transferred(rig: Rig) -> None:
    bundle = rig.load()
    array = bl.usm_empty(4, "int32", rig.device, rig.context)
    with raises(bl.InvalidError):
        bl.make_kernel_bundle(rig.backend, bl.get_native(bundle)[0], rig.context)
    with raises(bl.InvalidError):
        bl.make_buffer(rig.backend, int(array.address), rig.context, "int8")
    array.close()
    bundle.close()


# ---------------------------------------------------------------------- buffers


@pytest.mark.kinds("buffer")
def test_a_buffer_waits_until_its_memory_is_available(rig: Rig, kind: str, ownership: str | None) -> None:
    gate, native = rig.spare("event"), rig.new(kind)
    values = np.zeros(ITEMS, np.float32)
    with rig.owner(native, ownership):
        event = rig.adopt("event", gate, "keep")
        buffer = rig.adopt(kind, native, ownership, available_event=event)
        with bl.Queue(rig.device, rig.context) as queue:
            command = queue.submit(lambda handler: handler.copy(buffer.get_access(handler, "read"), values))
            assert not rig.gates or command.status is not bl.EventStatus.complete
            rig.open(gate)
            command.wait()
        assert np.array_equal(values, np.arange(ITEMS))
        with buffer.get_host_access("read") as host:
            assert np.array_equal(host, values)
        buffer.close()
        buffer = host = None
        del event, command


@GATED
@pytest.mark.kinds("buffer")
def test_a_kept_buffer_ends_after_the_commands_that_use_it(rig: Rig, kind: str) -> None:
    gate, native = rig.spare("event"), rig.new(kind)
    with rig.owner(native, "keep"), bl.Queue(rig.device, rig.context) as queue:
        buffer = rig.adopt(kind, native, "keep")
        command = fill_after(queue, buffer, rig.adopt("event", gate, "keep"), 5)

        def open_gate() -> None:
            while not buffer.closed:  # the end has begun
                threading.Event().wait(0.001)
            rig.open(gate)

        opener = threading.Thread(target=open_gate)
        opener.start()
        buffer.close()
        assert command.status is bl.EventStatus.complete
        opener.join()
        assert np.array_equal(rig.read(native), np.full(ITEMS, 5))
        buffer = None
        del command


@pytest.mark.rigs("reference", "level_zero")
@pytest.mark.kinds("buffer")
def test_a_transferred_buffer_ends_at_once_and_its_memory_after_the_commands(rig: Rig, kind: str) -> None:
    gate, native = rig.spare("event"), rig.new(kind)
    with rig.owner(native, "transfer"), bl.Queue(rig.device, rig.context) as queue:
        buffer = rig.adopt(kind, native)
        command = fill_after(queue, buffer, rig.adopt("event", gate, "keep"), 5)
        buffer.close()
        del buffer
        gc.collect()
        assert command.status is not bl.EventStatus.complete and rig.is_alive(native) is not False
        rig.open(gate)
        queue.wait()
        del command


@pytest.mark.kinds("buffer")
def test_a_buffer_that_is_only_dropped(rig: Rig, kind: str, ownership: str | None) -> None:
    native = rig.new(kind)
    with rig.owner(native, ownership):
        part = rig.adopt(kind, native, ownership).sub_buffer(0, 4)
        gc.collect()
        assert rig.is_alive(native) is not False and part.size == 4
        del part


@pytest.mark.rigs("opencl")  # other back ends leave the program what is in the memory then
@pytest.mark.kinds("buffer")
@pytest.mark.parametrize("where", ["here", "host", "elsewhere"])
def test_at_its_end_a_buffer_gives_its_memory_back(rig: Rig, kind: str, where: str) -> None:
    """With what was written last, wherever that was: nobody had to wait before."""
    native = rig.new(kind)
    reference = bl.Device("reference:*:*")
    with rig.owner(native, "keep"), bl.Queue(rig.device, rig.context) as queue:
        buffer = rig.adopt(kind, native, "keep")
        queue.submit(lambda handler: handler.fill(buffer.get_access(handler, "write"), 1))
        expected = np.ones(ITEMS, np.float32)
        with bl.Queue(reference, bl.Context(reference)) as other:
            if where == "host":
                with buffer.get_host_access("write", range=10, offset=5) as values:
                    values[:] = 2
                expected[5:15] = 2
            elif where == "elsewhere":
                other.submit(lambda handler: handler.fill(buffer.get_access(handler, "write", range=10, offset=50), 3))
                expected[50:60] = 3
            queue.submit(lambda handler: handler.fill(buffer.get_access(handler, "write", range=1), 4))
            expected[0] = 4
            buffer.close()
        assert np.array_equal(rig.read(native), expected)
        buffer = None


@pytest.mark.kinds("buffer")
def test_contents_move_between_contexts_of_one_driver(rig: Rig, kind: str) -> None:
    native = rig.new(kind)
    other = bl.Context(rig.device)
    with rig.owner(native, "keep"), bl.Queue(rig.device, rig.context) as queue, bl.Queue(rig.device, other) as far:
        buffer = rig.adopt(kind, native, "keep")
        for place, value in ((queue, 1), (far, 2), (queue, 3), (far, 4)):
            start = 8 * value
            place.submit(
                lambda handler, start=start, value=value: handler.fill(
                    buffer.get_access(handler, "read_write", range=8, offset=start), value
                )
            )
        with buffer.get_host_access("read") as host:
            expected = np.arange(ITEMS)
            expected[8:40] = np.repeat([1, 2, 3, 4], 8)
            assert np.array_equal(host, expected)
        buffer.close()
        buffer = host = None
    del other, far


@pytest.mark.rigs("reference")  # OpenCL's: native_opencl/test_native_opencl_queues.py
def test_an_event_that_fails(rig: Rig) -> None:
    native = rig.spare("event")
    event = rig.adopt("event", native, "keep")
    with bl.Queue(rig.device, rig.context) as queue:
        array, command = fill(queue, 9, depends_on=event)
        call("blrEventSignalUser", native, lib.BLR_RESULT_INVALID_ARGUMENT)
        for wait in (event.wait, event.wait_and_throw, command.wait):
            with pytest.raises(bl.Error):
                wait()
        assert event.status is bl.EventStatus.complete
        array.close()
