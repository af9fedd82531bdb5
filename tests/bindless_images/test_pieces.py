"""A device function over many items equals the same function over small chunks, bit for bit: drivers may split large
arrays."""

from __future__ import annotations

import numpy as np
import pytest

import bindless as bl
from bindless.model.aspects import Aspect

COUNT = 150_001
FEW = 20_000  # number of items below which no driver splits a call


def parts(work, *arrays):
    """Concatenated results of calls over a few items each."""
    return np.concatenate([work(*(array[at : at + FEW] for array in arrays)) for at in range(0, len(arrays[0]), FEW)])


def pixels(desc):
    values = np.random.default_rng(1).random(desc.shape, np.float32)
    return (values * 255).astype(desc.dtype) if desc.dtype.kind != "f" else values.astype(desc.dtype)


@pytest.fixture
def image(queue):
    """Make images with random pixels; the test releases them at its end."""
    made = []

    def make(*sizes, sampler=None, **given):
        desc = bl.ImageDescriptor(*sizes, **given)
        memory = bl.ImageMem(desc, queue)
        if desc.type == "mipmap":
            for level in range(desc.num_levels):
                small = desc.get_mip_level_desc(level)
                queue.ext_oneapi_copy(pixels(small), memory.get_mip_level_mem_handle(level), dst_desc=small).wait()
        else:
            queue.ext_oneapi_copy(pixels(desc), memory).wait()
        handle = bl.create_image(memory, desc, queue, sampler=sampler)
        made.append((handle, memory))
        return handle

    yield make
    for handle, memory in made:
        bl.destroy_image_handle(handle, queue)
        memory.close()


def points(count, *sizes, dtype=np.float32):
    places = np.random.default_rng(2).random((count, len(sizes))) * np.array(sizes)
    return places.astype(dtype)


@pytest.mark.parametrize(("channel_type", "channels"), [("fp32", 4), ("unorm_int8", 4), ("fp16", 1)])
@pytest.mark.parametrize("given", [False, True])
def test_samples(queue, image, channel_type, channels, given):
    sampler = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "linear")
    handle = image(61, 43, num_channels=channels, channel_type=channel_type, sampler=sampler)
    coords = points(COUNT, 61, 43)
    out = np.full((COUNT, channels), np.nan, np.float32) if given else None
    values = bl.sample_image(queue, handle, coords, dtype=np.float32, out=out)
    assert values is out or not given
    few = parts(lambda some: bl.sample_image(queue, handle, some, dtype=np.float32), coords)
    assert np.array_equal(values, few)


def test_samples_of_layers(queue, image):
    sampler = bl.BindlessImageSampler("clamp_to_edge", "normalized", "linear")
    handle = image(33, 21, num_channels=4, channel_type="unorm_int8", type="array", array_size=5, sampler=sampler)
    coords, layers = points(COUNT, 1, 1), points(COUNT, 5, dtype=np.uint32)[:, 0]
    layers = np.ascontiguousarray(layers)
    values = bl.sample_image_array(queue, handle, coords, layers)
    few = parts(lambda some, where: bl.sample_image_array(queue, handle, some, where), coords, layers)
    assert np.array_equal(values, few)


def test_samples_of_levels_and_along_gradients(device, queue, image):
    if not device.has(Aspect.ext_oneapi_mipmap):
        pytest.skip("this device has no mipmaps")
    sampler = bl.BindlessImageSampler(
        "repeat", "normalized", "linear", mipmap_filtering="linear", max_mipmap_level_clamp=3.0, max_anisotropy=4.0
    )
    handle = image(64, 32, num_channels=4, channel_type="fp32", type="mipmap", num_levels=4, sampler=sampler)
    coords, levels = points(COUNT, 1, 1), np.ascontiguousarray(points(COUNT, 3)[:, 0])
    dx, dy = points(COUNT, 0.1, 0.1), points(COUNT, 0.02, 0.2)
    values = bl.sample_mipmap(queue, handle, coords, level=levels)
    few = parts(lambda some, level: bl.sample_mipmap(queue, handle, some, level=level), coords, levels)
    assert np.array_equal(values, few)
    values = bl.sample_mipmap(queue, handle, coords, dx=dx, dy=dy)
    few = parts(lambda some, x, y: bl.sample_mipmap(queue, handle, some, dx=x, dy=y), coords, dx, dy)
    assert np.array_equal(values, few)


def test_pixels_written_and_fetched(queue, image):
    width, height = 501, 307  # each pixel once: of several values for one pixel any may win
    handle = image(width, height, num_channels=2, channel_type="fp32")
    y, x = np.mgrid[:height, :width]
    coords = np.random.default_rng(3).permutation(np.stack([x.ravel(), y.ravel()], 1)).astype(np.int32)
    colors = np.random.default_rng(4).random((len(coords), 2), np.float32)
    bl.write_image(queue, handle, coords, colors)
    values = bl.fetch_image(queue, handle, coords)
    assert np.array_equal(values, colors)
    assert np.array_equal(values, parts(lambda some: bl.fetch_image(queue, handle, some), coords))
