"""Contract of every backend for image memory and handles."""

from __future__ import annotations

import numpy as np
import pytest

import bindless as bl
from bindless.model.aspects import Aspect
from bindless.model.channels import CHANNELS
from bindless.model.copy_region import CopyRegion, ImageMemory
from bindless.model.enums import ImageChannelType, UsmKind
from bindless.model.errors import Error, FeatureNotSupportedError
from bindless.model.image_descriptor import ImageDescriptor
from bindless.model.sampler import BindlessImageSampler
from tests.backends.contract.contract_rig import Rig, pixels_of
from tests.support.channel_kinds import PLAIN, SAMPLED_ONLY

NATIVE = {
    "snorm_int8": "signed_int8",
    "snorm_int16": "signed_int16",
    "unorm_int8": "unsigned_int8",
    "unorm_int16": "unsigned_int16",
    "unorm_int8_srgb": "unsigned_int8",
}

# One image of each kind and dimension.
SHAPES = {
    "1d": ImageDescriptor(37),
    "2d": ImageDescriptor(37, 23),
    "3d": ImageDescriptor(13, 11, 7),
    "1d array": ImageDescriptor(37, type="array", array_size=5),
    "2d array": ImageDescriptor(19, 7, type="array", array_size=5),
    "cubemap": ImageDescriptor(16, 16, type="cubemap", array_size=6),
}
MIPMAPS = {
    "1d": ImageDescriptor(37, type="mipmap", num_levels=6),
    "2d": ImageDescriptor(37, 23, type="mipmap", num_levels=6),
    "3d": ImageDescriptor(13, 11, 7, type="mipmap", num_levels=3),
}


def formatted(desc: ImageDescriptor, channel_type: str, channels: int) -> ImageDescriptor:
    """The same image in another format."""
    return ImageDescriptor(
        desc.width,
        desc.height,
        desc.depth,
        num_channels=channels,
        channel_type=channel_type,
        type=desc.type,
        num_levels=desc.num_levels,
        array_size=desc.array_size,
    )


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("channel_type", PLAIN)
def test_images_keep_their_pixels(rig: Rig, shape: str, channel_type: str) -> None:
    for channels in (1, 2, 4):
        desc = formatted(SHAPES[shape], channel_type, channels)
        pixels = pixels_of(desc)
        handle = rig.image(desc, pixels)
        assert np.array_equal(rig.read(handle, desc), pixels)
        again = pixels_of(desc, seed=2)
        rig.write(handle, desc, again)
        assert np.array_equal(rig.read(handle, desc), again)


@pytest.mark.parametrize("shape", MIPMAPS)
def test_levels_of_a_mipmap_are_images(rig: Rig, shape: str) -> None:  # R18, R55
    desc = formatted(MIPMAPS[shape], "unorm_int8", 4)
    handle = rig.image(desc)
    handles = [rig.backend.image_level(rig.context, handle, level) for level in range(desc.num_levels)]
    assert len(set(handles)) == desc.num_levels
    assert handles == [rig.backend.image_level(rig.context, handle, level) for level in range(desc.num_levels)]
    levels = [desc.get_mip_level_desc(level) for level in range(desc.num_levels)]
    pixels = [pixels_of(level, seed) for seed, level in enumerate(levels)]
    for level_handle, level, values in zip(handles, levels, pixels):
        rig.write(level_handle, level, values)
    for level_handle, level, values in zip(handles, levels, pixels):
        assert np.array_equal(rig.read(level_handle, level), values)
        record = rig.backend.image_info(rig.context, level_handle)
        assert (record.width, record.height, record.depth) == (level.width, level.height, level.depth)
    with pytest.raises(Error, match="mipmap"):
        rig.backend.free_image(rig.context, handles[1], levels[1])
    with pytest.raises(Error):
        rig.backend.image_level(rig.context, handle, desc.num_levels)


def test_a_standard_image_has_no_levels(rig: Rig) -> None:
    with pytest.raises(Error):
        rig.backend.image_level(rig.context, rig.image(SHAPES["2d"]), 0)


@pytest.mark.parametrize("shape", [*SHAPES, *(f"mipmap {name}" for name in MIPMAPS)])
def test_the_driver_knows_size_and_format(rig: Rig, shape: str) -> None:  # R19
    base = MIPMAPS[shape[7:]] if shape.startswith("mipmap") else SHAPES[shape]
    for channel_type in map(ImageChannelType, PLAIN):
        for channels in (1, 2, 4):
            desc = formatted(base, str(channel_type), channels)
            record = rig.backend.image_info(rig.context, rig.image(desc))
            assert (record.width, record.height, record.depth) == (desc.width, desc.height, desc.depth)
            assert record.num_channels == channels
            assert record.channel_type in (channel_type, NATIVE.get(str(channel_type)))


