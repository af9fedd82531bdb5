"""Kernels that take images by handle, the same source on every device."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from tests.support.compile_kernels import load

DESC = bl.ImageDescriptor(7, 5, num_channels=2)
PLAIN = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "nearest")


@pytest.fixture
def images(queue: bl.Queue) -> Iterator[tuple[list[bl.ImageMem], list[npt.NDArray[np.float32]]]]:
    pixels = [np.random.default_rng(seed).random((5, 7, 2), np.float32) for seed in range(3)]
    memories = [bl.ImageMem(DESC, queue) for _ in pixels]
    for memory, array in zip(memories, pixels):
        queue.ext_oneapi_copy(array, memory).wait()
    yield memories, pixels
    for memory in memories:
        memory.close()


def _usm(queue: bl.Queue, array: npt.NDArray[np.generic]) -> bl.UsmArray:
    memory = bl.usm_empty(array.shape, array.dtype, queue)
    memory.copy_from(array)
    return memory


def test_handles_from_an_array(
    queue: bl.Queue, images: tuple[list[bl.ImageMem], list[npt.NDArray[np.float32]]]
) -> None:  # R33
    """Raw handles in a numpy array, copied to the device; the kernel selects images by handle."""
    memories, pixels = images
    unsampled = [bl.create_image(memory, DESC, queue) for memory in memories]
    sampled = [bl.create_image(memory, DESC, queue, sampler=PLAIN) for memory in memories]
    table = np.array([[handle.raw_handle for handle in row] for row in (unsampled, sampled)], np.uint64)
    which = np.random.default_rng(1).integers(0, 3, 700).astype(np.uint32)
    fetched, taken = (bl.usm_empty((700, 2), np.float32, queue) for _ in range(2))
    kernel = load(queue, "images", "gather").get_kernel("gather")
    queue.parallel_for(700, kernel, _usm(queue, table), _usm(queue, which), fetched, taken, np.uint32(3)).wait()
    place = np.arange(700)
    wanted = np.stack(pixels)[which, place // 7 % 5, place % 7]
    np.testing.assert_array_equal(fetched.numpy(queue), wanted)
    np.testing.assert_array_equal(taken.numpy(queue), wanted)
    for handle in (*unsampled, *sampled):
        bl.destroy_image_handle(handle, queue)


def test_handles_through_pointers(
    queue: bl.Queue, images: tuple[list[bl.ImageMem], list[npt.NDArray[np.float32]]]
) -> None:  # R33
    """A pointer to a table of handles, itself loaded from memory; the image is read and written."""
    memories, pixels = images
    handles = [bl.create_image(memory, DESC, queue) for memory in memories]
    table = _usm(queue, np.array([handle.raw_handle for handle in handles], np.uint64))
    pointers = _usm(queue, np.array([int(table.pointer)], np.uint64))
    kernel = load(queue, "images", "twice").get_kernel("twice")
    queue.parallel_for((5, 7), kernel, pointers, np.uint32(1)).wait()
    for number, (memory, before) in enumerate(zip(memories, pixels)):
        after = np.empty_like(before)
        queue.ext_oneapi_copy(memory, after).wait()
        np.testing.assert_array_equal(after, before * (2 if number == 1 else 1))
    for handle in handles:
        bl.destroy_image_handle(handle, queue)
