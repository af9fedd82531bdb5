"""Kernels on two devices of one context: shared bundles, images and memory of each device, concurrency."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from tests.support.compile_kernels import load
from tests.support.error_checks import raises
from tests.sycl.queue.test_threads import in_threads

Array = npt.NDArray[Any]
Queues = tuple[bl.Queue, bl.Queue]

TEXT = """
#include <bindless/device.h>

kernel void add(global const int *in, global int *out, int value)
{
    out[bindless_global_id(0)] = in[bindless_global_id(0)] + value;
}

/* Counts to n, and only then copies. */
kernel void copy_late(global const int *in, global int *out, uint n)
{
    volatile uint count = 0;
    while (count < n) count = count + 1;
    out[bindless_global_id(0)] = in[bindless_global_id(0)] + (int)(count - n);
}
"""

IMAGES = """
#include <bindless/device.h>

/* Item i reads pixel i of rows of so many pixels, and between it and the next one. */
kernel void look(sampled_image_handle image, global float4 *pixels, global float4 *between, uint width)
{
    const uint i = (uint)bindless_global_id(0);
    const float2 at = (float2)((float)(i % width) + 0.5f, (float)(i / width) + 0.5f);
    pixels[i] = sample_image_float4(image, at);
    between[i] = sample_image_float4(image, at + (float2)(0.5f, 0.0f));
}
"""

WRITES = """
#include <bindless/device.h>