def test_images_that_are_too_large_are_refused(rig: Rig) -> None:  # R15
    widest = rig.backend.device_info(rig.device, "image2d_max_width")
    for desc, number in (
        (ImageDescriptor(widest + 1, 4), widest + 1),
        (ImageDescriptor(1 << 20, 1 << 20, 1 << 20), 1 << 20),
        (ImageDescriptor(1 << 40, 1 << 40), (1 << 80) * 16),
    ):
        with pytest.raises(Error, match=f"{number}|{desc.width}"):
            rig.backend.allocate_image(rig.context, rig.device, desc)
    rig.image(SHAPES["2d"])


def test_freed_images_are_gone(rig: Rig) -> None:
    desc = SHAPES["2d"]
    handle = rig.backend.allocate_image(rig.context, rig.device, desc)
    rig.backend.free_image(rig.context, handle, desc)
    with pytest.raises(Error):
        rig.backend.free_image(rig.context, handle, desc)
    with pytest.raises(Error):
        rig.backend.create_unsampled_image(rig.context, rig.device, handle, desc)
    with pytest.raises(Error):
        rig.backend.image_info(rig.context, handle)
    out = np.zeros(desc.shape, desc.dtype)
    with pytest.raises(Error):
        rig.backend.copy_image(rig.queue, CopyRegion(ImageMemory(handle, desc), rig.host(out, desc), desc.extent))


# ---------------------------------------------------------------------- handles


def test_destroying_an_image_leaves_its_memory(rig: Rig) -> None:  # R34, R35
    desc = formatted(SHAPES["2d"], "fp32", 4)
    pixels = pixels_of(desc)
    memory = rig.image(desc, pixels)
    sampler = BindlessImageSampler("clamp_to_edge")
    first = rig.backend.create_sampled_image(rig.context, rig.device, memory, desc, sampler)
    second = rig.backend.create_unsampled_image(rig.context, rig.device, memory, desc)
    third = rig.backend.create_sampled_image(rig.context, rig.device, memory, desc, sampler)
    assert first and second and third and first != third
    rig.backend.destroy_image(rig.context, first, sampled=True)
    rig.backend.destroy_image(rig.context, second, sampled=False)
    with pytest.raises(Error):
        rig.backend.destroy_image(rig.context, first, sampled=True)
    rig.backend.destroy_image(rig.context, third, sampled=True)
    assert np.array_equal(rig.read(memory, desc), pixels)
    rig.unsampled(memory, desc)


def test_images_of_every_format(rig: Rig) -> None:
    for shape, base in SHAPES.items():
        for channel_type in PLAIN:
            for channels in (1, 2, 4):
                desc = formatted(base, str(channel_type), channels)
                memory = rig.image(desc)
                assert rig.unsampled(memory, desc), shape
                assert rig.sampled(memory, desc, BindlessImageSampler("clamp_to_edge")), shape


@pytest.mark.parametrize("channel_type", SAMPLED_ONLY)
def test_images_that_samplers_alone_read(rig: Rig, channel_type: str) -> None:
    kind = ImageChannelType(channel_type)
    channels = CHANNELS[kind].channels
    there = [count for count in (1, 2, 3, 4, 5) if rig.backend.supports_format(rig.device, kind, count)]
    assert there in ([], [channels])
    for base in (SHAPES["2d"], SHAPES["2d array"], SHAPES["cubemap"], MIPMAPS["2d"]):
        desc = formatted(base, channel_type, channels)
        if not there:
            with pytest.raises(FeatureNotSupportedError):
                rig.backend.allocate_image(rig.context, rig.device, desc)
            continue
        memory = rig.image(desc)
        assert rig.sampled(memory, desc, BindlessImageSampler("clamp_to_edge", "normalized", "linear"))
        for number in range(desc.num_levels):
            is_level = base is MIPMAPS["2d"]
            level = desc.get_mip_level_desc(number) if is_level else desc
            handle = rig.backend.image_level(rig.context, memory, number) if is_level else memory
            pixels = pixels_of(level.storage, number)
            rig.write(handle, level.storage, pixels)
            assert np.array_equal(rig.read(handle, level.storage), pixels)
            record = rig.backend.image_info(rig.context, handle)
            assert (record.width, record.height, record.num_channels) == (level.width, level.height, channels)
            assert record.channel_type in (kind, NATIVE.get(channel_type))


def test_an_unsampled_image_is_no_mipmap(rig: Rig) -> None:  # R37
    desc = formatted(MIPMAPS["2d"], "fp32", 4)
    memory = rig.image(desc)
    with pytest.raises(Error, match="mipmap"):
        rig.backend.create_unsampled_image(rig.context, rig.device, memory, desc)
    if Aspect.ext_oneapi_mipmap_level_reference in rig.backend.aspects(rig.device):
        level = rig.backend.image_level(rig.context, memory, 1)
        assert rig.unsampled(level, desc.get_mip_level_desc(1))


