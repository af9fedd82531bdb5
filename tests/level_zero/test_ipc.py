"""Memory and events shared by two processes."""

from __future__ import annotations

import os
import pickle
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bindless as bl
from bindless.level_zero import EventPool, IpcMemoryHandle, export_memory, open_memory
from tests.support.error_checks import raises

pytestmark = [pytest.mark.level_zero, pytest.mark.on_level_zero]

OTHER = Path(__file__).with_name("other_process.py")


def test_two_processes_work_on_one_array_in_the_order_of_events(queue: bl.Queue, tmp_path: Path) -> None:
    array = bl.usm_empty((50, 7), np.int32, queue)
    data = np.arange(350, dtype=np.int32).reshape(50, 7)
    with EventPool(4, queue, shared=True) as pool:
        (tmp_path / "handles").write_bytes(pickle.dumps((export_memory(array), pool.export())))
        other = subprocess.Popen([sys.executable, str(OTHER), str(tmp_path / "handles")])
        try:
            array.copy_from(data, queue)
            pool[0].signal()
            assert pool[1].wait(60)
            assert np.array_equal(array.numpy(queue), data * 3)
            pool[2].signal_on(queue).wait()
            pool[3].wait_on(queue).wait()
            assert other.wait(60) == 0
        finally:
            other.kill()
            other.wait(60)
        assert [event.is_signalled for event in pool] == [True] * 4
        pool[1].reset()
        pool[2].reset_on(queue).wait()
        assert [event.is_signalled for event in pool] == [True, False, False, True]


def test_a_handle_of_this_process_opens_the_same_memory(queue: bl.Queue) -> None:
    """A second mapping of the memory: reads through one address return writes through the other."""
    array = bl.usm_empty(1000, np.float32, queue)
    array.copy_from(np.arange(1000, dtype=np.float32), queue)
    handle = export_memory(array[100:200])
    assert handle.shape == (100,) and handle.dtype == np.float32 and handle.offset == 400
    opened = open_memory(pickle.loads(pickle.dumps(handle)), queue)
    assert opened.address != array.address + 400
    assert np.array_equal(opened.numpy(queue), np.arange(100, 200, dtype=np.float32))
    opened.copy_from(np.full(100, 7, np.float32), queue)
    opened.close()
    opened.close()
    assert array.numpy(queue).sum() == sum(range(1000)) - sum(range(100, 200)) + 700
    with raises(bl.InvalidError):
        opened.numpy(queue)


def test_a_handle_with_a_descriptor_brings_it_along() -> None:
    """Intel's driver requires this: the receiver has its own descriptor number for the same open file."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        handle = IpcMemoryHandle(bl.Backend.level_zero, bytes(64), 0, (4,), np.dtype(np.uint8), theirs.fileno())
        received = pickle.loads(pickle.dumps(handle))
        assert received.descriptor not in (None, theirs.fileno())
        os.write(received.descriptor, b"through it")
        os.close(received.descriptor)
        assert ours.recv(32) == b"through it"
        assert handle.with_descriptor(5).descriptor == 5


def test_what_cannot_be_shared_is_refused(queue: bl.Queue) -> None:
    with raises(bl.InvalidError):
        export_memory(bl.usm_empty(4, np.uint8, queue, kind="shared"))
    with raises(bl.InvalidError):
        export_memory(bl.usm_empty((4, 4), np.uint8, queue)[:, 1])
    array = bl.usm_empty(4, np.uint8, queue)
    handle = export_memory(array)
    opened = open_memory(handle, queue)
    with raises(bl.InvalidError):
        export_memory(opened)
    wrong = IpcMemoryHandle(handle.backend, bytes(64), 0, (4,), np.dtype(np.uint8))
    with raises(bl.InvalidError, names="zeMemOpenIpcHandle"):
        open_memory(wrong, queue)
    elsewhere = IpcMemoryHandle(bl.Backend.cuda, handle.data, 0, (4,), np.dtype(np.uint8))
    with raises(bl.BackendMismatchError, names="cuda"):
        open_memory(elsewhere, queue)
    with EventPool(2, queue) as pool:
        with pytest.raises(bl.Error, match="shared=True"):
            pool.export()
        with pytest.raises(IndexError, match="events 0 to 1"):
            pool[2]
        event = pool[1]
    with raises(bl.InvalidError):
        event.wait(0)


def test_closing_a_pool_does_not_wait_for_those_who_wait_for_its_events(queue: bl.Queue) -> None:
    pool = EventPool(1, queue, shared=True)
    opened = EventPool.open(pool.export(), queue)
    event = pool[0]
    waiting = event.wait_on(queue)
    pool.close()
    pool.close()
    assert waiting.status is not bl.EventStatus.complete
    for use in (event.signal, event.reset, lambda: event.wait(0), pool.export, lambda: pool[0]):
        with pytest.raises(bl.InvalidError) as refused:
            use()
        assert refused.value.code is bl.Errc.invalid
    opened[0].signal()
    waiting.wait()
    opened.close()


def test_a_pool_is_closed_after_the_commands_that_use_it(queue: bl.Queue) -> None:
    pool = EventPool(1, queue, shared=True)
    opened = EventPool.open(pool.export(), queue)
    ends = []
    for _ in range(20):
        ends.append(pool[0].signal_on(queue, depends_on=ends[-1:]))
        ends.append(opened[0].wait_on(queue, depends_on=ends[-1:]))
        ends.append(pool[0].reset_on(queue, depends_on=ends[-1:]))
    opened.close()
    pool.close()
    ends[-1].wait()
    for closed in (pool, opened):
        with raises(bl.InvalidError):
            closed[0]