kernel void scale(unsampled_image_handle image, uint width, float factor)
{
    const uint i = (uint)bindless_global_id(0);
    const int2 at = (int2)((int)(i % width), (int)(i / width));
    write_image(image, at, fetch_image_float4(image, at) * factor);
}
"""

DESC = bl.ImageDescriptor(37, 21, channel_type="fp32")
COUNT = DESC.width * DESC.height
SAMPLER = bl.BindlessImageSampler("clamp_to_edge", filtering="linear")


@pytest.fixture(scope="module")
def files() -> dict[str, bl.KernelFile]:
    return {name: bl.build(text) for name, text in (("plain", TEXT), ("images", IMAGES), ("writes", WRITES))}


@pytest.fixture(scope="module")
def bundles(files: dict[str, bl.KernelFile], both: bl.Context) -> Iterator[dict[str, bl.KernelBundle]]:
    """Bundles, each loaded once for both devices."""
    made = {name: bl.load_kernel_bundle(file, both) for name, file in files.items()}
    yield made
    for bundle in made.values():
        bundle.close()


def pixels_of(seed: int) -> Array:
    """Pixels with integer values, whose means are exact."""
    return np.random.default_rng(seed).integers(0, 200, DESC.shape).astype(np.float32)


def between(pixels: Array) -> Array:
    """Means of neighbouring pixels in a row; the last mean is the edge pixel itself."""
    return (pixels + np.concatenate([pixels[:, 1:], pixels[:, -1:]], axis=1)) / 2


def test_the_kernels_build(files: dict[str, bl.KernelFile]) -> None:
    """Runs with one device too, so that a machine without a compiler can use the modules kept here."""
    names = {name: {kernel for section in file.sections for kernel in section.kernels} for name, file in files.items()}
    assert names == {"plain": {"add", "copy_late"}, "images": {"look"}, "writes": {"scale"}}


# ---------------------------------------------------------------------- bundles


def test_one_bundle_serves_both(queues: Queues, bundles: dict[str, bl.KernelBundle]) -> None:
    bundle = bundles["plain"]
    assert bundle.devices == tuple(queue.device for queue in queues)
    for chosen in (None, *bundle.devices):  # the kernel of either device runs on the queue's
        kernel = bundle.get_kernel("add", chosen)
        for queue in queues:
            assert bundle.has_kernel("add", queue.device)
            assert kernel.get_info("work_group_size", queue.device) > 0
            array = bl.usm_empty(1000, np.int32, queue).copy_from(np.arange(1000, dtype=np.int32))
            event: Any = ()
            for _ in range(5):
                event = queue.parallel_for(1000, kernel, array, array, 7, depends_on=event)
            event.wait()
            assert np.array_equal(array.numpy(), np.arange(1000) + 35)


def test_a_bundle_of_one_device_is_refused_on_the_other(queues: Queues, files: dict[str, bl.KernelFile]) -> None:
    for own, other in (queues, queues[::-1]):
        with bl.load_kernel_bundle(files["plain"], own) as bundle:
            kernel = bundle.get_kernel("add")
            array = bl.usm_empty(10, np.int32, other)
            with raises(bl.InvalidError, names="<KernelBundle") as caught:
                other.parallel_for(10, kernel, array, array, 1)
            assert repr(other.device) in str(caught.value)
            assert not bundle.has_kernel("add", other.device)


def test_bound_launches_of_each(queues: Queues, bundles: dict[str, bl.KernelBundle]) -> None:
    arrays = [bl.usm_empty(500, np.int32, queue) for queue in queues]
    for queue, array in zip(queues, arrays):
        queue.fill(array, 0).wait()
    kernel = bundles["plain"].get_kernel("add")
    launches = [kernel.bind(queue, 500, array, array, 1) for queue, array in zip(queues, arrays)]
    events: list[Any] = [(), ()]
    for turn in range(30):
        for at, launch in enumerate(launches):
            launch[2] = turn + at
            events[at] = launch(depends_on=events[at])
    for at, event in enumerate(events):
        event.wait()
        assert (arrays[at].numpy() == sum(range(30)) + 30 * at).all()


# ---------------------------------------------------------------------- memory of the other device


def test_kernels_with_memory_of_the_other_device(queues: Queues, bundles: dict[str, bl.KernelBundle]) -> None:
    """Kernels reach peer memory, or the launch is refused; no fault loses the device."""
    kernel = bundles["plain"].get_kernel("add")
    values = np.random.default_rng(5).integers(0, 1000, 1 << 16).astype(np.int32)
    for own, other in (queues, queues[::-1]):
        far = bl.usm_empty(values.shape, np.int32, other).copy_from(values)
        near = bl.usm_empty(values.shape, np.int32, own)
        for turn in range(4):
            if (own.device, other.device) in own.context._unreached:
                with raises(bl.InvalidError):
                    own.parallel_for(values.size, kernel, far, near, turn)
                continue
            event = own.parallel_for(values.size, kernel, far, near, turn)
            own.parallel_for(values.size, kernel, near, far, 1, depends_on=event).wait()
            assert np.array_equal(near.numpy(), values + turn)
            assert np.array_equal(far.numpy(), values + turn + 1)
            far.copy_from(values)


@pytest.mark.parametrize("kind", ["host", "shared"])
def test_kernels_of_both_share_memory(queues: Queues, bundles: dict[str, bl.KernelBundle], kind: str) -> None:
    if not all(queue.device.has(f"usm_{kind}_allocations") for queue in queues):
        pytest.skip(f"a device has no {kind} memory")
    kernel = bundles["plain"].get_kernel("add")
    array = bl.usm_empty(5000, np.int32, queues[0], kind=kind)
    event = queues[0].fill(array, 0)
    for turn in range(12):
        event = queues[turn % 2].parallel_for(5000, kernel, array, array, turn, depends_on=event)
    event.wait()
    assert (array.numpy() == sum(range(12))).all()


# ---------------------------------------------------------------------- images


def test_the_same_kernel_samples_images_of_each_at_once(queues: Queues, bundles: dict[str, bl.KernelBundle]) -> None:
    """Handles alternate, so that a mix-up of the two devices' numbers would show."""
    kernel = bundles["images"].get_kernel("look")
    rows = []
    for at in range(6):
        queue = queues[at % 2]
        memory, pixels = bl.ImageMem(DESC, queue), pixels_of(at)
        queue.ext_oneapi_copy(pixels, memory).wait()
        handle = bl.create_image(memory, DESC, queue, sampler=SAMPLER)
        results = [bl.usm_empty((COUNT, 4), np.float32, queue) for _ in range(2)]
        rows.append((queue, memory, pixels, handle, results))
    for _ in range(5):
        events = [
            queue.parallel_for(COUNT, kernel, handle, *results, np.uint32(DESC.width))
            for queue, _, _, handle, results in rows
        ]
        for event, (_, _, pixels, _, results) in zip(events, rows):
            event.wait()
            assert np.array_equal(results[0].numpy().reshape(DESC.shape), pixels)
            assert np.array_equal(results[1].numpy().reshape(DESC.shape), between(pixels))
    for queue, memory, _, handle, _ in rows:
        bl.destroy_image_handle(handle, queue)
        memory.close()


def test_kernels_write_images_of_each(queues: Queues, bundles: dict[str, bl.KernelBundle]) -> None:
    kernel = bundles["writes"].get_kernel("scale")
    memories = [bl.ImageMem(DESC, queue) for queue in queues]
    handles = [bl.create_image(memory, DESC, queue) for memory, queue in zip(memories, queues)]
    for at, queue in enumerate(queues):
        event = queue.ext_oneapi_copy(pixels_of(at), memories[at])
        for _ in range(4):
            event = queue.parallel_for(COUNT, kernel, handles[at], np.uint32(DESC.width), 2.0, depends_on=event)
        back = np.empty(DESC.shape, np.float32)
        queue.ext_oneapi_copy(memories[at], back, depends_on=event).wait()
        assert np.array_equal(back, 16 * pixels_of(at))
    for handle, queue in zip(handles, queues):
        bl.destroy_image_handle(handle, queue)


