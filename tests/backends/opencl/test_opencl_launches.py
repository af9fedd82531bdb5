"""Repeated launches: one C call submits each, and its event becomes a driver event on the first query."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.drivers import opencl as driver
from tests.backends.opencl.failing_library import run

pytestmark = pytest.mark.opencl

lib, ffi = driver.lib, driver.ffi

ADD = b"kernel void add(global int *data, int value, int place) { data[place] += value; }"


@pytest.fixture(params=[True, False], ids=["in order", "out of order"])
def queue(request: pytest.FixtureRequest, cl: bl.Device) -> Iterator[bl.Queue]:
    with bl.Context(cl) as context, bl.Queue(cl, context, in_order=request.param) as made:
        yield made


def add_of(queue: bl.Queue) -> tuple[bl.Kernel, Any]:
    data = bl.usm_empty(64, "i4", queue)
    queue.memset(data, 0).wait()
    return bl.load_kernel_bundle(ADD, queue).get_kernel("add"), data


class Gate:
    """Blocks the commands of a queue until it is opened."""

    def __init__(self, queue: bl.Queue) -> None:
        context = ffi.cast("cl_context", int(bl.get_native(queue.context)))
        self.event = lib.clCreateUserEvent(context, ffi.NULL)
        address = int(ffi.cast("uintptr_t", self.event))
        queue.ext_oneapi_submit_barrier(bl.make_event("opencl", address, queue.context))

    def open(self) -> None:
        lib.clSetUserEventStatus(self.event, 0)
        lib.clReleaseEvent(self.event)


def test_values_are_those_of_each_launch(queue: bl.Queue) -> None:
    kernel, data = add_of(queue)
    for number in range(600):
        queue.parallel_for(1, kernel, data, number, number % 64)
        if not queue.is_in_order:
            queue.wait()
    queue.wait()
    expected = [sum(range(place, 600, 64)) for place in range(64)]
    assert data.numpy().tolist() == expected


def test_memory_that_is_another_is_another(queue: bl.Queue) -> None:
    """Memory is freed and allocated again in between, so that an address may be reused."""
    kernel, _ = add_of(queue)
    for number in range(40):
        data = bl.usm_empty(64, "i4", queue)
        queue.memset(data, 0).wait()
        for _ in range(3):
            queue.parallel_for(1, kernel, data, number, 5).wait()
        assert data.numpy()[5] == 3 * number
        data.close()


def test_events_that_are_kept_are_their_own(queue: bl.Queue) -> None:
    kernel, data = add_of(queue)
    gate = Gate(queue)
    kept = [queue.parallel_for(1, kernel, data, 1, 0) for _ in range(700)]
    assert {event.status for event in kept} <= {bl.EventStatus.submitted, bl.EventStatus.running}
    assert not queue.ext_oneapi_empty()
    handles = {int(ffi.cast("uintptr_t", event._native.handle)) for event in kept}
    assert len(handles) == 700
    gate.open()
    kept[0].wait()
    kept[-1].wait()
    queue.wait()
    assert {event.status for event in kept} == {bl.EventStatus.complete}
    assert queue.ext_oneapi_empty()


def test_an_event_that_was_asked_for_is_not_the_next_launch_s(queue: bl.Queue) -> None:
    kernel, data = add_of(queue)
    for _ in range(4):
        queue.parallel_for(1, kernel, data, 1, 0).wait()
    gate = Gate(queue)
    later = queue.parallel_for(1, kernel, data, 1, 0)
    assert later.status is not bl.EventStatus.complete
    gate.open()
    later.wait()
    assert data.numpy()[0] == 5


def test_an_event_outlives_its_queue(queue: bl.Queue) -> None:
    kernel, data = add_of(queue)
    for _ in range(3):
        last = queue.parallel_for(1, kernel, data, 1, 0)
    queue.close()
    last.wait()
    assert last.status is bl.EventStatus.complete


def test_one_kernel_from_many_queues_at_once(cl: bl.Device) -> None:
    """A launch of one thread does not use arguments set by another."""
    with bl.Context(cl) as context:
        kernel = bl.load_kernel_bundle(ADD, cl, context).get_kernel("add")
        failures: list[object] = []

        def work(number: int) -> None:
            try:
                with bl.Queue(cl, context, in_order=True) as queue:
                    data = bl.usm_empty(64, "i4", queue).copy_from(np.zeros(64, "i4"))
                    for step in range(300):
                        queue.parallel_for(1, kernel, data, number + step, number)
                    expected = np.zeros(64, "i4")
                    expected[number] = sum(number + step for step in range(300))
                    assert data.numpy().tolist() == expected.tolist()
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []


def test_each_failure_is_told_once(cl: bl.Device, failing: Path) -> None:
    found = run(
        failing,
        """
        import bindless as bl
        from bindless.drivers import opencl
        lib, ffi = opencl.lib, opencl.ffi
        device = bl.get_devices("opencl:*:*")[INDEX]
        context = bl.Context(device)
        source = b"kernel void nothing(int value) {}"
        nothing = bl.load_kernel_bundle(source, device, context).get_kernel("nothing")
        native = lib.clCreateUserEvent(ffi.cast("cl_context", int(bl.get_native(context))), ffi.NULL)
        gate = bl.make_event("opencl", int(ffi.cast("uintptr_t", native)), context)

        def told(call):
            try:
                call()
            except bl.ExceptionList as error:
                print(len(error), *sorted({each.native_name for each in error}))
            except bl.Error as error:
                print(error.native_name)
            else:
                print("nothing")

        for in_order in (True, False):
            queue = bl.Queue(device, context, in_order=in_order)
            queue.ext_oneapi_submit_barrier(gate)
            events = [queue.parallel_for(1, nothing, number) for number in range(6)]
            library.lose(-5)  # CL_OUT_OF_RESOURCES
            told(events[-1].wait)  # the last one, which the queue still has
            told(events[3].wait)
            told(events[3].wait)
            told(queue.wait)  # four launches, and two commands that are the barrier
            told(queue.wait)
            library.lose(0)
        lib.clSetUserEventStatus(native, 0)
        """.replace("INDEX", str(bl.get_devices("opencl:*:*").index(cl))),
    )
    one = "CL_OUT_OF_RESOURCES"
    assert found == 2 * [one, one, one, f"6 {one}", "nothing"]
