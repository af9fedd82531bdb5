"""Migration of buffer contents between contexts, devices and backends, without redundant copies."""

from __future__ import annotations

import gc
import threading
import time

import numpy as np
import pytest

import bindless as bl
from bindless.backends.contract import Traits
from bindless.submission import command_stream
from tests.support.error_checks import raises


@pytest.fixture
def gate():
    made = threading.Event()
    yield made
    made.set()


def fill(queue, buffer, value, mode="write", **access):
    return queue.submit(lambda handler: handler.fill(buffer.get_access(handler, mode, **access), value))


def read(queue, buffer, **access):
    """The elements as seen by a command of a queue."""
    out = np.zeros(buffer.shape if not access else access["range"], buffer.dtype)
    queue.submit(lambda handler: handler.copy(buffer.get_access(handler, "read", **access), out)).wait()
    return out


def touch(queue, buffer, mode="read", **access):
    """Submit a group that only requires the contents."""

    def group(handler):
        buffer.get_access(handler, mode, **access)
        handler.host_task(lambda: None)

    queue.submit(group).wait()


def moved(fakes):
    """Number and bytes of the copies of all backends since the last call."""
    counts = []
    for fake in fakes.values():
        counts += [nbytes for _, _, nbytes in fake.copies]
        fake.copies.clear()
    return len(counts), sum(counts)


# ---------------------------------------------------------------------- between backends


@pytest.mark.parametrize("writer", ["cuda", "level_zero", "opencl:cpu:*", "reference"])
@pytest.mark.parametrize("reader", ["cuda", "level_zero", "opencl:cpu:*", "reference"])
@pytest.mark.parametrize("in_order", [False, True])
def test_what_one_backend_writes_another_reads(fakes, writer, reader, in_order):
    one, other = bl.Queue(writer, in_order=in_order), bl.Queue(reader, in_order=in_order)
    array = np.arange(16, dtype=np.int32)
    expected = array.copy()
    with bl.Buffer(array) as buffer:
        for value in range(4):
            fill(one, buffer, value, range=5, offset=value)
            expected[value : value + 5] = value
            fill(other, buffer, -value, range=2, offset=value)
            expected[value : value + 2] = -value
        assert read(other, buffer).tolist() == expected.tolist()
        assert read(one, buffer).tolist() == expected.tolist()
    assert array.tolist() == expected.tolist()


def test_kernels_of_two_backends_take_turns(fakes):
    queues = [bl.Queue("cuda"), bl.Queue("reference"), bl.Queue("level_zero", in_order=True)]
    kernels = [bl.load_kernel_bundle(b"x", queue).get_kernel("add") for queue in queues]
    array, one = np.zeros(6, np.int32), np.arange(6, dtype=np.int32)
    with bl.Buffer(array) as total, bl.Buffer(one) as term:
        for turn in range(9):

            def group(handler, turn=turn):
                sums, terms = total.get_access(handler, "read_write"), term.get_access(handler, "read")
                handler.parallel_for(6, kernels[turn % 3], sums, terms, 6)

            event = queues[turn % 3].submit(group)
        event.wait()
    assert array.tolist() == [0, 9, 18, 27, 36, 45]
    assert one.tolist() == list(range(6))


def test_submitting_to_another_backend_does_not_wait(fakes, gate):
    cuda, reference = bl.Queue("cuda"), bl.Queue("reference")
    buffer = bl.Buffer(4, np.int32)

    def group(handler):
        buffer.get_access(handler, "write", no_init=True)
        handler.host_task(lambda: gate.wait(20))

    cuda.submit(group)
    events = [fill(queue, buffer, value, range=2) for queue in (reference, cuda, reference) for value in range(3)]
    assert {event.status for event in events} == {bl.EventStatus.submitted}
    gate.set()
    with buffer.get_host_access("read") as array:
        assert array.tolist()[:2] == [2, 2]