def test_kernels_refuse_images_of_the_other_device(queues: Queues, bundles: dict[str, bl.KernelBundle]) -> None:
    kernels = [bundles[name].get_kernel(kernel) for name, kernel in (("images", "look"), ("writes", "scale"))]
    for own, other in (queues, queues[::-1]):
        with bl.ImageMem(DESC, other) as memory:
            sampled = bl.create_image(memory, DESC, other, sampler=SAMPLER)
            plain = bl.create_image(memory, DESC, other)
            result = bl.usm_empty((COUNT, 4), np.float32, own)
            for kernel, arguments in (
                (kernels[0], (sampled, result, result, np.uint32(DESC.width))),
                (kernels[1], (plain, np.uint32(DESC.width), 2.0)),
            ):
                with raises(bl.InvalidError) as caught:
                    own.parallel_for(COUNT, kernel, *arguments)
                assert repr(own.device) in str(caught.value) and repr(other.device) in str(caught.value)
                with bl.CommandGraph(own) as graph, raises(bl.InvalidError):
                    graph.parallel_for(COUNT, kernel, *arguments)
            bl.destroy_image_handle(sampled, other)
            bl.destroy_image_handle(plain, other)


def test_device_functions_of_each(queues: Queues) -> None:
    """Device functions with host arrays, small and large, and with USM."""
    for at, queue in enumerate(queues):
        pixels = pixels_of(at)
        with bl.ImageMem(DESC, queue) as memory:
            queue.ext_oneapi_copy(pixels, memory).wait()
            handle, plain = bl.create_image(memory, DESC, queue, sampler=SAMPLER), bl.create_image(memory, DESC, queue)
            rng = np.random.default_rng(at)
            for count in (10, 300_000):
                where = rng.integers(0, (DESC.width, DESC.height), (count, 2)).astype(np.int32)
                wanted = pixels[where[:, 1], where[:, 0]]
                assert np.array_equal(bl.sample_image(queue, handle, where.astype(np.float32) + 0.5), wanted)
                assert np.array_equal(bl.fetch_image(queue, plain, where), wanted)
                coords = bl.usm_empty(where.shape, np.int32, queue).copy_from(where)
                out = bl.usm_empty(wanted.shape, np.float32, queue)
                bl.fetch_image(queue, plain, coords, out=out).wait()
                assert np.array_equal(out.numpy(), wanted)
            everywhere = np.stack(np.meshgrid(np.arange(DESC.width), np.arange(DESC.height)), -1).reshape(-1, 2)
            bl.write_image(queue, plain, everywhere.astype(np.int32), pixels.reshape(-1, 4) * 3)
            assert np.array_equal(bl.fetch_image(queue, plain, where), 3 * wanted)
            bl.destroy_image_handle(handle, queue)
            bl.destroy_image_handle(plain, queue)


def test_kernels_and_pictures_of_the_second_device(queues: Queues) -> None:
    """``Image`` allocates and runs on its queue's device."""
    pixels = np.random.default_rng(1).integers(0, 256, (64, 48, 4), np.uint8)
    images = [bl.Image(pixels, queue=queue) for queue in queues]
    other = bl.Image(pixels, queue=bl.Queue(queues[1].device))  # in a context of its own
    points = np.random.default_rng(2).random((5000, 2), np.float32) * (48, 64)
    matrix = [[0.9, 0.1, 2], [-0.1, 0.8, 3], [0, 0, 1]]
    first = images[0]
    for image in (images[1], other):
        assert image.queue.device == queues[1].device
        assert np.array_equal(image.numpy(), pixels)
        assert np.array_equal(image.sample(points), first.sample(points))
        assert np.array_equal(image.warp(matrix, (40, 50)), first.warp(matrix, (40, 50)))
        assert np.array_equal(image.resize((30, 20)), first.resize((30, 20)))
    for image in (*images, other):
        image.close()


# ---------------------------------------------------------------------- order


