"""Vulkan's images as ours, in both directions: shapes, mipmaps, formats, sampling and writing."""

from __future__ import annotations

import numpy as np
import pytest

import bindless as bl
from tests.interop.vulkan.sharing_checks import (
    Array,
    levels_of,
    mapped_image,
    open_descriptors,
    pixels_for,
    read_by_copies,
    same,
    write_by_copies,
)
from tests.support.opencl_known_bugs import lacks_format
from tests.support.pixels import CHANNEL_TYPES, every_coordinate, sizes_of, values_of

pytestmark = pytest.mark.vulkan

SHAPES = {
    "1D": ((37,), 1),
    "2D": ((45, 23), 1),
    "2D of even rows": ((64, 32), 1),
    "3D": ((13, 7, 5), 1),
    "1D mipmap": ((64,), 7),
    "2D mipmap": ((45, 23), 4),
    "3D mipmap": ((20, 12, 9), 3),
}
PIXELS = (("unorm_int8", 4), ("fp32", 1), ("unsigned_int16", 2), ("fp16", 4))


def description(sizes, levels, channel_type="unorm_int8", channels=4):
    kind = "mipmap" if levels > 1 else "standard"
    return bl.ImageDescriptor(*sizes, num_channels=channels, channel_type=channel_type, type=kind, num_levels=levels)


@pytest.fixture(params=SHAPES, ids=[name.replace(" ", "_") for name in SHAPES])
def shape(request):
    return SHAPES[request.param]


@pytest.fixture(params=PIXELS, ids=[f"{kind}x{channels}" for kind, channels in PIXELS])
def image(request, rig, exporter, shape):
    with exporter.image(description(*shape, *request.param)) as made:
        rig.start(made)
        yield made


def test_vulkan_writes_we_copy(rig, queue, image):  # R57, R72
    pixels = pixels_for(image.desc, seed=1)
    rig.write(image, pixels)
    with mapped_image(image, queue) as handle:
        same(read_by_copies(handle, image.desc, queue), pixels)
        again = pixels_for(image.desc, seed=2)
        rig.write(image, again)  # written while it is mapped
        same(read_by_copies(handle, image.desc, queue), again)


def test_we_copy_vulkan_reads(rig, queue, image):  # R57
    pixels = pixels_for(image.desc, seed=3)
    with mapped_image(image, queue) as handle:
        write_by_copies(handle, image.desc, pixels, queue)
        same(rig.read(image), pixels)
    same(rig.read(image), pixels)  # unmapping and release leave the pixels to Vulkan


# ---------------------------------------------------------------------- all formats both sides know


def known(queue, exporter, channel_type, channels, sizes=(19, 6)):
    """The image, or None if either side lacks the format."""
    desc = description(sizes, 1, channel_type, channels)
    try:
        with bl.ImageMem(desc, queue):
            pass
        return exporter.image(desc)
    except bl.FeatureNotSupportedError:
        return None


@pytest.mark.parametrize("channel_type", CHANNEL_TYPES)
def test_formats(rig, queue, exporter, channel_type):  # R57
    """Copies in both directions, fetches and writes for every number of channels."""
    tested = set()
    for channels in (1, 2, 3, 4):
        image = known(queue, exporter, channel_type, channels)
        if image is None:
            continue
        tested.add(channels)
        desc = image.desc
        coordinates = every_coordinate(*sizes_of(desc))
        pixels, ours = (pixels_for(desc, seed)[0] for seed in (4, 5))
        with image:
            rig.start(image)
            rig.write(image, [pixels])
            with mapped_image(image, queue) as handle:
                same(read_by_copies(handle, desc, queue), [pixels])
                view = bl.create_image(handle, desc, queue)
                fetched = bl.fetch_image(queue, view, coordinates)
                np.testing.assert_allclose(
                    fetched, values_of(pixels, channel_type).reshape(-1, channels), rtol=1e-6, atol=0
                )
                bl.write_image(queue, view, coordinates, ours.reshape(-1, channels))
                same(rig.read(image), [ours])
                bl.destroy_image_handle(view, queue)
    if queue.device.backend == "opencl" and lacks_format(queue.device.platform.name, channel_type):
        assert not tested  # a format that the driver does not list
        return
    # Vulkan has every one of these formats for storage, or for sampling in 8 and 16 bits.
    assert tested >= {1, 2, 4}


# ---------------------------------------------------------------------- sampling


def linear_sampler(**others):
    return bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "linear", **others)


@pytest.mark.parametrize("sizes", [(37,), (45, 23), (13, 7, 5)], ids=["1D", "2D", "3D"])
@pytest.mark.parametrize("channel_type", ["unorm_int8", "fp32"])
def test_vulkan_writes_we_sample(rig, queue, exporter, sizes, channel_type):
    """A sample half way between two pixels in x is their mean, for every memory layout."""
    desc = description(sizes, 1, channel_type, 4)
    (pixels,) = pixels_for(desc, seed=6)
    values = values_of(pixels, channel_type).astype(np.float64)
    centres = every_coordinate(*sizes).astype(np.float32) + 0.5
    inside = centres[:, 0] < sizes[0] - 1
    between = centres[inside] + np.eye(1, len(sizes), dtype=np.float32)[0] / 2
    with exporter.image(desc) as image:
        rig.start(image)
        rig.write(image, [pixels])
        with mapped_image(image, queue) as handle:
            view = bl.create_image(handle, desc, queue, sampler=linear_sampler())
            at_centres = bl.sample_image(queue, view, centres)
            half_way = bl.sample_image(queue, view, between)
            bl.destroy_image_handle(view, queue)
    np.testing.assert_allclose(at_centres, values.reshape(-1, 4), rtol=0, atol=1e-6)
    means = (values[..., :-1, :] + values[..., 1:, :]) / 2
    np.testing.assert_allclose(half_way, means.reshape(-1, 4), rtol=0, atol=4e-3 if channel_type == "fp32" else 2e-3)


