"""An ``Image`` in place of an image handle: kernels, command groups, graphs, device functions; and ``from_memory``."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from tests.support.error_checks import raises
from tests.support.python_calls import python_calls

Array = npt.NDArray[Any]

TEXT = """
#include <bindless/device.h>

/* Writes twice the pixels of one image into another, whose size it has. */
kernel void twice(sampled_image_handle from, unsampled_image_handle to, uint width)
{
    const uint i = (uint)bindless_global_id(0);
    const int2 at = (int2)((int)(i % width), (int)(i / width));
    const float2 centre = (float2)((float)at.x + 0.5f, (float)at.y + 0.5f);
    write_image(to, at, sample_image_float(from, centre) * 2.0f);
}
"""

SHAPE = (7, 12)
COUNT = SHAPE[0] * SHAPE[1]


@pytest.fixture(scope="module")
def file() -> bl.KernelFile:
    return bl.build(TEXT)


@pytest.fixture
def pixels() -> Array:
    return np.random.default_rng(5).random(SHAPE).astype(np.float32)


@pytest.fixture
def images(queue: bl.Queue, pixels: Array) -> Iterator[tuple[bl.Image, bl.Image]]:
    with bl.Image(pixels, queue=queue) as source, bl.Image(np.zeros_like(pixels), queue=queue) as target:
        yield source, target


def test_a_kernel_takes_images(
    queue: bl.Queue, file: bl.KernelFile, pixels: Array, images: tuple[bl.Image, bl.Image]
) -> None:
    """The parameter decides between the sampled and the unsampled image."""
    kernel = bl.load_kernel_bundle(file, queue).get_kernel("twice")
    source, target = images
    width = np.uint32(SHAPE[1])
    queue.parallel_for(COUNT, kernel, source, target, width).wait()
    np.testing.assert_array_equal(target.numpy(), 2 * pixels)
    queue.parallel_for(COUNT, kernel, target, target.unsampled_handle(), width).wait()
    np.testing.assert_array_equal(target.numpy(), 4 * pixels)
    queue.submit(lambda handler: handler.parallel_for(COUNT, kernel, source.handle, target, width)).wait()
    np.testing.assert_array_equal(target.numpy(), 2 * pixels)
    launch = kernel.bind(queue, COUNT, target, target, width)
    launch().wait()
    launch[0] = source
    launch[1] = target
    for _ in range(3):
        launch().wait()
    np.testing.assert_array_equal(target.numpy(), 2 * pixels)
    with bl.CommandGraph(queue) as graph:
        graph.parallel_for(COUNT, kernel, source, target, width)
        graph.parallel_for(COUNT, kernel, target, target, width)
        for _ in range(2):
            graph().wait()
    np.testing.assert_array_equal(target.numpy(), 4 * pixels)


def test_repeated_launches_take_one_image_after_another(queue: bl.Queue, file: bl.KernelFile, pixels: Array) -> None:
    """An image gives its handle without a way through Python, and what it refuses is refused again."""
    with bl.Queue(queue.device, queue.context, in_order=True) as own:
        kernel = bl.load_kernel_bundle(file, own).get_kernel("twice")
        width, target = np.uint32(SHAPE[1]), bl.Image(np.zeros_like(pixels), queue=own)
        sources = [bl.Image(number * pixels, queue=own) for number in range(1, 5)]
        for _ in range(3):
            for number, source in enumerate(sources, 1):
                own.parallel_for(COUNT, kernel, source, target, width).wait()
                np.testing.assert_array_equal(target.numpy(), np.float32(2) * (number * pixels))
        if queue.device.backend is not bl.Backend.opencl:  # handles are numbers
            called = python_calls(lambda: own.parallel_for(COUNT, kernel, sources[0], target, width))
            assert not [name for name in called if "submit" in name or "arguments" in name]
        for wrong in (target.memory, "image", target):
            with raises(bl.InvalidError):
                own.parallel_for(COUNT, kernel, sources[0], target, wrong)
        with raises(bl.InvalidError):
            own.parallel_for(COUNT, kernel, sources[0], target.memory, width)
        own.parallel_for(COUNT, kernel, sources[2], target, width)
        sources[2].close()
        with raises(bl.InvalidError):
            own.parallel_for(COUNT, kernel, sources[2], target, width)
        np.testing.assert_array_equal(target.numpy(), np.float32(2) * (3 * pixels))


@pytest.mark.parametrize("in_order", [True, False])
def test_a_kernel_in_flight_keeps_a_closed_image(
    queue: bl.Queue, file: bl.KernelFile, pixels: Array, in_order: bool
) -> None:
    with bl.Queue(queue.device, queue.context, in_order=in_order) as own:
        kernel = bl.load_kernel_bundle(file, own).get_kernel("twice")
        sources = [bl.Image(pixels, queue=own) for _ in range(20)]
        with bl.Image(pixels, queue=own) as target:
            event = own.ext_oneapi_submit_barrier()
            for source in sources:
                event = own.parallel_for(COUNT, kernel, source, target, np.uint32(SHAPE[1]), depends_on=event)
                source.close()
            del source, sources
            gc.collect()
            event.wait()
            np.testing.assert_array_equal(target.numpy(), 2 * pixels)
            launch = kernel.bind(own, COUNT, bl.Image(pixels * 3, queue=own), target, np.uint32(SHAPE[1]))
            gc.collect()
            launch().wait()
            np.testing.assert_array_equal(target.numpy(), np.float32(2) * (pixels * 3))


def test_closed_images_are_refused(queue: bl.Queue, file: bl.KernelFile, images: tuple[bl.Image, bl.Image]) -> None:
    kernel = bl.load_kernel_bundle(file, queue).get_kernel("twice")
    source, target = images
    source.close()
    with raises(bl.InvalidError):
        queue.parallel_for(COUNT, kernel, source, target, np.uint32(SHAPE[1]))
    with raises(bl.InvalidError):
        bl.sample_image(queue, source, np.ones((3, 2), np.float32))
    for read in (lambda: source.handle, source.unsampled_handle, lambda: source.memory):
        with raises(bl.InvalidError):
            read()
    with raises(bl.InvalidError):
        target.unsampled_handle(1)
    with raises(bl.InvalidError):  # a number is no image
        queue.parallel_for(COUNT, kernel, source, target, target)


def test_device_functions_take_images(queue: bl.Queue) -> None:
    rng = np.random.default_rng(6)
    stack = rng.random((6, 8, 8, 4)).astype(np.float32)
    coords = rng.uniform(0, 8, (30, 2)).astype(np.float32)
    at = rng.integers(0, 8, (30, 2)).astype(np.int32)
    with bl.Image(stack[0], queue=queue) as image:
        np.testing.assert_array_equal(bl.sample_image(queue, image, coords), image.sample(coords))
        np.testing.assert_array_equal(bl.fetch_image(queue, image, at), stack[0, at[:, 1], at[:, 0]])
        bl.write_image(queue, image, at[:1], np.full((1, 4), 7, np.float32))
        np.testing.assert_array_equal(image.fetch(at[0]), 7)
        np.testing.assert_array_equal(bl.sample_image(queue, image.handle, coords), image.sample(coords))
        if queue.device.has(bl.Aspect.ext_oneapi_bindless_sampled_image_fetch_2d):
            gathered = bl.gather_image(queue, image, np.float32([[3, 4]]), 1)
            np.testing.assert_array_equal(gathered, [image.numpy()[(4, 4, 3, 3), (2, 3, 3, 2), (1, 1, 1, 1)]])
    with bl.Image(stack, layers=True, queue=queue) as image:
        np.testing.assert_array_equal(bl.sample_image_array(queue, image, coords, 4), image.sample(coords, layers=4))
        np.testing.assert_array_equal(bl.fetch_image_array(queue, image, at, 4), stack[4, at[:, 1], at[:, 0]])
    with bl.Image(stack, cubemap=True, queue=queue) as image:
        directions = rng.normal(size=(20, 3)).astype(np.float32)
        np.testing.assert_array_equal(bl.sample_cubemap(queue, image, directions), image.sample(directions))
    with bl.Image(stack[0], mipmaps=True, queue=queue) as image:
        values = bl.sample_mipmap(queue, image, coords / 8, level=1.0)
        np.testing.assert_allclose(values, image.sample(coords, level=1.0), atol=1e-5)
        with raises(bl.InvalidError):
            bl.sample_image(queue, image, coords)


def test_an_image_of_memory(queue: bl.Queue, pixels: Array) -> None:
    desc = bl.ImageDescriptor.from_array(pixels)
    memory = bl.ImageMem(desc, queue)
    queue.ext_oneapi_copy(pixels, memory).wait()
    with bl.Image.from_memory(memory, desc, queue, filtering="nearest") as image:
        np.testing.assert_array_equal(image.numpy(), pixels)
        np.testing.assert_array_equal(image.sample([[2.4, 3.1]]), [pixels[3, 2]])
        image.update(2 * pixels)
    assert not memory.closed
    with bl.Image.from_memory(memory, queue=queue, owned=True) as image:
        np.testing.assert_array_equal(image.numpy(), 2 * pixels)
        assert image.memory is memory
    assert memory.closed


def test_an_image_of_a_mipmap(queue: bl.Queue, pixels: Array) -> None:
    with bl.Image(pixels, mipmaps=True, queue=queue) as image:
        again = bl.Image.from_memory(image.memory, queue=queue)
        assert again.num_levels == image.num_levels and again.shape == SHAPE
        np.testing.assert_array_equal(again.numpy(1), image.numpy(1))
        np.testing.assert_array_equal(again.sample([[3, 2]], level=1.5), image.sample([[3, 2]], level=1.5))
    np.testing.assert_array_equal(again.numpy(), pixels)  # it has a share of the memory
    again.close()


def test_memory_that_makes_no_image(queue: bl.Queue, pixels: Array) -> None:
    memory = bl.ImageMem(bl.ImageDescriptor.from_array(pixels), queue)
    with bl.Queue(queue.device, bl.Context(queue.device)) as other:
        for arguments in ((pixels,), (memory, bl.ImageDescriptor(3, 4)), (memory, None, other), (memory, None, 3)):
            with raises(bl.InvalidError):
                bl.Image.from_memory(*arguments)
    with raises(bl.InvalidError):
        bl.Image.from_memory(memory, queue=queue, max_anisotropy=4)
    memory.close()
    with raises(bl.InvalidError):
        bl.Image.from_memory(memory, queue=queue)
