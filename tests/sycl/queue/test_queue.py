"""Queues, contexts and events, on the device of ``--device``."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import bindless as bl
from bindless.sycl.device.device_context import resolve_where
from tests.support.error_checks import raises


@pytest.mark.parametrize("in_order", [False, True])
def test_commands_follow_each_other_by_their_events(device, context, in_order):
    with bl.Queue(device, context, in_order=in_order) as queue:
        assert queue.is_in_order is in_order
        first = np.arange(1000, dtype=np.float32)
        last = np.zeros_like(first)
        a = bl.usm_empty(1000, np.float32, queue)
        b = bl.usm_empty(1000, np.float32, queue)
        one = queue.memcpy(a, first, first.nbytes)
        two = queue.memcpy(b, a, first.nbytes, depends_on=one)
        three = queue.memcpy(last, b, first.nbytes, depends_on=[one, two])
        three.wait()
        assert three.status == bl.EventStatus.complete
        np.testing.assert_array_equal(last, first)
        assert set(three.get_wait_list()) == {one, two}


def test_events_order_commands_of_different_queues(device, context):
    with bl.Queue(device, context) as left, bl.Queue(device, context, in_order=True) as right:
        a = bl.usm_empty(256, np.int32, left)
        out = np.zeros(256, np.int32)
        for value in range(20):
            event = left.fill(a, value, depends_on=() if value == 0 else event)  # noqa: F821
            event = right.memcpy(out, a, depends_on=event)
        event.wait()
        np.testing.assert_array_equal(out, 19)


def test_a_complete_event_can_be_waited_for_by_anything(queue):
    ready = bl.Event()
    ready.wait()
    ready.wait_and_throw()
    assert ready.status is bl.EventStatus.complete and ready.get_info("command_execution_status") == "complete"
    a = bl.usm_empty(4, np.uint8, queue)
    queue.memset(a, 7, depends_on=ready).wait()
    assert a.numpy().tolist() == [7] * 4
    with raises(bl.ProfilingError):
        ready.get_profiling_info("command_start")


def test_a_barrier_completes_after_everything_before_it(queue):
    arrays = [bl.usm_empty(1 << 16, np.uint8, queue) for _ in range(8)]
    for value, array in enumerate(arrays):
        queue.memset(array, value)
    queue.ext_oneapi_submit_barrier().wait()
    assert [int(array.numpy().max()) for array in arrays] == list(range(8))


def test_an_event_shows_its_status(device, context):
    with bl.Queue(device, context) as queue:
        gate = threading.Event()
        held = queue.submit(lambda handler: handler.host_task(lambda: gate.wait(20)))
        after = queue.submit(lambda handler: (handler.depends_on(held), handler.host_task(lambda: None)))
        shown = {repr(event) for event in (held, after)}
        assert shown <= {"<Event submitted>", "<Event running>"} and repr(after) == f"<Event {after.status}>"
        gate.set()
        queue.wait()
        for event in (held, after, bl.Event(), queue.ext_oneapi_submit_barrier([held, after])):
            event.wait()
            assert repr(event) == f"<Event {event.status}>" == "<Event complete>"
    assert repr(bl.Event()) == "<Event complete>"


def test_an_idle_queue_is_empty(queue):
    queue.memset(bl.usm_empty(16, np.uint8, queue), 1)
    queue.wait()
    assert queue.ext_oneapi_empty()


def test_profiling_gives_times_in_order(device, context):
    with bl.Queue(device, context, enable_profiling=True, in_order=True) as queue:
        a = bl.usm_empty(1 << 20, np.uint8, queue)
        first, second = queue.memset(a, 1), queue.memset(a, 2)
        times = [
            [event.get_profiling_info(name) for name in ("command_submit", "command_start", "command_end")]
            for event in (first, second)
        ]
        for submit, start, end in times:
            assert submit <= start <= end
        assert times[0][2] <= times[1][1]


def test_without_profiling_there_are_no_times(queue):
    event = queue.memset(bl.usm_empty(16, np.uint8, queue), 1)
    with raises(bl.ProfilingError, names="enable_profiling=True"):
        event.get_profiling_info("command_end")
    with raises(bl.InvalidError, names="'command_end'"):
        event.get_profiling_info("cost")


def test_queue_and_context_answer_for_themselves(device, context, queue):
    assert queue.get_info("device") == device == queue.device
    assert queue.get_info("context") is context is queue.context
    assert context.get_info("devices") == (device,) == context.get_devices()
    assert context.get_info("platform") == device.platform
    assert queue.backend == context.backend == device.backend


def test_queues_share_the_default_context_of_a_device(device):
    with bl.Queue(device) as one, bl.Queue(device) as two:
        assert one.context is two.context
        assert bl.Queue(context=one.context).device == device


def test_a_closed_default_context_is_replaced(device):
    with bl.Queue(device) as queue:
        old = queue.context
    old.close()
    with bl.Queue(device) as queue:
        assert queue.context is not old
        bl.usm_empty(4, np.uint8, queue).copy_from(np.arange(4, dtype=np.uint8))


def test_after_close_everything_says_so(device, context):
    queue = bl.Queue(device, context)
    array = bl.usm_empty(16, np.uint8, queue)
    event = queue.memset(array, 3)
    queue.close()
    queue.close()
    event.wait()
    assert event.status is bl.EventStatus.complete
    assert queue.closed
    for use in (
        queue.wait,
        lambda: queue.memset(array, 1),
        lambda: queue.submit(lambda handler: handler.memset(array, 1)),
        queue.ext_oneapi_submit_barrier,
        queue.throw_asynchronous,
        queue.ext_oneapi_empty,
        queue.__enter__,
        lambda: bl.usm_empty(4, np.uint8, queue),
    ):
        with raises(bl.InvalidError, names="Queue"):
            use()


def test_a_closed_context_says_so_and_its_memory_stays(device):
    context = bl.Context(device)
    queue = bl.Queue(device, context)
    array = bl.usm_empty(16, np.uint8, queue, kind="host")
    event = queue.memset(array, 9)
    context.close()
    context.close()
    event.wait()
    assert context.closed and queue.closed
    assert np.asarray(array).tolist() == [9] * 16
    for use in (
        lambda: bl.Queue(device, context),
        lambda: bl.usm_empty(4, np.uint8, device, context),
        context.__enter__,
    ):
        with raises(bl.InvalidError, names="Context"):
            use()
    array.close()


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda q: bl.Queue(q.context), ("Context", "Queue(context=context)")),
        (lambda q: bl.Queue(q.device, 3), ("context=3", "Context")),
        (lambda q: bl.Queue(q.device, async_handler=3), "async_handler=3"),
        (lambda q: bl.Context(3), "devices=3"),
        (lambda q: bl.Context([]), None),
        (lambda q: bl.Context([3]), None),
        (lambda q: bl.Context(q.device, async_handler=3), "async_handler=3"),
        (lambda q: q.memset(bl.usm_empty(1, "u1", q), 0, depends_on=3), "depends_on=3"),
        (lambda q: q.memset(bl.usm_empty(1, "u1", q), 0, depends_on=[3]), ("depends_on", "3")),
        (lambda q: q.submit(3), None),
        (lambda q: q.submit(lambda h: None, 3), ("secondary_queue=3", "Queue")),
        (lambda q: q.get_info("weight"), "descriptor='weight'"),
        (lambda q: q.context.get_info("weight"), "descriptor='weight'"),
    ],
)
def test_wrong_arguments_are_named(queue, make, message):
    with raises(bl.InvalidError, names=message):
        make(queue)


def test_where_is_a_queue_or_a_device_with_its_context(queue, device, context):
    assert resolve_where(queue) == (device, context) == resolve_where(device, context)
    for where, shown in (
        ((device,), "Device"),
        ((context, device), "Context, Device"),
        ((queue, context), "Queue, Context"),
    ):
        with raises(bl.InvalidError, names=shown):
            resolve_where(*where)
    with raises(bl.InvalidError):
        resolve_where()


def test_devices_of_two_platforms_share_no_context(fakes):
    with raises(bl.InvalidError):
        bl.Context([bl.Device("cuda"), bl.Device("opencl")])
    context = bl.Context(bl.Device("cuda").platform.get_devices())
    assert len(context.devices) == 2
    assert bl.Queue("cuda:gpu:1", context).device == context.devices[1]
    with raises(bl.InvalidError):
        bl.Queue("reference", context)
    with raises(bl.InvalidError):
        resolve_where(bl.Device("reference"), context)


def test_a_device_without_times_refuses_profiling(fakes):
    fakes[bl.Backend.cuda]._aspects = frozenset()
    with raises(bl.FeatureNotSupportedError, names="device.has('queue_profiling')"):
        bl.Queue(enable_profiling=True)
    with raises(bl.FeatureNotSupportedError, names="device.has('usm_shared_allocations')"):
        bl.malloc_shared(4, bl.Queue())


@pytest.mark.parametrize("hint", ["immediate_command_list", "no_immediate_command_list"])
def test_hints_of_command_lists_change_no_results(device, hint):
    with bl.Queue(device, in_order=True, **{hint: True}) as queue:
        array = bl.usm_empty(1000, "u1", queue)
        for value in range(20):
            queue.memset(array, value)
        assert set(array.numpy(queue).tolist()) == {19}
        array.close()
    with raises(bl.InvalidError):
        bl.Queue(device, immediate_command_list=True, no_immediate_command_list=True)
