"""Prepared commands that wait for events: their order, and the driver events that they keep."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.backends.level_zero.event_pool import NativeEvent
from bindless.drivers import level_zero as driver
from tests.support.python_calls import python_calls

pytestmark = [pytest.mark.level_zero, pytest.mark.on_level_zero, pytest.mark.timeout(120)]

SOURCE = """
kernel void add(global int *data, int value) { data[get_global_id(0)] = data[get_global_id(0)] * 3 + value; }
"""
COUNT = 64


@pytest.fixture(params=[True, False], ids=["immediate", "regular"])
def unordered(request: pytest.FixtureRequest, device: bl.Device, context: bl.Context) -> Iterator[bl.Queue]:
    kinds = {} if request.param else {"no_immediate_command_list": True}
    with bl.Queue(device, context, **kinds) as made:
        yield made
        made.wait()


@pytest.fixture
def kernel(context: bl.Context) -> bl.Kernel:
    return bl.load_kernel_bundle(bl.build(SOURCE), context).get_kernel("add")


class Gate:
    """A driver event that holds commands back until it is opened."""

    def __init__(self, queue: Any) -> None:
        self._native = NativeEvent.take(queue._native.context.native.pools[False])
        self._waits = driver.ffi.new("ze_event_handle_t[]", [self._native.handle])

    def hold(self, stream: Any) -> Any:
        """An event of a stream that is complete once the gate is open."""
        lib = driver.lib
        event = stream.run(lambda own, signal, *_: lib.zeCommandListAppendBarrier(own, signal, 1, self._waits), "gate")
        event.record()
        return event

    def open(self) -> None:
        driver.check(driver.lib.zeEventHostSignal(self._native.handle), "zeEventHostSignal")


def expected(values: list[int]) -> int:
    """The numbers of an array of zeros after the kernels of these values, in 32 bits."""
    found = np.int32(0)
    with np.errstate(over="ignore"):
        for value in values:
            found = np.int32(found * np.int32(3) + np.int32(value))
    return int(found)


def test_a_chain_runs_in_order(unordered: bl.Queue, kernel: bl.Kernel) -> None:
    data = bl.usm_empty(COUNT, np.int32, unordered)
    event = unordered.fill(data, np.int32(0))
    for value in range(300):
        event = unordered.parallel_for(COUNT, kernel, data, value, depends_on=event)
    event.wait()
    assert data.numpy(unordered).tolist() == [expected(list(range(300)))] * COUNT


def test_chains_that_meet(unordered: bl.Queue, kernel: bl.Kernel) -> None:
    """Several chains, each of which the last command of a round waits for."""
    arrays = [bl.usm_empty(COUNT, np.int32, unordered) for _ in range(3)]
    together = bl.usm_empty(COUNT, np.int32, unordered)
    events = [unordered.fill(array, np.int32(0)) for array in (*arrays, together)]
    last = events.pop()
    for value in range(100):
        events = [
            unordered.parallel_for(COUNT, kernel, array, value + at, depends_on=[event, last])
            for at, (array, event) in enumerate(zip(arrays, events))
        ]
        last = unordered.parallel_for(COUNT, kernel, together, value, depends_on=[*events, last])
    last.wait()
    for at, array in enumerate(arrays):
        assert array.numpy(unordered).tolist() == [expected([value + at for value in range(100)])] * COUNT
    assert together.numpy(unordered).tolist() == [expected(list(range(100)))] * COUNT


def test_a_command_waits_for_a_recorded_event_of_another_queue(
    unordered: bl.Queue, kernel: bl.Kernel, device: bl.Device, context: bl.Context
) -> None:
    """The waiting command keeps the driver's event, also where nobody else refers to it."""
    data = bl.usm_empty(COUNT, np.int32, unordered)
    unordered.fill(data, np.int32(0)).wait()
    pool = unordered._native.context.native.pools[False]  # type: ignore[attr-defined]
    with bl.Queue(device, context, in_order=True) as other:
        scratch = bl.usm_empty(COUNT, np.int32, other)
        for _ in range(3):  # the launches are prepared
            unordered.parallel_for(COUNT, kernel, data, 0)
            other.parallel_for(COUNT, kernel, scratch, 0)
        unordered.wait()
        other.wait()
        gate = Gate(unordered)
        held = gate.hold(other._native.streams[0])  # type: ignore[attr-defined]
        event = other.parallel_for(COUNT, kernel, scratch, 0)
        event._native.record()  # type: ignore[union-attr]
        handle = event._native.native.handle  # type: ignore[union-attr]
        last = unordered.parallel_for(COUNT, kernel, data, 5, depends_on=event)
        del event
        try:
            assert handle not in pool.handles(unused=True)
            assert last.status is not bl.EventStatus.complete
        finally:
            gate.open()
        last.wait()
        held.wait()
        other.wait()
        assert data.numpy(unordered).tolist() == [5] * COUNT


def test_events_of_complete_commands_are_released(unordered: bl.Queue, kernel: bl.Kernel) -> None:
    data = bl.usm_empty(COUNT, np.int32, unordered)
    events = [unordered.fill(data, np.int32(0))]
    for value in range(2000):
        events = [unordered.parallel_for(COUNT, kernel, data, value, depends_on=events)]
        if value % 100 == 0:
            unordered.wait()
    unordered.wait()
    pool = unordered._native.context.native.pools[False]  # type: ignore[attr-defined]
    assert len(pool.handles()) < 1000
    assert sum(stream.native.end - stream.native.first for stream in unordered._native.streams) < 600  # type: ignore[attr-defined]


def test_an_event_outlives_its_context(device: bl.Device) -> None:
    with bl.Context(device) as context, bl.Queue(device, context) as queue:
        data = bl.usm_empty(COUNT, np.int32, queue)
        events = [queue.fill(data, np.int32(value)) for value in range(10)]
        queue.wait()
        natives = [event._native for event in events]
        for native in natives:
            native.native_handle()  # type: ignore[union-attr]
    del events, native, natives
    with bl.Context(device) as context, bl.Queue(device, context) as queue:
        assert bl.usm_empty(COUNT, np.int32, queue).shape == (COUNT,)


def test_repeated_commands_with_events_take_no_python(unordered: bl.Queue, kernel: bl.Kernel) -> None:
    data = bl.usm_empty(COUNT, np.int32, unordered)
    events = [unordered.fill(data, np.int32(0)), *(unordered.parallel_for(COUNT, kernel, data, 0) for _ in range(3))]

    def chain() -> None:
        events.append(unordered.parallel_for(COUNT, kernel, data, 1, depends_on=events[-1]))

    def join() -> None:
        events.append(unordered.parallel_for(COUNT, kernel, data, 1, depends_on=events[-4:]))

    assert [python_calls(work) for work in (chain, join) for _ in range(4)] == [[]] * 8
    unordered.wait()
