"""Two devices in one context: memory and images of each, transfers between them, and their order."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from tests.support.error_checks import raises
from tests.support.stress import native_objects
from tests.sycl.queue.test_threads import in_threads

Array = npt.NDArray[Any]
Queues = tuple[bl.Queue, bl.Queue]

DESCRIPTORS = {
    "64 bytes": bl.ImageDescriptor(4, 4, channel_type="unsigned_int8"),
    "16 MiB": bl.ImageDescriptor(2048, 2048, channel_type="unsigned_int8"),
    "1D": bl.ImageDescriptor(501, channel_type="fp32"),
    "3D": bl.ImageDescriptor(40, 30, 20, channel_type="unsigned_int16"),
    "array": bl.ImageDescriptor(64, 32, channel_type="fp32", type="array", array_size=5),
    "a part of 4 MiB": bl.ImageDescriptor(1000, 1100, channel_type="unsigned_int8"),
}
SAMPLER = bl.BindlessImageSampler("clamp_to_edge")


def random_of(desc: bl.ImageDescriptor, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    if desc.dtype.kind == "f":
        return rng.random(desc.shape, np.float32).astype(desc.dtype)
    return rng.integers(0, 100, desc.shape, dtype=desc.dtype)


# ---------------------------------------------------------------------- devices


def test_a_context_of_both(pair: Any, both: bl.Context) -> None:
    first, second = pair
    assert both.devices == (first, second) == both.get_info("devices") and first != second
    for device in pair:
        label = repr(device).removeprefix("<Device ").removesuffix(">")
        for made in (both, bl.Queue(device, both)):
            assert label in repr(made)
    assert bl.Queue(context=both).device == first
    assert bl.Queue(second, both).device == second and bl.Queue(second, both).context is both
    assert bl.Context([first, second, first]).devices == (first, second)
    with raises(bl.InvalidError):
        bl.Queue(second, bl.Context(first))
    with raises(bl.InvalidError):
        bl.ImageMem(DESCRIPTORS["64 bytes"], second, bl.Context(first))


@pytest.mark.parametrize("kind", ["device", "host", "shared"])
def test_memory_knows_its_device(both: bl.Context, kind: str) -> None:
    for device in both.devices:
        if not device.has(f"usm_{kind}_allocations"):
            pytest.skip(f"{device.name} has no {kind} memory")
        array = bl.usm_empty(100, np.int32, device, both, kind=kind)
        assert array.device == device and bl.get_pointer_type(array, both) == kind
        wanted = both.devices[0] if kind == "host" else device
        assert bl.get_pointer_device(array, both) == wanted
        array.close()


# ---------------------------------------------------------------------- memory


@pytest.mark.parametrize("nbytes", [64, 100_003, 16 << 20])
def test_bytes_go_between_devices(queues: Queues, nbytes: int) -> None:
    """Copies between the devices in both directions, on either queue, and with other kinds of memory."""
    values = np.random.default_rng(nbytes).integers(0, 256, nbytes, np.uint8)
    for source, target in (queues, queues[::-1]):
        for by in queues:
            here = bl.usm_empty(nbytes, np.uint8, source).copy_from(values)
            there = bl.usm_empty(nbytes, np.uint8, target)
            by.memcpy(there, here).wait()
            assert np.array_equal(there.numpy(), values)
            by.memcpy(there[7:40], here[20:53]).wait()
            back = np.empty(nbytes, np.uint8)
            by.memcpy(back, there).wait()  # also on the queue of the device without the memory
            wanted = values.copy()
            wanted[7:40] = values[20:53]
            assert np.array_equal(back, wanted)
            by.memcpy(there, values[::-1].copy()).wait()
            assert np.array_equal(there.numpy(), values[::-1])


@pytest.mark.parametrize("kind", ["host", "shared"])
def test_other_kinds_of_memory_serve_both(queues: Queues, kind: str) -> None:
    if not all(queue.device.has(f"usm_{kind}_allocations") for queue in queues):
        pytest.skip(f"a device has no {kind} memory")
    for own, other in (queues, queues[::-1]):
        array = bl.usm_empty(1000, np.int32, own, kind=kind)
        own.fill(array, 3).wait()
        other.fill(array[:500], 4).wait()
        device = bl.usm_empty(1000, np.int32, other)
        other.memcpy(device, array).wait()
        assert np.array_equal(device.numpy(), np.repeat([4, 3], 500))


@pytest.mark.parametrize("pattern", [1, 2, 3, 4, 8, 12, 16])
def test_either_queue_fills_memory_of_either(queues: Queues, pattern: int) -> None:
    data = bytes(range(1, pattern + 1))
    for own, other in (queues, queues[::-1]):
        array = bl.usm_empty(pattern * 5000, np.uint8, own)
        event = own.memset(array, 9)
        other.fill(array, data, 4000, depends_on=event).wait()
        wanted = np.concatenate([np.tile(np.frombuffer(data, np.uint8), 4000), np.full(pattern * 1000, 9, np.uint8)])
        assert np.array_equal(array.numpy(), wanted)


# ---------------------------------------------------------------------- images


@pytest.mark.parametrize("name", DESCRIPTORS)
def test_pixels_go_all_ways(queues: Queues, name: str) -> None:
    """host, image, image, USM; copy to the other device; USM, image, host. Each queue uses its own device's images."""
    desc = DESCRIPTORS[name]
    pixels = random_of(desc)
    for here, there in (queues, queues[::-1]):
        with (
            bl.ImageMem(desc, here) as first,
            bl.ImageMem(desc, here) as second,
            bl.ImageMem(desc, there) as third,
        ):
            assert first.get_device() == second.get_device() == here.device != third.get_device()
            near, far = (bl.usm_empty(desc.shape, desc.dtype, queue) for queue in (here, there))
            back = np.zeros_like(pixels)
            event = here.ext_oneapi_copy(pixels, first)
            event = here.ext_oneapi_copy(first, second, depends_on=event)
            event = here.ext_oneapi_copy(second, near, depends_on=event)
            event = there.memcpy(far, near, depends_on=event)
            event = there.ext_oneapi_copy(far, third, depends_on=event)
            there.ext_oneapi_copy(third, back, depends_on=event).wait()
            assert np.array_equal(back, pixels)


