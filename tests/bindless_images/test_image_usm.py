"""Images in linear memory: pitch, limits and refusals (R22, R24–R32, R44)."""

from __future__ import annotations

import numpy as np
import pytest

import bindless as bl
from tests.oracle.unit_weights import nearest
from tests.support.error_checks import raises
from tests.support.pixels import CHANNEL_TYPES, Array, every_coordinate, random_pixels, require, values_of
from tests.support.tolerances import assert_equal

NEAREST = bl.BindlessImageSampler("clamp_to_edge")
KINDS = ("device", "host", "shared")


def store(queue: bl.Queue, pointer: bl.UsmPointer, pitch: int, pixels: Array) -> None:
    """Write rows at their pitch."""
    rows = pixels.reshape(-1, pixels.shape[-2] * pixels.shape[-1])
    for index in range(len(rows)):
        queue.memcpy(pointer + index * pitch, rows[index], rows[index].nbytes).wait()


@pytest.mark.parametrize(("width", "height"), [(1, 1), (9, 5), (64, 3), (100, 7)])
@pytest.mark.parametrize("num_channels", [1, 2, 4])
@pytest.mark.parametrize("channel_type", ["unorm_int8", "fp16", "fp32"])
def test_pitched_alloc(
    queue: bl.Queue, channel_type: str, num_channels: int, width: int, height: int
) -> None:  # R17 R24 R25
    desc = bl.ImageDescriptor(width, height, num_channels=num_channels, channel_type=channel_type)
    align = queue.device.get_info("image_row_pitch_align")
    size = desc.pixel_size
    where = (queue.device, queue.context)
    found = [
        bl.pitched_alloc_device(desc, queue),
        bl.pitched_alloc_device(desc, *where),
        bl.pitched_alloc_device(width * size, height, size, queue),
        bl.pitched_alloc_device(width * size, height, size, *where),
    ]
    pitches = {pitch for _, pitch in found}
    assert len(pitches) == 1
    pitch = pitches.pop()
    assert pitch % align == 0 and pitch >= width * size
    for pointer, _ in found:
        assert pointer.nbytes >= pitch * (height - 1) + width * size
        assert pointer.kind == "device"
        bl.free(pointer)


def test_pitched_alloc_of_one_dimension(queue: bl.Queue) -> None:  # R25
    pointer, pitch = bl.pitched_alloc_device(bl.ImageDescriptor(33, num_channels=1), queue)
    assert pitch >= 33 * 4 and pointer.nbytes >= 33 * 4
    bl.free(pointer)


@pytest.mark.parametrize(
    "arguments",
    [(0, 4, 4), (16, 0, 4), (16, 4, 0), (2**62, 2**62, 4), (2**63, 1, 4), (-16, 4, 4), (2**40, 2**20, 16), (16, 4, 5)],
)
def test_pitched_alloc_fails(queue: bl.Queue, arguments: tuple[int, int, int]) -> None:  # R26
    with pytest.raises(bl.MemoryAllocationError) as caught:
        bl.pitched_alloc_device(*arguments, queue)
    assert caught.value.code is bl.Errc.memory_allocation


