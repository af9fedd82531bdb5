"""Copies of images of blocks: wholes, regions, layers, USM, other images, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from tests.support.channel_kinds import has_format

Array = npt.NDArray[Any]


@pytest.fixture(autouse=True)
def _needs_blocks(queue: bl.Queue) -> None:
    if not has_format(queue, "bc7_unorm"):
        pytest.skip(f"{queue.device.name} has no images of blocks")


def described(*sizes: int, channel_type: str = "bc7_unorm", **options: Any) -> bl.ImageDescriptor:
    return bl.ImageDescriptor(*sizes, channel_type=channel_type, **options)


def blocks_of(desc: bl.ImageDescriptor, seed: int = 0) -> Array:
    return np.random.default_rng(seed).integers(0, 256, desc.storage.shape, np.uint8)


def read(memory: Any, desc: bl.ImageDescriptor, queue: bl.Queue) -> Array:
    back = np.zeros(desc.storage.shape, np.uint8)
    queue.ext_oneapi_copy(memory, back, src_desc=desc).wait()
    return back


def test_descriptors_count_blocks() -> None:
    desc = described(30, 17)
    assert (desc.pixel_size, desc.row_size, desc.nbytes) == (16, 8 * 16, 8 * 5 * 16)
    assert desc.storage.shape == (5, 8, 16) and desc.shape == (17, 30, 4)
    mipmap = described(5, 3, channel_type="bc1_unorm", type="mipmap", num_levels=3)
    assert mipmap.nbytes == (2 + 1 + 1) * 8
    for wrong in (
        described(8),
        described(8, 8, 8),
        described(8, 8, num_channels=3),
        described(8, 8, channel_type="bc4_unorm"),
    ):
        with pytest.raises(bl.InvalidError):
            wrong.verify()


@pytest.mark.parametrize("sizes", [(4, 4), (1, 1), (30, 17), (64, 36)])
def test_whole_images(queue: bl.Queue, sizes: tuple[int, int]) -> None:
    desc = described(*sizes)
    blocks = blocks_of(desc)
    for source in (blocks, blocks.reshape(-1)):
        with bl.ImageMem(desc, queue) as memory:
            queue.ext_oneapi_copy(source, memory).wait()
            np.testing.assert_array_equal(read(memory, desc, queue), blocks)


def test_copies_come_again(queue: bl.Queue) -> None:
    desc = described(32, 16)
    with bl.ImageMem(desc, queue) as memory:
        for seed in range(4):
            blocks = blocks_of(desc, seed)
            queue.ext_oneapi_copy(blocks, memory).wait()
            np.testing.assert_array_equal(read(memory, desc, queue), blocks)


def test_usm(queue: bl.Queue) -> None:
    desc = described(32, 20)
    blocks = blocks_of(desc)
    with bl.ImageMem(desc, queue) as memory, bl.ImageMem(desc, queue) as other:
        linear = bl.usm_empty(desc.storage.shape, np.uint8, queue)
        queue.memcpy(linear, blocks).wait()
        queue.ext_oneapi_copy(linear, memory).wait()
        queue.ext_oneapi_copy(memory, other).wait()
        np.testing.assert_array_equal(read(other, desc, queue), blocks)
        queue.memset(linear.pointer, 0, linear.nbytes).wait()
        queue.ext_oneapi_copy(other, linear).wait()
        np.testing.assert_array_equal(linear.numpy(), blocks)


@pytest.mark.parametrize("kind", ["array", "cubemap"])
def test_regions_of_layers(queue: bl.Queue, kind: str) -> None:
    if not queue.device.has(bl.Aspect.ext_oneapi_cubemap if kind == "cubemap" else bl.Aspect.ext_oneapi_image_array):
        pytest.skip("no such images")
    desc = described(30, 30, type=kind, array_size=6)
    whole, part = blocks_of(desc), blocks_of(described(10, 12), 1)
    with bl.ImageMem(desc, queue) as memory, bl.ImageMem(desc, queue) as other:
        queue.ext_oneapi_copy(whole, memory).wait()
        queue.ext_oneapi_copy(part, memory, dst_offset=(20, 8, 3), copy_extent=(10, 12, 1)).wait()  # to the edge
        whole[3, 2:5, 5:8] = part
        np.testing.assert_array_equal(read(memory, desc, queue), whole)
        queue.ext_oneapi_copy(whole, other).wait()
        queue.ext_oneapi_copy(
            memory, other, src_offset=(20, 8, 3), dst_offset=(20, 16, 0), copy_extent=(10, 12, 1)
        ).wait()
        whole[0, 4:7, 5:8] = part
        np.testing.assert_array_equal(read(other, desc, queue), whole)
        back = np.zeros((3, 3, 16), np.uint8)
        queue.ext_oneapi_copy(memory, back, src_offset=(20, 8, 3), copy_extent=(10, 12, 1)).wait()
        np.testing.assert_array_equal(back, part)


@pytest.mark.parametrize(
    ("offset", "extent"),
    [
        ((2, 0, 0), (4, 4, 1)),
        ((0, 1, 0), (4, 4, 1)),
        ((0, 0, 0), (6, 4, 1)),
        ((0, 0, 0), (4, 3, 1)),
        ((28, 0, 0), (4, 4, 1)),
    ],
)
def test_parts_of_blocks_are_refused(
    queue: bl.Queue, offset: tuple[int, int, int], extent: tuple[int, int, int]
) -> None:
    desc = described(30, 17)
    with bl.ImageMem(desc, queue) as memory, pytest.raises(bl.InvalidError):
        queue.ext_oneapi_copy(blocks_of(desc), memory, dst_offset=offset, copy_extent=extent)


def test_other_arrays_are_refused(queue: bl.Queue) -> None:
    desc = described(16, 16)
    with bl.ImageMem(desc, queue) as memory:
        for wrong in (np.zeros((16, 16, 4), np.uint8), np.zeros((4, 4, 8), np.uint8), np.zeros((4, 4, 16), np.float32)):
            with pytest.raises(bl.InvalidError):
                queue.ext_oneapi_copy(wrong, memory)
        pixels = bl.ImageDescriptor(16, 16, channel_type="unorm_int8")
        with bl.ImageMem(pixels, queue) as plain, pytest.raises(bl.InvalidError):
            queue.ext_oneapi_copy(memory, plain, copy_extent=(4, 4, 1))


def test_handles(queue: bl.Queue) -> None:
    desc = described(16, 16)
    with bl.ImageMem(desc, queue) as memory:
        with pytest.raises(bl.FeatureNotSupportedError):
            bl.create_image(memory, desc, queue)
        assert not bl.is_image_handle_supported(bl.UnsampledImageHandle, desc, "opaque_handle", queue)
        assert bl.is_image_handle_supported(bl.SampledImageHandle, desc, "opaque_handle", queue)
        assert [str(kind) for kind in bl.get_image_memory_support(desc, queue)] == ["opaque_handle"]
        linear = bl.usm_empty((4096,), np.uint8, queue)
        sampler = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "linear")
        with pytest.raises(bl.FeatureNotSupportedError):
            bl.create_image(linear, desc, queue, sampler=sampler, pitch=512)
        handle = bl.create_image(memory, desc, queue, sampler=sampler)
        queue.ext_oneapi_copy(np.zeros(desc.storage.shape, np.uint8), memory).wait()
        assert bl.sample_image(queue, handle, np.float32([[3, 3]])).shape == (1, 4)
        bl.destroy_image_handle(handle, queue)