@pytest.mark.parametrize("name", ["64 bytes", "16 MiB", "a part of 4 MiB"])
def test_parts_of_images(queues: Queues, name: str) -> None:
    desc = DESCRIPTORS[name]
    width, height = desc.width, desc.height
    extent = (width // 2, height // 2, 1)
    x, y = width // 4, height // 4
    other, wanted = random_of(desc, 1), random_of(desc, 2)
    images = [bl.ImageMem(desc, queue) for queue in queues for _ in range(2)]
    for queue, (source, target) in zip(queues, (images[:2], images[2:])):
        queue.ext_oneapi_copy(other, source).wait()
        queue.ext_oneapi_copy(wanted, target).wait()
    wanted = wanted.copy()
    wanted[y : y + extent[1], x : x + extent[0]] = other[: extent[1], x : x + extent[0]]
    part = {"src_offset": (x, 0, 0), "dst_offset": (x, y, 0), "copy_extent": extent}
    events = [queue.ext_oneapi_copy(*images[at : at + 2], **part) for queue, at in zip(queues, (0, 2))]
    for queue, event, image in zip(queues, events, images[1::2]):
        back = np.empty_like(wanted)
        queue.ext_oneapi_copy(image, back, depends_on=event).wait()
        assert np.array_equal(back, wanted)


def test_levels_of_mipmaps(queues: Queues) -> None:
    if not all(queue.device.has("ext_oneapi_mipmap") for queue in queues):
        pytest.skip("a device has no mipmaps")
    desc = bl.ImageDescriptor(64, 32, channel_type="fp32", type="mipmap", num_levels=4)
    images = [bl.ImageMem(desc, queue) for queue in queues]
    pixels = {
        (at, level): random_of(desc.get_mip_level_desc(level), 10 * at + level) for at in range(2) for level in range(4)
    }
    for (at, level), values in pixels.items():
        handle = images[at].get_mip_level_mem_handle(level)
        queues[at].ext_oneapi_copy(values, handle, dst_desc=desc.get_mip_level_desc(level)).wait()
    for (at, level), values in pixels.items():
        back = np.empty_like(values)
        handle = images[at].get_mip_level_mem_handle(level)
        queues[at].ext_oneapi_copy(handle, back, src_desc=desc.get_mip_level_desc(level)).wait()
        assert np.array_equal(back, values)


def test_copies_again_and_again(queues: Queues) -> None:
    """Queues repeat known copies without Python; equal descriptors on two devices stay distinct images."""
    desc = bl.ImageDescriptor(24, 10, channel_type="unsigned_int16")
    images = [[bl.ImageMem(desc, queue) for _ in range(2)] for queue in queues]
    arrays = [bl.usm_empty(desc.shape, desc.dtype, queue) for queue in queues]
    for turn in range(12):
        pixels = [random_of(desc, 2 * turn + at) for at in range(2)]
        backs = [np.empty_like(pixels[0]) for _ in range(2)]
        for at, queue in enumerate(queues):
            one, two = images[at][:: 1 if turn % 3 else -1]
            event = queue.ext_oneapi_copy(pixels[at], one)
            event = queue.ext_oneapi_copy(one, two, depends_on=event)
            event = queue.ext_oneapi_copy(two, arrays[at], depends_on=event)
            queue.ext_oneapi_copy(two, backs[at], depends_on=event)
        for at, queue in enumerate(queues):
            queue.wait()
            assert np.array_equal(backs[at], pixels[at]) and np.array_equal(arrays[at].numpy(), pixels[at])


def test_images_of_the_other_device_are_refused(queues: Queues) -> None:
    """BI's first copy failure: memory on another device than the queue's. The error names both devices."""
    desc = DESCRIPTORS["64 bytes"]
    pixels = random_of(desc)
    for here, there in (queues, queues[::-1]):
        names = (f"was allocated on {there.device}", f"the queue runs on {here.device}")
        with bl.ImageMem(desc, here) as own, bl.ImageMem(desc, there) as other:
            near, far = (bl.usm_empty(desc.shape, desc.dtype, queue) for queue in (here, there))
            sides: list[tuple[Any, Any]] = [(pixels, other), (other, pixels), (own, other), (other, own), (other, near)]
            for source, target in [*sides, (near, other)]:
                with raises(bl.InvalidError, names=names):
                    here.ext_oneapi_copy(source, target)
            for source, target in ((far, own), (own, far)):
                with raises(bl.InvalidError, names=str(there.device)):
                    here.ext_oneapi_copy(source, target)
            with raises(bl.SyclRuntimeError, names=str(there.device)):
                bl.create_image(other, desc, here)
            with raises(bl.SyclRuntimeError, names=str(there.device)):
                bl.create_image(other, desc, here, sampler=SAMPLER)
            with bl.CommandGraph(here) as graph, raises(bl.InvalidError, names=names):
                graph.ext_oneapi_copy(pixels, other)


def test_an_image_over_memory_of_the_other_device_is_refused(queues: Queues) -> None:
    here, there = queues
    if not here.device.has("ext_oneapi_bindless_images_2d_usm"):
        pytest.skip("the device has no images over USM")
    desc = bl.ImageDescriptor(64, 8, channel_type="fp32")
    pointer, pitch = bl.pitched_alloc_device(desc, there)
    with raises(bl.SyclRuntimeError, names=str(there.device)):
        bl.create_image(pointer, desc, here, sampler=SAMPLER, pitch=pitch)


def test_images_have_numbers_of_their_own(queues: Queues) -> None:
    """Drivers number images per device; image identity survives destruction in any order."""
    desc = DESCRIPTORS["64 bytes"]
    shuffled = random.Random(3)
    memories = [(queue, bl.ImageMem(desc, queue)) for queue in queues for _ in range(3)]
    for _ in range(5):
        made = [(queue, memory, sampler) for queue, memory in memories for sampler in (None, SAMPLER)]
        shuffled.shuffle(made)
        handles = [(bl.create_image(memory, desc, queue, sampler=sampler), queue) for queue, memory, sampler in made]
        assert len({(type(handle), handle.raw_handle) for handle, _ in handles}) == len(handles)
        for handle, queue in handles:
            other = queues[queue is queues[0]]
            names = (f"was made on {queue.device}", f"the queue runs on {other.device}")
            with raises(bl.InvalidError, names=names):
                bl.fetch_image(other, handle, np.zeros((1, 2), np.int32))
        shuffled.shuffle(handles)
        for handle, queue in handles:
            bl.destroy_image_handle(handle, queue)
    for _, memory in memories:
        memory.close()


@pytest.mark.on_level_zero
def test_level_zero_counts_by_device(queues: Queues, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver gives images of both devices equal handles: images are created until a handle is unique."""
    driver = type(queues[0].device._record.native.driver)
    require, images = driver.require, {}

    def numbered(self: Any, name: str, version: str) -> Any:
        if name != "zeImageGetDeviceOffsetExp":
            return require(self, name, version)

        def offset(image: Any, slot: Any) -> int:
            slot[0] = 0x1000 + len(images) // 2  # pairs of images share a number
            images[len(images)] = image
            return 0

        return offset

    monkeypatch.setattr(driver, "require", numbered)
    desc = DESCRIPTORS["64 bytes"]
    memories = [bl.ImageMem(desc, queue) for queue in queues]
    before = native_objects(queues[0].device)
    for sampler in (None, SAMPLER):
        images.clear()
        handles = [bl.create_image(memory, desc, queue, sampler=sampler) for memory, queue in zip(memories, queues)]
        assert [handle.raw_handle for handle in handles] == [0x1000, 0x1001] and len(images) == 3
        for handle, queue in zip(handles, queues):
            bl.destroy_image_handle(handle, queue)
    assert native_objects(queues[0].device) == before


# ---------------------------------------------------------------------- order


@pytest.mark.parametrize("shared", [True, False], ids=["one context", "a context each"])
@pytest.mark.parametrize("profiling", [False, True], ids=["", "with times"])
def test_commands_wait_for_those_of_the_other_device(
    pair: Any, both: bl.Context, shared: bool, profiling: bool
) -> None:
    """Ping-pong through host memory: every step reads the data that its predecessor wrote on the other device."""
    if profiling and not all(device.has("queue_profiling") for device in pair):
        pytest.skip("a device records no times")
    contexts = (both, both) if shared else tuple(map(bl.Context, pair))
    for in_order in (True, False):
        queues = [
            bl.Queue(device, context, in_order=in_order, enable_profiling=profiling)
            for device, context in zip(pair, contexts)
        ]
        count = 1 << 18
        arrays = [bl.usm_empty(count, np.int32, queue) for queue in queues]
        host = np.zeros(count, np.int32)
        event = queues[0].fill(arrays[0], 0)
        for turn in range(1, 12):
            here, there = turn % 2, 1 - turn % 2
            event = queues[there].memcpy(host, arrays[there], depends_on=event)
            event = queues[here].memcpy(arrays[here], host, depends_on=event)
            event = queues[here].fill(arrays[here][:turn], turn, depends_on=event)
        event.wait()
        wanted = np.zeros(count, np.int32)
        for turn in range(1, 12):
            wanted[:turn] = turn
        assert np.array_equal(arrays[1].numpy(), wanted)
        if profiling:
            submitted, start, end = (
                event.get_profiling_info(name) for name in ("command_submit", "command_start", "command_end")
            )
            assert submitted <= start <= end
        for queue in queues:
            queue.close()


def test_many_wait_for_many(queues: Queues) -> None:
    """Each step of a queue waits for all earlier steps on both devices; deferred events are recorded late."""
    arrays = [bl.usm_empty((16, 1000), np.int32, queue) for queue in queues]
    events: list[bl.Event] = []
    for turn in range(16):
        for at, queue in enumerate(queues):
            events.append(queue.fill(arrays[at][turn], turn + 100 * at, depends_on=events))
    last = [queue.memcpy(arrays[at][15], arrays[1 - at][0], depends_on=events) for at, queue in enumerate(queues)]
    for event in last:
        event.wait()
    for at in range(2):
        rows = np.arange(16)[:, None] + 100 * at + np.zeros((1, 1000), int)
        rows[15] = 100 * (1 - at)
        assert np.array_equal(arrays[at].numpy(), rows)


def test_barriers_and_host_tasks_of_both(queues: Queues) -> None:
    arrays = [bl.usm_empty(1 << 16, np.int32, queue, kind="device") for queue in queues]
    seen: list[tuple[int, int]] = []
    event: Any = ()
    for turn in range(6):
        at = turn % 2
        queue, out = queues[at], np.zeros(1 << 16, np.int32)
        event = queue.fill(arrays[at], turn, depends_on=event)
        event = queue.ext_oneapi_submit_barrier(event)
        event = queues[1 - at].memcpy(out, arrays[at], depends_on=event)

        def group(handler: bl.Handler, out: Array = out, after: Any = event) -> None:
            handler.depends_on(after)
            handler.host_task(lambda: seen.append((int(out.min()), int(out.max()))))

        event = queue.submit(group)
    event.wait()
    assert seen == [(turn, turn) for turn in range(6)]


# ---------------------------------------------------------------------- buffers


def test_a_buffer_goes_round(queues: Queues) -> None:
    """A buffer is written on one device, updated on the other, then read on the host."""
    values = np.arange(3000, dtype=np.int32)
    with bl.Buffer(values.copy()) as buffer:
        wanted = values.copy()
        for turn in range(8):
            queue, begin = queues[turn % 2], 100 * turn

            def group(handler: bl.Handler, turn: int = turn, begin: int = begin) -> None:
                part = buffer.get_access(handler, "read_write", range=1000, offset=begin)
                handler.fill(part, turn)

            queue.submit(group)
            wanted[begin : begin + 1000] = turn
            if turn == 4:
                with buffer.get_host_access("read_write") as host:
                    assert np.array_equal(host, wanted)
                    host[5] = wanted[5] = -1
        with buffer.get_host_access("read") as host:
            assert np.array_equal(host, wanted)


def test_buffers_of_both_in_one_group(queues: Queues) -> None:
    """The queue's device copies the data that the other device holds."""
    size = 1 << 20
    with bl.Buffer((size,), np.int32) as one, bl.Buffer((size,), np.int32) as two:
        for turn in range(4):
            here, there = queues[turn % 2], queues[1 - turn % 2]

            def write(handler: bl.Handler, turn: int = turn) -> None:
                handler.fill(one.get_access(handler, "write", no_init=True), turn)

            def copy(handler: bl.Handler) -> None:
                handler.copy(one.get_access(handler, "read"), two.get_access(handler, "write", no_init=True))

            here.submit(write)
            there.submit(copy)
            with two.get_host_access("read") as host:
                assert (host == turn).all()


# ---------------------------------------------------------------------- graphs


def test_graphs_of_each(queues: Queues) -> None:
    desc = DESCRIPTORS["array"]
    pixels = [random_of(desc, at) for at in range(2)]
    backs = [np.zeros_like(pixels[0]) for _ in range(2)]
    memories = [bl.ImageMem(desc, queue) for queue in queues]
    arrays = [bl.usm_empty(desc.shape, desc.dtype, queue) for queue in queues]
    graphs = [bl.CommandGraph(queue) for queue in queues]
    for at, graph in enumerate(graphs):
        graph.ext_oneapi_copy(pixels[at], memories[at])
        graph.ext_oneapi_copy(memories[at], arrays[at], dst_desc=desc)
        graph.memcpy(backs[1 - at], arrays[at])
    for _ in range(3):
        event: Any = ()
        for graph in graphs:  # each after the other device's graph
            event = graph(depends_on=event)
        event.wait()
        for at in range(2):
            assert np.array_equal(backs[1 - at], pixels[at])
            pixels[at] += 1
    for graph in graphs:
        graph.close()


# ---------------------------------------------------------------------- other libraries


class Exporter:
    """An object with an array interface and nothing else."""

    def __init__(self, name: str, interface: object) -> None:
        setattr(self, name, interface)


class Lender:
    """An array that reports its device and fails on every other request."""

    def __init__(self, array: bl.UsmArray) -> None:
        self.__dlpack_device__ = array.__dlpack_device__

    def __dlpack__(self, **options: object) -> object:
        raise AssertionError(f"asked with {options}")


def test_arrays_of_each_are_exported_as_such(queues: Queues) -> None:
    for queue in queues:
        array = bl.usm_empty((20, 30), np.float32, queue).copy_from(np.arange(600).reshape(20, 30))
        assert array.__dlpack_device__() == (2 if queue.backend == "cuda" else 14, queue.device.index)  # CUDA, oneAPI
        same = bl.from_dlpack(array, queue)
        assert same.address == array.address and same.device == queue.device
        queue.fill(same[3], 7.0).wait()
        assert (array.numpy()[3] == 7).all()


@pytest.mark.cuda
def test_arrays_find_their_device(queues: Queues) -> None:
    for queue, other in (queues, queues[::-1]):
        array = bl.usm_empty((20, 30), np.int32, queue)
        queue.fill(array, 5).wait()
        exporter = Exporter("__cuda_array_interface__", array.__cuda_array_interface__)
        for found in (bl.as_usm_array(exporter), bl.from_dlpack(array)):
            assert found.device == queue.device and found.address == array.address
            assert (found.numpy() == 5).all()
        for given in (exporter, Lender(array)):
            with raises(bl.InvalidError) as caught:
                bl.as_usm_array(given, other)
            assert repr(other.device) in str(caught.value)


# ---------------------------------------------------------------------- concurrency


@pytest.mark.parametrize("in_order", [True, False], ids=["in order", "out of order"])
def test_threads_that_use_both(pair: Any, both: bl.Context, in_order: bool) -> None:
    """Each thread alternates between the devices; its final data match its operations."""
    shared = [bl.Queue(device, both, in_order=in_order) for device in pair]
    desc = bl.ImageDescriptor(33, 17, channel_type="unsigned_int16")

    def work(index: int) -> None:
        rng = random.Random(index)
        own = [bl.Queue(device, both, in_order=not in_order) for device in pair]
        state = random_of(desc, index)
        at, array = 0, bl.usm_empty(desc.shape, desc.dtype, shared[0]).copy_from(state)
        event: Any = ()
        for _ in range(40):
            queue = rng.choice((shared, own))[at]
            action = rng.randrange(4)
            if action == 0:  # copy to the other device
                other = bl.usm_empty(desc.shape, desc.dtype, pair[1 - at], both)
                event = rng.choice((queue, shared[1 - at])).memcpy(other, array, depends_on=event)
                at, array = 1 - at, other
            elif action == 1:
                row, value = rng.randrange(17), rng.randrange(100)
                event = queue.fill(array[row], np.uint16(value), depends_on=event)
                state[row] = value
            elif action == 2:  # through an image and back
                memory, after = bl.ImageMem(desc, queue), bl.usm_empty(desc.shape, desc.dtype, queue)
                event = queue.ext_oneapi_copy(array, memory, depends_on=event)
                event = queue.ext_oneapi_copy(memory, after, depends_on=event)
                array = after
                memory.close()
            else:
                found = np.empty_like(state)
                queue.memcpy(found, array, depends_on=event).wait()
                assert np.array_equal(found, state)
        found = np.empty_like(state)
        shared[at].memcpy(found, array, depends_on=event).wait()
        assert np.array_equal(found, state)
        for queue in own:
            queue.close()

    in_threads(8, work)
    for queue in shared:
        queue.close()


def test_closing_leaves_nothing(pair: Any) -> None:
    def everything() -> None:
        desc = DESCRIPTORS["64 bytes"]
        with bl.Context(pair) as context, bl.Buffer(np.zeros(100, np.int32)) as buffer:
            queues = [bl.Queue(device, context) for device in pair]
            memories = [bl.ImageMem(desc, queue) for queue in queues for _ in range(2)]
            arrays = [bl.usm_empty(desc.shape, desc.dtype, queue) for queue in queues]
            handles = [
                (bl.create_image(memory, desc, memory.get_device(), context, sampler=sampler), memory.get_device())
                for memory in memories
                for sampler in (None, SAMPLER)
            ]
            for queue in queues:
                queue.submit(lambda handler: handler.fill(buffer.get_access(handler, "read_write"), 1))
            event = queues[0].memset(arrays[0], 1)
            queues[1].memcpy(arrays[1], arrays[0], depends_on=event)
            with bl.CommandGraph(queues[1]) as graph:
                graph.memcpy(arrays[0], arrays[1])
                graph().wait()
            for handle, device in handles[::2]:
                bl.destroy_image_handle(handle, device, context)
            for memory in memories[::2]:
                memory.close()

    def objects() -> list[dict[str, int]]:
        return [native_objects(device) for device in pair]

    everything()
    objects()
    before = objects()
    for _ in range(3):
        everything()
    objects()
    assert objects() == before
