"""Host accessors: the commands they wait for, the commands that wait for them, and no wait on themselves."""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import bindless as bl
from tests.support.ctrl_c import interrupted_in
from tests.support.error_checks import raises


@pytest.fixture
def gate():
    made = threading.Event()
    yield made
    made.set()


def fill(queue, buffer, value, **access):
    return queue.submit(lambda handler: handler.fill(buffer.get_access(handler, "write", **access), value))


def held(queue, buffer, gate, mode):
    def group(handler):
        buffer.get_access(handler, mode)
        handler.host_task(lambda: gate.wait(20))

    return queue.submit(group)


def test_the_array_is_the_elements(queue):
    array = np.arange(12, dtype=np.int32).reshape(3, 4)
    with bl.Buffer(array) as buffer:
        with buffer.get_host_access("read") as view:
            assert view.shape == (3, 4) and view.dtype == np.int32 and not view.flags.writeable
            with pytest.raises(ValueError, match="read-only"):
                view[0, 0] = 1
        accessor = buffer.get_host_access("read_write", range=(2, 2), offset=(1, 2))
        assert accessor.mode is bl.AccessMode.read_write and not accessor.closed
        assert np.asarray(accessor).tolist() == [[6, 7], [10, 11]] == accessor.array.tolist()
        accessor[1] = -1
        assert accessor[1, 0] == -1
        accessor.close()
        accessor.close()
        assert accessor.closed
        with raises(bl.AccessorError):
            accessor[0]
        with raises(bl.AccessorError):
            accessor.__enter__()
    assert array[2].tolist() == [8, 9, -1, -1]


def test_reading_waits_for_writers_alone_and_writing_for_readers_too(queue, gate):
    buffer = bl.Buffer(np.zeros(4, np.int32))
    buffer.set_final_data(None)
    reader = held(queue, buffer, gate, "read")
    with buffer.get_host_access("read"):
        assert reader.status is not bl.EventStatus.complete
    threading.Timer(0.05, gate.set).start()
    with buffer.get_host_access("write"):
        assert reader.status is bl.EventStatus.complete
    gate.clear()
    writer = held(queue, buffer, gate, "write")
    threading.Timer(0.05, gate.set).start()
    with buffer.get_host_access("read"):
        assert writer.status is bl.EventStatus.complete


@pytest.mark.parametrize("mode", ["read", "write"])
def test_no_group_on_the_buffer_starts_meanwhile(queue, mode):
    buffer, other = bl.Buffer(4, np.int32), bl.Buffer(4, np.int32)
    with buffer.get_host_access(mode) as array:
        reading = queue.submit(lambda h: h.copy(buffer.get_access(h, "read"), other.get_access(h, "write")))
        writing = fill(queue, buffer, 3)
        fill(queue, bl.Buffer(4, np.int32), 1).wait()
        if mode == "write":
            array[:] = 8
        assert reading.status is writing.status is bl.EventStatus.submitted
    queue.wait()
    with other.get_host_access("read") as array, buffer.get_host_access("read") as last:
        assert mode == "read" or array.tolist() == [8] * 4
        assert last.tolist() == [3] * 4


def test_only_overlapping_sub_buffers_are_held(queue):
    buffer = bl.Buffer(8, np.int32)
    with buffer.sub_buffer(0, 4).get_host_access():
        fill(queue, buffer.sub_buffer(4, 4), 1).wait()
        waits = fill(queue, buffer.sub_buffer(2, 4), 2)
        assert waits.status is bl.EventStatus.submitted
    waits.wait()


def test_host_accessors_do_not_wait_for_each_other(queue):
    buffer = bl.Buffer(np.zeros(4, np.int32))
    with buffer.get_host_access() as one, buffer.get_host_access("read") as other:
        one[:] = 4
        assert other.tolist() == [4] * 4
        event = fill(queue, buffer, 5)
    for last in (0, 1):
        accessors = [buffer.get_host_access("read"), buffer.get_host_access("read")]
        event.wait()
        event = fill(queue, buffer, 6)
        accessors[1 - last].close()
        assert event.status is bl.EventStatus.submitted
        accessors[last].close()
        event.wait()


