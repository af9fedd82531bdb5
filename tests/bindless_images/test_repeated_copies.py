"""Repeated copies of one queue, which backends may submit without Python (R45–R57)."""

from __future__ import annotations

import gc
import os
import sys
import threading
import weakref
from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.support.error_checks import raises
from tests.support.pixels import Array, random_pixels

DESC = bl.ImageDescriptor(24, 10, num_channels=4, channel_type="unsigned_int16")
PART: dict[str, Any] = {"src_offset": (3, 2, 0), "dst_offset": (5, 1, 0), "copy_extent": (11, 6, 1)}
OFTEN = 5


@pytest.fixture(params=["in order", "out of order"])
def own(device: bl.Device, request: pytest.FixtureRequest) -> Any:
    """A new queue: its cache of prepared copies holds only this test's copies."""
    with bl.Queue(device, in_order=request.param == "in order") as made:
        yield made


def remembered(queue: bl.Queue) -> int:
    """Number of copies that the queue repeats without Python."""
    return 0 if queue._stream.copies is None else queue._stream.copies.count()


def fresh(seed: int) -> Array:
    return random_pixels(DESC, seed)


def read(queue: bl.Queue, image: Any) -> Array:
    pixels = np.empty(DESC.shape, DESC.dtype)
    queue.ext_oneapi_copy(image, pixels).wait()
    return pixels


# ---------------------------------------------------------------------- operands


def test_many_sequences(own: bl.Queue) -> None:
    """Any mixture of copies between all kinds of operands and regions equals numpy's result."""
    rng = np.random.default_rng(own.is_in_order)
    images = [bl.ImageMem(DESC, own) for _ in range(3)]
    flats = [bl.usm_empty(DESC.shape, DESC.dtype, own) for _ in range(2)]
    arrays = [fresh(seed) for seed in range(3)]
    places: list[Any] = [*images, *flats, *arrays]
    model = [fresh(10 + at) for at in range(len(places))]
    for place, pixels in zip(places, model):
        if isinstance(place, np.ndarray):
            place[:] = pixels
        elif isinstance(place, bl.UsmArray):
            place.copy_from(pixels, own)
        else:
            own.ext_oneapi_copy(pixels, place).wait()
    regions: list[dict[str, Any]] = [
        {},
        {"copy_extent": (7, 4, 1)},
        {"src_offset": (2, 1, 0), "copy_extent": (7, 4, 1)},
        {"src_offset": (2, 1, 0), "dst_offset": (9, 3, 0), "copy_extent": (7, 4, 1)},
    ]
    for turn in range(240):
        source, target = rng.choice(len(places), 2, replace=False)
        if max(source, target) < 3 or min(source, target) >= 3:
            target = int(rng.integers(3)) if source >= 3 else target
        if source == target or min(source, target) >= 3:
            continue
        region = regions[int(rng.integers(len(regions)))]
        host = next((place for place in (source, target) if place >= 5), None)
        if host is not None:
            fill = fresh(100 + turn)
            places[host][:] = model[host] = fill
        own.ext_oneapi_copy(places[source], places[target], **region).wait()
        x, y, _ = region.get("src_offset", (0, 0, 0))
        to_x, to_y, _ = region.get("dst_offset", (0, 0, 0))
        width, height, _ = region.get("copy_extent", (24, 10, 1))
        model[target] = model[target].copy()
        model[target][to_y : to_y + height, to_x : to_x + width] = model[source][y : y + height, x : x + width]
    for place, pixels in zip(places, model):
        if isinstance(place, bl.ImageMem):
            assert np.array_equal(read(own, place), pixels)
        else:
            assert np.array_equal(place.numpy(own) if isinstance(place, bl.UsmArray) else place, pixels)
    assert remembered(own) > 5


def test_other_arrays_of_the_same_shape(own: bl.Queue) -> None:
    """Each call reads and writes the array passed to it, for rings of images too."""
    with bl.ImageMem(DESC, own) as first, bl.ImageMem(DESC, own) as second:
        for turn in range(4 * OFTEN):
            image = (first, second)[turn % 2]
            pixels = fresh(turn)
            own.ext_oneapi_copy(pixels, image).wait()
            assert np.array_equal(read(own, image), pixels)
    assert remembered(own) in (2, 4)  # any image of the ring, or each of them


