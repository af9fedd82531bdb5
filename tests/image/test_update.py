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
