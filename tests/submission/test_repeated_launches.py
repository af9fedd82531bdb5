"""Repeated launches on one queue, which backends may submit without Python."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.core import ownership
from bindless.drivers import reference as driver
from tests.support.compile_kernels import load
from tests.support.error_checks import raises
from tests.support.python_calls import python_calls
from tests.support.reference_object_count import objects

OFTEN = 5
CONTRACT = Path(__file__).parents[1] / "support" / "kernel_sources" / "contract.cl"


@pytest.fixture(params=[True, False], ids=["in order", "out of order"])
def own(queue: bl.Queue, request: pytest.FixtureRequest) -> Iterator[bl.Queue]:
    """A queue for one test: its launch cache holds only that test's launches."""
    with bl.Queue(queue.device, queue.context, in_order=request.param) as made:
        yield made


@pytest.fixture
def simple(own: bl.Queue) -> Any:
    return load(own, "simple")


def zeros(queue: bl.Queue, count: int = 64) -> bl.UsmArray:
    return bl.usm_empty((count,), np.int32, queue).copy_from(np.zeros(count, np.int32))


# ---------------------------------------------------------------------- launches


def test_a_repeated_launch_is_remembered(own: bl.Queue, simple: Any) -> None:
    data, increment = zeros(own), simple.get_kernel("increment")
    for _ in range(OFTEN):
        own.parallel_for(64, increment, data).wait()
    assert data.numpy(own).tolist() == [OFTEN] * 64
    assert own._stream.count_launches() == 1


@pytest.mark.parametrize(
    ("make", "others"),
    [
        (lambda: bl.NdRange((64,), (16,)), [bl.NdRange((64,), (32,)), bl.NdRange((32,), (16,)), 64]),
        (lambda: bl.NdRange((8, 8), (2, 4)), [bl.NdRange((8, 8), (4, 2)), bl.NdRange((64,), (8,)), (8, 8)]),
        (lambda: bl.Range(2, 32), [bl.Range(32, 2), (2, 32), bl.NdRange((2, 32), (1, 32))]),
    ],
)
def test_ranges_are_compared_by_value(own: bl.Queue, simple: Any, make: Any, others: list[Any]) -> None:
    """A new object of equal sizes finds the launch; other sizes, and other kinds of ranges, have one of their own."""
    data, increment = zeros(own), simple.get_kernel("increment")
    for _ in range(4):
        own.parallel_for(make(), increment, data)
    assert own._stream.count_launches() == 1
    for number, other in enumerate(others):
        own.parallel_for(other, increment, data)
        assert own._stream.count_launches() == 2 + number
    space = make()
    assert python_calls(lambda: own.parallel_for(space, increment, data)) == []
    own.wait()


def test_values_are_those_of_each_launch(own: bl.Queue, simple: Any) -> None:
    """Each launch has its own numbers and memory, even if the next one is submitted before it runs."""
    fill = simple.get_kernel("fill")
    arrays = [zeros(own) for _ in range(30)]
    for turn in range(4):
        for at, array in enumerate(arrays):
            own.parallel_for(64, fill, array, 100 * turn + at)
        own.wait()
        assert [set(array.numpy(own)) for array in arrays] == [{100 * turn + at} for at in range(30)]


@pytest.mark.parametrize(
    "space", [64, (64,), (4, 16), bl.Range(2, 32), bl.NdRange((64,), (16,)), bl.NdRange((8, 8), (2, 4))]
)
def test_every_kind_of_range(own: bl.Queue, simple: Any, space: Any) -> None:
    """Each launch writes exactly its range of pixels along dimension 0."""
    fill = simple.get_kernel("fill")
    written = [64] if isinstance(space, int) else list(space.global_range if isinstance(space, bl.NdRange) else space)
    for number in range(OFTEN):
        data = zeros(own, 80)
        own.parallel_for(space, fill, data, number + 1).wait()
        assert data.numpy(own).tolist() == [number + 1] * written[-1] + [0] * (80 - written[-1])


