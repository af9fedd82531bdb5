"""Repeated device functions of one queue, which back ends may submit without Python."""

from __future__ import annotations

import gc
import os
import sys
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.sycl.usm import allocation
from tests.support.error_checks import raises
from tests.support.pixels import every_coordinate, random_pixels, upload, usm
from tests.support.reference_object_count import objects

DESC = bl.ImageDescriptor(9, 7)
PLAIN = bl.BindlessImageSampler("clamp_to_edge")
OFTEN = 5
EVERY = every_coordinate(9, 7)
CENTRES = (EVERY + 0.5).astype(np.float32)
COUNT = len(EVERY)


@pytest.fixture(params=["in order", "out of order"])
def own(device: bl.Device, request: pytest.FixtureRequest) -> Iterator[bl.Queue]:
    """A new queue: its cache of prepared calls holds only this test's calls."""
    with bl.Queue(device, in_order=request.param == "in order") as made:
        yield made


def is_prepared(queue: bl.Queue, on_host: bool = False) -> bool:
    if on_host and queue._backend.host_calls is not None:
        return True
    reaches = queue.device.has(bl.Aspect.usm_system_allocations) or queue.device.has(bl.Aspect.usm_host_allocations)
    return reaches or not on_host


def remembered(queue: bl.Queue) -> int:
    return 0 if queue._stream.image_calls is None else queue._stream.image_calls.count()


def image(queue: bl.Queue, seed: int = 0, sampler: bl.BindlessImageSampler | None = PLAIN) -> tuple[Any, Any, Any]:
    """Memory, handle and pixels in the order of ``EVERY``."""
    pixels = random_pixels(DESC, seed)
    memory = upload(queue, DESC, pixels)
    return memory, bl.create_image(memory, DESC, queue, sampler=sampler), pixels.reshape(-1, 4)


def empty(queue: bl.Queue, channels: int = 4) -> bl.UsmArray:
    return bl.usm_empty((COUNT, channels), np.float32, queue)


def test_no_lock_of_a_queue_is_held_while_memory_is_allocated(own, monkeypatch):
    """An allocation takes the lock of each active queue: two threads that hold one would wait for each other."""
    _memory, handle, pixels = image(own)
    depths = []

    def sweep() -> None:
        depths.append(own._stream.lock.depth)
        before()

    before = allocation.sweep
    monkeypatch.setattr(allocation, "sweep", sweep)
    found = bl.fetch_image(own, handle, EVERY)
    assert (found == pixels).all()
    bl.usm_empty(4, "u1", own)
    assert depths and set(depths) == {0}


# ---------------------------------------------------------------------- results


def test_other_arrays_of_the_same_shape(own: bl.Queue) -> None:
    """Each call reads and writes the arrays passed to it, even if the next one is submitted before it runs."""
    _memory, handle, pixels = image(own)
    rng = np.random.default_rng(1)
    orders = [rng.permutation(COUNT) for _ in range(6)]
    coords = [usm(own, CENTRES[order]) for order in orders]
    for _ in range(OFTEN):
        outs = [empty(own) for _ in orders]
        events = [bl.sample_image(own, handle, points, out=out) for points, out in zip(coords, outs)]
        for event in events:
            event.wait()
        for out, order in zip(outs, orders):
            np.testing.assert_array_equal(out.numpy(own), pixels[order])
    assert remembered(own) == is_prepared(own)


def test_host_arrays(own: bl.Queue) -> None:
    """Results in new arrays and in the caller's; views, copies and other memory."""
    _memory, handle, pixels = image(own)
    rng = np.random.default_rng(2)
    kept = []
    for _ in range(2 * OFTEN):
        order = rng.permutation(COUNT)
        points = CENTRES[order]
        got = bl.sample_image(own, handle, points)
        kept.append((got, order))
        out = np.zeros((COUNT, 4), np.float32)
        assert bl.sample_image(own, handle, points, out=out) is out
        np.testing.assert_array_equal(out, pixels[order])
        gaps = np.zeros((COUNT, 4), np.float32)
        gaps[:, ::2] = points
        np.testing.assert_array_equal(bl.sample_image(own, handle, gaps[:, ::2]), pixels[order])
        part = bl.sample_image(own, handle, points[3:10])
        np.testing.assert_array_equal(part, pixels[order[3:10]])
    for got, order in kept:  # each result has its own memory
        np.testing.assert_array_equal(got, pixels[order])
    assert remembered(own) == 3 * is_prepared(own, on_host=True)