def test_dependencies_within_a_backend_are_native(fake):
    """The driver holds every command with its wait events; the host schedules nothing."""
    gate = threading.Event()
    one, two, other = bl.Queue(), bl.Queue(), bl.Queue(context=bl.Context(bl.Device("cuda:gpu:1")))
    buffer = bl.Buffer(4, np.int32)
    block = one._enqueue(fake.gate(one._native, gate))

    def first(handler):
        handler.depends_on(block)
        handler.fill(buffer.get_access(handler, "write", no_init=True), 1)

    events = [one.submit(first), fill(two, buffer, 2, range=1), fill(other, buffer, 3, range=1, offset=1)]
    assert all(event._native is not None and event._task is None for event in events)
    gate.set()
    assert read(one, buffer).tolist() == [2, 3, 1, 1]


def test_what_the_host_starts_is_waited_for_without_burning_time(fakes, gate):
    cuda, reference = bl.Queue("cuda"), bl.Queue("reference")
    buffer = bl.Buffer(4, np.int32)
    block = cuda._enqueue(fakes[bl.Backend.cuda].gate(cuda._native, gate))

    def first(handler):
        handler.depends_on(block)
        handler.fill(buffer.get_access(handler, "write", no_init=True), 1)

    cuda.submit(first)
    event = fill(reference, buffer, 2, range=1)
    before = time.process_time()
    threading.Timer(0.3, gate.set).start()
    event.wait()
    assert time.process_time() - before < 0.15  # half the time of a busy loop


@pytest.mark.parametrize("crosses", [False, True])
def test_contexts_that_share_memory_need_one_copy_and_others_the_host_s(fake, crosses, fakes):
    fake.traits = Traits(events_cross_contexts=crosses, memory_crosses_contexts=crosses)
    one, other = bl.Queue(context=bl.Context()), bl.Queue(context=bl.Context())
    buffer = bl.Buffer(4, np.int32)
    fill(one, buffer, 7, no_init=True)
    assert moved(fakes) == (0, 0)
    touch(other, buffer)
    assert moved(fakes) == ((1, 16) if crosses else (2, 32))
    assert read(other, buffer).tolist() == [7] * 4


# ---------------------------------------------------------------------- no redundant copies


def test_nothing_is_moved_that_is_there_or_not_needed(fakes):
    cuda, reference = bl.Queue("cuda"), bl.Queue("reference")
    array = np.arange(256, dtype=np.int32)
    buffer = bl.Buffer(array)
    touch(cuda, buffer, "write", no_init=True)
    assert moved(fakes) == (0, 0), "contents that are discarded are not uploaded"
    touch(cuda, buffer, "read_write")
    touch(cuda, buffer, "read")
    assert moved(fakes) == (0, 0), "they are here"
    touch(reference, buffer, "read")
    assert moved(fakes) == (1, 1024), "once to the other backend"
    touch(reference, buffer, "read")
    touch(cuda, buffer, "read")
    assert moved(fakes) == (0, 0), "both have a copy to read"
    touch(cuda, buffer, "write")
    touch(cuda, buffer, "read")
    assert moved(fakes) == (0, 0)
    touch(reference, buffer, "read", range=16, offset=8)
    assert moved(fakes) == (1, 64), "of a range only that range"
    touch(reference, buffer, "read", range=32)
    assert moved(fakes) == (2, 64), "and what is missing around it"
    touch(cuda, buffer, "read_write", no_init=True)
    touch(reference, buffer, "write", no_init=True)
    assert moved(fakes) == (0, 0)
    buffer.set_final_data(None)
    buffer.close()
    assert moved(fakes) == (0, 0)


def test_the_host_reads_and_writes_in_place_where_it_can(fakes):
    reference = bl.Queue("reference")
    array = np.zeros(64, np.int32)
    with bl.Buffer(array) as buffer:
        fill(reference, buffer, 1, no_init=True)
        with buffer.get_host_access() as view:
            view[0] = 5
        touch(reference, buffer, "read_write")
        assert moved(fakes) == (0, 0)
    assert array[:2].tolist() == [5, 1]