def test_pitched_alloc_without_images_in_usm(queue: bl.Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    """The specification has one error code for every failure of this function."""
    lacking = queue.device.aspects - {bl.Aspect.ext_oneapi_bindless_images_2d_usm}
    monkeypatch.setattr(bl.Device, "has", lambda device, aspect: bl.Aspect(aspect) in lacking)
    for arguments in ((bl.ImageDescriptor(8, 8),), (32, 8, 4)):
        with pytest.raises(bl.MemoryAllocationError) as caught:
            bl.pitched_alloc_device(*arguments, queue)
        assert caught.value.code is bl.Errc.memory_allocation
        assert caught.value.backend == queue.device.backend


def test_pitched_alloc_of_what_is_no_image_in_usm(queue: bl.Queue) -> None:  # R22 R30
    for desc in (
        bl.ImageDescriptor(8, 8, type="mipmap", num_levels=2),
        bl.ImageDescriptor(8, 8, type="array", array_size=2),
        bl.ImageDescriptor(8, 8, type="cubemap", array_size=6),
        bl.ImageDescriptor(8, 8, 8),
    ):
        with raises(bl.MemoryAllocationError, names="ImageMem"):
            bl.pitched_alloc_device(desc, queue)
    with raises(bl.MemoryAllocationError, names="width"):
        bl.pitched_alloc_device(bl.ImageDescriptor(), queue)
    with raises(bl.InvalidError):
        bl.pitched_alloc_device(16.0, 4, 4, queue)  # type: ignore[call-overload]
    with raises(bl.InvalidError, names="desc"):
        bl.pitched_alloc_device(16, queue)  # type: ignore[call-overload]


def kind_aspects(kind: str, dims: int) -> tuple[bl.Aspect, ...]:
    wanted = [bl.Aspect(f"ext_oneapi_bindless_images_{dims}d_usm"), bl.Aspect(f"usm_{kind}_allocations")]
    return (*wanted, bl.Aspect.ext_oneapi_bindless_images_shared_usm) if kind == "shared" else tuple(wanted)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("channel_type", CHANNEL_TYPES)
def test_two_dimensions(queue: bl.Queue, channel_type: str, kind: str) -> None:  # R29
    device = queue.device
    require(device, *kind_aspects(kind, 2), bl.Aspect.ext_oneapi_bindless_images_sample_2d_usm)
    desc = bl.ImageDescriptor(13, 6, num_channels=2, channel_type=channel_type)
    align = device.get_info("image_row_pitch_align")
    pitch = -(-desc.row_size // align) * align + align
    pixels = random_pixels(desc)
    memory = bl.usm_empty(pitch * 6, np.uint8, queue, kind=kind, alignment=512)
    store(queue, memory.pointer, pitch, pixels)
    handle = bl.create_image(memory, desc, queue, sampler=NEAREST, pitch=pitch)
    coords = np.random.default_rng(1).random((200, 2), np.float32) * [17, 9] - 2
    coords = coords.astype(np.float32)
    wanted = nearest(values_of(pixels, channel_type), coords)
    assert_equal(bl.sample_image(queue, handle, coords), wanted, device.backend)
    if device.has(bl.Aspect.ext_oneapi_bindless_sampled_image_fetch_2d_usm):
        every = every_coordinate(13, 6)
        fetched = bl.fetch_image(queue, handle, every)
        assert_equal(fetched, values_of(pixels, channel_type).reshape(-1, 2), device.backend)
    bl.destroy_image_handle(handle, queue)
    memory.close()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pitch", [0, 1, 7, 32, 10**12])
def test_one_dimension_ignores_pitch(queue: bl.Queue, kind: str, pitch: int) -> None:  # R27 R29
    device = queue.device
    require(device, *kind_aspects(kind, 1))
    desc = bl.ImageDescriptor(37, num_channels=4)
    pixels = random_pixels(desc)
    memory = bl.usm_empty((37, 4), np.float32, queue, kind=kind, alignment=512).copy_from(pixels, queue)
    handle = bl.create_image(memory, desc, queue, sampler=NEAREST, pitch=pitch)
    if device.has(bl.Aspect.ext_oneapi_bindless_sampled_image_fetch_1d_usm):
        np.testing.assert_array_equal(bl.fetch_image(queue, handle, np.arange(37, dtype=np.int32)), pixels)
    if device.has(bl.Aspect.ext_oneapi_bindless_images_sample_1d_usm):
        coords = np.array([-3, 0.5, 12.9, 36.1, 90], np.float32)
        np.testing.assert_array_equal(bl.sample_image(queue, handle, coords), pixels[[0, 0, 12, 36, 36]])
    bl.destroy_image_handle(handle, queue)
    memory.close()


def test_pitch_of_two_dimensions(queue: bl.Queue) -> None:  # R28
    require(queue.device, bl.Aspect.ext_oneapi_bindless_images_2d_usm)
    desc = bl.ImageDescriptor(13, 6)
    pointer, pitch = bl.pitched_alloc_device(desc, queue)
    align = queue.device.get_info("image_row_pitch_align")
    row = 13 * 16
    for bad in {0, align, row - 1, row // align * align, pitch + 1, pitch - 1} - {pitch}:
        with raises(bl.SyclRuntimeError, names=f"pitch={bad}") as caught:
            bl.create_image(pointer, desc, queue, sampler=NEAREST, pitch=bad)
        assert caught.value.code is bl.Errc.runtime
    bl.free(pointer)
    exact = bl.malloc_device(pitch * 5 + row, queue, alignment=512)
    bl.destroy_image_handle(bl.create_image(exact, desc, queue, sampler=NEAREST, pitch=pitch), queue)
    for high, wide in ((7, pitch), (6, pitch + align)):  # the last row would exceed the allocation
        with raises(bl.SyclRuntimeError, names=exact.nbytes):
            bl.create_image(exact, bl.ImageDescriptor(13, high), queue, sampler=NEAREST, pitch=wide)
    bl.free(exact)


def test_what_usm_does_not_back(queue: bl.Queue) -> None:  # R22 R30 R31
    pointer = bl.malloc_device(1 << 16, queue)
    align = queue.device.get_info("image_row_pitch_align")
    for desc in (
        bl.ImageDescriptor(8, 8, type="mipmap", num_levels=2),
        bl.ImageDescriptor(8, 8, type="array", array_size=2),
        bl.ImageDescriptor(8, 8, type="cubemap", array_size=6),
        bl.ImageDescriptor(8, 8, 8),
    ):
        sampler = bl.BindlessImageSampler("clamp_to_edge", "normalized")
        with raises(bl.SyclRuntimeError, names="ImageMem"):
            bl.create_image(pointer, desc, queue, sampler=sampler, pitch=align * 4)
    for desc in (bl.ImageDescriptor(8, 8), bl.ImageDescriptor(8)):
        if not bl.is_image_handle_supported(bl.UnsampledImageHandle, desc, "usm_pointer", queue):
            with pytest.raises((bl.SyclRuntimeError, bl.FeatureNotSupportedError)):
                bl.create_image(pointer, desc, queue, pitch=align * 4)
    bl.free(pointer)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("num_channels", [1, 2, 4])
@pytest.mark.parametrize("channel_type", CHANNEL_TYPES)
def test_unsampled_images(queue: bl.Queue, channel_type: str, num_channels: int, kind: str) -> None:  # R31
    device = queue.device
    desc = bl.ImageDescriptor(13, 6, num_channels=num_channels, channel_type=channel_type)
    require(device, *kind_aspects(kind, 2))
    if not bl.is_image_handle_supported(bl.UnsampledImageHandle, desc, "usm_pointer", queue):
        pytest.skip(f"{device.name} has no unsampled images of {desc} in USM")
    align = device.get_info("image_row_pitch_align")
    pitch = -(-desc.row_size // align) * align + align
    pixels = random_pixels(desc)
    memory = bl.usm_empty(pitch * 6, np.uint8, queue, kind=kind, alignment=512)
    store(queue, memory.pointer, pitch, pixels)
    with_handle = bl.create_image(memory, desc, queue.device, queue.context, pitch=pitch)
    every = every_coordinate(13, 6)
    fetched = bl.fetch_image(queue, with_handle, every)
    assert_equal(fetched, values_of(pixels, channel_type).reshape(-1, num_channels), device.backend)
    colors = np.ascontiguousarray(values_of(pixels, channel_type).reshape(-1, num_channels)[::-1])
    bl.write_image(queue, with_handle, every, colors)
    rows = memory.numpy(queue).reshape(6, pitch)[:, : desc.row_size].copy().view(pixels.dtype)
    stored = values_of(rows, channel_type).reshape(-1, num_channels)  # -128 and -127 are both -1
    assert_equal(stored, colors, device.backend)
    bl.destroy_image_handle(with_handle, queue)
    memory.close()


def test_an_unsampled_line(queue: bl.Queue) -> None:
    desc = bl.ImageDescriptor(37, num_channels=2, channel_type="fp32")
    if not bl.is_image_handle_supported(bl.UnsampledImageHandle, desc, "usm_pointer", queue):
        pytest.skip(f"{queue.device.name} has no unsampled lines in USM")
    pixels = random_pixels(desc)
    memory = bl.usm_empty((37, 2), np.float32, queue).copy_from(pixels, queue)
    handle = bl.create_image(memory, desc, queue)
    places = np.arange(37, dtype=np.int32)
    np.testing.assert_array_equal(bl.fetch_image(queue, handle, places), pixels)
    bl.write_image(queue, handle, places, np.ascontiguousarray(pixels[::-1]))
    np.testing.assert_array_equal(memory.numpy(queue), pixels[::-1])
    bl.destroy_image_handle(handle, queue)
    memory.close()


def test_limits(queue: bl.Queue) -> None:  # R32
    device = queue.device
    for name in (
        "image_row_pitch_align",
        "max_image_linear_width",
        "max_image_linear_height",
        "max_image_linear_row_pitch",
    ):
        value = device.get_info(name)
        assert type(value) is int and value > 0
        assert device.get_info(getattr(bl.info.device, name)) == value
    assert device.get_info("image_row_pitch_align") < 2**32
    pointer = bl.malloc_device(1 << 20, queue)
    align = device.get_info("image_row_pitch_align")
    width, height = device.get_info("max_image_linear_width"), device.get_info("max_image_linear_height")
    wide = bl.ImageDescriptor(width + 1, 1, num_channels=1, channel_type="unorm_int8")
    with raises(bl.SyclRuntimeError, names=(f"width={width + 1}", width)):
        bl.create_image(pointer, wide, queue, sampler=NEAREST, pitch=-(-(width + 1) // align) * align)
    high = bl.ImageDescriptor(1, height + 1, num_channels=1, channel_type="unorm_int8")
    with raises(bl.SyclRuntimeError, names=(f"height={height + 1}", height)):
        bl.create_image(pointer, high, queue, sampler=NEAREST, pitch=align)
    pitch = device.get_info("max_image_linear_row_pitch") // align * align + align
    with raises(bl.SyclRuntimeError, names=f"pitch={pitch}"):
        bl.create_image(pointer, bl.ImageDescriptor(4, 2), queue, sampler=NEAREST, pitch=pitch)
    bl.free(pointer)


def test_usm_of_another_context(queue: bl.Queue) -> None:  # R36
    other = bl.Context(queue.device)
    pointer, pitch = bl.pitched_alloc_device(bl.ImageDescriptor(8, 8), queue.device, other)
    with raises(bl.SyclRuntimeError):
        bl.create_image(pointer, bl.ImageDescriptor(8, 8), queue, sampler=NEAREST, pitch=pitch)
    bl.free(pointer)
    other.close()


def test_linear_filtering_of_lines(queue: bl.Queue) -> None:  # R44
    require(queue.device, bl.Aspect.ext_oneapi_bindless_images_2d_usm)
    if queue.device.backend not in ("cuda", "reference"):
        pytest.skip("the limit is that of NVIDIA's texture units")
    sampler = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "linear")
    line = bl.ImageDescriptor(16, num_channels=1)
    pointer, pitch = bl.pitched_alloc_device(bl.ImageDescriptor(16, 1, num_channels=1), queue)
    with raises(bl.SyclRuntimeError, names=("2D", 1)):
        bl.create_image(pointer, line, queue, sampler=sampler)
    queue.memcpy(pointer, np.arange(16, dtype=np.float32), 64).wait()
    handle = bl.create_image(pointer, bl.ImageDescriptor(16, 1, num_channels=1), queue, sampler=sampler, pitch=pitch)
    coords = np.array([[3.5, 0.5], [4.0, 0.5], [4.25, 0.5]], np.float32)
    np.testing.assert_allclose(bl.sample_image(queue, handle, coords)[:, 0], [3, 3.5, 3.75])
    bl.destroy_image_handle(handle, queue)
    bl.free(pointer)


def test_an_aspect_that_is_missing_is_named(queue: bl.Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    aspects = queue.device.aspects
    for dims, desc in ((1, bl.ImageDescriptor(8)), (2, bl.ImageDescriptor(8, 2))):
        missing = bl.Aspect(f"ext_oneapi_bindless_images_{dims}d_usm")
        monkeypatch.setattr(queue.device, "_aspects", aspects - {missing})
        pointer = bl.malloc_device(1 << 12, queue)
        with raises(bl.FeatureNotSupportedError, names=missing.name):
            bl.create_image(pointer, desc, queue, sampler=NEAREST, pitch=512)
    if bl.Aspect.usm_shared_allocations in aspects:
        missing = bl.Aspect.ext_oneapi_bindless_images_shared_usm
        monkeypatch.setattr(queue.device, "_aspects", aspects - {missing})
        pointer = bl.malloc_shared(1 << 12, queue)
        with raises(bl.FeatureNotSupportedError, names=missing.name):
            bl.create_image(pointer, bl.ImageDescriptor(8, 2), queue, sampler=NEAREST, pitch=512)
