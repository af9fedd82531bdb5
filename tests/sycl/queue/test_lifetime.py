"""Lifetimes: memory outlives the work that uses it, parents outlive their children."""

from __future__ import annotations

import copy
import gc
import itertools
import pickle
import random
import threading
import weakref

import numpy as np
import pytest

import bindless as bl
from bindless.core import ownership
from bindless.submission import command_stream
from tests.support.error_checks import raises


@pytest.fixture
def gate():
    made = threading.Event()
    yield made
    made.set()


def hold(fake, queue, gate, *memory, depends_on=()):
    """Submit a command that uses memory until the gate opens."""
    native = queue._native
    wait = fake.gate(native, gate)

    def operation(waits):
        blocked = wait(waits)
        addresses = [array.address for array in memory]
        event = fake._submit(native, lambda: None, [blocked], addresses)
        fake.release_event(blocked)
        return event

    return queue._enqueue(operation, depends_on, memory)


@pytest.mark.parametrize("in_order", [False, True])
def test_dropped_memory_lives_until_the_work_that_uses_it_is_done(fake, gate, in_order):
    queue = bl.Queue(in_order=in_order)
    array = bl.usm_empty(16, "u1", queue)
    hold(fake, queue, gate, array)
    del array
    gc.collect()
    queue.ext_oneapi_empty()
    assert fake.alive["memory"] == 1
    gate.set()
    queue.wait()
    assert fake.alive["memory"] == 0


@pytest.mark.parametrize("in_order", [False, True])
@pytest.mark.parametrize("end", [lambda a: a.close(), bl.free])
def test_closing_memory_waits_for_the_work_that_uses_it(fake, gate, in_order, end):
    queue = bl.Queue(in_order=in_order)
    array = bl.usm_empty(16, "u1", queue)
    event = hold(fake, queue, gate, array[4:])
    threading.Timer(0.05, gate.set).start()
    end(array)
    assert event.status is bl.EventStatus.complete and fake.alive["memory"] == 0


@pytest.mark.parametrize("in_order", [False, True])
def test_a_dropped_queue_ends_its_work_first_and_does_not_block(fake, gate, in_order):
    queue = bl.Queue(in_order=in_order)
    array = bl.usm_empty(16, "u1", queue)
    hold(fake, queue, gate, array)
    del queue, array
    gc.collect()
    assert fake.alive["queue"] == 1 and fake.alive["memory"] == 1
    gate.set()
    command_stream.wait_for_all()
    assert fake.alive["queue"] == 0 and fake.alive["memory"] == 0


def test_a_host_array_lives_until_its_copy_is_done(fake, gate):
    queue = bl.Queue(in_order=True)
    array = bl.usm_empty(1000, "u1", queue)
    hold(fake, queue, gate)
    source = np.full(1000, 7, np.uint8)
    alive = weakref.ref(source)
    queue.memcpy(array, source, 1000)
    del source
    gc.collect()
    assert alive() is not None
    gate.set()
    queue.wait()
    assert alive() is None
    assert array.numpy().tolist() == [7] * 1000


def test_kernel_bundles_live_until_their_kernels_have_run(fake, gate):
    queue = bl.Queue(in_order=True)
    bundle = bl.load_kernel_bundle(b"x", queue)
    hold(fake, queue, gate)
    queue.parallel_for(1, bundle.get_kernel("empty"))
    del bundle
    gc.collect()
    assert fake.alive["module"] == 1
    gate.set()
    queue.wait()
    assert fake.alive["module"] == 0


def test_closing_a_bundle_waits_for_its_kernels(fake, gate):
    queue = bl.Queue(in_order=True)
    bundle = bl.load_kernel_bundle(b"x", queue)
    hold(fake, queue, gate)
    event = queue.parallel_for(1, bundle.get_kernel("empty"))
    threading.Timer(0.05, gate.set).start()
    bundle.close()
    assert event.status is bl.EventStatus.complete and fake.alive["module"] == 0


def test_what_is_used_is_let_go_without_any_wait(fake):
    fake.instant = True
    for in_order in (False, True):
        queue = bl.Queue(in_order=in_order)
        for _ in range(1000):
            queue.memset(bl.usm_empty(64, "u1", queue), 1)
            assert fake.alive["memory"] < 200


def test_large_host_arrays_are_let_go_sooner(fake):
    fake.instant = True
    queue = bl.Queue(in_order=True)
    array = bl.usm_empty(4, "u1", queue)
    alive = []
    for _ in range(100):
        host = np.zeros(8 << 20, np.uint8)
        queue.memcpy(array, host, 4)
        alive.append(weakref.ref(host))
        del host
        assert sum(reference() is not None for reference in alive) < 16


def test_a_long_stream_of_work_holds_no_more_than_it_must(fake, gate):
    """The head of an in-order queue is complete and released; its tail is pending."""
    queue = bl.Queue(in_order=True)
    for _ in range(300):
        queue.memset(bl.usm_empty(64, "u1", queue), 1)
    done = queue.memset(bl.usm_empty(64, "u1", queue), 1)
    done.wait()
    hold(fake, queue, gate)
    for _ in range(100):
        queue.memset(bl.usm_empty(64, "u1", queue), 1)
    assert 100 <= fake.alive["memory"] <= 240


def test_out_of_order_what_is_done_is_let_go_behind_what_is_not(fake, gate):
    queue = bl.Queue()
    hold(fake, queue, gate, bl.usm_empty(64, "u1", queue))
    for _ in range(500):
        queue.memset(bl.usm_empty(64, "u1", queue), 1).wait()
    queue.ext_oneapi_empty()
    assert fake.alive["memory"] < 200


