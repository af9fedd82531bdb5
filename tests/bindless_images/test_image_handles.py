"""Image handles and samplers (R33–R43)."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest

import bindless as bl
from tests.oracle.unit_weights import linear, nearest
from tests.support.error_checks import raises
from tests.support.pixels import INTEGERS, every_coordinate, random_pixels, require, tolerance, upload, usm

DESC = bl.ImageDescriptor(7, 5, num_channels=2)
EVERY = every_coordinate(7, 5)
PLAIN = bl.BindlessImageSampler("clamp_to_edge")
ADDRESSING = ("repeat", "clamp_to_edge", "mirrored_repeat", "ext_oneapi_clamp_to_border")


@pytest.mark.parametrize("kind", [bl.UnsampledImageHandle, bl.SampledImageHandle, bl.ImageMemHandle])
def test_handles_are_numbers(kind: type) -> None:  # R33
    empty = kind()
    assert empty.raw_handle == 0 and not empty
    handle = kind(2**64 - 1)
    assert handle.raw_handle == int(handle) == 2**64 - 1
    handle.raw_handle = 77
    assert handle == kind(77) and hash(handle) == hash(kind(77)) and copy.copy(handle) == handle
    assert handle != bl.UnsampledImageHandle(77) or kind is bl.UnsampledImageHandle
    stored = np.array([kind(1), kind(2**63)], np.uint64)
    assert stored.tolist() == [1, 2**63]
    for bad in (-1, 2**64, 1.5, "1"):
        with raises(bl.InvalidError, names="raw_handle"):
            kind(bad)
        with raises(bl.InvalidError, names="raw_handle"):
            handle.raw_handle = bad


def test_handles_from_numbers_in_memory(queue: bl.Queue) -> None:  # R33
    pixels = [random_pixels(DESC, seed) for seed in range(3)]
    memories = [upload(queue, DESC, array) for array in pixels]
    unsampled = [bl.create_image(memory, DESC, queue) for memory in memories]
    sampled = [bl.create_image(memory, DESC, queue, sampler=PLAIN) for memory in memories]
    table = bl.usm_empty((2, 3), np.uint64, queue).copy_from(
        np.array([[h.raw_handle for h in unsampled], [h.raw_handle for h in sampled]], np.uint64), queue
    )
    loaded = table.numpy(queue)
    for index in range(3):
        wanted = pixels[index].reshape(-1, 2)
        first = bl.UnsampledImageHandle(loaded[0, index])
        second = bl.SampledImageHandle(loaded[1, index])
        np.testing.assert_array_equal(bl.fetch_image(queue, first, EVERY, num_channels=2, dtype="float32"), wanted)
        np.testing.assert_array_equal(bl.fetch_image(queue, second, EVERY, num_channels=2, dtype="float32"), wanted)
        changed = bl.UnsampledImageHandle()
        changed.raw_handle = int(loaded[0, index])
        np.testing.assert_array_equal(bl.fetch_image(queue, changed, EVERY), wanted)
    for handle in (*unsampled, *sampled):
        bl.destroy_image_handle(handle, queue)


# Reads pixel (i % 7, i / 7 % 5) of image which[i], as an unsampled and as a sampled one: table is (2, 3).
GATHER = b"""
.version 6.3
.target sm_75
.address_size 64
.visible .entry gather(.param .u64 .ptr .global .align 8 gather_table, .param .u64 .ptr .global .align 4 gather_which,
    .param .u64 .ptr .global .align 4 gather_out, .param .u32 gather_count)
{
    .reg .pred %p; .reg .b32 %r<12>; .reg .f32 %f<7>; .reg .b64 %d<12>;
    ld.param.u64 %d1, [gather_table]; ld.param.u64 %d2, [gather_which];
    ld.param.u64 %d3, [gather_out]; ld.param.u32 %r1, [gather_count];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p, %r5, %r1; @%p bra done;
    rem.u32 %r6, %r5, 7; div.u32 %r7, %r5, 7; rem.u32 %r7, %r7, 5;
    mul.wide.u32 %d4, %r5, 4; add.s64 %d5, %d2, %d4; ld.global.u32 %r8, [%d5];
    mul.wide.u32 %d6, %r8, 8; add.s64 %d7, %d1, %d6; ld.global.u64 %d8, [%d7]; ld.global.u64 %d9, [%d7+24];
    shl.b32 %r9, %r6, 3; suld.b.2d.v2.b32.zero {%r10, %r11}, [%d8, {%r9, %r7}];
    cvt.rn.f32.u32 %f1, %r6; add.f32 %f1, %f1, 0f3F000000; cvt.rn.f32.u32 %f2, %r7; add.f32 %f2, %f2, 0f3F000000;
    tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%d9, {%f1, %f2}];
    mul.wide.u32 %d10, %r5, 16; add.s64 %d11, %d3, %d10;
    st.global.u32 [%d11], %r10; st.global.u32 [%d11+4], %r11;
    st.global.f32 [%d11+8], %f3; st.global.f32 [%d11+12], %f4;