def test_a_region_that_changes(own: bl.Queue) -> None:
    pixels = fresh(0)
    with bl.ImageMem(DESC, own) as image:
        for turn in range(4 * OFTEN):
            x = turn // OFTEN
            expected = np.zeros(DESC.shape, DESC.dtype)
            own.ext_oneapi_copy(expected, image).wait()
            extent = (11, 6, 1) if turn % 2 else (4, 2, 1)
            own.ext_oneapi_copy(pixels, image, dst_offset=(x, 1, 0), copy_extent=extent).wait()
            expected[1 : 1 + extent[1], x : x + extent[0]] = pixels[: extent[1], : extent[0]]
            assert np.array_equal(read(own, image), expected)
        for _ in range(OFTEN):
            with raises(bl.InvalidError, names=("scenario 8", "offset 20", "extent 11")):
                own.ext_oneapi_copy(pixels, image, dst_offset=(20, 1, 0), copy_extent=(11, 6, 1))
        for _ in range(OFTEN):
            with pytest.raises(TypeError, match="copy_extend"):
                own.ext_oneapi_copy(pixels, image, copy_extend=(1, 1, 1))  # type: ignore[call-arg]


# ---------------------------------------------------------------------- changes between two copies


def test_memory_that_was_freed(own: bl.Queue) -> None:
    pixels, flat = fresh(1), bl.usm_empty(DESC.shape, DESC.dtype, own)
    image, other = bl.ImageMem(DESC, own), bl.ImageMem(DESC, own)
    for _ in range(OFTEN):
        own.ext_oneapi_copy(pixels, image).wait()
        own.ext_oneapi_copy(image, flat).wait()
        own.ext_oneapi_copy(image, other).wait()
    flat.close()
    with raises(bl.InvalidError):
        own.ext_oneapi_copy(image, flat)
    other.close()
    with raises(bl.InvalidError):
        own.ext_oneapi_copy(image, other)
    image.close()
    with raises(bl.InvalidError):
        own.ext_oneapi_copy(pixels, image)
    for seed in range(3):  # new memory may reuse the former address
        with bl.ImageMem(DESC, own) as image, bl.ImageMem(DESC, own) as other:
            flat = bl.usm_empty(DESC.shape, DESC.dtype, own)
            own.ext_oneapi_copy(fresh(seed), image).wait()
            own.ext_oneapi_copy(image, other).wait()
            own.ext_oneapi_copy(other, flat).wait()
            assert np.array_equal(flat.numpy(own), fresh(seed))
            flat.close()


def test_arrays_that_became_others(own: bl.Queue) -> None:
    """Arrays changed in place: shape, type and writability; views with gaps; arrays in other memory."""
    with bl.ImageMem(DESC, own) as image:
        pixels, out = fresh(2), np.zeros(DESC.shape, DESC.dtype)
        for _ in range(OFTEN):
            own.ext_oneapi_copy(pixels, image).wait()
            own.ext_oneapi_copy(image, out).wait()
        out.flags.writeable = False
        with raises(bl.InvalidError):
            own.ext_oneapi_copy(image, out)
        out.flags.writeable = True
        own.ext_oneapi_copy(image, out).wait()
        assert np.array_equal(out, pixels)
        larger = fresh(3)
        larger.resize((11, 24, 2), refcheck=False)
        with raises(bl.InvalidError):
            own.ext_oneapi_copy(larger, image)
        with raises(bl.InvalidError, names="int16"):
            own.ext_oneapi_copy(pixels.view(np.int16), image)
        with raises(bl.InvalidError, match=r"big|>u2"):
            own.ext_oneapi_copy(pixels.astype(">u2"), image)
        with raises(bl.InvalidError):
            own.ext_oneapi_copy(np.zeros((10, 48, 2), np.uint16)[:, ::2], image)
        flat = pixels.reshape(-1)
        for _ in range(OFTEN):
            own.ext_oneapi_copy(flat, image).wait()
            assert np.array_equal(read(own, image), pixels)

        class Own(np.ndarray):  # type: ignore[type-arg]
            pass

        own.ext_oneapi_copy(fresh(4).view(Own), image).wait()
        assert np.array_equal(read(own, image), fresh(4))


def test_an_image_of_another_device_or_context(own: bl.Queue, device: bl.Device) -> None:
    pixels = fresh(5)
    with bl.ImageMem(DESC, own) as image, bl.ImageMem(DESC, device, bl.Context(device)) as other:
        for _ in range(OFTEN):
            own.ext_oneapi_copy(pixels, image).wait()
            own.ext_oneapi_copy(bl.ImageMem(image), pixels).wait()
        with raises(bl.InvalidError):
            own.ext_oneapi_copy(pixels, other)