def test_memory_that_completed_work_holds_is_found_when_there_is_no_more(fake, gate):
    queue = bl.Queue()
    half = 600_000  # of a mebibyte
    hold(fake, queue, gate, bl.usm_empty(half, "u1", queue))
    threading.Timer(0.05, gate.set).start()
    bl.usm_empty(half, "u1", queue).close()
    with pytest.raises(bl.MemoryAllocationError):
        bl.usm_empty(2 << 20, "u1", queue)


def test_a_chain_of_events_does_not_keep_its_past(fake):
    fake.instant = True
    queue = bl.Queue()
    event = queue.ext_oneapi_submit_barrier()
    for _ in range(5000):
        event = queue.ext_oneapi_submit_barrier(event)
    gc.collect()
    assert fake.alive["event"] < 100
    assert event.get_wait_list() == ()


def test_children_keep_their_parents(fake):
    array = bl.usm_empty(16, "u1", bl.Queue(context=bl.Context()))
    gc.collect()
    assert fake.alive == {"context": 1, "queue": 0, "event": 0, "memory": 1, "module": 0}
    array.copy_from(1)
    kernel = bl.load_kernel_bundle(b"x", array.device, array.context).get_kernel("empty")
    event = bl.Queue(context=array.context).parallel_for(1, kernel)
    del array, kernel
    event.wait()
    assert fake.alive["context"] == 1
    del event
    gc.collect()
    assert set(fake.alive.values()) == {0}


def test_any_order_of_dropping_and_closing_ends_with_nothing(fake):
    random_ = random.Random(7)
    for trial in range(60):
        queue = bl.Queue(context=bl.Context(), in_order=bool(trial % 2))
        array = bl.usm_empty(64, "u1", queue)
        bundle = bl.load_kernel_bundle(b"x", queue)
        events = [queue.memset(array, 1), queue.parallel_for(4, bundle.get_kernel("empty"))]
        objects = {
            "queue": queue,
            "context": queue.context,
            "array": array,
            "view": array[3:],
            "bundle": bundle,
            "event": events[0],
            "other": events[1],
        }
        if trial % 3 == 0:  # a cycle, which only the garbage collector frees
            cycle: list[object] = list(objects.values())
            cycle.append(cycle)
            del cycle
        del queue, array, bundle, events
        names = list(objects)
        random_.shuffle(names)
        for name in names:
            item = objects.pop(name)
            if random_.random() < 0.4 and hasattr(item, "close"):
                item.close()
            del item
        command_stream.wait_for_all()
        gc.collect()
        assert set(fake.alive.values()) == {0}, (trial, names)


@pytest.mark.parametrize("order", list(itertools.permutations(["queue", "context", "array"])), ids="-".join)
def test_the_collector_ends_a_cycle_in_the_right_order(fake, order):
    class Holder:
        pass

    holder = Holder()
    holder.self = holder
    context = bl.Context()
    queue = bl.Queue(context=context)
    made = {"queue": queue, "context": context, "array": bl.usm_empty(4, "u1", queue)}
    for name in order:
        setattr(holder, name, made[name])
    holder.event = queue.memset(made["array"], 1)
    holder.event.wait()
    del context, queue, made, holder
    gc.collect()
    assert set(fake.alive.values()) == {0}


def test_a_resource_is_released_once(fake):
    released: list[int] = []
    parent = ownership.Resource(ownership.Rank.CONTEXT, None, released.append, 1)
    child = ownership.Resource(ownership.Rank.MEMORY, parent, released.append, 2)
    assert not child.closed
    child.close()
    child.close()
    assert child.closed and released == [2]
    del parent
    assert released == [2]
    del child
    assert released == [2, 1]
    given = ownership.Resource(ownership.Rank.MEMORY, None, released.append, 3)
    given.detach()
    del given
    assert released == [2, 1]


def test_a_deep_copy_releases_nothing(device):
    """A deep copy of any container never gives a native object a second owner."""
    resource = ownership.Resource(ownership.Rank.MEMORY, None, lambda: None)
    for take in (copy.copy, copy.deepcopy, pickle.dumps):
        with raises(bl.InvalidError):
            take(resource)
    resource.close()
    with bl.Context(device) as context, bl.Queue(device, context) as queue:
        array = bl.usm_empty(4, np.int32, queue)
        for each in (context, queue, [array, queue, context], array.pointer):
            for take in (copy.deepcopy, pickle.dumps):
                with pytest.raises(bl.CopyError):
                    take(each)
                gc.collect()
        queue.fill(array, 3, 4).wait()
        assert (array.numpy(queue) == 3).all()


def test_an_error_of_a_release_reaches_close(fake, monkeypatch):
    array = bl.usm_empty(4, "u1", bl.Queue())
    resource = array._owner.resource
    row = ownership._live[resource._key]

    def refuse(*_):
        raise bl.MemoryAllocationError("the driver refuses")

    ownership._live[resource._key] = (row[0], refuse, ())
    with raises(bl.MemoryAllocationError, names="the driver refuses"):
        array.close()
    array.close()


# ---------------------------------------------------------------------- on the device of --device


def test_nothing_is_left_on_the_device(device):
    """Contexts, queues, memory and events are created, used and dropped repeatedly."""
    gc.collect()
    before = len(ownership._live)
    for trial in range(10):
        queue = bl.Queue(device, bl.Context(device), in_order=bool(trial % 2))
        arrays = [bl.usm_empty(1000, np.float32, queue, kind=kind) for kind in ("device", "host", "shared")]
        for array in arrays:
            queue.fill(array, 1.5)
        out = [array.numpy(queue) if queue.is_in_order else None for array in arrays]
        del array
        assert not queue.is_in_order or all((values == 1.5).all() for values in out)
        del queue, arrays
    command_stream.wait_for_all()
    gc.collect()
    assert len(ownership._live) == before