def test_a_copy_on_the_host_serves_until_somebody_writes(fakes):
    cuda = bl.Queue("cuda")
    array = np.zeros(64, np.int32)
    with bl.Buffer(array) as buffer:
        fill(cuda, buffer, 1, no_init=True)
        for _ in range(3):
            with buffer.get_host_access("read") as view:
                assert view.tolist() == [1] * 64
        assert moved(fakes) == (1, 256)
        touch(cuda, buffer, "read")
        assert moved(fakes) == (0, 0)
        with buffer.get_host_access("write", range=4) as view:
            view[:] = 2
        touch(cuda, buffer, "read")
        assert moved(fakes) == (1, 16), "only what the host wrote"
    assert moved(fakes) == (0, 0), "the array is up to date"
    assert array.tolist() == [2] * 4 + [1] * 60


def test_disjoint_parts_stay_where_they_were_written(fakes):
    cuda, reference, level_zero = (bl.Queue(name) for name in ("cuda", "reference", "level_zero"))
    array = np.zeros(48, np.int32)
    with bl.Buffer(array) as buffer:
        parts = [buffer.sub_buffer(begin, 16) for begin in (0, 16, 32)]
        for _ in range(5):
            for number, queue in enumerate((cuda, reference, level_zero)):
                fill(queue, parts[number], number + 1, no_init=True)
                touch(queue, parts[number], "read_write")
        assert moved(fakes) == (0, 0)
    assert array.tolist() == [1] * 16 + [2] * 16 + [3] * 16


# ---------------------------------------------------------------------- leftover objects


def test_moved_copies_end_with_the_buffer_after_their_use(fakes, gate):
    cuda, reference = bl.Queue("cuda"), bl.Queue("reference")
    buffer = bl.Buffer(4, np.int32)
    fill(cuda, buffer, 1, no_init=True)
    touch(reference, buffer)
    assert [fakes[name].alive["memory"] for name in (bl.Backend.cuda, bl.Backend.reference)] == [1, 1]

    def hold(handler, buffer=buffer):
        buffer.get_access(handler, "read")
        handler.host_task(lambda: gate.wait(20))

    event = reference.submit(hold)
    del buffer, hold
    gc.collect()
    assert fakes[bl.Backend.reference].alive["memory"] == 1
    gate.set()
    event.wait()
    del event
    command_stream.wait_for_all()
    command_stream.sweep()
    gc.collect()
    assert [fake.alive["memory"] for fake in fakes.values()] == [0] * 4


def test_the_graph_forgets(fake):
    """Ten thousand consecutive groups leave no more objects than one group."""
    fake.instant = True
    queue, buffer = bl.Queue(), bl.Buffer(4, np.int32)
    for value in range(10_000):
        fill(queue, buffer, value % 100)
        touch_only = queue.submit(lambda handler: handler.fill(buffer.get_access(handler, "read_write"), 1))
    del touch_only
    gc.collect()
    assert fake.alive["event"] < 400
    for _ in range(5000):
        queue.submit(lambda handler: handler.copy(buffer.get_access(handler, "read"), np.zeros(4, np.int32)))
    command_stream.sweep()
    gc.collect()
    assert fake.alive["event"] < 400
    assert len(buffer._storage.segments) == 1


def test_parts_that_are_alike_again_are_joined(fake):
    queue, buffer = bl.Queue(), bl.Buffer(1000, np.int32)
    for begin in range(0, 1000, 10):
        fill(queue, buffer.sub_buffer(begin, 10), 1, no_init=True)
    assert len(buffer._storage.segments) == 100
    fill(queue, buffer, 2)
    assert len(buffer._storage.segments) == 1
    assert read(queue, buffer).tolist() == [2] * 1000


def test_a_closed_context_has_to_give_its_contents_away_before(fakes):
    cuda = bl.Queue("cuda", bl.Context(bl.Device("cuda")))
    buffer = bl.Buffer(4, np.int32)
    fill(cuda, buffer, 1, no_init=True).wait()
    cuda.context.close()
    with raises(bl.InvalidError):
        buffer.get_host_access("read")
    with buffer.get_host_access("write", no_init=True) as array:
        array[:] = 4
    assert read(bl.Queue("reference"), buffer).tolist() == [4] * 4
    cuda = bl.Queue("cuda", bl.Context(bl.Device("cuda")))
    last = bl.Buffer(np.zeros(4, np.int32))
    fill(cuda, last, 1).wait()
    cuda.context.close()
    with raises(bl.InvalidError):
        last.close()
    assert last.closed