# ---------------------------------------------------------------------- lifetimes


def test_arrays_and_images_live_as_long_as_their_copy(own: bl.Queue) -> None:
    image = bl.ImageMem(DESC, own)
    for seed in range(2 * OFTEN):
        pixels = fresh(seed)
        watch = weakref.ref(pixels)
        event = own.ext_oneapi_copy(pixels, image)
        del pixels
        gc.collect()
        event.wait()
        own.wait()
        gc.collect()
        assert watch() is None
        assert np.array_equal(read(own, image), fresh(seed))
    watch_image = weakref.ref(image)
    out = np.zeros(DESC.shape, DESC.dtype)
    for _ in range(OFTEN):
        event = own.ext_oneapi_copy(image, out)
    del image
    gc.collect()
    assert watch_image() is None  # the cache holds no reference
    event.wait()
    assert np.array_equal(out, fresh(2 * OFTEN - 1))


def test_a_wait_lets_go_of_what_was_used(device: bl.Device) -> None:
    """Waiting for the last event of an in-order queue releases the operands, unless the host has pending work."""
    with bl.Queue(device, in_order=True) as queue, bl.ImageMem(DESC, queue) as image:
        for seed in range(2 * OFTEN):
            pixels = fresh(seed)
            watch = weakref.ref(pixels)
            event = queue.ext_oneapi_copy(pixels, image)
            del pixels
            event.wait()
            assert queue.ext_oneapi_empty() and watch() is None
            event.wait()
    gate = threading.Event()
    with bl.Queue(device) as queue, bl.ImageMem(DESC, queue) as image:
        for seed in range(2 * OFTEN):
            task = queue.submit(lambda handler: handler.host_task(lambda: gate.wait(60)))
            queue.ext_oneapi_copy(fresh(seed), image).wait()
            assert not queue.ext_oneapi_empty()
            gate.set()
            task.wait()
            assert queue.ext_oneapi_empty() and np.array_equal(read(queue, image), fresh(seed))
            gate.clear()


def test_finalizers_of_what_a_wait_lets_go_of_may_copy(own: bl.Queue) -> None:
    """Pending copies hold their operands, however the wait left the queue."""

    class Array(np.ndarray):  # type: ignore[type-arg]
        """An array whose finalizer copies. Python submits its copies, and the queue keeps the array alive as it is."""

        def __del__(self) -> None:
            if self.base is None and armed:
                armed.pop()
                own.ext_oneapi_copy(fresh(77), images[1])

    images, armed, pixels = [bl.ImageMem(DESC, own) for _ in range(3)], [], fresh(1)
    for _ in range(OFTEN):
        own.ext_oneapi_copy(pixels, images[0]).wait()
        own.ext_oneapi_copy(fresh(76), images[1]).wait()
    for _ in range(OFTEN):
        mine = Array(DESC.shape, DESC.dtype)
        mine[:] = fresh(2)
        own.ext_oneapi_copy(mine, images[2])
        armed.append(True)
        del mine
        own.ext_oneapi_copy(pixels, images[0]).wait()
        own.wait()
        gc.collect()
        assert not armed and np.array_equal(read(own, images[2]), fresh(2))
        assert np.array_equal(read(own, images[1]), fresh(77))


def test_after_the_end_of_the_queue(device: bl.Device) -> None:
    pixels = fresh(6)
    queue = bl.Queue(device)
    with bl.ImageMem(DESC, queue) as image:
        for _ in range(OFTEN):
            queue.ext_oneapi_copy(pixels, image)
        queue.close()
        with raises(bl.InvalidError):
            queue.ext_oneapi_copy(pixels, image)
        assert queue._stream.copies is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_in_the_child_of_a_fork(device: bl.Device) -> None:
    if device.backend is not bl.Backend.reference:
        pytest.skip("the child of a fork loses the threads of a vendor's driver: runs with --device reference")
    pixels = fresh(7)
    with bl.Queue(device, in_order=True) as queue, bl.ImageMem(DESC, queue) as image:
        for _ in range(OFTEN):
            queue.ext_oneapi_copy(pixels, image).wait()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                queue.ext_oneapi_copy(pixels, image)
            except bl.SyclRuntimeError:
                status = 0
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        queue.ext_oneapi_copy(pixels, image).wait()
        assert np.array_equal(read(queue, image), pixels)