def test_numbers_become_what_they_became_at_first(own: bl.Queue, simple: Any) -> None:
    """A repeated launch packs any kind of number to the same bits as a first launch, or raises the same error."""
    values: list[Any] = [
        0,
        -1,
        2**31 - 1,
        -(2**31),
        2**32 - 1,
        2**32,
        2**70,
        True,
        1.5,
        -0.0,
        3.5e38,
        float("inf"),
        float("nan"),
    ]
    values += [np.int32(-7), np.uint32(2**32 - 7), np.float32(0.1), np.int64(3), np.array(5, np.int32)]
    fill, axpy = simple.get_kernel("fill"), simple.get_kernel("axpy")

    def by(kernel: Any, run: bl.Queue, value: Any) -> Any:
        """The bits that a launch writes, or its error."""
        data, one = zeros(run, 1), bl.usm_empty((1,), np.float32, run).copy_from(np.ones(1, np.float32))
        try:
            run.parallel_for(1, kernel, *((data, value) if kernel is fill else (value, one, data)))
        except bl.Error as error:
            return type(error), str(error)
        run.wait()
        return data.numpy(run).tobytes()

    for kernel, first in ((fill, 1), (axpy, 1.0)):
        for _ in range(3):
            by(kernel, own, first)
        for value in values:
            with bl.Queue(own.device, own.context, in_order=own.is_in_order) as fresh:
                assert by(kernel, own, value) == by(kernel, fresh, value), value


def test_the_same_scalar_again(own: bl.Queue, simple: Any) -> None:
    """A scalar of numpy that comes again gives its own bits, whatever came in between; no reference outlives the
    launches."""

    class Mine(np.int32):
        pass

    fill, data = simple.get_kernel("fill"), zeros(own, 1)
    first, second, mine = np.int32(1000), np.int32(2000), Mine(3000)
    before = [sys.getrefcount(one) for one in (first, second, mine)]
    for value in (first, first, second, first, 7, first, mine, mine, first, 2**70, first, second):
        try:
            own.parallel_for(1, fill, data, value).wait()
        except bl.Error:
            assert value == 2**70
            continue
        assert data.numpy(own)[0] == value
    own.parallel_for(1, fill, data, 1).wait()
    del value
    assert [sys.getrefcount(one) for one in (first, second, mine)] == before


def test_local_memory(own: bl.Queue) -> None:
    """Each launch reverses the data; the local accessors give the sizes."""
    reverse = bl.load_kernel_bundle(bl.build(CONTRACT), own).get_kernel("reverse")
    numbers = np.arange(32, dtype=np.uint32)
    data = bl.usm_empty((32,), np.uint32, own).copy_from(numbers)
    unused, piece = bl.LocalAccessor(7 * 4), bl.LocalAccessor(32 * 4)
    bound = reverse.bind(own, bl.NdRange((32,), (32,)), data, unused, piece)
    for turn in range(OFTEN):
        bound().wait()
        assert data.numpy(own).tolist() == numbers[:: -1 if turn % 2 == 0 else 1].tolist()
    for turn in range(OFTEN, 2 * OFTEN):
        own.parallel_for(bl.NdRange((32,), (32,)), reverse, data, unused, piece).wait()
        assert data.numpy(own).tolist() == numbers[:: -1 if turn % 2 == 0 else 1].tolist()


def test_modules_of_kernels_that_are_dropped_are_unloaded(own: bl.Queue) -> None:
    """The next wait of the queue that launched them repeatedly unloads the modules."""

    def modules() -> int:
        gc.collect()
        return sum(rank is ownership.Rank.MODULE for rank, *_ in ownership._live.values())

    data, before = zeros(own), modules()
    for _ in range(3):
        bundle = load(own, "simple")
        fill = bundle.get_kernel("fill")
        for _ in range(2 * OFTEN):
            own.parallel_for(64, fill, data, 3).wait()
        assert modules() == before + 1
        del bundle, fill
        gc.collect()
        own.memset(data, 0, 4).wait()
        own.wait()
        assert modules() == before
    assert set(data.numpy(own)[1:]) == {3}