def test_no_room_for_the_data_is_told_at_once(fake):
    queue, buffer = bl.Queue(), bl.Buffer(2 << 20, np.uint8)
    with pytest.raises(bl.MemoryAllocationError):
        fill(queue, buffer, 1)


# ---------------------------------------------------------------------- failures


def failing(fake, queue, buffer, text, gate=None):
    """Submit a group that writes a buffer and fails when the gate opens."""

    def group(handler):
        buffer.get_access(handler, "read_write")

        def task():
            if gate is not None:
                gate.wait(20)
            raise bl.KernelError(text)

        handler.host_task(task)

    return queue.submit(group)


def test_groups_after_a_failed_one_are_not_run_until_it_was_told(fakes, gate):
    queue, buffer = bl.Queue("cuda"), bl.Buffer(np.zeros(4, np.int32))
    fails = failing(fakes[bl.Backend.cuda], queue, buffer, "broken", gate)
    after = fill(queue, buffer, 1)
    gate.set()
    with raises(bl.SyclRuntimeError, names="broken"):
        after.wait()
    with raises(bl.SyclRuntimeError):
        fill(queue, buffer, 2).wait()
    with raises(bl.KernelError, names="broken"):  # reported once, without other errors
        queue.wait()
    queue.wait()
    assert fails.status is bl.EventStatus.complete
    fill(queue, buffer, 3).wait()
    assert read(queue, buffer).tolist() == [3] * 4


def test_a_host_access_and_the_end_of_a_buffer_tell_of_failed_groups(fakes):
    queue, array = bl.Queue("cuda"), np.zeros(4, np.int32)
    buffer = bl.Buffer(array)
    failing(fakes[bl.Backend.cuda], queue, buffer, "one")
    with raises(bl.KernelError):
        buffer.get_host_access("read")
    with buffer.get_host_access("write") as view:
        view[:] = 1
    failing(fakes[bl.Backend.cuda], queue, buffer, "two")
    with raises(bl.KernelError, names="two"):
        buffer.close()
    assert buffer.closed and array.tolist() in ([0] * 4, [1] * 4)
    queue.wait()


def test_with_a_handler_they_do_not(fakes):
    taken = []
    queue, array = bl.Queue("cuda", async_handler=taken.extend), np.zeros(4, np.int32)
    with bl.Buffer(array) as buffer:
        failing(fakes[bl.Backend.cuda], queue, buffer, "one")
        with buffer.get_host_access("read"):
            pass
        failing(fakes[bl.Backend.cuda], queue, buffer, "two")
    queue.wait_and_throw()
    assert [str(error) for error in taken] == ["one", "two"]


def test_failures_of_independent_groups_are_all_told(fakes):
    queue, other = bl.Queue("cuda"), bl.Queue("reference")
    buffers = [bl.Buffer(4, np.int32) for _ in range(3)]
    for number, buffer in enumerate(buffers):
        failing(None, queue if number < 2 else other, buffer, f"error {number}")
    with pytest.raises(bl.ExceptionList) as raised:
        queue.wait()
    assert {str(error) for error in raised.value} == {"error 0", "error 1"}
    with raises(bl.KernelError, names="error 2"):
        other.wait()


def test_the_secondary_queue_takes_a_group_with_its_data(fakes):
    cuda, reference = bl.Queue("cuda"), bl.Queue("reference")
    kernel = bl.load_kernel_bundle(b"x", reference).get_kernel("add")
    array = np.arange(4, dtype=np.int32)
    with bl.Buffer(array) as buffer:

        def group(handler):
            accessor = buffer.get_access(handler, "read_write")
            handler.parallel_for(4, kernel, accessor, accessor, 4)

        with raises(bl.InvalidError):
            cuda.submit(group)
        event = cuda.submit(group, reference)
        assert event._stream is reference._stream
    assert array.tolist() == [0, 2, 4, 6]
    with raises(bl.InvalidError), bl.Buffer(array) as buffer:
        cuda.submit(group, bl.Queue("level_zero"))
