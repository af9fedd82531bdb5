"""Command groups: exactly one command, dependencies, host tasks, the secondary queue."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import bindless as bl
from bindless.submission import host_dependency, worker_threads
from bindless.submission.command_stream import CommandStream
from tests.support.error_checks import raises


def test_a_command_group_submits_its_command(queue):
    source = np.arange(64, dtype=np.int16)
    array, out = bl.usm_empty(64, np.int16, queue), np.zeros(64, np.int16)

    def write(handler: bl.Handler) -> None:
        handler.memcpy(array, source)

    first = queue.submit(write)

    def read(handler: bl.Handler) -> None:
        handler.depends_on(first)
        handler.depends_on([bl.Event()])
        handler.copy(array, out)

    queue.submit(read).wait()
    np.testing.assert_array_equal(out, source)


@pytest.mark.parametrize(
    "command, expected",
    [
        (lambda h, a: h.fill(a, 3), [3] * 8),
        (lambda h, a: h.fill(a, np.int32(4), 2), [4, 4, 0, 0, 0, 0, 0, 0]),
        (lambda h, a: h.memset(a, 1, 4), [0x01010101, 0, 0, 0, 0, 0, 0, 0]),
        (lambda h, a: h.copy(np.arange(8, dtype=np.int32), a, 3), [0, 1, 2, 0, 0, 0, 0, 0]),
        (lambda h, a: h.memcpy(a, b"\x05" + bytes(31), 32), [5, 0, 0, 0, 0, 0, 0, 0]),
        (lambda h, a: h.memset(a, 9, 0), [0] * 8),
    ],
)
def test_every_memory_command(queue, command, expected):
    array = bl.usm_empty(8, np.int32, queue)
    cleared = queue.memset(array, 0)

    def group(handler: bl.Handler) -> None:
        handler.depends_on(cleared)
        command(handler, array)

    queue.submit(group).wait()
    assert array.numpy().tolist() == expected


def test_no_command_or_two_are_refused(queue):
    array = bl.usm_empty(8, np.uint8, queue)
    array.copy_from(0)

    def twice(handler: bl.Handler) -> None:
        handler.memset(array, 1)
        handler.fill(array, 2)

    with raises(bl.InvalidError):
        queue.submit(lambda handler: None)
    with raises(bl.InvalidError, names=("fill", "memset")):
        queue.submit(twice)
    queue.wait()
    assert array.numpy().tolist() == [0] * 8


def test_a_handler_is_of_no_use_later(queue):
    kept: list[bl.Handler] = []
    array = bl.usm_empty(8, np.uint8, queue)

    def group(handler: bl.Handler) -> None:
        kept.append(handler)
        handler.memset(array, 1)

    queue.submit(group).wait()
    with raises(bl.InvalidError):
        kept[0].memset(array, 2)
    with raises(bl.InvalidError):
        kept[0].depends_on(())


def test_wrong_dependencies_and_functions_are_named(queue):
    for group, message in (
        (lambda h: h.depends_on(3), "depends_on(3)"),
        (lambda h: h.depends_on([None]), "depends_on contains None"),
        (lambda h: h.host_task(3), "host_task(3)"),
    ):
        with raises(bl.InvalidError, names=message):
            queue.submit(group)


@pytest.mark.parametrize("in_order", [False, True])
def test_a_host_task_runs_in_its_place(device, context, in_order):
    with bl.Queue(device, context, in_order=in_order) as queue:
        array = bl.usm_empty(4, np.uint8, queue, kind="host")
        seen: list[object] = []

        def look() -> None:
            seen.append((np.asarray(array).tolist(), threading.current_thread() is threading.main_thread()))

        def task(handler: bl.Handler) -> None:
            handler.depends_on(written)
            handler.host_task(look)

        written = queue.memset(array, 5)
        looked = queue.submit(task)
        queue.memset(array, 6, depends_on=() if in_order else looked).wait()
        assert looked.status is bl.EventStatus.complete
        assert seen == [([5] * 4, False)]
        assert np.asarray(array).tolist() == [6] * 4


def test_a_wait_of_the_queue_covers_host_tasks(queue):
    release, ended = threading.Event(), []

    def task() -> None:
        release.wait(10)
        ended.append(True)

    event = queue.submit(lambda handler: handler.host_task(task))
    assert event.status is not bl.EventStatus.complete
    assert not queue.ext_oneapi_empty()
    barrier = queue.ext_oneapi_submit_barrier()
    array = bl.usm_empty(4, np.uint8, queue)
    array.copy_from(0)
    later = queue.memset(array, 1)
    assert barrier.status is later.status is bl.EventStatus.submitted
    release.set()
    queue.wait()
    assert ended == [True]
    assert barrier.status is later.status is bl.EventStatus.complete
    assert array.numpy().tolist() == [1] * 4


def test_a_queue_is_empty_when_its_host_task_is_complete(queue, monkeypatch):
    genuine, waits = CommandStream.let_go, threading.Event()

    def let_go(stream: CommandStream, event: bl.Event) -> None:
        waits.wait(0.2)  # as where the thread loses its processor here
        genuine(stream, event)

    monkeypatch.setattr(CommandStream, "let_go", let_go)
    for finish in (bl.Event.wait, lambda _: queue.wait()):
        finish(queue.submit(lambda handler: handler.host_task(lambda: None)))
        assert queue.ext_oneapi_empty()


def test_an_error_of_a_host_task_is_asynchronous(queue):
    def task() -> None:
        raise KeyError("lost")

    event = queue.submit(lambda handler: handler.host_task(task))
    with raises(bl.SyclRuntimeError, names="KeyError: 'lost'") as raised:
        event.wait()
    assert isinstance(raised.value.__cause__, KeyError)
    queue.wait()


@pytest.mark.parametrize("in_order", [False, True])
def test_a_task_submits_to_its_own_queue(device, context, in_order):
    with bl.Queue(device, context, in_order=in_order) as queue:
        array = bl.usm_empty(4, np.uint8, queue)
        inner: list[bl.Event] = []
        queue.submit(lambda handler: handler.host_task(lambda: inner.append(queue.memset(array, 1)))).wait()
        inner[0].wait()
        assert array.numpy().tolist() == [1] * 4


@pytest.mark.parametrize(
    "wait", [lambda queue, array: queue.memset(array, 1).wait(), lambda queue, array: queue.wait()]
)
def test_a_task_that_would_wait_for_itself_is_told(device, context, wait):
    with bl.Queue(device, context, in_order=True) as queue:
        array = bl.usm_empty(4, np.uint8, queue)
        event = queue.submit(lambda handler: handler.host_task(lambda: wait(queue, array)))
        with raises(bl.InvalidError):
            event.wait()


def test_the_secondary_queue_takes_what_the_first_refuses(fake):
    primary, secondary = bl.Queue(), bl.Queue()
    array = bl.usm_empty(4, np.uint8, primary)
    fake.refuse = bl.SyclRuntimeError("the queue is full")
    event = primary.submit(lambda handler: handler.memset(array, 1), secondary)
    assert event._stream is secondary._stream
    event.wait()
    assert array.numpy().tolist() == [1] * 4
    fake.refuse = bl.SyclRuntimeError("the queue is full")
    with raises(bl.SyclRuntimeError, names="the queue is full"):
        primary.submit(lambda handler: handler.memset(array, 1))
    with raises(bl.InvalidError) as raised:
        primary.submit(lambda handler: None, secondary)
    assert isinstance(raised.value.__context__, bl.InvalidError)


def test_an_error_of_the_function_itself_comes_through(queue):
    with pytest.raises(ZeroDivisionError):
        queue.submit(lambda handler: 1 / 0, queue)


def test_a_task_without_a_thread_is_refused_and_forgotten(queue, monkeypatch):
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        patched.setattr(host_dependency, "pool", worker_threads.Pool())
        event = queue.submit(lambda handler: handler.host_task(lambda: None))
    with raises(bl.SyclRuntimeError, names="can't start new thread"):
        event.wait()
    queue.wait()
    assert queue.ext_oneapi_empty()