# ---------------------------------------------------------------------- order


def test_what_it_waits_for(own: bl.Queue, device: bl.Device) -> None:
    """Dependencies on events of the same queue, of another queue, and of the host."""
    pixels = np.zeros(DESC.shape, DESC.dtype)
    with bl.ImageMem(DESC, own) as image, bl.ImageMem(DESC, own) as other, bl.Queue(device, own.context) as second:
        for seed in range(2 * OFTEN):
            gate = threading.Event()

            def write(seed: int = seed, gate: threading.Event = gate) -> None:
                gate.wait(60)
                pixels[:] = fresh(seed)

            task = second.submit(lambda handler, write=write: handler.host_task(write))  # type: ignore[misc]
            up = own.ext_oneapi_copy(pixels, image, depends_on=task)
            across = own.ext_oneapi_copy(image, other, depends_on=[up])
            gate.set()
            across.wait()
            out = np.zeros(DESC.shape, DESC.dtype)
            down = own.ext_oneapi_copy(other, out, depends_on=across)
            assert down.get_wait_list() == (across,)
            down.wait()
            assert np.array_equal(out, fresh(seed))


def test_threads_on_one_queue(own: bl.Queue) -> None:
    """Each thread has its own images; all threads share the queue and its cache."""
    failures: list[object] = []

    def work(seed: int) -> None:
        try:
            with bl.ImageMem(DESC, own) as image, bl.ImageMem(DESC, own) as other:
                for turn in range(12):
                    pixels, out = fresh(100 * seed + turn), np.zeros(DESC.shape, DESC.dtype)
                    up = own.ext_oneapi_copy(pixels, image)
                    across = own.ext_oneapi_copy(image, other, depends_on=up)
                    own.ext_oneapi_copy(other, out, depends_on=across).wait()
                    if not np.array_equal(out, pixels):
                        failures.append((seed, turn))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(16)]
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


def test_beside_graphs_handlers_and_profiling(device: bl.Device) -> None:
    """A graph records repeated copies; copies of a handler are equal; profiling queues time each copy."""
    with bl.Queue(device, in_order=True) as queue, bl.ImageMem(DESC, queue) as image:
        pixels, out = fresh(8), np.zeros(DESC.shape, DESC.dtype)
        for _ in range(OFTEN):
            queue.ext_oneapi_copy(pixels, image).wait()
            queue.submit(lambda handler: handler.ext_oneapi_copy(image, out)).wait()
        assert np.array_equal(out, pixels)
        with bl.CommandGraph(queue) as graph:
            graph.ext_oneapi_copy(pixels, image)
            graph.ext_oneapi_copy(image, out)
            for seed in range(OFTEN):
                pixels[:] = fresh(seed)
                graph().wait()
                assert np.array_equal(out, pixels)
                queue.ext_oneapi_copy(fresh(50), image).wait()
                assert np.array_equal(read(queue, image), fresh(50))
    if device.has(bl.Aspect.queue_profiling):
        with bl.Queue(device, enable_profiling=True) as queue, bl.ImageMem(DESC, queue) as image:
            for _ in range(OFTEN):
                event = queue.ext_oneapi_copy(fresh(9), image)
                event.wait()
                assert event.get_profiling_info("command_start") <= event.get_profiling_info("command_end")


class Finalized:
    """Garbage in a reference cycle; the collector runs its finalizer at an arbitrary point."""

    def __init__(self, action: Any) -> None:
        self.me, self.action = self, action

    def __del__(self) -> None:
        self.action()


def test_a_finalizer_may_copy_the_same_way(own: bl.Queue) -> None:
    """A finalizer copies during another copy: neither overwrites the other's memory."""
    images = [bl.ImageMem(DESC, own) for _ in range(2)]
    other = fresh(99)

    def copy_other() -> None:
        own.ext_oneapi_copy(other, images[1])

    before = gc.get_threshold()
    try:
        for seed in range(OFTEN + 20):
            mine = fresh(seed)
            Finalized(copy_other)
            gc.set_threshold(1)
            own.ext_oneapi_copy(mine, images[0])
            gc.set_threshold(100000)
            own.wait()
            assert np.array_equal(read(own, images[0]), mine)
        gc.collect()
        own.wait()
        assert np.array_equal(read(own, images[1]), other)
    finally:
        gc.set_threshold(*before)
