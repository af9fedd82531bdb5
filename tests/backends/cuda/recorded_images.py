"""Arrays, textures and surfaces on the driver of ``fake_cuda.c``: run by ``test_cuda_recording.py``."""

from __future__ import annotations

from typing import Any

import pytest

from bindless.backends.cuda.object_cache import end_rest
from bindless.drivers import cuda as driver
from bindless.model.errors import MemoryAllocationError, SyclRuntimeError
from bindless.model.image_descriptor import ImageDescriptor
from bindless.model.sampler import BindlessImageSampler
from tests.backends.contract.contract_rig import Rig
from tests.backends.cuda.fake_cuda import Fake
from tests.support.error_checks import raises


def test_every_image_type_has_its_array(rig: Rig, fake: Fake) -> None:
    def made(desc: ImageDescriptor) -> str:
        rig.image(desc)
        return fake.lines("cu")[-1]

    rig.image(ImageDescriptor(2, 2))
    form = {"num_channels": 4, "channel_type": "unorm_int8"}
    assert made(ImageDescriptor(7, **form)) == "cuArray3DCreate 7x0x0 format 1 channels 4 flags 2 levels 1"
    assert made(ImageDescriptor(7, 5, **form)) == "cuArray3DCreate 7x5x0 format 1 channels 4 flags 2 levels 1"
    assert made(ImageDescriptor(7, 5, 3, **form)) == "cuArray3DCreate 7x5x3 format 1 channels 4 flags 2 levels 1"
    layered = ImageDescriptor(7, type="array", array_size=9, **form)
    assert made(layered) == "cuArray3DCreate 7x0x9 format 1 channels 4 flags 3 levels 1"
    layered = ImageDescriptor(7, 5, type="array", array_size=9, **form)
    assert made(layered) == "cuArray3DCreate 7x5x9 format 1 channels 4 flags 3 levels 1"
    cube = ImageDescriptor(8, 8, type="cubemap", array_size=6, **form)
    assert made(cube) == "cuArray3DCreate 8x8x6 format 1 channels 4 flags 6 levels 1"
    mipmap = ImageDescriptor(8, 8, type="mipmap", num_levels=4, **form)
    assert made(mipmap) == "cuMipmappedArrayCreate 8x8x0 format 1 channels 4 flags 2 levels 4"


def test_a_small_array_is_used_again(rig: Rig, fake: Fake) -> None:
    """A few of each kind, of which the driver hears nothing; an array of a twin descriptor, and no other, takes one."""
    form: dict[str, Any] = {"num_channels": 2, "channel_type": "fp32"}

    def made(desc: ImageDescriptor, count: int = 1) -> list[int]:
        return [rig.backend.allocate_image(rig.context, rig.device, desc) for _ in range(count)]

    def freed(desc: ImageDescriptor, handles: list[int]) -> None:
        for handle in handles:
            rig.backend.free_image(rig.context, handle, desc)

    small, twin = ImageDescriptor(31, 3, **form), ImageDescriptor(31, 3, **form)
    others = ImageDescriptor(3, 31, **form), ImageDescriptor(31, 3, num_channels=1), ImageDescriptor(31, 3, 1, **form)
    first = made(small, 3)
    live = fake.library.fake_live_arrays()
    freed(small, first)
    fake.clear()
    assert set(made(twin, 3)) == set(first) and not fake.lines("cuArray")
    for other in others:
        freed(other, made(other))
    assert len(fake.lines("cuArray3DCreate")) == 3
    freed(twin, first)
    many = made(small, 40)
    assert len(set(many)) == 40
    freed(small, many)
    assert fake.library.fake_live_arrays() <= live + 3 + 8
    large = ImageDescriptor(1024, 1024, num_channels=4, channel_type="fp32")
    handles = made(large)
    live = fake.library.fake_live_arrays()
    freed(large, handles)
    assert fake.library.fake_live_arrays() == live - 1
    for width in range(200, 260):  # no more than some kinds
        kind = ImageDescriptor(width, **form)
        freed(kind, made(kind))
    assert fake.library.fake_live_arrays() <= live + 16
    # Cached arrays are freed first when memory runs out.
    freed(small, made(small))
    fake.clear()
    fake.fail("cuArray3DCreate", lib_out_of_memory())
    freed(large, made(large))
    assert len(fake.lines("cuArray3DCreate")) == 1
    fake.clear()
    freed(small, made(small))
    assert len(fake.lines("cuArray3DCreate")) == 1
    with raises(MemoryAllocationError):
        freed(small, first[:1])


