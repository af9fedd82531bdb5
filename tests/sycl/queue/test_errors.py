"""Asynchronous errors: every error reaches a handler or a wait, exactly once."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

import bindless as bl
from bindless.backends.contract import Traits
from tests.support.error_checks import raises


def opened() -> threading.Event:
    gate = threading.Event()
    gate.set()
    return gate


def fail(fake, queue, text, gate=None, **options):
    """Submit a command that fails when the gate opens."""
    return queue._enqueue(fake.gate(queue._native, gate or opened(), bl.KernelError(text)), **options)


def settled(event):
    event._native.finished.wait(10)
    return event


def test_a_wait_for_the_event_raises_its_error_and_the_queue_does_not_repeat_it(fake):
    queue = bl.Queue()
    event = fail(fake, queue, "first")
    with raises(bl.KernelError, names="first"):
        event.wait()
    assert event.status is bl.EventStatus.complete
    queue.wait()
    with raises(bl.KernelError, names="first"):
        event.wait()


@pytest.mark.parametrize("in_order", [False, True])
def test_a_wait_of_the_queue_raises_what_nobody_asked_for(fake, in_order):
    queue = bl.Queue(in_order=in_order)
    fail(fake, queue, "dropped")
    with raises(bl.KernelError, names="dropped"):
        queue.wait()
    queue.wait()
    kept = [fail(fake, queue, "one"), fail(fake, queue, "two")]
    with pytest.raises(bl.ExceptionList, match=r"2 asynchronous errors:\n  1. one\n  2. two$") as raised:
        queue.wait()
    assert [type(error) for error in raised.value] == [bl.KernelError] * 2 and len(raised.value) == 2
    queue.wait()
    assert len(kept) == 2


def test_equal_errors_are_not_taken_for_one(fake):
    queue = bl.Queue()
    for _ in range(3):
        fail(fake, queue, "the same")
    with pytest.raises(bl.ExceptionList) as raised:
        queue.wait()
    assert len(raised.value) == 3


def test_a_driver_that_repeats_one_error_for_ever_ends_the_wait(fake, monkeypatch):
    queue = bl.Queue()

    def lost(_):
        raise bl.SyclRuntimeError("the device is lost", native_code=719)

    monkeypatch.setattr(fake, "wait_queue", lost)
    with pytest.raises(bl.ExceptionList) as raised:
        queue.wait()
    assert 1 < len(raised.value) < 20
    monkeypatch.undo()


def test_wait_and_throw_of_an_event_raises_all_errors_of_its_queue_so_far(fake):
    queue = bl.Queue()
    settled(fail(fake, queue, "other"))
    event = settled(fail(fake, queue, "mine"))
    with pytest.raises(bl.ExceptionList) as raised:
        event.wait_and_throw()
    assert {str(error) for error in raised.value} == {"mine", "other"}
    queue.wait()


@pytest.mark.parametrize("of_context", [False, True])
def test_a_handler_takes_the_errors_and_waits_raise_none(fake, of_context):
    taken: list[bl.ExceptionList] = []
    if of_context:
        queue = bl.Queue(context=bl.Context(async_handler=taken.append))
    else:
        queue = bl.Queue(async_handler=taken.append)
    event = fail(fake, queue, "first")
    event.wait()
    queue.wait()
    assert taken == []
    queue.wait_and_throw()
    assert [str(error) for error in taken.pop()] == ["first"]
    queue.wait_and_throw()
    event.wait_and_throw()
    assert taken == []
    fail(fake, queue, "second").wait_and_throw()
    assert [str(error) for error in taken.pop()] == ["second"]
    settled(fail(fake, queue, "third"))
    queue.close()
    assert [str(error) for error in taken.pop()] == ["third"]


def test_the_handler_of_the_queue_comes_before_that_of_the_context(fake):
    mine, common = [], []
    context = bl.Context(async_handler=common.append)
    queue = bl.Queue(context=context, async_handler=mine.append)
    fail(fake, queue, "x")
    queue.wait_and_throw()
    assert len(mine) == 1 and common == []


def test_an_error_of_the_handler_comes_through(fake):
    queue = bl.Queue(async_handler=lambda errors: 1 / 0)
    fail(fake, queue, "x")
    with pytest.raises(ZeroDivisionError):
        queue.wait_and_throw()
    queue.close()


@pytest.mark.parametrize("in_order", [False, True])
def test_throw_asynchronous_does_not_wait(fake, in_order):
    taken: list[bl.ExceptionList] = []
    queue = bl.Queue(in_order=in_order, async_handler=taken.append)
    settled(fail(fake, queue, "early"))
    queue.throw_asynchronous()
    assert [str(error) for error in taken.pop()] == ["early"]
    gate = threading.Event()
    late = fail(fake, queue, "late", gate)
    queue.throw_asynchronous()
    assert taken == []
    gate.set()
    settled(late)
    queue.throw_asynchronous()
    assert [str(error) for error in taken.pop()] == ["late"]


def test_close_reports_what_nobody_was_told(fake):
    queue = bl.Queue()
    settled(fail(fake, queue, "at the end"))
    with raises(bl.KernelError, names="at the end"):
        queue.close()
    assert queue.closed
    queue.close()
    queue = bl.Queue(context=bl.Context())
    settled(fail(fake, queue, "with the context"))
    with raises(bl.KernelError):
        queue.context.close()
    assert queue.closed


@pytest.mark.parametrize("handled", [False, True])
def test_errors_of_a_dropped_queue_reach_the_next_wait_of_its_context(fake, handled):
    taken: list[bl.ExceptionList] = []
    queue = bl.Queue(async_handler=taken.append if handled else None)
    other = bl.Queue()
    settled(fail(fake, queue, "orphan"))
    del queue
    gc.collect()
    if handled:
        other.wait()
        other.wait()
        assert [str(error) for errors in taken for error in errors] == ["orphan"]
    else:
        with raises(bl.KernelError, names="orphan"):
            for _ in range(3):
                other.wait()
    other.wait()


def test_a_failed_dependency_fails_the_commands_after_it_and_loses_none(fake):
    queue, other = bl.Queue(), bl.Queue()
    gate = threading.Event()
    first = fail(fake, queue, "root", gate)
    second = other.ext_oneapi_submit_barrier(first)
    gate.set()
    with raises(bl.SyclRuntimeError, match="waits for has failed"):
        second.wait()
    with raises(bl.KernelError, names="root"):
        queue.wait()
    other.wait()


NOT_RUN = "the command was not run, because one that it depends on failed: over there"


def test_a_command_is_not_run_if_one_of_another_backend_that_it_needs_has_failed(fakes):
    cuda, reference = bl.Queue("cuda"), bl.Queue("reference")
    event = fail(fakes[bl.Backend.cuda], cuda, "over there")
    array = bl.usm_empty(4, "u1", reference)
    array.copy_from(1)
    after = reference.memset(array, 7, depends_on=event)
    further = reference.memset(array, 8, depends_on=after)
    with raises(bl.SyclRuntimeError, names=NOT_RUN) as raised:
        after.wait()
    assert isinstance(raised.value.__cause__, bl.KernelError)
    with raises(bl.SyclRuntimeError, names=NOT_RUN):
        further.wait()
    assert array.numpy().tolist() == [1] * 4
    with raises(bl.KernelError, names="over there"):
        cuda.wait()
    reference.wait()


def test_each_queue_tells_what_it_did_not_run_and_one_failure_only_once(fakes):
    cuda, reference = bl.Queue("cuda"), bl.Queue("reference")
    event = fail(fakes[bl.Backend.cuda], cuda, "over there")
    first = reference.ext_oneapi_submit_barrier(event)
    reference.memset(bl.usm_empty(4, "u1", reference), 1, depends_on=first)
    with raises(bl.SyclRuntimeError, match=NOT_RUN + "$"):  # the second repeats the first
        reference.wait()
    reference.wait()
    with raises(bl.KernelError, names="over there"):
        cuda.wait()


@pytest.mark.parametrize("in_order", [False, True])
def test_submitting_after_an_event_of_another_backend_does_not_wait(fakes, in_order):
    cuda, reference = bl.Queue("cuda"), bl.Queue("reference", in_order=in_order)
    gate = threading.Event()
    event = cuda._enqueue(fakes[bl.Backend.cuda].gate(cuda._native, gate))
    array = bl.usm_empty(4, "u1", reference, kind="host")
    after = reference.memset(array, 1, depends_on=event)
    last = reference.memset(array, 2, depends_on=() if in_order else after)
    assert after.status is bl.EventStatus.submitted and last.status is bl.EventStatus.submitted
    assert not reference.ext_oneapi_empty()
    gate.set()
    reference.wait()
    assert last.status is bl.EventStatus.complete and np.asarray(array).tolist() == [2] * 4


def test_a_context_that_cannot_wait_for_another_of_its_backend_is_served_by_the_host(fake):
    fake.traits = Traits(memory_crosses_contexts=True)
    one, other = bl.Queue(context=bl.Context()), bl.Queue(context=bl.Context())
    gate = threading.Event()
    event = one._enqueue(fake.gate(one._native, gate))
    after = other.ext_oneapi_submit_barrier(event)
    assert after._native is None
    gate.set()
    after.wait()
    assert event.status is bl.EventStatus.complete


def test_memory_that_a_command_not_yet_started_uses_is_waited_for(fakes):
    cuda, reference = bl.Queue("cuda"), bl.Queue("reference")
    gate = threading.Event()
    event = cuda._enqueue(fakes[bl.Backend.cuda].gate(cuda._native, gate))
    array = bl.usm_empty(4, "u1", reference)
    after = reference.memset(array, 1, depends_on=event)
    threading.Timer(0.05, gate.set).start()
    array.close()
    assert after.status is bl.EventStatus.complete
    assert fakes[bl.Backend.reference].alive["memory"] == 0


def test_a_refused_command_leaves_nothing_behind(fake):
    queue = bl.Queue()
    array = bl.usm_empty(4, "u1", queue)
    fake.refuse = bl.SyclRuntimeError("no")
    with raises(bl.SyclRuntimeError):
        queue.memset(array, 1)
    assert queue.ext_oneapi_empty() and fake.alive["event"] == 0


def test_an_event_for_several_passes_on_their_errors(fake):
    queue = bl.Queue()
    kernel = bl.load_kernel_bundle(b"x", queue).get_kernel("empty")
    event = queue.parallel_for(0, kernel, depends_on=[fail(fake, queue, "one of two"), bl.Event()])
    with raises(bl.KernelError, names="one of two"):
        event.wait()
    queue.wait()