def test_a_long_kernel_comes_first(queues: Queues, bundles: dict[str, bl.KernelBundle]) -> None:
    """Dependent commands on the other device start after the long kernel ends."""
    late = bundles["plain"].get_kernel("copy_late")
    steps = np.uint32(3_000_000 if queues[0].device.type == "gpu" else 20_000)
    values = np.random.default_rng(4).integers(0, 1000, 256).astype(np.int32)
    for own, other in (queues, queues[::-1]):
        source = bl.usm_empty(256, np.int32, own).copy_from(values)
        middle, target = bl.usm_empty(256, np.int32, own), bl.usm_empty(256, np.int32, other)
        for turn in range(3):
            event = own.fill(middle, -1)
            event = own.parallel_for(256, late, source, middle, steps, depends_on=event)
            event = other.memcpy(target, middle, depends_on=event)
            event = other.parallel_for(256, bundles["plain"].get_kernel("add"), target, target, turn, depends_on=event)
            event.wait()
            assert np.array_equal(target.numpy(), values + turn)


def test_a_buffer_of_kernels_on_both(queues: Queues, bundles: dict[str, bl.KernelBundle]) -> None:
    add, late = (bundles["plain"].get_kernel(name) for name in ("add", "copy_late"))
    size = 1 << 14
    with bl.Buffer(np.zeros(size, np.int32)) as buffer, bl.Buffer((size,), np.int32) as other:
        for turn in range(10):

            def forth(handler: bl.Handler) -> None:
                source = buffer.get_access(handler, "read")
                handler.parallel_for(size, late, source, other.get_access(handler, "write", no_init=True), 2000)

            def back(handler: bl.Handler, turn: int = turn) -> None:
                source = other.get_access(handler, "read")
                handler.parallel_for(size, add, source, buffer.get_access(handler, "write"), turn)

            queues[turn % 2].submit(forth)
            queues[1 - turn % 2].submit(back)
        with buffer.get_host_access("read") as host:
            assert (host == sum(range(10))).all()


def test_graphs_with_kernels_of_each(queues: Queues, bundles: dict[str, bl.KernelBundle]) -> None:
    add = bundles["plain"].get_kernel("add")
    arrays = [bl.usm_empty(4000, np.int32, queue) for queue in queues]
    graphs = [bl.CommandGraph(queue) for queue in queues]
    for at, graph in enumerate(graphs):
        for step in range(8):
            graph.parallel_for(4000, add, arrays[at], arrays[at], step)
        graph.memcpy(arrays[1 - at], arrays[at])
    event: Any = queues[0].fill(arrays[0], 0)
    for _ in range(5):
        for graph in graphs:
            event = graph(depends_on=event)
    event.wait()
    for at, graph in enumerate(graphs):
        assert (arrays[at].numpy() == 10 * sum(range(8))).all()
        graph.close()


# ---------------------------------------------------------------------- concurrency


def test_threads_that_launch_on_both(pair: Any, both: bl.Context, bundles: dict[str, bl.KernelBundle]) -> None:
    """Each launch makes its own context current, whatever the thread used before."""
    shared = [bl.Queue(device, both, in_order=in_order) for device in pair for in_order in (True, False)]
    add, look = bundles["plain"].get_kernel("add"), bundles["images"].get_kernel("look")

    def work(index: int) -> None:
        rng = random.Random(index)
        rows = []
        for queue in shared:
            memory, pixels = bl.ImageMem(DESC, queue), pixels_of(index)
            queue.ext_oneapi_copy(pixels, memory).wait()
            handle = bl.create_image(memory, DESC, queue, sampler=SAMPLER)
            results = [bl.usm_empty((COUNT, 4), np.float32, queue) for _ in range(2)]
            array = bl.usm_empty(3000, np.int32, queue)
            rows.append([queue, queue.fill(array, 0), 0, array, memory, handle, results, pixels])
        for _ in range(60):
            row = rng.choice(rows)
            queue, event, _, array, _, handle, results, pixels = row
            value = rng.randrange(100)
            if rng.random() < 0.7:
                row[1] = queue.parallel_for(3000, add, array, array, value, depends_on=event)
                row[2] += value
            else:
                queue.parallel_for(COUNT, look, handle, *results, np.uint32(DESC.width)).wait()
                assert np.array_equal(results[1].numpy().reshape(DESC.shape), between(pixels))
        for queue, event, total, array, memory, handle, _, _ in rows:
            event.wait()
            assert (array.numpy() == total).all()
            bl.destroy_image_handle(handle, queue)
            memory.close()

    in_threads(8, work)
    for queue in shared:
        queue.close()


def test_kept_kernels_of_both(queues: Queues) -> None:
    """Precompiled modules of a queue, loaded on both devices in turn."""
    bundles = [load(queue, "simple") for queue in queues]
    for turn in range(3):
        for queue, bundle in zip(queues, bundles):
            array = bl.usm_empty(100, np.int32, queue)
            event = queue.parallel_for(100, bundle.get_kernel("fill"), array, turn)
            queue.parallel_for(100, bundle.get_kernel("increment"), array, depends_on=event).wait()
            assert (array.numpy() == turn + 1).all()