def test_vulkan_clears_we_sample(rig, queue, exporter):
    desc = description((32, 16), 1, "fp32", 4)
    colour = (0.25, -1.5, 3.0, 1.0)
    places = (np.random.default_rng(7).random((50, 2)) * (32, 16)).astype(np.float32)
    with exporter.image(desc) as image:
        rig.start(image)
        with mapped_image(image, queue) as handle:
            view = bl.create_image(handle, desc, queue, sampler=linear_sampler())
            for scale in (1.0, 2.0):
                rig.clear(image, [part * scale for part in colour])
                found = bl.sample_image(queue, view, places)
                np.testing.assert_array_equal(found, np.broadcast_to(np.float32(colour) * np.float32(scale), (50, 4)))
            bl.destroy_image_handle(view, queue)


def test_levels_that_vulkan_blits(rig, draws, queue, exporter):
    """Vulkan reduces each level from the one before; we sample every level and between levels."""
    desc = description((32, 16), 5, "unorm_int8", 4)
    flat = np.zeros(levels_of(desc)[0].shape, np.uint8)
    flat[:] = (40, 80, 120, 255)
    flat[:, :16] = (200, 100, 0, 255)
    with exporter.image(desc) as image:
        rig.start(image)
        rig.write(image, [flat, *(np.zeros(level.shape, np.uint8) for level in levels_of(desc)[1:])])
        rig.reduce(image)
        levels = rig.read(image)
        with mapped_image(image, queue) as handle:
            same(read_by_copies(handle, desc, queue), levels)
            sampler = bl.BindlessImageSampler(
                "clamp_to_edge", "normalized", "linear", mipmap_filtering="linear", max_mipmap_level_clamp=4
            )
            view = bl.create_image(handle, desc, queue, sampler=sampler)
            quarter = np.float32([[0.25, 0.5], [0.75, 0.5]])
            for level in (0, 1, 1.5, 2, 3):
                found = bl.sample_mipmap(queue, view, quarter, level=level)
                wanted = np.float64([(200, 100, 0, 255), (40, 80, 120, 255)]) / 255
                # At each of these levels half of the picture has one colour; blits with linear filtering may round.
                np.testing.assert_allclose(found, wanted, rtol=0, atol=2.5 / 255)
            bl.destroy_image_handle(view, queue)
    assert all(level.any() for level in levels)


@pytest.mark.parametrize("channel_type", ["unorm_int8", "fp32", "signed_int32"])
def test_we_write_vulkan_reads(rig, queue, exporter, channel_type):
    """``write_image`` writes scattered pixels; all other pixels keep Vulkan's values."""
    desc = description((33, 21), 1, channel_type, 4)
    theirs, ours = (pixels_for(desc, seed)[0] for seed in (8, 9))
    chosen = np.random.default_rng(10).permutation(33 * 21)[:200]
    coordinates = every_coordinate(33, 21)[chosen]
    with exporter.image(desc) as image:
        rig.start(image)
        rig.write(image, [theirs])
        with mapped_image(image, queue) as handle:
            view = bl.create_image(handle, desc, queue)
            bl.write_image(queue, view, coordinates, ours.reshape(-1, 4)[chosen])
            bl.destroy_image_handle(view, queue)
        (found,) = rig.read(image)
    wanted: Array = theirs.copy()
    wanted.reshape(-1, 4)[chosen] = ours.reshape(-1, 4)[chosen]
    np.testing.assert_array_equal(found, wanted)


# ---------------------------------------------------------------------- nothing leaks


def test_descriptors_are_counted(rig, queue, exporter):
    """Every export creates one descriptor; a successful import takes it over."""
    desc = description((45, 23), 4)

    def once():
        with exporter.image(desc) as image, mapped_image(image, queue) as handle, mapped_image(image, queue) as again:
            assert handle != again
            rig.start(image)

    once()  # drivers keep some descriptors open
    before = open_descriptors()
    for _ in range(10):
        once()
    assert open_descriptors() == before


def test_wrong_descriptions_are_refused(queue, exporter):
    """Descriptions larger than the memory are refused; the import stays usable."""
    with exporter.image(description((45, 23), 1)) as image:
        memory = bl.import_external_memory(image.export(), queue)
        with pytest.raises(bl.Error):
            bl.map_external_image_memory(memory, description((450, 230), 1), queue)
        layered = bl.ImageDescriptor(9, 9, type="array", array_size=2, channel_type="unorm_int8")
        with pytest.raises(bl.InvalidError):  # R72
            bl.map_external_image_memory(memory, layered, queue)
        handle = bl.map_external_image_memory(memory, image.desc, queue)
        with pytest.raises(bl.Error, match="imported memory"):  # R74
            bl.free_image_mem(handle, "standard", queue)
        bl.unmap_external_image_memory(handle, "standard", queue)
        bl.release_external_memory(memory, queue)
