"""Concurrent use of every kind of object from several threads."""

from __future__ import annotations

import gc
import random
import signal
import threading
import time
import weakref
from collections.abc import Callable

import numpy as np
import pytest

import bindless as bl
from bindless.core.lock import Lock
from bindless.submission import command_stream
from tests.support.ctrl_c import interrupted_in
from tests.support.error_checks import raises


def in_threads(count: int, work: Callable[[int], None]) -> None:
    """Run ``work(index)`` on threads that start together, and raise the error of any of them."""
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


@pytest.mark.parametrize("in_order", [False, True])
@pytest.mark.parametrize("deferred", [False, True])
def test_memory_that_is_freed_in_the_midst_of_a_call_is_refused(device, context, in_order, deferred):
    """Simulates another thread that frees the memory between the address check and the driver's call."""
    queue = bl.Queue(device, context, in_order=in_order)
    other, host, gate = bl.usm_empty(256, "u1", queue), np.zeros(256, "u1"), threading.Event()

    def late(array):
        array.close()
        if deferred:
            yield queue.submit(lambda handler: handler.host_task(gate.wait))

    for call in (
        lambda array: queue.memset(array, 1, 256, depends_on=late(array)),
        lambda array: queue.fill(array, np.uint8(1), 256, depends_on=late(array)),
        lambda array: queue.memcpy(host, array, 256, depends_on=late(array)),
        lambda array: queue.memcpy(array, other, 256, depends_on=late(array)),
    ):
        gate.clear()
        with raises(bl.InvalidError):
            call(bl.usm_empty(256, "u1", queue))
        gate.set()
        queue.wait_and_throw()
    queue.close()


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


def _random_work(device: bl.Device, context: bl.Context) -> None:
    shared = (bl.Queue(device, context), bl.Queue(device, context, in_order=True))

    def work(index: int) -> None:
        random_ = random.Random(index)
        for _ in range(60):
            own = random_.random() < 0.3
            queue = bl.Queue(device, context, in_order=random_.random() < 0.5) if own else random_.choice(shared)
            array = bl.usm_empty(64, np.int32, queue)
            ring: list[object] = [array, queue]
            ring.append(ring)
            event = queue.fill(array, index)
            if random_.random() < 0.3:
                array.close()
            else:
                out = np.empty(64, np.int32)
                event = queue.memcpy(out, array, depends_on=event)
                if random_.random() < 0.5:
                    event.wait()
                    assert (out == index).all()
            if random_.random() < 0.1:
                queue.submit(lambda handler: handler.host_task(lambda: None))
            if own and random_.random() < 0.5:
                queue.close()

    in_threads(12, work)
    for queue in shared:
        queue.close()


def test_random_work_on_many_threads_with_the_collector_always_at_it(device):
    """Queues are created, shared, dropped in cycles and closed, with a garbage collection every few allocations."""
    context = bl.Context(device)
    before = gc.get_threshold()
    gc.set_threshold(7, 2, 2)
    try:
        _random_work(device, context)
    finally:
        gc.set_threshold(*before)
    left = weakref.ref(context)
    del context
    command_stream.wait_for_all()
    deadline = time.monotonic() + 10  # a thread of the pool may be about to drop the host task it has completed
    while gc.collect() >= 0 and left() is not None and time.monotonic() < deadline:
        time.sleep(0.005)
        command_stream.sweep()  # as later work does: that thread may have completed the last work of a dropped queue
    assert left() is None


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="this system sends no signals to threads")
@pytest.mark.parametrize(
    ("wait", "place"), [(lambda queue, event: queue.wait(), "wait"), (lambda queue, event: event.wait(), "_wait_any")]
)
def test_a_wait_can_be_interrupted_and_taken_up_again(fake, wait, place):
    queue = bl.Queue()
    gate = threading.Event()
    array = bl.usm_empty(4, "u1", queue)
    event = queue._enqueue(fake.gate(queue._native, gate), keep=(array,))
    give_up = threading.Timer(20, gate.set)
    give_up.start()
    with pytest.raises(KeyboardInterrupt), interrupted_in(place):
        wait(queue, event)
    give_up.cancel()
    assert event.status is not bl.EventStatus.complete
    gate.set()
    wait(queue, event)
    assert event.status is bl.EventStatus.complete


def test_a_queue_closed_during_a_wait_ends_after_it(fake):
    """The native queue outlives the wait of another thread."""
    queue = bl.Queue()
    gate, waiting = threading.Event(), threading.Event()
    wait = fake.wait_queue

    def slowly(native: object) -> None:
        waiting.set()
        gate.wait(20)
        wait(native)

    fake.wait_queue = slowly
    failures: list[BaseException] = []

    def in_thread() -> None:
        try:
            queue.wait()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=in_thread)
    thread.start()
    assert waiting.wait(20)
    fake.wait_queue = wait
    queue.close()
    assert queue.closed and fake.alive["queue"] == 1
    gate.set()
    thread.join(20)
    assert failures == [] and fake.alive["queue"] == 0


def test_the_end_waits_for_a_queue_that_another_thread_waits_for(fake):
    """At the interpreter's exit, a thread that returns from its wait leaves the native queue to the exit's own wait."""
    queue = bl.Queue()
    stream, wait = queue._stream, fake.wait_queue
    waiting, ending = threading.Event(), threading.Event()
    found: list[int] = []

    def slowly(native: object) -> None:
        if threading.current_thread() is thread:
            waiting.set()
            ending.wait(20)
        else:
            ending.set()
            thread.join(20)
            found.append(fake.alive["queue"])
        wait(native)

    fake.wait_queue = slowly
    thread = threading.Thread(target=queue.wait)
    thread.start()
    assert waiting.wait(20)
    assert stream.finish("the end") == [] and found == [1]
    stream.resource.close()


def test_the_lock_of_a_queue_comes_to_who_waits_for_it():
    """Competing threads retake the lock at once and release the GIL only while they hold it, as driver calls do."""
    lock, ended = Lock(), threading.Event()

    def busy() -> None:
        while not ended.is_set():
            with lock:
                time.sleep(0)

    def once() -> None:
        with lock:
            ended.set()

    threads = [threading.Thread(target=busy) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        waiting = threading.Thread(target=once, daemon=True)
        waiting.start()
        assert ended.wait(60)
    finally:
        ended.set()
        for thread in threads:
            thread.join()