def test_an_in_order_queue_waits_with_what_comes_after(device, context):
    with bl.Queue(device, context, in_order=True) as queue:
        buffer, array = bl.Buffer(4, np.int32), bl.usm_empty(4, np.int32, queue)
        array.copy_from(0)
        with buffer.get_host_access():
            first = fill(queue, buffer, 1)
            second = queue.fill(array, 2)
            seen = []
            third = queue.submit(lambda handler: handler.host_task(lambda: seen.append(1)))
            assert {event.status for event in (first, second, third)} == {bl.EventStatus.submitted}
            assert array.numpy().tolist() == [0] * 4 and seen == []
        queue.wait()
        assert array.numpy().tolist() == [2] * 4 and seen == [1]


@pytest.mark.parametrize(
    "wait",
    [
        lambda queue, buffer, event: event.wait(),
        lambda queue, buffer, event: queue.wait(),
        lambda queue, buffer, event: buffer.get_host_access("read"),
        lambda queue, buffer, event: queue.ext_oneapi_submit_barrier().wait(),
        lambda queue, buffer, event: bl.Buffer.close(buffer),
    ],
)
def test_a_thread_that_would_wait_for_its_own_host_accessor_is_told(queue, wait):
    array = np.zeros(4, np.int32)
    buffer = bl.Buffer(array)
    with buffer.get_host_access() as view:
        view[:] = 1
        event = fill(queue, buffer, 2, range=2)
        with raises(bl.AccessorError):
            wait(queue, buffer, event)
        assert not buffer.closed
    buffer.close()
    assert array.tolist() == [2, 2, 1, 1]


def test_another_thread_may_wait_and_another_may_let_go(queue):
    buffer = bl.Buffer(np.zeros(4, np.int32))
    accessor = buffer.get_host_access()
    event = fill(queue, buffer, 2)
    threading.Timer(0.05, accessor.close).start()
    waiter = threading.Thread(target=event.wait)
    waiter.start()
    waiter.join(20)
    assert event.status is bl.EventStatus.complete


def test_a_dropped_host_accessor_lets_go(queue):
    buffer = bl.Buffer(np.zeros(4, np.int32))
    accessor = buffer.get_host_access()
    event = fill(queue, buffer, 2)
    del accessor
    event.wait(timeout=60)
    assert event.status is bl.EventStatus.complete
    ring = [buffer.get_host_access()]
    ring.append(ring)
    event = fill(queue, buffer, 3)
    del ring
    gc.collect()
    event.wait(timeout=60)
    assert event.status is bl.EventStatus.complete


def test_an_array_outlives_its_host_accessor_and_its_buffer(queue):
    buffer = bl.Buffer(1 << 16, np.int32)
    fill(queue, buffer, 7, no_init=True)
    with buffer.get_host_access("read") as view:
        pass
    buffer.close()
    del buffer
    gc.collect()
    assert (view == 7).all()


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="this system sends no signals to threads")
def test_an_interrupted_host_access_leaves_everything_in_order(queue, gate):
    buffer = bl.Buffer(np.zeros(4, np.int32))
    held(queue, buffer, gate, "write")
    with pytest.raises(KeyboardInterrupt), interrupted_in("_settle"):
        buffer.get_host_access()
    later = fill(queue, buffer, 5)
    assert later.status is bl.EventStatus.submitted
    gate.set()
    with buffer.get_host_access("read") as array:
        assert array.tolist() == [5] * 4


def test_the_interpreter_ends_with_host_accessors_and_buffers_alive(device):
    code = f"""
        import numpy as np
        import bindless as bl
        queue = bl.Queue("{device.backend}:{device.type}:*")
        array = np.zeros(1 << 16, np.int32)
        buffer = bl.Buffer(array)
        accessor = buffer.get_host_access()
        queue.submit(lambda h: h.fill(buffer.get_access(h, "write"), 3))
        other = bl.Buffer(array.copy())
        queue.submit(lambda h: h.fill(other.get_access(h, "write"), 3))
    """
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