def test_what_has_ended_is_told(own: bl.Queue, simple: Any) -> None:
    data, other, fill = zeros(own), zeros(own), simple.get_kernel("fill")
    for _ in range(OFTEN):
        own.parallel_for(64, fill, data, 3)
    own.wait()
    data.close()
    with raises(bl.InvalidError):
        own.parallel_for(64, fill, data, 3)
    own.parallel_for(64, fill, other, 4).wait()
    assert set(other.numpy(own)) == {4}
    simple.close()
    with raises(bl.InvalidError):
        own.parallel_for(64, fill, other, 3)
    own.close()
    with raises(bl.InvalidError):
        own.parallel_for(64, fill, other, 3)


# ---------------------------------------------------------------------- events


def test_events_that_are_kept_are_their_own(own: bl.Queue, simple: Any) -> None:
    """A chain of events, each waiting for its predecessor, released in any order."""
    data, increment = zeros(own), simple.get_kernel("increment")
    events: list[bl.Event] = []
    for _ in range(300):
        events.append(own.parallel_for(64, increment, data, depends_on=events[-1:]))
    assert [event.get_wait_list() for event in events[1:]] == [(event,) for event in events[:-1]]
    events[150].wait()
    del events[::2]
    for event in reversed(events):
        event.wait()
    own.wait()
    assert {event.status for event in events} == {bl.EventStatus.complete}
    assert set(data.numpy(own)) == {300}


def test_an_event_outlives_its_queue(own: bl.Queue, simple: Any) -> None:
    data, increment = zeros(own), simple.get_kernel("increment")
    events = [own.parallel_for(64, increment, data) for _ in range(OFTEN)] if own.is_in_order else []
    events.append(own.parallel_for(64, increment, data))
    own.close()
    for event in events:
        event.wait()
        assert event.status is bl.EventStatus.complete


def test_another_queue_waits_for_them(own: bl.Queue, simple: Any) -> None:
    data, result = zeros(own), zeros(own)
    fill, copy = simple.get_kernel("fill"), simple.get_kernel("copy")
    with bl.Queue(own.device, own.context, in_order=True) as other:
        last = None
        for number in range(100):
            filled = own.parallel_for(64, fill, data, number, depends_on=() if last is None else last)
            last = other.parallel_for(64, copy, data, result, depends_on=filled)
            if number % 10 == 9:
                last.wait()
                assert set(result.numpy(other)) == {number}


def test_memory_lives_until_its_launch_has_ended(own: bl.Queue, simple: Any) -> None:
    fill, kept = simple.get_kernel("fill"), zeros(own)
    for number in range(OFTEN):
        own.parallel_for(64, fill, kept, number)
    own.wait()
    dropped = zeros(own)
    seen = weakref.ref(dropped)
    own.parallel_for(64, fill, dropped, 1)
    del dropped
    own.wait()
    gc.collect()
    assert seen() is None


def test_one_queue_from_many_threads(own: bl.Queue, simple: Any) -> None:
    fill = simple.get_kernel("fill")
    arrays, failures = [zeros(own) for _ in range(8)], []

    def work(at: int) -> None:
        try:
            event = None
            for number in range(200):
                event = own.parallel_for(
                    64, fill, arrays[at], 1000 * at + number, depends_on=() if event is None else event
                )
            assert event is not None
            event.wait()
            assert set(arrays[at].numpy(own)) == {1000 * at + 199}
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(at,)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


# ---------------------------------------------------------------------- the reference driver


@pytest.fixture
def blr(own: bl.Queue) -> bl.Queue:
    if own.backend is not bl.Backend.reference:
        pytest.skip("of the reference driver")
    return own


