"""``Image.update``: new pixels in the same memory."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from tests.support.error_checks import raises

Array = npt.NDArray[Any]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20261123)


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("shape", [(31, 40), (31, 40, 3), (300, 400, 3), (700, 800, 3), (300, 400, 4)])
def test_a_loop_that_overwrites_its_array(
    rng: np.random.Generator, queue: bl.Queue, in_order: bool, shape: tuple[int, ...]
) -> None:
    """Each picture is of the pixels of its own turn, whatever is done with the array and the results meanwhile."""
    with bl.Queue(queue.device, queue.context, in_order=in_order) as own:
        array = np.zeros(shape, np.uint8)
        outs = [bl.usm_empty(shape, np.uint8, own, kind="host") for _ in range(6)]
        given = []
        with bl.Image(array, queue=own) as image:
            memory, handle = image.memory, image.handle
            for out in outs:
                array[...] = rng.integers(0, 256, shape)
                given.append(array.copy())
                assert image.update(array) is None
                array[...] = 255
                image.warp(np.eye(3), shape[:2], out=out)
            assert image.memory is memory and image.handle is handle
            np.testing.assert_array_equal(image.numpy(), given[-1])
            for out, expected in zip(outs, given):
                np.testing.assert_array_equal(out.numpy(), expected)


@pytest.mark.parametrize("in_order", [True, False])
def test_pinned_frames_that_the_queue_writes(rng: np.random.Generator, queue: bl.Queue, in_order: bool) -> None:
    """A picture becomes the next frame, between frames that were there before: each update reads what its place in the
    queue says."""
    shape = (700, 800, 3)
    frames = rng.integers(0, 256, (3, *shape)).astype(np.uint8)
    with bl.Queue(queue.device, queue.context, in_order=in_order) as own:
        ready = [bl.usm_empty(shape, np.uint8, own, kind="host").copy_from(frame) for frame in frames]
        fed = bl.usm_empty(shape, np.uint8, own, kind="host")
        outs = [bl.usm_empty(shape, np.uint8, own, kind="host") for _ in range(6)]
        with bl.Image(np.zeros(shape, np.uint8), filtering="nearest", queue=own) as image:
            for number, out in enumerate(outs):
                image.update(ready[number % 3])
                image.warp([[1, 0, 1], [0, 1, 0]], shape[:2], out=fed)
                image.update(fed)
                image.warp([[1, 0, 2], [0, 1, 0]], shape[:2], out=out)
            own.wait()
        for number, out in enumerate(outs):
            np.testing.assert_array_equal(out.numpy()[:, :-3], frames[number % 3][:, 3:])


def test_pictures_of_several_threads_in_pinned_memory(rng: np.random.Generator, device: bl.Device) -> None:
    pixels = rng.integers(0, 256, (700, 800, 3)).astype(np.uint8)
    with bl.Queue(device, in_order=True) as own, bl.Image(pixels, filtering="nearest", queue=own) as image:
        outs = [bl.usm_empty(pixels.shape, np.uint8, own, kind="host") for _ in range(8)]

        def draw(number: int) -> None:
            image.warp([[1, 0, number], [0, 1, 0]], (700, 800), out=outs[number])

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(draw, range(8)))
        for number, out in enumerate(outs):
            np.testing.assert_array_equal(out.numpy()[:, : 800 - number], pixels[:, number:])


def test_pixels_on_the_device(rng: np.random.Generator, queue: bl.Queue) -> None:
    first, second = rng.random((2, 20, 30, 3)).astype(np.float32)
    memory = bl.usm_empty((30, 20, 3), np.float32, queue).copy_from(second.transpose(1, 0, 2))
    with bl.Image(first, queue=queue) as image:
        event = image.update(memory.transpose(1, 0, 2))
        assert isinstance(event, bl.Event)
        np.testing.assert_array_equal(image.numpy(), second)
        image.update(first.astype(np.float64))
        np.testing.assert_array_equal(image.numpy(), first)


def test_levels_layers_and_faces(rng: np.random.Generator, queue: bl.Queue) -> None:
    first, second = rng.random((2, 6, 16, 16)).astype(np.float32)
    options: dict[str, Any]
    for options, old, new in (
        ({"mipmaps": True}, first[0], second[0]),
        ({"layers": True}, first, second),
        ({"cubemap": True}, first, second),
    ):
        with bl.Image(old, queue=queue, **options) as image, bl.Image(new, queue=queue, **options) as other:
            image.update(new)
            for level in range(image.num_levels):
                np.testing.assert_array_equal(image.numpy(level), other.numpy(level))


def test_other_shapes_and_types_are_refused(queue: bl.Queue) -> None:
    with bl.Image(np.zeros((4, 5, 3), np.uint8), queue=queue) as image:
        for array in (np.zeros((5, 4, 3), np.uint8), np.zeros((4, 5, 4), np.uint8), np.zeros((4, 5, 3), np.float32)):
            with raises(bl.InvalidError):
                image.update(array)
        np.testing.assert_array_equal(image.numpy(), 0)
    with raises(bl.InvalidError):
        image.update(np.zeros((4, 5, 3), np.uint8))


REPEATS = 70  # small copies get pinned memory after so many


@pytest.mark.parametrize("shape", [(9, 7), (9, 7, 4), (5, 9, 7), (200, 300)])
def test_repeated_updates_take_what_the_first_took(queue: bl.Queue, shape: tuple[int, ...]) -> None:
    """Each has the pixels of its own turn, and arrays of other shapes and types stay refused, also where their bytes
    were copied into the image's memory before."""
    options: dict[str, Any] = {"dimensions": 3} if shape[0] == 5 else {}
    array = np.zeros(shape, np.float32)
    with bl.Queue(queue.device, queue.context, in_order=True) as own, bl.Image(array, queue=own, **options) as image:
        for turn in range(REPEATS):
            array[...] = turn
            image.update(array)
            array[...] = -1
            if turn % 23 == 0:
                assert (image.numpy() == turn).all()
        other = np.full(shape, 100, np.float32)
        own.ext_oneapi_copy(other.reshape(image.descriptor.shape), image.memory)
        own.ext_oneapi_copy(other.reshape(image.descriptor.shape), image.memory)
        for wrong in (other[..., None], other.astype(np.int32), other.reshape(-1), other[:-1], other.T):
            with raises(bl.InvalidError):
                image.update(wrong)
        assert (image.numpy() == 100).all()
        wide = np.full((*shape[:-1], 2 * shape[-1]), 101, np.float32)
        wide[..., 1::2] = 0
        image.update(wide[..., ::2])
        assert (image.numpy() == 101).all()
        image.update(np.full(shape, 102.0))  # float64, taken as float32
        assert (image.numpy() == 102).all()
    with raises(bl.InvalidError):
        image.update(other)


def test_updates_of_several_threads(queue: bl.Queue) -> None:
    """Each update is whole: afterwards all pixels are those of one of them."""
    with (
        bl.Queue(queue.device, queue.context, in_order=True) as own,
        bl.Image(np.zeros((40, 50), np.float32), queue=own) as image,
    ):

        def work(number: int) -> None:
            array = np.full((40, 50), number, np.float32)
            for _ in range(REPEATS):
                image.update(array)

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(1, 5)))
        values = np.unique(image.numpy())
        assert values.size == 1 and values[0] in range(1, 5)