def test_a_texture_or_surface_is_used_again(rig: Rig, fake: Fake) -> None:
    """One of each kind over a memory, of which the driver hears nothing; over no other memory, by no other sampler."""
    backend, context = rig.backend, rig.context
    primary = context.primary(None)
    end_rest(primary)
    desc = ImageDescriptor(33, 5, num_channels=4, channel_type="unorm_int8")
    codes = ImageDescriptor(33, 5, num_channels=4, channel_type="unsigned_int8")
    samplers = [BindlessImageSampler("clamp_to_edge", filtering=mode) for mode in ("linear", "nearest")]

    def allocated(of: ImageDescriptor = desc) -> int:
        return backend.allocate_image(context, rig.device, of)

    def made(memory: int, sampler: BindlessImageSampler | None, of: ImageDescriptor = desc) -> int:
        if sampler is None:
            return backend.create_unsampled_image(context, rig.device, memory, of)
        return backend.create_sampled_image(context, rig.device, memory, of, sampler)

    def calls() -> int:
        count = len(fake.lines("cuTexObjectCreate")) + len(fake.lines("cuSurfObjectCreate"))
        fake.clear()
        return count

    memory, other = allocated(), allocated()
    live = fake.library.fake_live_objects()
    fake.clear()
    for sampler in (None, *samplers):
        first = made(memory, sampler)
        assert calls() == 1
        twin = made(memory, sampler)
        assert twin != first and calls() == 1  # the other one is in use
        for image in (first, twin):
            backend.destroy_image(context, image, sampler is not None)
            with raises(SyclRuntimeError):
                backend.destroy_image(context, image, sampler is not None)
        assert made(memory, sampler) == first and calls() == 0
        backend.destroy_image(context, first, sampler is not None)
    assert fake.library.fake_live_objects() == live + 3
    backend.destroy_image(context, made(other, samplers[0]), True)
    assert calls() == 1 and fake.library.fake_live_objects() == live + 4
    # Those of an array that rests do, too, and serve what is made of it next, if that reads it alike.
    backend.free_image(context, memory, desc)
    assert allocated() == memory
    for sampler, asked in ((samplers[1], 0), (None, 0)):
        backend.destroy_image(context, made(memory, sampler), sampler is not None)
        assert calls() == asked
    backend.free_image(context, memory, desc)
    assert allocated(codes) == memory
    backend.destroy_image(context, made(memory, samplers[1], codes), True)
    assert calls() == 1
    backend.free_image(context, memory, codes)
    # An array that ends takes them along; so does a level of a mipmap.
    end_rest(primary)
    assert fake.library.fake_live_objects() == live
    for big in (
        ImageDescriptor(1024, 1024, num_channels=4, channel_type="fp32"),
        ImageDescriptor(8, 8, type="mipmap", num_levels=2),
    ):
        memory = allocated(big)
        level = backend.image_level(context, memory, 1) if big.num_levels > 1 else memory
        backend.destroy_image(
            context, made(level, None, big.get_mip_level_desc(1) if big.num_levels > 1 else big), False
        )
        assert fake.library.fake_live_objects() == live + 1
        backend.free_image(context, memory, big)
        assert fake.library.fake_live_objects() == live
    # There are a few of a memory, and of some memories.
    for filtering in ("linear", "nearest"):
        for mode in ("clamp_to_edge", "ext_oneapi_clamp_to_border", "none"):
            backend.destroy_image(context, made(other, BindlessImageSampler(mode, filtering=filtering)), True)
    assert fake.library.fake_live_objects() == live + 4
    many = [allocated() for _ in range(100)]
    for memory in many:
        backend.destroy_image(context, made(memory, None), False)
    assert fake.library.fake_live_objects() <= live + 64 + 4
    for memory in (*many, other):
        backend.free_image(context, memory, desc)
    end_rest(primary)
    assert fake.library.fake_live_objects() == live


