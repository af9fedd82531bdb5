"""``UnsampledImage`` and ``SampledImage``: images accessed by command groups, migrated and written back like
buffers."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import bindless as bl
from bindless.core import ownership
from bindless.submission import command_stream
from tests.support.error_checks import raises

SHAPES = [(9,), (5, 7), (3, 4, 6)]


def pixels(shape, channels=4, dtype=np.float32):
    count = int(np.prod(shape)) * channels
    return np.arange(count).astype(dtype).reshape(*shape, channels)


def grid(shape):
    """Coordinates of every pixel, shape (N, dims), x first."""
    return np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), -1).reshape(-1, len(shape))[:, ::-1]


def on_device(queue, image, task, *arguments, **options):
    """Run ``task(image index)`` in a command group that accesses the image."""

    def group(handler):
        accessor = image.get_access(handler, *arguments, **options)
        handler.host_task(lambda interop: task(interop.get_native_mem(accessor)))

    return queue.submit(group)


@pytest.fixture
def helper(device, context):
    """A queue for the device functions that host tasks call."""
    with bl.Queue(device, context) as made:
        yield made


def fetch(queue, number, shape, kind=bl.UnsampledImageHandle):
    coords = grid(shape).astype(np.int32)
    return bl.fetch_image(queue, kind(number), coords, num_channels=4, dtype=np.float32).reshape(*shape, 4)


@pytest.mark.parametrize("shape", SHAPES)
def test_an_unsampled_image_is_read_and_written_on_the_device(queue, helper, shape):
    array = pixels(shape)
    expected = array.copy()
    seen = []
    with bl.UnsampledImage(array, dimensions=len(shape)) as image:
        assert tuple(image.get_range()) == shape[::-1] and image.byte_size() == array.nbytes == image.nbytes
        on_device(queue, image, lambda number: seen.append(fetch(helper, number, shape)))

        def write(number):
            coords = grid(shape)[:3].astype(np.int32)
            bl.write_image(helper, bl.UnsampledImageHandle(number), coords, np.full((3, 4), 9, np.float32))

        on_device(queue, image, write, "write")
    np.testing.assert_array_equal(seen[0], expected)
    expected.reshape(-1, 4)[:3] = 9
    np.testing.assert_array_equal(array, expected)


def test_a_sampled_image_is_sampled_and_never_written_back(queue, helper):
    array = np.zeros((4, 4, 4), np.float32)
    array[:, 2:] = 8
    sampler = bl.BindlessImageSampler("clamp_to_edge", filtering="linear")
    points = np.array([[1.5, 1.5], [2.0, 1.5], [2.5, 1.5]], np.float32)
    seen = []
    with bl.SampledImage(array, sampler) as image:
        assert image.sampler is sampler
        on_device(
            queue,
            image,
            lambda number: seen.append(
                bl.sample_image(helper, bl.SampledImageHandle(number), points, num_channels=4, dtype=np.float32)
            ),
        ).wait()
        with image.get_host_access() as view:
            assert not view.flags.writeable
            np.testing.assert_array_equal(view, array)
    assert seen[0][:, 0].tolist() == [0, 4, 8]


def test_images_move_between_contexts_and_the_host(queue, device):
    array = pixels((5, 7))
    expected = array.copy()
    with bl.UnsampledImage(array) as image, bl.Queue(device, bl.Context(device)) as other:
        for value, where in enumerate((queue, other, queue)):

            def write(number, value=value, where=where):
                helper = bl.Queue(where.device, where.context)
                coords = np.array([[value, 0]], np.int32)
                bl.write_image(helper, bl.UnsampledImageHandle(number), coords, np.full((1, 4), -value, np.float32))

            on_device(where, image, write, "write")
            expected[0, value] = -value
        with image.get_host_access() as view:
            np.testing.assert_array_equal(view, expected)
            view[4] = 1
        expected[4] = 1
        accessor = image.get_access(None, "read", target="host_task")
        taken = []

        def look(handler):
            handler.require(accessor)
            handler.host_task(lambda: taken.append(np.array(accessor)))

        other.submit(look).wait()
        np.testing.assert_array_equal(taken[0], expected)
        queue.submit(lambda h: h.update_host(image.get_access(h))).wait()
        np.testing.assert_array_equal(array, expected)


def test_formats_and_images_without_memory_of_the_host(queue, helper):
    codes = np.arange(64, dtype=np.uint8).reshape(4, 4, 4)
    with bl.UnsampledImage(codes) as image:
        assert image.descriptor.channel_type is bl.ImageChannelType.unorm_int8
        seen = []
        on_device(queue, image, lambda number: seen.append(fetch(helper, number, (4, 4)))).wait()
        np.testing.assert_allclose(seen[0], codes / 255, atol=1e-6)
    desc = bl.ImageDescriptor(3, 2, num_channels=4, channel_type="fp32")
    image = bl.UnsampledImage(desc)

    def write(number):
        bl.write_image(helper, bl.UnsampledImageHandle(number), grid((2, 3)).astype(np.int32), pixels((6,)))

    on_device(queue, image, write, "write", no_init=True)
    with image.get_host_access("read") as view:
        np.testing.assert_array_equal(view, pixels((2, 3)))
    image.close()
    assert bl.UnsampledImage(np.zeros((2, 3, 4, 1), np.float32)).get_pitch() == bl.Range(16, 48)


def test_nothing_of_them_is_left(device):
    context = bl.Context(device)
    queue = bl.Queue(device, context)
    gc.collect()
    before = len(ownership._live)
    for _ in range(3):
        image = bl.UnsampledImage(pixels((5, 7)))
        on_device(queue, image, lambda number: None, "write").wait()
        sampled = bl.SampledImage(pixels((5, 7)), bl.BindlessImageSampler())
        on_device(queue, sampled, lambda number: None).wait()
        image.close()
        del image, sampled
    command_stream.wait_for_all()
    command_stream.sweep()
    gc.collect()
    assert context._handles == {}
    assert len(ownership._live) - before <= 1, "the context's own stream for moves, once"


@pytest.mark.parametrize(
    "use, message",
    [
        (lambda h, i: bl.UnsampledImage([1]), "a list is neither a numpy array nor an ImageDescriptor"),
        (lambda h, i: bl.UnsampledImage(np.zeros((4, 4, 4)), channel_type="fp32"), "float32"),
        (lambda h, i: bl.UnsampledImage(bl.ImageDescriptor(4, 4, type="array", array_size=2)), "a array image"),
        (lambda h, i: bl.UnsampledImage(bl.ImageDescriptor(4), channel_type="fp32"), None),
        (lambda h, i: bl.SampledImage(np.zeros((4, 4, 4), "f4"), "linear"), "a str is no BindlessImageSampler"),
        (lambda h, i: i.get_access(h, "read_write"), None),
        (lambda h, i: i.get_access(h, target="constant_buffer"), ("'device'", "'host_task'")),
        (lambda h, i: i.get_access(3), "handler=3"),
        (lambda h, i: h.fill(i.get_access(h, "write"), 1), None),
        (lambda h, i: h.copy(i.get_access(h), np.zeros(999)), None),
    ],
)
def test_what_is_refused(queue, use, message):
    image = bl.UnsampledImage(pixels((4, 4)))
    with raises(bl.InvalidError, names=message):
        queue.submit(lambda handler: use(handler, image))
    image.close()
    with raises(bl.InvalidError):
        image.get_host_access()