def test_large_results(own: bl.Queue) -> None:
    """Results of more than a megabyte take the memory of results that were dropped."""
    _memory, handle, pixels = image(own)
    points, expected = np.tile(CENTRES, (2000, 1)), np.tile(pixels, (2000, 1))
    for _ in range(3):
        np.testing.assert_array_equal(bl.sample_image(own, handle, points), expected)


def test_options(own: bl.Queue) -> None:
    """Other channels, dtypes and layers are other calls."""
    memory, handle, pixels = image(own)
    for _ in range(OFTEN):
        for channels in (1, 3, 4):
            got = bl.sample_image(own, handle, CENTRES, num_channels=channels)
            np.testing.assert_array_equal(got, pixels[:, :channels])
        half = bl.sample_image(own, handle, CENTRES, dtype=np.float16)
        np.testing.assert_array_equal(half, pixels.astype(np.float16))
        np.testing.assert_array_equal(bl.sample_image(own, handle, CENTRES, dtype="float32"), pixels)
        vector = bl.sample_image(own, handle, CENTRES, dtype=np.dtype("2f4"))
        np.testing.assert_array_equal(vector, pixels[:, :2])
        with raises(bl.InvalidError, names="num_channels=9"):
            bl.sample_image(own, handle, CENTRES, num_channels=9)
    assert memory is not None


def test_layers_and_levels(own: bl.Queue) -> None:
    desc = bl.ImageDescriptor(5, 4, type="array", array_size=3)
    pixels = random_pixels(desc, 3)
    memory = upload(own, desc, pixels)
    handle = bl.create_image(memory, desc, own)
    every = every_coordinate(5, 4)
    rng = np.random.default_rng(4)
    for turn in range(3 * OFTEN):
        layer = turn % 3
        got = bl.fetch_image_array(own, handle, every, layer)
        np.testing.assert_array_equal(got, pixels[layer].reshape(-1, 4))
        layers = rng.integers(0, 3, len(every)).astype(np.uint32)
        out = usm(own, np.zeros((len(every), 4), np.float32))
        bl.fetch_image_array(own, handle, usm(own, every), usm(own, layers), out=out).wait()
        np.testing.assert_array_equal(out.numpy(own), pixels[layers, every[:, 1], every[:, 0]])
    with raises(bl.InvalidError):
        bl.fetch_image_array(own, handle, every, 3)


def test_writes_and_reads(own: bl.Queue) -> None:
    """A write is visible to the next read of the same pixels, for host arrays and arrays of the device."""
    _memory, handle, _ = image(own, sampler=None)
    rng = np.random.default_rng(5)
    places, out = usm(own, EVERY), empty(own)
    for _ in range(OFTEN):
        colors = rng.random((COUNT, 4), np.float32)
        colors.flags.writeable = False
        assert bl.write_image(own, handle, EVERY, colors) is None
        np.testing.assert_array_equal(bl.fetch_image(own, handle, EVERY), colors)
        more = rng.random((COUNT, 4), np.float32)
        written = bl.write_image(own, handle, places, usm(own, more))
        bl.fetch_image(own, handle, places, out=out, depends_on=written).wait()
        np.testing.assert_array_equal(out.numpy(own), more)


def test_more_calls_than_the_cache_holds(own: bl.Queue) -> None:
    images = [image(own, seed) for seed in range(4)]
    coords = [usm(own, CENTRES[:count]) for count in range(1, COUNT)]
    for _ in range(2):
        for points in coords:
            for _memory, handle, pixels in images:
                out = bl.usm_empty((len(points), 4), np.float32, own)
                bl.sample_image(own, handle, points, out=out).wait()
                np.testing.assert_array_equal(out.numpy(own), pixels[: len(points)])


def test_host_arrays_of_commands_before(own: bl.Queue, device: bl.Device) -> None:
    """A call reads host arrays after the commands that write them: those before it in its queue, and its events."""
    _memory, handle, pixels = image(own)
    sources = [usm(own, CENTRES), usm(own, CENTRES[::-1])]
    points = np.zeros_like(CENTRES)
    with bl.Queue(device, own.context) as second:
        for turn in range(2 * OFTEN):
            expected = pixels[::-1] if turn % 2 else pixels
            bl.sample_image(own, handle, points)
            written = (own if own.is_in_order else second).memcpy(points, sources[turn % 2])
            got = bl.sample_image(own, handle, points, depends_on=() if own.is_in_order else written)
            np.testing.assert_array_equal(got, expected)
            np.testing.assert_array_equal(bl.sample_image(own, handle, points), expected)