def lib_out_of_memory() -> int:
    return int(driver.lib.CUDA_ERROR_OUT_OF_MEMORY)


def test_an_image_beyond_surfaces_is_still_sampled(rig: Rig, fake: Fake) -> None:
    desc = ImageDescriptor(100_000, num_channels=1)
    memory = rig.image(desc)
    assert fake.lines("cuArray3DCreate")[-1].endswith("flags 0 levels 1")
    rig.sampled(memory, desc, BindlessImageSampler("clamp_to_edge"))
    with raises(SyclRuntimeError):
        rig.backend.create_unsampled_image(rig.context, rig.device, memory, desc)


@pytest.mark.parametrize(
    ("desc", "sampler", "expected"),
    [
        (
            ImageDescriptor(8, 8, channel_type="fp32"),
            BindlessImageSampler(),
            "array address 0 0 1 filter 0 mip 0 flags 32 aniso 0 clamp 0 0 border 0",
        ),
        (
            ImageDescriptor(8, channel_type="unorm_int8"),
            BindlessImageSampler("ext_oneapi_clamp_to_border", "normalized", "linear"),
            "array address 3 1 1 filter 1 mip 0 flags 34 aniso 0 clamp 0 0 border 0",
        ),
        (
            ImageDescriptor(8, 8, 8, channel_type="unsigned_int8"),
            BindlessImageSampler(("repeat", "mirrored_repeat", "clamp_to_edge"), "normalized"),
            "array address 0 2 1 filter 0 mip 0 flags 35 aniso 0 clamp 0 0 border 0",
        ),
        (
            ImageDescriptor(8, 8, type="array", array_size=3, channel_type="fp16"),
            BindlessImageSampler("mirrored_repeat"),
            "array address 2 2 1 filter 0 mip 0 flags 32 aniso 0 clamp 0 0 border 0",
        ),
        (
            ImageDescriptor(8, 8, type="cubemap", array_size=6, channel_type="fp16"),
            BindlessImageSampler("clamp_to_edge", filtering="linear", cubemap_filtering="seamless"),
            "array address 1 1 1 filter 1 mip 0 flags 98 aniso 0 clamp 0 0 border 0",
        ),
        (
            ImageDescriptor(8, 8, type="mipmap", num_levels=4, channel_type="fp16"),
            BindlessImageSampler(
                "clamp_to_edge", "normalized", mipmap_filtering="linear",
                min_mipmap_level_clamp=0.5, max_mipmap_level_clamp=2.5, max_anisotropy=99.0,
            ),
            "mipmap address 1 1 1 filter 0 mip 1 flags 34 aniso 16 clamp 0.5 2.5 border 0",
        ),
    ],
)  # fmt: skip
def test_samplers_become_texture_descriptors(
    rig: Rig, fake: Fake, desc: ImageDescriptor, sampler: BindlessImageSampler, expected: str
) -> None:
    rig.sampled(rig.image(desc), desc, sampler)
    assert fake.lines("cuTexObjectCreate") == [f"cuTexObjectCreate {expected}"]


def test_linear_memory_becomes_textures(rig: Rig, fake: Fake) -> None:
    flat = ImageDescriptor(100, num_channels=2, channel_type="fp16")
    rig.sampled_usm(rig.allocate(flat.nbytes), 7, flat, BindlessImageSampler("clamp_to_edge", "normalized"))
    pitched = ImageDescriptor(100, 20, num_channels=2, channel_type="fp16")
    address, pitch = rig.pitched(pitched)
    rig.sampled_usm(address, pitch, pitched, BindlessImageSampler("clamp_to_edge", "normalized"))
    rest = "filter 0 mip 0 flags {} aniso 0 clamp 0 0 border 0"
    assert fake.lines("cuTexObjectCreate") == [
        f"cuTexObjectCreate linear format 16 channels 2 bytes 400 address 1 1 1 {rest.format(32)}",
        f"cuTexObjectCreate pitch2d 100x20 pitch 512 address 1 1 1 {rest.format(34)}",
    ]
