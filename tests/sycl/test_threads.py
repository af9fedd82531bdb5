"""Every object used from several threads at once."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import pytest

import bindless as bl


def in_threads(count: int, work: Callable[[int], None]) -> None:
    """Runs ``work(index)`` on threads that start together, and raises what any of them raised."""
    start = threading.Barrier(count)
    raised: list[BaseException] = []

    def run(index: int) -> None:
        start.wait()
        try:
            work(index)
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    if raised:
        raise raised[0]


@pytest.mark.parametrize("in_order", [False, True])
def test_one_queue_serves_many_threads(device, context, in_order):
    with bl.Queue(device, context, in_order=in_order) as queue:

        def work(index: int) -> None:
            for turn in range(40):
                array = bl.usm_empty(100, np.int32, queue)
                filled = queue.fill(array, index * 1000 + turn)
                out = np.empty(100, np.int32)
                queue.memcpy(out, array, depends_on=filled).wait()
                assert (out == index * 1000 + turn).all()

        in_threads(8, work)


def test_queues_of_many_threads_share_a_context(device, context):
    def work(index: int) -> None:
        for turn in range(5):
            with bl.Queue(device, context) as queue:
                array = bl.usm_empty(64, np.uint8, queue)
                queue.memset(array, index).wait()
                assert (array.numpy(queue) == index).all()
                if turn % 2:
                    array.close()

    in_threads(8, work)


def test_events_are_waited_for_by_many_threads(queue):
    array = bl.usm_empty(1 << 20, np.uint8, queue)
    event = queue.memset(array, 3)
    in_threads(8, lambda index: event.wait())
    assert event.status is bl.EventStatus.complete


def test_closing_while_others_submit_ends_in_the_queue_s_own_error(device, context):
    for _ in range(5):
        queue = bl.Queue(device, context)
        array = bl.usm_empty(64, np.uint8, device, context)

        def work(index: int, queue: bl.Queue = queue, array: bl.UsmArray = array) -> None:
            if index == 0:
                queue.close()
                return
            try:
                while True:
                    queue.memset(array, index)
            except bl.InvalidError as error:
                assert "was closed" in str(error)

        in_threads(4, work)


def test_an_error_is_recorded_once_however_many_wait(fake):
    queue = bl.Queue(async_handler=lambda errors: taken.append(errors))
    taken: list[bl.ExceptionList] = []
    gate = threading.Event()
    event = queue._enqueue(fake.gate(queue._native, gate, bl.KernelError("once")))
    threading.Timer(0.02, gate.set).start()
    in_threads(8, lambda index: event.wait())
    queue.wait_and_throw()
    assert [str(error) for errors in taken for error in errors] == ["once"]


def test_the_default_context_is_made_once(fake):
    in_threads(8, lambda index: bl.Queue().close())
    assert fake.created["context"] == 1