done: ret;
}
"""


def test_kernels_load_handles_from_memory(queue: bl.Queue) -> None:  # R33
    if queue.device.backend is not bl.Backend.cuda:
        pytest.skip("the kernel is PTX")
    pixels = [random_pixels(DESC, seed) for seed in range(3)]
    memories = [upload(queue, DESC, array) for array in pixels]
    unsampled = [bl.create_image(memory, DESC, queue) for memory in memories]
    sampled = [bl.create_image(memory, DESC, queue, sampler=PLAIN) for memory in memories]
    table = usm(queue, np.array([unsampled, sampled], np.uint64))
    which = np.random.default_rng(1).integers(0, 3, 700).astype(np.uint32)
    out = bl.usm_empty((700, 4), np.float32, queue)
    gather = bl.load_kernel_bundle(GATHER, queue).get_kernel("gather")
    queue.parallel_for(700, gather, table, usm(queue, which), out, np.uint32(700)).wait()
    place = np.arange(700)
    wanted = np.stack(pixels)[which, place // 7 % 5, place % 7]
    np.testing.assert_array_equal(out.numpy(queue), np.hstack([wanted, wanted]))
    for handle in (*unsampled, *sampled):
        bl.destroy_image_handle(handle, queue)


def test_an_unknown_number_says_what_it_needs(queue: bl.Queue) -> None:  # R33
    handle = bl.UnsampledImageHandle(987654321)
    with raises(bl.InvalidError, names=("num_channels=", "dtype=")):
        bl.fetch_image(queue, handle, EVERY)
    if queue.device.backend is bl.Backend.reference:  # elsewhere it is undefined
        with pytest.raises(bl.InvalidError):
            bl.fetch_image(queue, handle, EVERY, num_channels=2, dtype="float32")


def test_destroying_a_handle_leaves_memory(queue: bl.Queue) -> None:  # R17 R34
    pixels = random_pixels(DESC)
    memory = upload(queue, DESC, pixels)
    for where in ((queue,), (queue.device, queue.context)):
        for sampler in (None, PLAIN):
            handle = bl.create_image(memory, DESC, *where, sampler=sampler)
            assert isinstance(handle, bl.UnsampledImageHandle if sampler is None else bl.SampledImageHandle)
            np.testing.assert_array_equal(bl.fetch_image(queue, handle, EVERY), pixels.reshape(-1, 2))
            bl.destroy_image_handle(handle, *where)
            with raises(bl.SyclRuntimeError) as caught:
                bl.destroy_image_handle(handle, *where)
            assert caught.value.code is bl.Errc.runtime
            with raises(bl.InvalidError):
                bl.fetch_image(queue, handle, EVERY)
    out = np.empty_like(pixels)
    queue.ext_oneapi_copy(memory, out).wait()
    np.testing.assert_array_equal(out, pixels)


def test_handles_of_one_memory(queue: bl.Queue) -> None:  # R35
    pixels = random_pixels(DESC)
    memory = upload(queue, DESC, pixels)
    smooth = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "linear")
    handles = [
        bl.create_image(memory, DESC, queue),
        bl.create_image(memory.get_handle(), DESC, queue),
        bl.create_image(memory, DESC, queue, sampler=PLAIN),
        bl.create_image(memory.get_handle(), DESC, queue, sampler=smooth),
    ]
    assert len({(type(h), h.raw_handle) for h in handles}) == 4
    bl.write_image(queue, handles[0], EVERY[:1], np.array([[8, 9]], np.float32))
    for handle in handles:
        np.testing.assert_array_equal(bl.fetch_image(queue, handle, EVERY[:1]), [[8, 9]])
    centres = (EVERY[1:] + 0.5).astype(np.float32)
    first = bl.sample_image(queue, handles[2], centres)
    np.testing.assert_array_equal(first, bl.sample_image(queue, handles[3], centres))
    for handle in handles:
        bl.destroy_image_handle(handle, queue)


@pytest.mark.parametrize("where", ["queue", "device and context"])
@pytest.mark.parametrize("memory", ["object", "handle", "usm"])
def test_every_form_of_creation(queue: bl.Queue, memory: str, where: str) -> None:  # R17
    place = (queue,) if where == "queue" else (queue.device, queue.context)
    pixels = random_pixels(DESC)
    wanted = pixels.reshape(-1, 2)
    if memory == "usm":
        require(
            queue.device,
            bl.Aspect.ext_oneapi_bindless_images_2d_usm,
            bl.Aspect.ext_oneapi_bindless_images_sample_2d_usm,
        )
        pointer, pitch = bl.pitched_alloc_device(DESC, queue)
        queue.ext_oneapi_copy(pixels, pointer, dst_desc=DESC, dst_pitch=pitch).wait()
        sampled = bl.create_image(pointer, DESC, *place, sampler=PLAIN, pitch=pitch)
    else:
        owner = upload(queue, DESC, pixels)
        given = owner if memory == "object" else owner.get_handle()
        plain = bl.create_image(given, DESC, *place)
        assert type(plain) is bl.UnsampledImageHandle
        np.testing.assert_array_equal(bl.fetch_image(queue, plain, EVERY), wanted)
        bl.destroy_image_handle(plain, *place)
        sampled = bl.create_image(given, DESC, *place, sampler=PLAIN)
    assert type(sampled) is bl.SampledImageHandle
    np.testing.assert_array_equal(bl.sample_image(queue, sampled, (EVERY + 0.5).astype(np.float32)), wanted)
    bl.destroy_image_handle(sampled, *place)


def test_creation_refuses(queue: bl.Queue) -> None:  # R36
    memory = bl.ImageMem(DESC, queue)
    other = bl.Context(queue.device)
    foreign = bl.ImageMem(DESC, queue.device, other)
    closed = bl.ImageMem(DESC, queue)
    closed.close()
    refused = [
        (foreign, DESC),
        (foreign.get_handle(), DESC),
        (bl.ImageMemHandle(), DESC),
        (bl.ImageMemHandle(31337), DESC),
        (bl.ImageMem(), DESC),
        (closed, DESC),
        (memory, bl.ImageDescriptor(7, 6, num_channels=2)),
        (memory, bl.ImageDescriptor(7, 5, num_channels=4)),
        (memory, bl.ImageDescriptor(7, 5, num_channels=2, channel_type="fp16")),
        (memory, bl.ImageDescriptor(7, 5, num_channels=2, type="array", array_size=2)),
    ]
    for given, desc in refused:
        for sampler in (None, PLAIN):
            with pytest.raises(bl.SyclRuntimeError) as caught:
                bl.create_image(given, desc, queue, sampler=sampler)
            assert caught.value.code is bl.Errc.runtime
    with raises(bl.InvalidError, names="ndarray"):
        bl.create_image(np.zeros(4), DESC, queue)  # type: ignore[call-overload]
    with raises(bl.InvalidError, names="sampler="):
        bl.create_image(memory, DESC, PLAIN, queue)
    with raises(bl.InvalidError, names="BindlessImageSampler"):
        bl.create_image(memory, DESC, queue, sampler="linear")  # type: ignore[call-overload]
    with raises(bl.SyclRuntimeError, names="width"):
        bl.create_image(memory, bl.ImageDescriptor(), queue)
    handle = bl.create_image(memory, DESC, queue)
    with raises(bl.SyclRuntimeError):
        bl.destroy_image_handle(handle, queue.device, other)
    bl.destroy_image_handle(handle, queue)
    foreign.close()
    other.close()


def test_mipmaps_are_sampled_only(queue: bl.Queue) -> None:  # R37
    require(queue.device, bl.Aspect.ext_oneapi_mipmap)
    desc = bl.ImageDescriptor(8, 8, num_channels=1, type="mipmap", num_levels=3)
    memory = bl.ImageMem(desc, queue)
    with raises(bl.SyclRuntimeError, names="mipmap") as caught:
        bl.create_image(memory, desc, queue)
    assert caught.value.code is bl.Errc.runtime
    with raises(bl.SyclRuntimeError, names="normalized"):
        bl.create_image(memory, desc, queue, sampler=PLAIN)
    require(queue.device, bl.Aspect.ext_oneapi_mipmap_level_reference)
    for index in range(3):
        level = desc.get_mip_level_desc(index)
        pixels = random_pixels(level, index)
        part = memory.get_mip_level_mem_handle(index)
        queue.ext_oneapi_copy(pixels, part, dst_desc=level).wait()
        handle = bl.create_image(part, level, queue)
        every = every_coordinate(level.width, level.height)
        np.testing.assert_array_equal(bl.fetch_image(queue, handle, every), pixels.reshape(-1, 1))
        bl.destroy_image_handle(handle, queue)


def test_level_reference_is_an_aspect(queue: bl.Queue, monkeypatch: pytest.MonkeyPatch) -> None:  # R37
    require(queue.device, bl.Aspect.ext_oneapi_mipmap)
    desc = bl.ImageDescriptor(8, 8, type="mipmap", num_levels=3)
    memory = bl.ImageMem(desc, queue)
    missing = bl.Aspect.ext_oneapi_mipmap_level_reference
    monkeypatch.setattr(queue.device, "_aspects", queue.device.aspects - {missing})
    monkeypatch.setattr(memory.get_device(), "_aspects", queue.device.aspects - {missing})
    with raises(bl.FeatureNotSupportedError, names=missing.name):
        bl.create_image(memory.get_mip_level_mem_handle(0), desc.get_mip_level_desc(0), queue)


# ---------------------------------------------------------------------- samplers


def test_default_sampler() -> None:  # R38
    sampler = bl.BindlessImageSampler()
    assert sampler.addressing == (bl.AddressingMode.none,) * 3
    assert sampler.coordinate == "unnormalized" and sampler.filtering == "nearest"
    assert sampler.mipmap_filtering == "nearest" and sampler.cubemap_filtering == "disjointed"
    assert (sampler.min_mipmap_level_clamp, sampler.max_mipmap_level_clamp, sampler.max_anisotropy) == (0, 0, 0)
    assert sampler == bl.BindlessImageSampler() and hash(sampler) == hash(bl.BindlessImageSampler())


def test_samplers_take_members_and_their_names() -> None:
    first = bl.BindlessImageSampler(
        bl.AddressingMode.mirrored_repeat,
        bl.CoordinateNormalizationMode.normalized,
        bl.FilteringMode.linear,
        mipmap_filtering=bl.FilteringMode.linear,
        cubemap_filtering=bl.CubemapFilteringMode.seamless,
    )
    names = {"mipmap_filtering": "linear", "cubemap_filtering": "seamless"}
    assert first == bl.BindlessImageSampler("mirrored_repeat", "normalized", "linear", **names)  # type: ignore[arg-type]
    assert first.coordinate is bl.CoordinateNormalizationMode.normalized
    assert first.filtering is first.mipmap_filtering is bl.FilteringMode.linear
    assert first.cubemap_filtering is bl.CubemapFilteringMode.seamless
    for name, allowed in {
        "addressing": "'clamp_to_edge'",
        "coordinate": "'unnormalized'",
        "filtering": "'nearest'",
        "mipmap_filtering": "'nearest'",
        "cubemap_filtering": "'disjointed'",
    }.items():
        with raises(bl.InvalidError, names=(f"{name}='wrong'", allowed)):
            bl.BindlessImageSampler(**{name: "wrong"})  # type: ignore[arg-type]
    for number in (-1, float("nan"), 10**400, "x", None):
        with raises(bl.InvalidError, names="max_anisotropy="):
            bl.BindlessImageSampler(max_anisotropy=number)  # type: ignore[arg-type]


def test_none_is_repeat(queue: bl.Queue) -> None:  # R38
    if queue.device.backend not in ("cuda", "reference"):
        pytest.skip("the backend's default addressing is its own")
    memory = upload(queue, DESC, random_pixels(DESC))
    coords = (np.random.default_rng(2).random((300, 2), np.float32) * 6 - 3).astype(np.float32)
    results = []
    for mode in ("none", "repeat"):
        handle = bl.create_image(memory, DESC, queue, sampler=bl.BindlessImageSampler(mode, "normalized", "linear"))
        results.append(bl.sample_image(queue, handle, coords))
        bl.destroy_image_handle(handle, queue)
    np.testing.assert_array_equal(*results)


def test_one_mode_or_three(queue: bl.Queue) -> None:  # R39 R41
    for mode in ("none", *ADDRESSING):
        assert bl.BindlessImageSampler(mode).addressing == (mode,) * 3
    three = ("repeat", "clamp_to_edge", "clamp")
    sampler = bl.BindlessImageSampler(three)
    assert sampler.addressing == ("repeat", "clamp_to_edge", "ext_oneapi_clamp_to_border")
    assert bl.AddressingMode.clamp is bl.AddressingMode.ext_oneapi_clamp_to_border
    assert bl.BindlessImageSampler("clamp") == bl.BindlessImageSampler("ext_oneapi_clamp_to_border")
    assert bl.AddressingMode("clamp") is bl.AddressingMode.clamp
    for bad in (("repeat",), ("repeat",) * 2, ("repeat",) * 4, "wrap", ("repeat", "wrap", "none"), 5, None):
        with raises(bl.InvalidError, names="addressing"):
            bl.BindlessImageSampler(bad)


@pytest.mark.parametrize("filtering", ["nearest", "linear"])
@pytest.mark.parametrize("mode", ADDRESSING)
@pytest.mark.parametrize("sizes", [(11,), (7, 5), (6, 5, 4)])
def test_addressing(queue: bl.Queue, sizes: tuple[int, ...], mode: str, filtering: str) -> None:  # R38 R39 R41
    desc = bl.ImageDescriptor(*sizes, num_channels=2)
    pixels = random_pixels(desc)
    memory = upload(queue, desc, pixels)
    rng = np.random.default_rng(3)
    oracle = nearest if filtering == "nearest" else linear
    normalized = (rng.integers(-3 * 64, 3 * 64, (500, len(sizes))) / 64 + 1 / 4096).astype(np.float32)
    sampler = bl.BindlessImageSampler(mode, "normalized", filtering)
    handle = bl.create_image(memory, desc, queue, sampler=sampler)
    got = bl.sample_image(queue, handle, normalized)
    np.testing.assert_allclose(
        got, oracle(pixels, normalized.astype(float) * sizes, mode), rtol=0, atol=tolerance(queue.device)
    )
    bl.destroy_image_handle(handle, queue)
    wraps = mode in ("repeat", "mirrored_repeat")
    sampler = bl.BindlessImageSampler(mode, "unnormalized", filtering)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        handle = bl.create_image(memory, desc, queue, sampler=sampler)
    assert [w.category for w in caught] == ([bl.SamplerWarning] if wraps else [])
    if wraps:
        assert "clamp_to_edge" in str(caught[0].message) and caught[0].filename == __file__
    coords = (rng.random((500, len(sizes))) * (np.array(sizes) + 6) - 3).astype(np.float32)
    got = bl.sample_image(queue, handle, coords)
    wanted = oracle(pixels, coords, "clamp_to_edge" if wraps else mode)
    np.testing.assert_allclose(got, wanted, rtol=0, atol=tolerance(queue.device))
    bl.destroy_image_handle(handle, queue)


def test_the_warning_points_at_the_caller(queue: bl.Queue) -> None:
    require(queue.device, bl.Aspect.ext_oneapi_bindless_images_2d_usm)
    desc = bl.ImageDescriptor(8, 4)
    pointer, pitch = bl.pitched_alloc_device(desc, queue)
    memory = bl.ImageMem(desc, queue)
    sampler = bl.BindlessImageSampler("mirrored_repeat")
    for given, options in ((pointer, {"pitch": pitch}), (memory, {}), (memory, {})):
        with pytest.warns(bl.SamplerWarning, match="mirrored_repeat") as caught:
            handle = bl.create_image(given, desc, queue, sampler=sampler, **options)
        assert [warning.filename for warning in caught] == [__file__]
        bl.destroy_image_handle(handle, queue)


def test_a_mode_for_each_dimension(queue: bl.Queue) -> None:  # R39
    require(queue.device, bl.Aspect.ext_oneapi_unique_addressing_per_dim)
    desc = bl.ImageDescriptor(8, 4, num_channels=1)
    pixels = random_pixels(desc)
    memory = upload(queue, desc, pixels)
    sampler = bl.BindlessImageSampler(("repeat", "clamp", "clamp_to_edge"), "normalized")
    handle = bl.create_image(memory, desc, queue, sampler=sampler)
    coords = np.array([[1 + 1 / 16, 1 / 8], [1 / 16, 1 + 1 / 8], [-1 / 16, 3 / 8]], np.float32)
    wanted = [pixels[0, 0, 0], 0, pixels[1, 7, 0]]
    np.testing.assert_array_equal(bl.sample_image(queue, handle, coords)[:, 0], wanted)
    bl.destroy_image_handle(handle, queue)


def test_unique_addressing_is_an_aspect(queue: bl.Queue, monkeypatch: pytest.MonkeyPatch) -> None:  # R40
    missing = bl.Aspect.ext_oneapi_unique_addressing_per_dim
    memory = bl.ImageMem(DESC, queue)
    monkeypatch.setattr(queue.device, "_aspects", queue.device.aspects - {missing})
    mixed = bl.BindlessImageSampler(("clamp", "clamp_to_edge", "clamp"))
    with raises(bl.FeatureNotSupportedError, names=missing.name):
        bl.create_image(memory, DESC, queue, sampler=mixed)
    unused = bl.BindlessImageSampler(("clamp", "clamp", "clamp_to_edge"))
    bl.destroy_image_handle(bl.create_image(memory, DESC, queue, sampler=unused), queue)


def test_level_clamp_above_the_levels(queue: bl.Queue) -> None:  # R42
    require(queue.device, bl.Aspect.ext_oneapi_mipmap)
    desc = bl.ImageDescriptor(8, 8, type="mipmap", num_levels=3)
    memory = bl.ImageMem(desc, queue)
    for level, size in enumerate((8, 4, 2)):
        pixels = np.full((size, size, 4), level, np.float32)
        target = memory.get_mip_level_mem_handle(level)
        queue.ext_oneapi_copy(pixels, target, dst_desc=desc.get_mip_level_desc(level)).wait()
    centre = np.full((1, 2), 0.5, np.float32)
    for clamp, highest in ((1.0, 1), (2.0, 2), (3.0, 2), (3.01, 2), (100.0, 2), (3.4e38, 2), (float("inf"), 2)):
        sampler = bl.BindlessImageSampler("clamp_to_edge", "normalized", max_mipmap_level_clamp=clamp)
        handle = bl.create_image(memory, desc, queue, sampler=sampler)
        read = [bl.sample_mipmap(queue, handle, centre, level=level)[0, 0] for level in (0.0, 1.0, 2.0, 9.0)]
        assert read == [min(level, highest) for level in (0, 1, 2, 9)], clamp
        bl.destroy_image_handle(handle, queue)
    standard = bl.ImageMem(DESC, queue)
    unlimited = bl.BindlessImageSampler("clamp_to_edge", max_mipmap_level_clamp=float("inf"))
    bl.destroy_image_handle(bl.create_image(standard, DESC, queue, sampler=unlimited), queue)
    for bad in (-1.0, float("nan"), -float("inf"), "x"):
        with pytest.raises(bl.InvalidError) as refused:
            bl.BindlessImageSampler(max_mipmap_level_clamp=bad)  # type: ignore[arg-type]
        assert refused.value.code is bl.Errc.invalid
    with pytest.raises(bl.InvalidError):
        bl.BindlessImageSampler(min_mipmap_level_clamp=float("inf"))


def test_a_mipmap_read_at_its_first_level_alone_is_warned_of(queue: bl.Queue) -> None:
    require(queue.device, bl.Aspect.ext_oneapi_mipmap)
    desc = bl.ImageDescriptor(8, 8, type="mipmap", num_levels=3)
    memory = bl.ImageMem(desc, queue)
    sampler = bl.BindlessImageSampler("clamp_to_edge", "normalized")
    for _ in range(3):  # cached handles and samplers included
        with pytest.warns(bl.SamplerWarning, match="max_mipmap_level_clamp=0") as told:
            handle = bl.create_image(memory, desc, queue, sampler=sampler)
        assert told[0].filename == __file__
        bl.destroy_image_handle(handle, queue)
    # A single level and an image without levels cause no warning; neither does the class that makes mipmaps.
    level = memory.get_mip_level_mem_handle(1)
    if queue.device.has(bl.Aspect.ext_oneapi_mipmap_level_reference):
        own = bl.create_image(level, desc.get_mip_level_desc(1), queue, sampler=sampler)
        bl.destroy_image_handle(own, queue)
    standard = bl.ImageMem(DESC, queue)
    bl.destroy_image_handle(bl.create_image(standard, DESC, queue, sampler=sampler), queue)
    with bl.Image(np.ones((8, 8), np.float32), mipmaps=True, queue=queue) as image:
        assert image.sample([[4.0, 4.0]], level=2).shape == (1,)


def test_more_anisotropy_than_there_is_is_warned_of(queue: bl.Queue) -> None:
    pixels = np.arange(64, dtype=np.float32).reshape(8, 8)
    if not queue.device.has(bl.Aspect.ext_oneapi_mipmap_anisotropy):
        pytest.skip(f"{queue.device.name} has no anisotropic filtering")
    desc = bl.ImageDescriptor(8, 8, type="mipmap", num_levels=3)
    memory = bl.ImageMem(desc, queue)
    for ratio, warned in ((16, 0), (64, 1)):
        sampler = bl.BindlessImageSampler("clamp_to_edge", "normalized", max_mipmap_level_clamp=2, max_anisotropy=ratio)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            bl.destroy_image_handle(bl.create_image(memory, desc, queue, sampler=sampler), queue)
            with bl.Image(pixels, mipmaps=True, max_anisotropy=ratio, queue=queue) as image:
                image.warp(np.diag([4.0, 1.0, 1.0]), (4, 4))
        assert [(item.category, item.filename) for item in told] == [(bl.SamplerWarning, __file__)] * 2 * warned


@pytest.mark.parametrize("channel_type", INTEGERS)
def test_linear_filtering_of_integers(queue: bl.Queue, channel_type: str) -> None:
    desc = bl.ImageDescriptor(7, 5, num_channels=1, channel_type=channel_type)
    memory = upload(queue, desc, random_pixels(desc))
    sampler = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "linear")
    if channel_type.endswith("32") or queue.device.backend not in ("cuda", "reference"):
        with raises(bl.SyclRuntimeError, names="nearest"):
            bl.create_image(memory, desc, queue, sampler=sampler)
        return
    handle = bl.create_image(memory, desc, queue, sampler=sampler)
    got = bl.sample_image(queue, handle, (EVERY + 0.5).astype(np.float32))
    assert got.dtype == desc.dtype
    bl.destroy_image_handle(handle, queue)


# ---------------------------------------------------------------------- cubemaps


def cube(queue: bl.Queue, size: int) -> tuple[bl.ImageDescriptor, bl.ImageMem, np.ndarray]:
    desc = bl.ImageDescriptor(size, size, num_channels=1, type="cubemap", array_size=6)
    pixels = (np.arange(6, dtype=np.float32)[:, None, None, None] + 1) * np.ones((6, size, size, 1), np.float32)
    return desc, upload(queue, desc, pixels), pixels


AXES = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], np.float32)


@pytest.mark.parametrize("coordinate", ["normalized", "unnormalized"])
@pytest.mark.parametrize("mode", ["repeat", "clamp_to_edge", "mirrored_repeat", "clamp"])
def test_seamless(queue: bl.Queue, mode: str, coordinate: str) -> None:  # R43
    require(queue.device, bl.Aspect.ext_oneapi_cubemap, bl.Aspect.ext_oneapi_cubemap_seamless_filtering)
    desc, memory, _ = cube(queue, 4)
    edges = (AXES[[0, 0, 2]] + AXES[[2, 4, 4]]).astype(np.float32)  # on the edge of two faces each
    inside = edges - np.float32(1e-3) * AXES[[2, 4, 4]]
    faces = {(0, 2): 0, (0, 4): 1, (2, 4): 2}
    for filtering in ("nearest", "linear"):
        sampler = bl.BindlessImageSampler(mode, coordinate, filtering, cubemap_filtering="seamless")
        handle = bl.create_image(memory, desc, queue, sampler=sampler)
        np.testing.assert_allclose(bl.sample_cubemap(queue, handle, AXES)[:, 0], np.arange(1, 7))
        got = bl.sample_cubemap(queue, handle, inside.astype(np.float32))[:, 0]
        for (one, other), row in faces.items():
            if filtering == "nearest":
                assert got[row] == one + 1
            else:  # about half of the value of each face
                assert abs(got[row] - (one + other + 2) / 2) < 0.01 * abs(one - other) + 0.01
        bl.destroy_image_handle(handle, queue)


def test_disjointed(queue: bl.Queue) -> None:  # R43
    require(queue.device, bl.Aspect.ext_oneapi_cubemap)
    desc, memory, _ = cube(queue, 4)
    rng = np.random.default_rng(4)
    directions = rng.normal(size=(500, 3)).astype(np.float32)
    sampler = bl.BindlessImageSampler("clamp_to_edge", "normalized", "linear")
    handle = bl.create_image(memory, desc, queue, sampler=sampler)
    axis = np.abs(directions).argmax(axis=1)
    negative = np.take_along_axis(directions, axis[:, None], 1)[:, 0] < 0
    np.testing.assert_array_equal(bl.sample_cubemap(queue, handle, directions)[:, 0], 2 * axis + negative + 1)
    bl.destroy_image_handle(handle, queue)


def test_seamless_is_an_aspect(queue: bl.Queue, monkeypatch: pytest.MonkeyPatch) -> None:  # R43
    require(queue.device, bl.Aspect.ext_oneapi_cubemap)
    desc, memory, _ = cube(queue, 4)
    missing = bl.Aspect.ext_oneapi_cubemap_seamless_filtering
    monkeypatch.setattr(queue.device, "_aspects", queue.device.aspects - {missing})
    with raises(bl.FeatureNotSupportedError, names=missing.name):
        bl.create_image(memory, desc, queue, sampler=bl.BindlessImageSampler(cubemap_filtering="seamless"))
