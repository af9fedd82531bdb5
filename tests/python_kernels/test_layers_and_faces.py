"""Layers, faces and cubic filters in kernels: compiled and interpreted, compared with the functions of the host."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import device
from tests.python_kernels.test_device_images import run

RNG = np.random.default_rng(17)


def places(size: int, layers: int) -> tuple[np.ndarray, np.ndarray]:
    """Every pixel of the layers, of a size that differs from their number, and its layer."""
    pixels = np.stack(np.meshgrid(np.arange(size), np.arange(size)), -1).reshape(-1, 2).astype(np.int32)
    return np.tile(pixels, (layers, 1)), np.repeat(np.arange(layers, dtype=np.uint32), size * size)


def test_a_layer_follows_one_coordinate(queue: bl.Queue) -> None:
    @bl.kernel
    def lines(sampled, unsampled, out):
        layer, x = device.item_id(0), device.item_id(1)
        out[layer, x, 0] = device.sample_image_array(sampled, x + 0.5, layer).x
        out[layer, x, 1] = device.sample_image_array(sampled, x + 0.5, layer=layer).x
        out[layer, x, 2] = device.fetch_sampled_image_array(sampled, x, layer).x
        out[layer, x, 3] = device.fetch_image_array(unsampled, x, layer, channels=1)

    desc = bl.ImageDescriptor(7, num_channels=1, channel_type="fp32", type="array", array_size=3)
    pixels = RNG.random(desc.shape, np.float32)
    with bl.ImageMem(desc, queue) as memory:
        queue.ext_oneapi_copy(pixels, memory).wait()
        sampler = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "nearest")
        sampled, unsampled = bl.create_image(memory, desc, queue, sampler=sampler), bl.create_image(memory, desc, queue)
        found = run(lines, (3, 7), queue, sampled, unsampled, np.zeros((3, 7, 4), np.float32))
        for handle in (sampled, unsampled):
            bl.destroy_image_handle(handle, queue)
    np.testing.assert_array_equal(found, np.repeat(pixels.reshape(3, 7, 1), 4, 2))


def test_layers_after_coordinates(queue: bl.Queue) -> None:
    @bl.kernel
    def moved(source, target):
        layer, y, x = device.item_id(0), device.item_id(1), device.item_id(2)
        value = device.fetch_image_array(source, x, y, layer, channels=1)
        device.write_image_array(target, x, y, 2 - layer, value)

    @bl.kernel
    def named(source, target):
        layer, y, x = device.item_id(0), device.item_id(1), device.item_id(2)
        value = device.fetch_image_array(source, layer=layer, y=y, x=x, channels=1)
        device.write_image_array(target, x, y, value, layer=2 - layer)

    @bl.kernel
    def sampled_pixels(image, out):
        layer, y, x = device.item_id(0), device.item_id(1), device.item_id(2)
        out[layer, y, x] = device.fetch_sampled_image_array(image, x, y, layer).x
        out[layer, y, x] += 2 * device.sample_image_array(image, layer=layer, y=y + 0.5, x=x + 0.5).x

    desc = bl.ImageDescriptor(5, 4, num_channels=1, channel_type="fp32", type="array", array_size=3)
    pixels = RNG.random(desc.shape, np.float32)
    with bl.ImageMem(desc, queue) as source, bl.ImageMem(desc, queue) as target:
        queue.ext_oneapi_copy(pixels, source).wait()
        handles = [bl.create_image(memory, desc, queue) for memory in (source, target)]
        for kernel, interpreted in ((moved, False), (named, False), (moved, True), (named, True)):
            queue.ext_oneapi_copy(np.zeros_like(pixels), target).wait()
            if interpreted:
                kernel.run_in_python((3, 4, 5), *handles)
            else:
                queue.parallel_for((3, 4, 5), kernel, *handles).wait_and_throw()
            found = np.zeros_like(pixels)
            queue.ext_oneapi_copy(target, found).wait()
            np.testing.assert_array_equal(found, pixels[::-1])
        for handle in handles:
            bl.destroy_image_handle(handle, queue)
    flat = pixels.reshape(3, 4, 5)
    with bl.Image(flat, layers=True, queue=queue) as image:
        found = run(sampled_pixels, (3, 4, 5), queue, image, np.zeros((3, 4, 5), np.float32))
    np.testing.assert_allclose(found, 3 * flat, rtol=1e-6)


@pytest.mark.parametrize("size", [4, 9])
def test_faces_of_cubemaps(size: int, queue: bl.Queue) -> None:
    @bl.kernel
    def turned(source, target):
        face, y, x = device.item_id(0), device.item_id(1), device.item_id(2)
        value = device.fetch_cubemap(source, x, y, face, dtype=np.uint8)
        device.write_cubemap(target, y, x, 5 - face, value)

    if not queue.device.has(bl.Aspect.ext_oneapi_cubemap):
        pytest.skip(f"{queue.device.name} has no cubemaps")
    desc = bl.ImageDescriptor(size, size, num_channels=4, channel_type="unsigned_int8", type="cubemap", array_size=6)
    pixels = RNG.integers(0, 256, (6, size, size, 4), np.uint8)
    at, faces = places(size, 6)
    with bl.ImageMem(desc, queue) as source, bl.ImageMem(desc, queue) as target, bl.ImageMem(desc, queue) as other:
        handles = [bl.create_image(memory, desc, queue) for memory in (source, target, other)]
        bl.write_cubemap(queue, handles[0], at, faces, pixels.reshape(-1, 4))
        queue.parallel_for((6, size, size), turned, *handles[:2]).wait_and_throw()
        turned.run_in_python((6, size, size), handles[0], handles[2])
        for handle in handles[1:]:
            found = bl.fetch_cubemap(queue, handle, at, faces).reshape(pixels.shape)
            np.testing.assert_array_equal(found, pixels[::-1].swapaxes(1, 2))
        for handle in handles:
            bl.destroy_image_handle(handle, queue)


def test_faces_of_an_image(queue: bl.Queue) -> None:
    @bl.kernel
    def doubled(image):
        face, y, x = device.item_id(0), device.item_id(1), device.item_id(2)
        value = device.fetch_cubemap(image, x, y, face, channels=1)
        device.write_cubemap(image, x=x, y=y, face=face, value=2 * value)

    if not queue.device.has(bl.Aspect.ext_oneapi_cubemap):
        pytest.skip(f"{queue.device.name} has no cubemaps")
    pixels = RNG.random((6, 5, 5), np.float32)
    at, faces = places(5, 6)
    with bl.Image(pixels, cubemap=True, queue=queue) as image:
        queue.parallel_for((6, 5, 5), doubled, image).wait_and_throw()
        found = np.asarray(image.fetch(at, layers=faces)).reshape(pixels.shape)
    np.testing.assert_array_equal(found, 2 * pixels)


def test_cubic_samples_of_layers(queue: bl.Queue) -> None:
    @bl.kernel
    def layers(image, at, out):
        i = device.item_id(0)
        out[i] = device.sample_image_array(image, at[i, 0], at[i, 1], i % 3, filtering="cubic").x

    @bl.kernel
    def one(image, at, out):
        i = device.item_id(0)
        out[i] = device.sample_image(image, at[i, 0], at[i, 1], filtering="cubic").x

    at = RNG.uniform(1.5, 5.5, (30, 2)).astype(np.float32)
    pixels = RNG.random((3, 7, 8), np.float32)
    given = bl.usm_empty(at.shape, at.dtype, queue).copy_from(at)

    def computed(kernel: Any, image: Any) -> np.ndarray:
        out = bl.usm_empty(30, np.float32, queue)
        queue.parallel_for(30, kernel, image, given, out).wait_and_throw()
        return out.numpy(queue)

    with bl.Image(pixels, layers=True, filtering="linear", queue=queue) as image:
        found, mine = computed(layers, image), np.zeros(30, np.float32)
        layers.run_in_python(30, image, at, mine)
    np.testing.assert_allclose(found, mine, atol=0.02)  # the texture unit's weights have 8 bits
    for layer, plane in enumerate(pixels):
        with bl.Image(plane, filtering="linear", queue=queue) as image:
            np.testing.assert_array_equal(found[layer::3], computed(one, image)[layer::3])


def test_a_layer_is_an_integer(queue: bl.Queue) -> None:
    """The order of arguments with the layer first is an error where a coordinate is no integer."""

    @bl.kernel
    def first(image, out):
        out[0] = device.sample_image_array(image, 1, 0.5, 0.5).x

    @bl.kernel
    def absent(image, out):
        out[0] = device.fetch_image_array(image, 1).x

    @bl.kernel
    def face(image, out):
        device.write_cubemap(image, 0, 0, 0.5, out[0])

    with bl.Image(np.zeros((2, 2, 2), np.float32), layers=True, queue=queue) as image:
        for kernel in (first, absent, face):
            with pytest.raises(bl.BuildError):
                queue.parallel_for(1, kernel, image, bl.usm_empty(1, np.float32, queue))
            if kernel is not face:
                with pytest.raises(TypeError):
                    kernel.run_in_python(1, image, np.zeros(1, np.float32))


def test_other_filters_are_those_of_the_sampler(queue: bl.Queue) -> None:
    @bl.kernel
    def unknown(image, out):
        out[0] = device.sample_image(image, 1, 1, filtering="linear").x

    @bl.kernel
    def integers(image, out):
        out[0] = device.sample_image(image, 1, 1, dtype=np.int32, filtering="cubic").x

    with bl.Image(np.zeros((2, 2), np.float32), queue=queue) as image:
        for kernel in (unknown, integers):
            with pytest.raises(bl.BuildError):
                queue.parallel_for(1, kernel, image, bl.usm_empty(1, np.float32, queue))
            with pytest.raises(ValueError):
                kernel.run_in_python(1, image, np.zeros(1, np.float32))


def test_a_sampled_handle_is_not_written(queue: bl.Queue) -> None:
    @bl.kernel
    def filled(image):
        device.write_image(image, 0, 0, 1.0)

    with bl.Image(np.zeros((2, 2), np.float32), queue=queue) as image, pytest.raises(bl.BuildError):
        queue.parallel_for(1, filled, image.handle)