def test_no_event_is_left(blr: bl.Queue, simple: Any) -> None:
    data, increment = zeros(blr), simple.get_kernel("increment")
    for _ in range(OFTEN):
        blr.parallel_for(64, increment, data)
    blr.wait()
    without = objects() - 1  # minus the last event, which the next launch replaces
    kept = [blr.parallel_for(64, increment, data) for _ in range(1000)]
    blr.wait()
    assert objects() == without + 1000
    del kept
    for _ in range(1000):
        blr.parallel_for(64, increment, data)
    blr.wait()
    assert objects() <= without + 1


def test_nothing_is_left_of_a_queue(queue: bl.Queue) -> None:
    if queue.backend is not bl.Backend.reference:
        pytest.skip("of the reference driver")
    bundle = load(queue, "simple")
    increment, data = bundle.get_kernel("increment"), zeros(queue)
    queue.wait()
    before = objects()
    for in_order in (True, False):
        run = bl.Queue(queue.device, queue.context, in_order=in_order)
        for _ in range(OFTEN):
            last = run.parallel_for(64, increment, data)
        run.close()
        last.wait()
        del run, last
    assert objects() == before


class Gate:
    """A command that blocks later commands of an in-order queue until it is opened."""

    def __init__(self, queue: bl.Queue) -> None:
        context = driver.ffi.cast("blr_context_t", int(bl.get_native(queue.context)))
        self._event = driver.ffi.new("blr_event_t *")
        driver.check(driver.lib.blrEventCreateUser(context, self._event), "blrEventCreateUser")
        address = int(driver.ffi.cast("uintptr_t", self._event[0]))
        self.event = bl.make_event("reference", address, queue.context)

    def open(self) -> None:
        driver.check(driver.lib.blrEventSignalUser(self._event[0], 0), "blrEventSignalUser")


def test_each_event_is_complete_when_its_launch_is(blr: bl.Queue, simple: Any) -> None:
    data, increment = zeros(blr), simple.get_kernel("increment")
    for _ in range(OFTEN):
        blr.parallel_for(64, increment, data).wait()
    gate = Gate(blr)
    blr.ext_oneapi_submit_barrier(gate.event)
    kept = [blr.parallel_for(64, increment, data) for _ in range(OFTEN)]
    assert {event.status for event in kept} == {bl.EventStatus.submitted} and not blr.ext_oneapi_empty()
    assert len({int(bl.get_native(event)) for event in kept}) == OFTEN
    with pytest.raises(bl.WaitTimeoutError):
        kept[-1].wait(0.01)
    gate.open()
    blr.wait()
    assert {event.status for event in kept} == {bl.EventStatus.complete} and blr.ext_oneapi_empty()
    if blr.is_in_order:  # otherwise the released kernels add to the same numbers concurrently
        assert set(data.numpy(blr)) == {2 * OFTEN}


def test_failures_are_told_once_by_whom_they_concern(blr: bl.Queue, simple: Any) -> None:
    """An out-of-bounds launch fails; the launches before and after it succeed."""
    fill = simple.get_kernel("fill")
    few, many = zeros(blr, 16), zeros(blr, 64)
    for _ in range(OFTEN):
        blr.parallel_for(64, fill, many, 1).wait()
    events = [blr.parallel_for(64, fill, array, 2) for array in (many, few, many)]
    events[0].wait()
    with pytest.raises(bl.Error, match="fill") as told:
        events[1].wait()
    events[2].wait()
    blr.wait()
    assert set(many.numpy(blr)) == {2}
    with bl.Queue(blr.device, blr.context) as fresh, pytest.raises(bl.Error) as first:
        fresh.parallel_for(64, fill, few, 2).wait()
    assert str(told.value) == str(first.value)
    late = Gate(blr)
    blr.ext_oneapi_submit_barrier(late.event)
    pending = blr.parallel_for(64, fill, few, 2)  # not complete at the first query
    threading.Timer(0.05, late.open).start()
    with pytest.raises(bl.Error, match="fill"):
        pending.wait()
    blr.parallel_for(64, fill, few, 2)  # the event is never queried
    with pytest.raises(bl.Error, match="fill"):
        blr.wait()
    blr.wait()