def test_samplers_that_do_not_exist(rig: Rig) -> None:
    integers = formatted(SHAPES["2d"], "signed_int32", 4)
    with pytest.raises(Error, match="signed_int32"):
        rig.backend.create_sampled_image(
            rig.context, rig.device, rig.image(integers), integers, BindlessImageSampler(filtering="linear")
        )
    mipmap = formatted(MIPMAPS["2d"], "fp32", 4)
    no_mipmaps = Aspect.ext_oneapi_mipmap not in rig.backend.aspects(rig.device)
    with pytest.raises(Error, match="ext_oneapi_mipmap" if no_mipmaps else "unnormalized"):
        rig.backend.create_sampled_image(
            rig.context, rig.device, rig.image(mipmap), mipmap, BindlessImageSampler("clamp_to_edge", "unnormalized")
        )


def test_every_sampler_can_be_made(rig: Rig) -> None:
    aspects = rig.backend.aspects(rig.device)
    base = MIPMAPS["2d"] if Aspect.ext_oneapi_mipmap in aspects else SHAPES["2d"]
    desc = formatted(base, "unorm_int8", 4)
    memory = rig.image(desc)
    modes = ("none", "repeat", "mirrored_repeat", "clamp_to_edge", "ext_oneapi_clamp_to_border")
    for mode in modes:
        for filtering in ("nearest", "linear"):
            for anisotropy in (0.0, 1.0, 2.5, 16.0, 1e9):
                sampler = BindlessImageSampler(
                    (mode, "repeat", "clamp_to_edge")
                    if Aspect.ext_oneapi_unique_addressing_per_dim in aspects
                    else mode,
                    "normalized",
                    filtering,
                    mipmap_filtering=filtering,
                    max_mipmap_level_clamp=3.5,
                    max_anisotropy=anisotropy,
                )
                image = rig.backend.create_sampled_image(rig.context, rig.device, memory, desc, sampler)
                rig.backend.destroy_image(rig.context, image, sampled=True)
    cube = formatted(SHAPES["cubemap"], "unorm_int8", 4)
    for filtering in ("disjointed", "seamless"):
        rig.sampled(rig.image(cube), cube, BindlessImageSampler("clamp_to_edge", cubemap_filtering=filtering))


@pytest.mark.parametrize("kind", [UsmKind.device, UsmKind.host, UsmKind.shared])
def test_images_over_linear_memory(rig: Rig, kind: UsmKind) -> None:  # R27, R29
    if Aspect.ext_oneapi_bindless_images_1d_usm in rig.backend.aspects(rig.device):
        desc = formatted(SHAPES["1d"], "fp32", 4)
        address = rig.allocate(desc.nbytes, kind)
        assert rig.sampled_usm(address, 12345, desc, BindlessImageSampler("clamp_to_edge"))
    flat = formatted(SHAPES["2d"], "unorm_int8", 4)
    unit = rig.backend.device_info(rig.device, "image_row_pitch_align")
    pitch = -(-flat.row_size // unit) * unit
    address = rig.allocate(pitch * flat.height, kind)
    assert rig.sampled_usm(address, pitch, flat, BindlessImageSampler("clamp_to_edge", filtering="linear"))


def test_wrong_pitches_and_shapes_over_linear_memory(rig: Rig) -> None:  # R22, R28, R30, R44
    desc = formatted(SHAPES["2d"], "fp32", 4)
    address, pitch = rig.pitched(desc)
    sampler = BindlessImageSampler("clamp_to_edge")
    if Aspect.ext_oneapi_bindless_images_2d_usm not in rig.backend.aspects(rig.device):
        with pytest.raises(Error, match="ext_oneapi_bindless_images_2d_usm"):
            rig.backend.create_sampled_image_usm(rig.context, rig.device, address, pitch, desc, sampler)
        return

    def create(pitch: int, desc: ImageDescriptor, sampler: BindlessImageSampler = sampler) -> None:
        rig.backend.create_sampled_image_usm(rig.context, rig.device, address, pitch, desc, sampler)

    for wrong in (0, pitch - 1, pitch + 1, 16, desc.row_size - 16):
        with pytest.raises(Error, match="pitch"):
            create(wrong, desc)
    for shape in ("3d", "1d array", "2d array", "cubemap"):
        with pytest.raises(Error):
            create(pitch, formatted(SHAPES[shape], "fp32", 1))
    with pytest.raises(Error):
        create(pitch, formatted(MIPMAPS["2d"], "fp32", 1), BindlessImageSampler("clamp_to_edge", "normalized"))
    if Aspect.ext_oneapi_bindless_images_sample_1d_usm not in rig.backend.aspects(rig.device):
        with pytest.raises(Error, match="2D image of height 1"):
            create(0, formatted(SHAPES["1d"], "fp32", 4), BindlessImageSampler("clamp_to_edge", filtering="linear"))


def test_many_images_come_and_go(rig: Rig) -> None:
    desc = bl.ImageDescriptor(8, 8, num_channels=1, channel_type="unorm_int8")
    memory = rig.image(desc)
    sampler = BindlessImageSampler("clamp_to_edge")
    for _ in range(50):
        images = [rig.backend.create_sampled_image(rig.context, rig.device, memory, desc, sampler) for _ in range(20)]
        assert len(set(images)) == 20
        for image in images:
            rig.backend.destroy_image(rig.context, image, sampled=True)
