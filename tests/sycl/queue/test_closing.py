"""Closing queues and contexts does not wait, and loses neither work nor errors (ARCH, Host-Device Coordination)."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading

import numpy as np
import pytest

import bindless as bl
from bindless.submission import command_stream


@pytest.fixture
def gate():
    made = threading.Event()
    yield made
    made.set()


def held(fake, queue, gate, error=None):
    """Submit a command that ends, or fails, when the gate opens."""
    return queue._enqueue(fake.gate(queue._native, gate, error))


def leave(queue):
    with queue:
        pass


END = pytest.mark.parametrize("end", [bl.Queue.close, leave, lambda queue: queue.context.close()])


@END
@pytest.mark.parametrize("in_order", [False, True])
def test_closing_does_not_wait_and_the_work_goes_on(fake, gate, in_order, end):
    queue = bl.Queue(context=bl.Context(bl.Device()), in_order=in_order)
    event = held(fake, queue, gate)
    end(queue)
    assert queue.closed and event.status is not bl.EventStatus.complete
    assert fake.alive["queue"] == 1  # its work needs it
    with pytest.raises(bl.InvalidError) as refused:
        queue.wait()
    assert refused.value.code is bl.Errc.invalid
    gate.set()
    event.wait()
    assert fake.alive["queue"] == 0


@END
@pytest.mark.parametrize("in_order", [False, True])
def test_commands_that_the_host_starts_later_are_started(fake, gate, in_order, end):
    queue, ran = bl.Queue(context=bl.Context(bl.Device()), in_order=in_order), []
    array = bl.usm_empty(4, "u1", queue, kind="host")
    task = queue.submit(lambda handler: handler.host_task(lambda: (gate.wait(), ran.append("task"))))
    fill = queue.memset(array, 7, depends_on=task)
    last = queue.submit(lambda handler: (handler.depends_on(fill), handler.host_task(lambda: ran.append("last"))))
    end(queue)
    assert ran == []
    gate.set()
    last.wait()
    assert ran == ["task", "last"] and np.asarray(array).tolist() == [7] * 4
    command_stream.sweep()
    assert fake.alive["queue"] == 0


def test_memory_of_a_closed_queue_is_freed_after_its_work(fake, gate):
    queue = bl.Queue()
    array = bl.usm_empty(16, "u1", queue)
    event = queue._enqueue(fake.gate(queue._native, gate), (), (array,))
    queue.close()
    del queue, array
    gc.collect()
    assert fake.alive["memory"] == 1
    gate.set()
    event.wait()
    assert fake.alive["memory"] == 0


def test_an_idle_queue_is_released_at_once(fake):
    queue = bl.Queue()
    queue.memset(bl.usm_empty(16, "u1", queue), 1).wait()
    queue.close()
    assert fake.alive["queue"] == 0


@END
def test_errors_found_when_it_is_closed_are_reported_then(fake, gate, end):
    gate.set()
    queue = bl.Queue(context=bl.Context(bl.Device()))
    event = held(fake, queue, gate, bl.KernelError("it failed"))
    while event.status is not bl.EventStatus.complete:
        pass
    with pytest.raises(bl.KernelError) as told:
        end(queue)
    assert told.value.code is bl.Errc.kernel
    assert queue.closed


@pytest.mark.parametrize("in_order", [False, True])
def test_errors_of_later_go_to_the_handler_of_the_queue(fake, gate, in_order):
    other, taken = bl.Queue(), []
    queue = bl.Queue(in_order=in_order, async_handler=taken.extend)
    event = held(fake, queue, gate, bl.KernelError("it failed"))
    queue.close()
    assert taken == []
    gate.set()
    event.wait()
    del queue, event
    gc.collect()
    other.throw_asynchronous()
    assert [error.code for error in taken] == [bl.Errc.kernel]


@pytest.mark.parametrize("keep", [True, False])
def test_errors_of_later_are_raised_by_the_context_where_nobody_takes_them(fake, gate, keep):
    context = bl.Context(bl.Device())
    queue = bl.Queue(context=context)
    event = held(fake, queue, gate, bl.KernelError("it failed"))
    queue.close()
    gate.set()
    while event.status is not bl.EventStatus.complete:
        pass
    if not keep:
        del queue, event
    command_stream.sweep()
    gc.collect()
    with pytest.raises(bl.KernelError) as told:
        context.close()
    assert told.value.code is bl.Errc.kernel


NEVER_ASKED = """
import gc
import bindless as bl

def fails():
    raise ValueError("in a host task")

queue = bl.Queue(context=bl.Context(bl.Device("reference")))
with queue:
    queue.submit(lambda handler: handler.host_task(fails))
{then}
"""


@pytest.mark.parametrize("then", ["", "del queue", "queue.context.close(); del queue; gc.collect()"])
def test_what_nobody_asked_for_is_written_at_the_end_of_the_process(then):
    done = subprocess.run(
        [sys.executable, "-c", NEVER_ASKED.format(then=then)], capture_output=True, text=True, timeout=120
    )
    said = done.stderr
    assert "in a host task" in said, said


def test_a_closed_queue_keeps_its_interop_handle_for_its_host_tasks(device):
    started, told = threading.Event(), []

    def task(handle):
        started.wait()
        told.append((handle.get_native_queue(), handle.get_native_context()))

    context = bl.Context(device)
    queue = bl.Queue(device, context)
    event = queue.submit(lambda handler: handler.host_task(task))
    context.close()
    started.set()
    event.wait()
    assert len(told) == 1 and all(told[0])


def test_results_of_a_closed_queue_arrive(device):
    out = np.zeros(1 << 16, np.int32)
    with bl.Queue(device) as queue:
        array = bl.usm_empty(out.shape, np.int32, queue)
        filled = queue.fill(array, np.int32(5))
        copied = queue.memcpy(out, array, depends_on=filled)
    copied.wait()
    assert (out == 5).all()