@pytest.mark.parametrize("count", [1, 2, 8, 9, 40])
def test_it_waits_for_events_of_other_queues_and_contexts(blr: bl.Queue, simple: Any, count: int) -> None:
    """Also more events than the path without Python takes; every value read is written after the gate opens."""
    fill, copy = simple.get_kernel("fill"), simple.get_kernel("copy")
    source, result = zeros(blr), zeros(blr)
    for _ in range(OFTEN):
        blr.parallel_for(64, copy, source, result).wait()
    apart = bl.Context(blr.device)
    with apart, bl.Queue(blr.device, blr.context, in_order=True) as near, bl.Queue(blr.device, apart) as far:
        gate = Gate(near)
        near.ext_oneapi_submit_barrier(gate.event)
        last = near.parallel_for(64, fill, source, 7)
        others = [far.ext_oneapi_submit_barrier() for _ in range(count - 1)]
        copied = blr.parallel_for(64, copy, source, result, depends_on=[*others, last])
        assert copied.get_wait_list() == (*others, last) and copied.status is bl.EventStatus.submitted
        gate.open()
        copied.wait()
        assert set(result.numpy(blr)) == {7}


def test_what_is_no_event_is_told(own: bl.Queue, simple: Any) -> None:
    data, increment = zeros(own), simple.get_kernel("increment")
    for _ in range(OFTEN):
        event = own.parallel_for(64, increment, data)
        event.wait()  # out of order, only this wait keeps the next launch from adding to the same number
    for wrong in (5, "text", [event, None], (event, 7), None):
        with raises(bl.InvalidError, names="Event"):
            own.parallel_for(64, increment, data, depends_on=wrong)  # type: ignore[arg-type]
    own.parallel_for(64, increment, data, depends_on=(each for each in [event])).wait()
    own.parallel_for(64, increment, data, depends_on=bl.Event()).wait()
    own.wait()
    assert set(data.numpy(own)) == {OFTEN + 2}


def test_a_failure_is_passed_on_as_by_the_first_launch(blr: bl.Queue, simple: Any) -> None:
    """A dependent launch receives the failure, known or not; in order, only a known failure."""
    fill, increment = simple.get_kernel("fill"), simple.get_kernel("increment")
    few, data = zeros(blr, 16), zeros(blr)
    for _ in range(OFTEN):
        blr.parallel_for(64, increment, data).wait()

    def outcome(run: bl.Queue, known: bool) -> str:
        failed = run.parallel_for(64, fill, few, 2)
        if known:
            with pytest.raises(bl.Error):
                failed.wait()
        later = run.parallel_for(64, increment, data, depends_on=failed)
        try:
            later.wait()
        except bl.Error as error:
            said = str(error)
        else:
            said = "it went well"
        with contextlib.suppress(bl.Error):
            run.wait()
        return said

    for known in (False, True):
        with bl.Queue(blr.device, blr.context, in_order=blr.is_in_order) as fresh:
            expected = outcome(fresh, known)
        assert outcome(blr, known) == expected
        assert (expected == "it went well") == (blr.is_in_order and not known)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_leaves_them_to_the_parent(blr: bl.Queue, simple: Any) -> None:
    data, increment = zeros(blr), simple.get_kernel("increment")
    kept = [blr.parallel_for(64, increment, data) for _ in range(OFTEN)]
    blr.wait()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            kept.clear()
            gc.collect()
            try:
                blr.parallel_for(64, increment, data)
            except bl.Error as error:
                status = 0 if "fork" in str(error) else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    blr.parallel_for(64, increment, data).wait()
    if blr.is_in_order:  # otherwise the kernels add to the same numbers concurrently
        assert set(data.numpy(blr)) == {OFTEN + 1}
