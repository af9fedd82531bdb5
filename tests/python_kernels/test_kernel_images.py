"""Images as arguments of kernels in Python: on OpenCL devices they are images of SPIR-V, elsewhere numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import device
from tests.python_kernels.conftest import require_handles
from tests.support.python_calls import python_calls

Upload = Callable[[Any], bl.UsmArray]
RNG = np.random.default_rng(11)


@pytest.fixture
def pair(queue: bl.Queue) -> Iterator[tuple[Any, ...]]:
    """Two pictures and their images."""
    pictures = RNG.random((2, 6, 10), np.float32)
    with bl.Image(pictures[0], queue=queue) as first, bl.Image(pictures[1], queue=queue) as second:
        yield (*pictures, first, second)


@bl.device_function
def texel(image, x, y):
    return device.sample_image(image, x + 0.5, y + 0.5).x


@bl.kernel
def branches(first, second, out):
    y, x = device.item_id(0), device.item_id(1)
    if (x + y) % 2:
        out[y, x] = texel(first, x, y)
    else:
        out[y, x] = texel(second, x, y)


@bl.kernel
def of_tuple(images, factor, out):
    y, x = device.item_id(0), device.item_id(1)
    out[y, x] = texel(images[0], x, y) + factor * device.fetch_image(images[1], x, y).x


@bl.kernel
def looped(first, second, out):
    y, x = device.item_id(0), device.item_id(1)
    total = 0.0
    for k in range(x % 4 + 1):
        if k % 3 == 0:
            total += texel(first, k, y)
        elif k % 3 == 1:
            total += texel(second, x, k)
        else:
            break
    out[y, x] = total


def test_two_images_in_divergent_branches(queue: bl.Queue, upload: Upload, pair: Any) -> None:
    a, b, first, second = pair
    out = upload(np.zeros_like(a))
    queue.parallel_for(a.shape, branches, first, second, out).wait_and_throw()
    odd = np.indices(a.shape).sum(0) % 2 == 1
    np.testing.assert_array_equal(out.numpy(queue), np.where(odd, a, b))
    queue.parallel_for(a.shape, looped, first, second, out).wait_and_throw()
    x = np.arange(a.shape[1])
    expected = a[:, :1] + np.where(x % 4 >= 1, b[1], np.float32(0))
    np.testing.assert_allclose(out.numpy(queue), expected, rtol=1e-6)


def test_images_in_a_tuple(queue: bl.Queue, upload: Upload, pair: Any) -> None:
    a, b, first, second = pair
    out = upload(np.zeros_like(a))
    queue.parallel_for(a.shape, of_tuple, (first, second), 2, out).wait_and_throw()
    np.testing.assert_allclose(out.numpy(queue), a + 2 * b, rtol=1e-6)


def test_later_launches_take_other_images(queue: bl.Queue, upload: Upload, pair: Any) -> None:
    a, b, first, second = pair
    out = upload(np.zeros_like(a))
    odd = np.indices(a.shape).sum(0) % 2 == 1
    bound = branches.bind(queue, a.shape, first, second, out)
    for left, right, wanted in ((first, second, np.where(odd, a, b)), (second, first, np.where(odd, b, a))):
        queue.parallel_for(a.shape, branches, left, right, out).wait_and_throw()
        np.testing.assert_array_equal(out.numpy(queue), wanted)
        queue.fill(out, np.float32(0)).wait()
        bound[0], bound[1] = left, right
        bound().wait_and_throw()
        np.testing.assert_array_equal(out.numpy(queue), wanted)


def test_a_picture_is_changed_in_place(queue: bl.Queue, pair: Any) -> None:
    """One unsampled handle is read and written."""

    @bl.kernel
    def twice(image):
        y, x = device.item_id(0), device.item_id(1)
        device.write_image(image, x, y, 2 * device.fetch_image(image, x, y, dtype=np.float32, channels=1))

    a = pair[0]
    desc = bl.ImageDescriptor.from_array(a)
    with bl.ImageMem(desc, queue) as memory:
        queue.ext_oneapi_copy(a, memory).wait()
        handle = bl.create_image(memory, desc, queue)
        queue.parallel_for(a.shape, twice, handle).wait_and_throw()
        found = np.empty_like(a)
        queue.ext_oneapi_copy(memory, found).wait()
        bl.destroy_image_handle(handle, queue)
    np.testing.assert_array_equal(found, 2 * a)


class TestOpenCL:
    """What images of OpenCL cannot do has an error of its own."""

    @pytest.fixture(autouse=True)
    def on_opencl(self, queue: bl.Queue) -> None:
        if queue.backend is not bl.Backend.opencl:
            pytest.skip("other devices have image handles that are numbers")

    def refused(self, queue: bl.Queue, kernel: Any, *arguments: Any) -> str:
        with pytest.raises(bl.FeatureNotSupportedError) as raised:
            queue.parallel_for(4, kernel, *arguments)
        return str(raised.value)

    def test_places_outside_of_an_image(self, queue: bl.Queue, upload: Upload, pair: Any) -> None:
        """Fetches give zeros there, also for alpha; writes do nothing."""

        @bl.kernel
        def shifted(source, target, out):
            y, x = device.item_id(0), device.item_id(1)
            pixel = device.fetch_image(source, x - 2, y + 3)
            out[y, x] = pixel.x + pixel.w
            device.write_image(target, x + 4, y - 1, pixel)

        a, b, first, second = pair
        out = upload(np.ones_like(a))
        queue.parallel_for(a.shape, shifted, first, second, out).wait_and_throw()
        expected = np.zeros_like(a)
        expected[:3, 2:] = a[3:, :-2]
        np.testing.assert_array_equal(out.numpy(queue), expected)
        changed = b.copy()
        changed[:5, 4:] = expected[1:, :6]
        np.testing.assert_array_equal(np.asarray(second), changed)

    def test_handles_in_memory(self, queue: bl.Queue, upload: Upload) -> None:
        @bl.kernel
        def atlas(handles, out):
            i = device.item_id(0)
            out[i] = device.sample_image(handles[i], 0.5, 0.5).x

        assert "memory" in self.refused(queue, atlas, upload(np.zeros(4, np.uint64)), upload(np.zeros(4, np.float32)))

    def test_a_choice_between_images(self, queue: bl.Queue, upload: Upload, pair: Any) -> None:
        @bl.kernel
        def chosen(first, second, out):
            i = device.item_id(0)
            image = first if i % 2 else second
            out[i] = device.sample_image(image, 0.5, 0.5).x

        assert "chosen" in self.refused(
            queue, chosen, *(one.handle for one in pair[2:]), upload(np.zeros(4, np.float32))
        )

    def test_a_handle_as_a_number(self, queue: bl.Queue, upload: Upload, pair: Any) -> None:
        @bl.kernel
        def both(image, out, numbers):
            i = device.item_id(0)
            out[i] = device.sample_image(image, 0.5, 0.5).x
            numbers[i] = image

        @bl.kernel
        def stored(image, numbers):
            numbers[device.item_id(0)] = image

        numbers = upload(np.zeros(4, np.uint64))
        assert "number" in self.refused(queue, both, pair[2].handle, upload(np.zeros(4, np.float32)), numbers)
        assert "number" in self.refused(queue, stored, pair[2].handle, numbers)

    def test_other_dimensions(self, queue: bl.Queue, upload: Upload, pair: Any) -> None:
        @bl.kernel
        def deep(image, out):
            out[device.item_id(0)] = device.sample_image(image, 0.5, 0.5, 0.5).x

        with pytest.raises(bl.InvalidError):
            queue.parallel_for(4, deep, pair[2], upload(np.zeros(4, np.float32)))

    def test_images_that_opencl_lacks(self, queue: bl.Queue, upload: Upload, pair: Any) -> None:
        @bl.kernel
        def level(image, out):
            out[device.item_id(0)] = device.sample_mipmap(image, 0.5, 0.5, level=1).x

        @bl.kernel
        def cube(image, out):
            out[device.item_id(0)] = device.sample_cubemap(image, 1, 0, 0).x

        for kernel, word in ((level, "mipmaps"), (cube, "cubemaps")):
            assert word in self.refused(queue, kernel, pair[2], upload(np.zeros(4, np.float32)))


@bl.kernel
def first_row(image, out):
    out[device.item_id(0)] = texel(image, device.item_id(0), 0)


def test_repeated_launches_take_the_image_as_it_is(queue: bl.Queue, upload: Upload) -> None:
    """Few Python calls; the pixels are those of the image's last update, and a closed image is refused."""
    pictures = RNG.random((2, 6, 10), np.float32)
    out = upload(np.zeros(10, np.float32))
    with bl.Image(pictures[0], queue=queue) as image:
        for number in range(4):
            image.update(pictures[number % 2])
            calls = python_calls(lambda: queue.parallel_for(10, first_row, image, out))
            queue.wait()
            assert np.array_equal(out.numpy(), pictures[number % 2][0])
        assert len(calls) <= 4, calls
    with pytest.raises(bl.InvalidError):
        queue.parallel_for(10, first_row, image, out)


def test_the_image_of_a_handle_that_was_destroyed_is_refused(queue: bl.Queue, upload: Upload) -> None:
    require_handles(queue)
    out = upload(np.zeros(10, np.float32))
    image = bl.Image(np.ones((6, 10), np.float32), queue=queue)
    for _ in range(3):
        queue.parallel_for(10, first_row, image, out).wait()
    bl.destroy_image_handle(image.handle, queue)
    with pytest.raises(bl.InvalidError):
        queue.parallel_for(10, first_row, image, out)
    with pytest.raises(bl.SyclRuntimeError):
        image.close()