# ---------------------------------------------------------------------- changes between two calls


def test_arrays_that_do_not_fit(own: bl.Queue) -> None:
    _memory, handle, pixels = image(own)
    points, out = usm(own, CENTRES), empty(own)
    for _ in range(OFTEN):
        bl.sample_image(own, handle, points, out=out).wait()
        with raises(bl.InvalidError):
            bl.sample_image(own, handle, usm(own, CENTRES.astype(np.float64)), out=out)
        with raises(bl.InvalidError):
            bl.sample_image(own, handle, points, out=empty(own, 3), num_channels=4)
        with raises(bl.InvalidError):
            bl.sample_image(own, handle, points[::2], out=bl.usm_empty(((COUNT + 1) // 2, 4), np.float32, own))
        with raises(bl.InvalidError):
            bl.sample_image(own, handle, points, out=np.empty((COUNT, 4), np.float32))
        with raises(bl.InvalidError):
            bl.sample_image(own, handle, points)
    host = np.zeros((COUNT, 4), np.float32)
    for _ in range(OFTEN):
        assert bl.sample_image(own, handle, CENTRES, out=host) is host
    host.flags.writeable = False
    with raises(bl.InvalidError):
        bl.sample_image(own, handle, CENTRES, out=host)
    shared = np.zeros((COUNT, 6), np.float32).reshape(-1)
    for _ in range(OFTEN):
        shared[: 2 * COUNT] = CENTRES.reshape(-1)
        apart = shared[2 * COUNT :].reshape(COUNT, 4)
        assert bl.sample_image(own, handle, shared[: 2 * COUNT].reshape(COUNT, 2), out=apart) is apart
        np.testing.assert_array_equal(apart, pixels)
        both = shared[COUNT : 5 * COUNT].reshape(COUNT, 4)
        with raises(bl.InvalidError, match="shares memory"):
            bl.sample_image(own, handle, shared[: 2 * COUNT].reshape(COUNT, 2), out=both)


def test_memory_that_was_freed(own: bl.Queue) -> None:
    _memory, handle, pixels = image(own)
    for _ in range(3):
        points, out = usm(own, CENTRES), empty(own)
        for _ in range(OFTEN):
            bl.sample_image(own, handle, points, out=out).wait()
        np.testing.assert_array_equal(out.numpy(own), pixels)
        points.close()
        with raises(bl.InvalidError):
            bl.sample_image(own, handle, points, out=out)
        points = usm(own, CENTRES)
        bl.sample_image(own, handle, points, out=out)
        out.close()  # after the command
        with raises(bl.InvalidError):
            bl.sample_image(own, handle, points, out=out)


def test_a_handle_that_was_destroyed(own: bl.Queue) -> None:
    """Its number may become that of another image, of another format."""
    points, out = usm(own, CENTRES), empty(own)
    for seed in range(2 * OFTEN):
        _memory, handle, pixels = image(own, seed)
        for _ in range(3):
            bl.sample_image(own, handle, points, out=out).wait()
        np.testing.assert_array_equal(out.numpy(own), pixels)
        bl.destroy_image_handle(handle, own)
        with raises(bl.InvalidError):
            bl.sample_image(own, handle, points, out=out)
        small = bl.ImageDescriptor(9, 7, num_channels=1, channel_type="unsigned_int8")
        codes = random_pixels(small, seed)
        memory = upload(own, small, codes)
        other = bl.create_image(memory, small, own, sampler=PLAIN)
        for _ in range(3):
            got = bl.sample_image(own, other, CENTRES)
            np.testing.assert_array_equal(got, codes.reshape(-1, 1))
        bl.destroy_image_handle(other, own)


def test_a_handle_with_another_number(own: bl.Queue) -> None:
    first, second = image(own, 1), image(own, 2)
    handle, out = bl.SampledImageHandle(first[1].raw_handle), empty(own)
    points = usm(own, CENTRES)
    for turn in range(2 * OFTEN):
        chosen = (first, second)[turn % 2]
        handle.raw_handle = chosen[1].raw_handle
        bl.sample_image(own, handle, points, out=out).wait()
        np.testing.assert_array_equal(out.numpy(own), chosen[2])


def test_after_the_end_of_the_queue(device: bl.Device) -> None:
    queue = bl.Queue(device)
    _memory, handle, _ = image(queue)
    points, out = usm(queue, CENTRES), empty(queue)
    for _ in range(OFTEN):
        bl.sample_image(queue, handle, points, out=out)
    queue.close()
    with raises(bl.InvalidError):
        bl.sample_image(queue, handle, points, out=out)
    assert queue._stream.image_calls is None


def test_queues_that_are_none() -> None:
    for value in (None, 3, object()):
        with raises(bl.InvalidError, names="Queue"):
            bl.sample_image(value, bl.SampledImageHandle(7), CENTRES)  # type: ignore[call-overload]


# ---------------------------------------------------------------------- lifetimes


def test_arrays_live_as_long_as_their_call(own: bl.Queue) -> None:
    _memory, handle, pixels = image(own)
    for _ in range(2 * OFTEN):
        points, out = usm(own, CENTRES), empty(own)
        watched = weakref.ref(points), weakref.ref(points._owner)
        event = bl.sample_image(own, handle, points, out=out)
        del points
        gc.collect()
        event.wait()
        np.testing.assert_array_equal(out.numpy(own), pixels)
        own.wait()
        gc.collect()
        assert [watch() for watch in watched] == [None, None]


def test_an_image_lives_as_long_as_its_call(own: bl.Queue) -> None:
    """The image may be destroyed and dropped while a call runs; the cache holds neither handle nor memory."""
    if own.backend is not bl.Backend.reference:
        pytest.skip("counts the reference driver's objects: runs with --device reference")
    points, outs = usm(own, CENTRES), [empty(own) for _ in range(OFTEN)]
    before = 0
    for seed, out in enumerate(outs):
        if seed == 1:  # the first command has made what the queue keeps
            gc.collect()
            before = objects()
        memory, handle, pixels = image(own, seed)
        for _ in range(3):
            event = bl.sample_image(own, handle, points, out=out)
        bl.destroy_image_handle(handle, own)
        del memory, handle
        event.wait()
        own.wait()
        np.testing.assert_array_equal(out.numpy(own), pixels)
        del event
    gc.collect()
    assert objects() == before


def test_a_wait_lets_go_of_host_arrays(device: bl.Device) -> None:
    with bl.Queue(device, in_order=True) as queue:
        _memory, handle, _ = image(queue)
        for _ in range(2 * OFTEN):
            points = CENTRES.copy()
            watch = weakref.ref(points)
            result = bl.sample_image(queue, handle, points)
            del points
            assert watch() is None
            result_watch = weakref.ref(result)
            del result
            assert result_watch() is None
            assert queue.ext_oneapi_empty()


class Finalized:
    """Garbage in a reference cycle; the collector runs its finalizer at an arbitrary point."""

    def __init__(self, action: Any) -> None:
        self.me, self.action = self, action

    def __del__(self) -> None:
        self.action()


def test_a_finalizer_may_call_the_same_way(own: bl.Queue) -> None:
    """A finalizer calls during another call: neither overwrites the other's arguments."""
    _memory, handle, pixels = image(own)
    order = np.random.default_rng(6).permutation(COUNT)
    first, second, out, other = usm(own, CENTRES), usm(own, CENTRES[order]), empty(own), empty(own)

    def call_too() -> None:
        bl.sample_image(own, handle, second, out=other)

    before = gc.get_threshold()
    try:
        for _ in range(OFTEN + 20):
            Finalized(call_too)
            gc.set_threshold(1)
            bl.sample_image(own, handle, first, out=out)
            gc.set_threshold(100000)
            own.wait()
            gc.collect()
            own.wait()
            np.testing.assert_array_equal(out.numpy(own), pixels)
            np.testing.assert_array_equal(other.numpy(own), pixels[order])
    finally:
        gc.set_threshold(*before)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_in_the_child_of_a_fork(device: bl.Device) -> None:
    if device.backend is not bl.Backend.reference:
        pytest.skip("the child of a fork loses the threads of a vendor's driver: runs with --device reference")
    with bl.Queue(device, in_order=True) as queue:
        _memory, handle, pixels = image(queue)
        for _ in range(OFTEN):
            bl.sample_image(queue, handle, CENTRES)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                bl.sample_image(queue, handle, CENTRES)
            except bl.SyclRuntimeError:
                status = 0
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        np.testing.assert_array_equal(bl.sample_image(queue, handle, CENTRES), pixels)


@pytest.mark.parametrize("kind", ["image", "memory"])
@pytest.mark.parametrize("ends", [False, True])
def test_a_finalizer_takes_hold_of_what_a_call_takes_hold_of(
    own: bl.Queue, monkeypatch: pytest.MonkeyPatch, kind: str, ends: bool
) -> None:
    """The first use of an image, or of memory, makes its owner; a collection may begin there, which uses or ends it."""
    memory = bl.alloc_image_mem(DESC, own)
    handle = bl.create_image(memory, DESC, own, sampler=PLAIN) if kind == "image" else None
    *_, record = (own.context._handles if kind == "image" else own.context._images).values()
    hold, inner = type(record)._hold, list[object]()

    def held(self: Any, context: Any) -> Any:
        if not inner:
            inner.append(None)
            inner.append(self.keep(context))
            if ends and handle is None:
                bl.free_image_mem(memory, "standard", own)
            elif ends:
                bl.destroy_image_handle(handle, own)
        return hold(self, context)

    monkeypatch.setattr(type(record), "_hold", held)
    owner = record.keep(own.context)
    assert owner is (None if ends else inner[1])
    assert inner[1] is not None and not inner[1].closed
    if not ends:
        handle = bl.create_image(memory, DESC, own, sampler=PLAIN) if handle is None else handle
        assert bl.sample_image(own, handle, CENTRES).shape == (COUNT, 4)


# ---------------------------------------------------------------------- order and errors


def test_what_it_waits_for(own: bl.Queue, device: bl.Device) -> None:
    """Dependencies on events of the same queue, of another queue, and of the host."""
    _memory, handle, pixels = image(own)
    points, out = usm(own, CENTRES), empty(own)
    with bl.Queue(device, own.context) as second:
        for _ in range(2 * OFTEN):
            gate = threading.Event()
            task = second.submit(lambda handler, gate=gate: handler.host_task(lambda: gate.wait(60)))
            first = bl.sample_image(own, handle, points, out=out, depends_on=task)
            last = bl.sample_image(own, handle, points, out=out, depends_on=[first])
            assert last.get_wait_list() == (first,)
            gate.set()
            last.wait()
            np.testing.assert_array_equal(out.numpy(own), pixels)
            own.fill(out, np.float32(0)).wait()
            np.testing.assert_array_equal(bl.sample_image(own, handle, CENTRES, depends_on=last), pixels)
    with raises(bl.InvalidError, names="depends_on"):
        bl.sample_image(own, handle, points, out=out, depends_on=3)  # type: ignore[call-overload]


def test_asynchronous_errors(device: bl.Device) -> None:
    """A call that waits raises its own error; an event that fails reports it to the handler."""
    if device.backend is not bl.Backend.reference:
        pytest.skip("coordinates outside are an error on the reference device alone: runs with --device reference")
    reported: list[Any] = []
    with bl.Queue(device, in_order=True, async_handler=reported.append) as queue:
        _memory, handle, pixels = image(queue, sampler=None)
        outside = EVERY.copy()
        for turn in range(2 * OFTEN):
            np.testing.assert_array_equal(bl.fetch_image(queue, handle, EVERY), pixels)
            outside[turn] = 1000
            with raises(bl.InvalidError, names=1000):
                bl.fetch_image(queue, handle, outside)
            outside[turn] = 0
        queue.wait_and_throw()
        assert not reported
        places, out = usm(queue, EVERY + 1000), empty(queue)
        for _ in range(3):
            bl.fetch_image(queue, handle, places, out=out)
        queue.wait_and_throw()
        assert len(reported) == 1 and len(list(reported[0])) == 3


def test_threads_on_one_queue(own: bl.Queue) -> None:
    """Each thread has its own arrays; all threads share the queue, the image and the cache."""
    _memory, handle, pixels = image(own)
    failures: list[object] = []

    def work(seed: int) -> None:
        try:
            rng = np.random.default_rng(seed)
            for turn in range(12):
                order = rng.permutation(COUNT)
                points, out = usm(own, CENTRES[order]), empty(own)
                for _ in range(2):
                    event = bl.sample_image(own, handle, points, out=out)
                event.wait()
                if not np.array_equal(out.numpy(own), pixels[order]):
                    failures.append((seed, turn))
                if not np.array_equal(bl.sample_image(own, handle, CENTRES[order]), pixels[order]):
                    failures.append((seed, turn, "host"))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not failures


def test_profiling_queues_time_each_call(device: bl.Device) -> None:
    if not device.has(bl.Aspect.queue_profiling):
        pytest.skip("the device records no times")
    with bl.Queue(device, enable_profiling=True) as queue:
        _memory, handle, _ = image(queue)
        points, out = usm(queue, CENTRES), empty(queue)
        for _ in range(OFTEN):
            event = bl.sample_image(queue, handle, points, out=out)
            event.wait()
            assert event.get_profiling_info("command_start") <= event.get_profiling_info("command_end")
