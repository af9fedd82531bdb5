"""Device functions on image arrays, cubemaps and mipmaps (R39, R42, R43, R61, R62, R66–R69)."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest

import bindless as bl
from tests.oracle.samples import sample_pixels
from tests.oracle.unit_weights import linear
from tests.support.error_checks import raises
from tests.support.pixels import (
    Array,
    every_coordinate,
    random_pixels,
    require,
    sizes_of,
    tolerance,
    upload,
    usm,
    values_of,
)

PLAIN = bl.BindlessImageSampler("clamp_to_edge")
SMOOTH = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "linear")
SIZES = [(13,), (7, 5), (6, 5, 4)]


# ---------------------------------------------------------------------- arrays and cubemaps


@pytest.mark.parametrize("sizes", [(11,), (7, 5)], ids=str)
def test_image_arrays(queue: bl.Queue, sizes: tuple[int, ...]) -> None:  # R66
    require(queue.device, bl.Aspect.ext_oneapi_image_array)
    desc = bl.ImageDescriptor(*sizes, num_channels=2, type="array", array_size=4)
    pixels = random_pixels(desc)
    memory = upload(queue, desc, pixels)
    every = every_coordinate(*sizes)
    rng = np.random.default_rng(4)
    layers = rng.integers(0, 4, len(every), np.uint32)
    flat = pixels.reshape(4, -1, 2)
    wanted = flat[layers, np.arange(len(every))]
    unsampled = bl.create_image(memory, desc, queue)
    smooth = bl.create_image(memory, desc, queue, sampler=SMOOTH)
    for handle in (unsampled, smooth):
        np.testing.assert_array_equal(bl.fetch_image_array(queue, handle, every, layers), wanted)
        for layer in (0, np.uint32(3), np.int64(2)):
            np.testing.assert_array_equal(bl.fetch_image_array(queue, handle, every, layer), flat[int(layer)])
    coords = (rng.random((len(every), len(sizes))) * (np.array(sizes) + 2) - 1).astype(np.float32)
    got = bl.sample_image_array(queue, smooth, coords, layers)
    for layer in range(4):  # every layer equals an image of its own
        chosen = layers == layer
        alone = linear(pixels[layer], coords[chosen])
        np.testing.assert_allclose(got[chosen], alone, rtol=0, atol=tolerance(queue.device))
        np.testing.assert_array_equal(bl.sample_image_array(queue, smooth, coords[chosen], layer), got[chosen])
    colors = rng.random((len(every), 2), np.float32)
    bl.write_image_array(queue, unsampled, every, layers, colors)
    after = flat.copy()
    after[layers, np.arange(len(every))] = colors
    out = np.empty_like(pixels)
    queue.ext_oneapi_copy(memory, out).wait()
    np.testing.assert_array_equal(out.reshape(4, -1, 2), after)
    event = bl.fetch_image_array(
        queue, unsampled, usm(queue, every), usm(queue, layers), out=bl.usm_empty((len(every), 2), np.float32, queue)
    )
    event.wait()


def test_layers_are_checked(queue: bl.Queue) -> None:  # R67
    require(queue.device, bl.Aspect.ext_oneapi_image_array)
    desc = bl.ImageDescriptor(4, 4, num_channels=1, type="array", array_size=3)
    memory = upload(queue, desc, random_pixels(desc))
    unsampled = bl.create_image(memory, desc, queue)
    sampled = bl.create_image(memory, desc, queue, sampler=PLAIN)
    whole, real = np.zeros((2, 2), np.int32), np.zeros((2, 2), np.float32)
    functions = (
        lambda layers: bl.fetch_image_array(queue, unsampled, whole, layers),
        lambda layers: bl.fetch_image_array(queue, sampled, whole, layers),
        lambda layers: bl.sample_image_array(queue, sampled, real, layers),
        lambda layers: bl.write_image_array(queue, unsampled, whole, layers, np.zeros((2, 1), np.float32)),
    )
    for function in functions:
        for layer in (3, -1, 2**32, 2**64):
            with raises(bl.InvalidError, names=layer):
                function(layer)
        for bad in (np.zeros(3, np.uint32), np.zeros(2, np.int64), np.zeros((2, 1), np.int32), "0", 0.5, None):
            with raises(bl.InvalidError, names="layers"):
                function(bad)
        if queue.device.backend is bl.Backend.reference:  # undefined elsewhere
            for bad in ([0, 3], [2**32 - 1, 0]):
                with raises(bl.InvalidError, names="layer"):
                    function(np.array(bad, np.uint32))
            with raises(bl.InvalidError, names="layer"):
                function(np.array([0, -1], np.int32))


def test_coordinates_outside(queue: bl.Queue) -> None:  # R67
    if queue.device.backend is not bl.Backend.reference:
        pytest.skip("fetching outside an image is undefined elsewhere")
    for sizes in SIZES:
        desc = bl.ImageDescriptor(*sizes, num_channels=1)
        memory = upload(queue, desc, random_pixels(desc))
        handle = bl.create_image(memory, desc, queue)
        for axis, size in enumerate(sizes):
            for bad in (-1, size, 2**31 - 1, -(2**31)):
                coords = np.zeros((3, len(sizes)), np.int32)
                coords[1, axis] = bad
                with raises(bl.InvalidError, names=bad):
                    bl.fetch_image(queue, handle, coords)
                with raises(bl.InvalidError, names=bad):
                    bl.write_image(queue, handle, coords, np.zeros((3, 1), np.float32))
        bl.destroy_image_handle(handle, queue)


def test_a_call_that_waits_reports_its_own_failure(device: bl.Device, context: bl.Context) -> None:
    """The call raises its own error, whatever handler the queue has; with USM arrays the handler receives the error."""
    if device.backend is not bl.Backend.reference:
        pytest.skip("fetching outside an image is undefined elsewhere")
    told: list[BaseException] = []
    queue = bl.Queue(device, context, async_handler=told.extend)
    desc = bl.ImageDescriptor(4, num_channels=1)
    memory = upload(queue, desc, random_pixels(desc))
    handle = bl.create_image(memory, desc, queue)
    coords = np.array([1, 4], np.int32)
    with raises(bl.InvalidError):
        bl.fetch_image(queue, handle, coords)
    queue.wait_and_throw()
    assert not told
    out = bl.usm_empty((2, 1), np.float32, queue)
    bl.fetch_image(queue, handle, usm(queue, coords), out=out).wait()
    queue.wait_and_throw()
    assert [type(error) for error in told] == [bl.InvalidError]
    queue.close()


def test_wild_coordinates(queue: bl.Queue) -> None:
    desc = bl.ImageDescriptor(7, 5, num_channels=1)
    pixels = random_pixels(desc)
    memory = upload(queue, desc, pixels)
    handle = bl.create_image(memory, desc, queue, sampler=PLAIN)
    big = np.float32(3e38)
    coords = np.array([[-big, 0], [big, 0], [0, big], [np.inf, -np.inf], [-1e-40, 2], [1e9, 1e9]], np.float32)
    wanted = pixels[[0, 0, 4, 0, 2, 4], [0, 6, 0, 6, 0, 6]]
    np.testing.assert_array_equal(bl.sample_image(queue, handle, coords), wanted)
    assert np.isfinite(bl.sample_image(queue, handle, np.full((4, 2), np.nan, np.float32))).all()


def test_unsampled_cubemaps(queue: bl.Queue) -> None:  # R69
    require(queue.device, bl.Aspect.ext_oneapi_cubemap)
    desc = bl.ImageDescriptor(5, 5, num_channels=2, channel_type="unorm_int8", type="cubemap", array_size=6)
    pixels = random_pixels(desc)
    memory = upload(queue, desc, pixels)
    handle = bl.create_image(memory, desc, queue)
    every = np.tile(every_coordinate(5, 5), (6, 1))
    faces = np.repeat(np.arange(6, dtype=np.uint32), 25)
    values = values_of(pixels, "unorm_int8")
    np.testing.assert_array_equal(bl.fetch_cubemap(queue, handle, every, faces), values.reshape(-1, 2))
    np.testing.assert_array_equal(bl.fetch_cubemap(queue, handle, every[:25], 4), values[4].reshape(-1, 2))
    codes = random_pixels(desc, 9)
    bl.write_cubemap(queue, handle, every, faces, codes.reshape(-1, 2))
    out = np.empty_like(pixels)
    queue.ext_oneapi_copy(memory, out).wait()
    np.testing.assert_array_equal(out, codes)
    for face in (6, -1, 100):
        with raises(bl.InvalidError, names=f"faces={face}"):
            bl.fetch_cubemap(queue, handle, every[:1], face)
        with raises(bl.InvalidError, names=f"faces={face}"):
            bl.write_cubemap(queue, handle, every[:1], face, codes[0, 0, :1])
    with raises(bl.InvalidError, names="(N, 2)"):
        bl.fetch_cubemap(queue, handle, np.zeros((1, 3), np.int32), 0)


@pytest.mark.parametrize("kind", ["array", "cubemap"])
@pytest.mark.parametrize("dtype", [np.int32, np.uint32], ids=lambda one: one.__name__)
def test_layers_and_faces_are_integers_of_32_bits(queue: bl.Queue, kind: str, dtype: type) -> None:  # R69
    """SYCL declares a layer ``unsigned int``, a face ``int``: arrays of both, on the host and in USM, repeated."""
    require(queue.device, bl.Aspect.ext_oneapi_cubemap if kind == "cubemap" else bl.Aspect.ext_oneapi_image_array)
    desc = bl.ImageDescriptor(5, 5, num_channels=1, type=kind, array_size=6)
    pixels = random_pixels(desc)
    memory = upload(queue, desc, pixels)
    handle = bl.create_image(memory, desc, queue)
    fetch, write = (
        (bl.fetch_cubemap, bl.write_cubemap) if kind == "cubemap" else (bl.fetch_image_array, bl.write_image_array)
    )
    every = np.tile(every_coordinate(5, 5), (6, 1))
    numbers = np.repeat(np.arange(6), 25)[::-1].astype(dtype)
    flat = pixels.reshape(6, 25, 1)
    wanted = flat[numbers, np.tile(np.arange(25), 6)]
    out = bl.usm_empty(wanted.shape, np.float32, queue)
    coords, there = usm(queue, every), usm(queue, numbers)
    for _ in range(3):
        np.testing.assert_array_equal(fetch(queue, handle, every, numbers), wanted)
        fetch(queue, handle, coords, there, out=out).wait()
        np.testing.assert_array_equal(out.numpy(queue), wanted)
    for _ in range(2):
        write(queue, handle, every, numbers, wanted[::-1])
    after = fetch(queue, handle, every, numbers)
    np.testing.assert_array_equal(after, wanted[::-1])
    if kind == "array":
        sampled = bl.create_image(memory, desc, queue, sampler=PLAIN)
        points = (every + 0.5).astype(np.float32)
        for precision in ("hardware", "exact", "reproducible"):
            np.testing.assert_array_equal(
                bl.sample_image_array(queue, sampled, points, numbers, precision=precision), after
            )
            bl.sample_image_array(queue, sampled, usm(queue, points), there, out=out, precision=precision).wait()
            np.testing.assert_array_equal(out.numpy(queue), after)


def cube_directions(size: int) -> Array:
    """Directions through the texel centres, shape (6, size, size, 3), from the table of cube faces."""
    t = (np.arange(size) + 0.5) / size * 2 - 1
    v, u = np.meshgrid(t, t, indexing="ij")
    one = np.ones_like(u)
    faces = [(one, -v, -u), (-one, -v, u), (u, one, v), (u, -one, -v), (u, -v, one), (-u, -v, -one)]
    return np.stack([np.stack(face, axis=-1) for face in faces])


@pytest.mark.parametrize("filtering", ["nearest", "linear"])
def test_sampled_cubemaps(queue: bl.Queue, filtering: str) -> None:  # R69
    require(queue.device, bl.Aspect.ext_oneapi_cubemap)
    desc = bl.ImageDescriptor(8, 8, num_channels=1, type="cubemap", array_size=6)
    pixels = random_pixels(desc)
    memory = upload(queue, desc, pixels)
    sampler = bl.BindlessImageSampler("clamp_to_edge", "normalized", filtering)
    handle = bl.create_image(memory, desc, queue, sampler=sampler)
    directions = cube_directions(8).reshape(-1, 3)
    for length in (1.0, 1e-20, 0.3, 7.0, 1e20):  # directions of any length
        got = bl.sample_cubemap(queue, handle, (directions * length).astype(np.float32))
        np.testing.assert_allclose(got, pixels.reshape(-1, 1), rtol=0, atol=0 if filtering == "nearest" else 0.02)
    with raises(bl.InvalidError, names="(N, 3)"):
        bl.sample_cubemap(queue, handle, np.zeros((1, 2), np.float32))
    with raises(bl.InvalidError, names="int32"):
        bl.sample_cubemap(queue, handle, np.ones((1, 3), np.int32))  # type: ignore[arg-type]


# ---------------------------------------------------------------------- mipmaps


def mipmap(queue: bl.Queue, sizes: tuple[int, ...], levels: int) -> tuple[bl.ImageDescriptor, bl.ImageMem, list[Array]]:
    desc = bl.ImageDescriptor(*sizes, num_channels=2, type="mipmap", num_levels=levels)
    memory = bl.ImageMem(desc, queue)
    pixels = []
    for level in range(levels):
        level_desc = desc.get_mip_level_desc(level)
        pixels.append(random_pixels(level_desc, level))
        part = memory.get_mip_level_mem_handle(level)
        queue.ext_oneapi_copy(pixels[-1], part, dst_desc=level_desc).wait()
    return desc, memory, pixels


@pytest.mark.parametrize("sizes", [(32,), (16, 8), (8, 8, 8)], ids=str)
def test_mipmap_levels(queue: bl.Queue, sizes: tuple[int, ...]) -> None:  # R68
    require(queue.device, bl.Aspect.ext_oneapi_mipmap)
    desc, memory, pixels = mipmap(queue, sizes, 4)
    rng = np.random.default_rng(6)
    coords = (rng.integers(0, 64, (300, len(sizes))) / 64 + 1 / 256).astype(np.float32)
    alone = [linear(p, coords.astype(float) * sizes_of(desc.get_mip_level_desc(i))) for i, p in enumerate(pixels)]
    for mip in ("nearest", "linear"):
        sampler = bl.BindlessImageSampler(
            "clamp_to_edge", "normalized", "linear", mipmap_filtering=mip, max_mipmap_level_clamp=3
        )
        handle = bl.create_image(memory, desc, queue, sampler=sampler)
        close = tolerance(queue.device)
        for level in range(4):
            got = bl.sample_mipmap(queue, handle, coords, level=level)
            np.testing.assert_allclose(got, alone[level], rtol=0, atol=close)
        levels = rng.integers(0, 4, 300).astype(np.float32)
        got = bl.sample_mipmap(queue, handle, coords, level=levels)
        wanted = np.choose(levels.astype(int)[:, None], alone)
        np.testing.assert_allclose(got, wanted, rtol=0, atol=close)
        between = bl.sample_mipmap(queue, handle, coords, level=1.25)
        blend = alone[1] if mip == "nearest" else alone[1] * 0.75 + alone[2] * 0.25
        np.testing.assert_allclose(between, blend, rtol=0, atol=close if mip == "nearest" else 0.03)
        for beyond, last in ((-5, 0), (77.0, 3)):
            got = bl.sample_mipmap(queue, handle, coords, level=beyond)
            np.testing.assert_allclose(got, alone[last], rtol=0, atol=close)
        bl.destroy_image_handle(handle, queue)


@pytest.mark.parametrize(("low", "high"), [(0, 0), (1, 2), (2, 3), (0, 1)])
def test_level_clamps(queue: bl.Queue, low: int, high: int) -> None:  # R42 R68
    require(queue.device, bl.Aspect.ext_oneapi_mipmap)
    desc, memory, pixels = mipmap(queue, (16, 16), 4)
    sampler = bl.BindlessImageSampler(
        "clamp_to_edge", "normalized", min_mipmap_level_clamp=low, max_mipmap_level_clamp=high
    )
    with nullcontext() if high else pytest.warns(bl.SamplerWarning, match="max_mipmap_level_clamp=0"):
        handle = bl.create_image(memory, desc, queue, sampler=sampler)
    centre = np.full((1, 2), 0.5 + 1 / 64, np.float32)
    for level in range(4):
        read = pixels[min(max(level, low), high)]
        half = read.shape[0] // 2
        np.testing.assert_array_equal(bl.sample_mipmap(queue, handle, centre, level=level)[0], read[half, half])
    bl.destroy_image_handle(handle, queue)


def test_gradients(queue: bl.Queue) -> None:  # R68
    require(queue.device, bl.Aspect.ext_oneapi_mipmap)
    desc, memory, pixels = mipmap(queue, (16, 16), 5)
    sampler = bl.BindlessImageSampler("clamp_to_edge", "normalized", max_mipmap_level_clamp=4)
    handle = bl.create_image(memory, desc, queue, sampler=sampler)
    rng = np.random.default_rng(7)
    coords = (rng.integers(0, 16, (200, 2)) / 16 + 1 / 64).astype(np.float32)
    for level in range(5):  # a step of 2 ** level texels reads that level
        step = np.float32(2.0**level / 16)
        dx = np.tile(np.array([step, 0], np.float32), (200, 1))
        dy = np.tile(np.array([0, step], np.float32), (200, 1))
        got = bl.sample_mipmap(queue, handle, coords, dx=dx, dy=dy)
        np.testing.assert_array_equal(got, bl.sample_mipmap(queue, handle, coords, level=level))
        size = 16 >> level
        place = np.minimum((coords * size).astype(int), size - 1)
        np.testing.assert_array_equal(got, pixels[level][place[:, 1], place[:, 0]])
    grad = np.zeros((200, 2), np.float32)
    for options in ({}, {"level": 1, "dx": grad, "dy": grad}, {"dx": grad}, {"dy": grad}):
        with raises(bl.InvalidError, names="level="):
            bl.sample_mipmap(queue, handle, coords, **options)  # type: ignore[call-overload]
    for bad in (grad.astype(np.float64), grad[:, :1], grad[:100], grad.astype(np.int32), [[0, 0]]):
        with raises(bl.InvalidError, names="dx"):
            bl.sample_mipmap(queue, handle, coords, dx=bad, dy=grad)  # type: ignore[call-overload]
    for level in (np.zeros(200), np.zeros(100, np.float32), np.zeros((200, 1), np.float32), "1"):
        with raises(bl.InvalidError, names="level"):
            bl.sample_mipmap(queue, handle, coords, level=level)  # type: ignore[call-overload]
    device_coords, device_grad = usm(queue, coords), usm(queue, grad)
    out = bl.usm_empty((200, 2), np.float32, queue)
    bl.sample_mipmap(queue, handle, device_coords, dx=device_grad, dy=device_grad, out=out).wait()
    np.testing.assert_array_equal(out.numpy(queue), bl.sample_mipmap(queue, handle, coords, level=0))
    levels = usm(queue, np.full(200, 2, np.float32))
    bl.sample_mipmap(queue, handle, device_coords, level=levels, out=out).wait()
    np.testing.assert_array_equal(out.numpy(queue), bl.sample_mipmap(queue, handle, coords, level=2))
    bl.destroy_image_handle(handle, queue)


def test_anisotropy(queue: bl.Queue) -> None:  # R68
    require(queue.device, bl.Aspect.ext_oneapi_mipmap, bl.Aspect.ext_oneapi_mipmap_anisotropy)
    desc, memory, _ = mipmap(queue, (64, 64), 6)
    coords = np.random.default_rng(8).random((100, 2), np.float32)
    dx = np.tile(np.array([8 / 64, 0], np.float32), (100, 1))
    dy = np.tile(np.array([0, 1 / 64], np.float32), (100, 1))
    results = {}
    for ratio in (0, 1, 2, 8, 16, 64):
        sampler = bl.BindlessImageSampler(
            "clamp_to_edge",
            "normalized",
            "linear",
            mipmap_filtering="linear",
            max_mipmap_level_clamp=5,
            max_anisotropy=ratio,
        )
        most = queue.device.get_info("mipmap_max_anisotropy")
        with nullcontext() if ratio <= most else pytest.warns(bl.SamplerWarning, match="max_anisotropy=64"):
            handle = bl.create_image(memory, desc, queue, sampler=sampler)
        results[ratio] = bl.sample_mipmap(queue, handle, coords, dx=dx, dy=dy)
        level = bl.sample_mipmap(queue, handle, coords, level=3)
        bl.destroy_image_handle(handle, queue)
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_allclose(results[0], level, rtol=0, atol=tolerance(queue.device))  # isotropic: the long side
    assert np.abs(results[8] - results[1]).mean() > 0.1  # finer levels, several taps
    np.testing.assert_array_equal(results[16], results[64])  # clamped to the device's maximum
    assert queue.device.get_info("mipmap_max_anisotropy") >= 16


def test_anisotropy_is_an_aspect(queue: bl.Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    require(queue.device, bl.Aspect.ext_oneapi_mipmap)
    desc = bl.ImageDescriptor(8, 8, type="mipmap", num_levels=2)
    memory = bl.ImageMem(desc, queue)
    missing = bl.Aspect.ext_oneapi_mipmap_anisotropy
    monkeypatch.setattr(queue.device, "_aspects", queue.device.aspects - {missing})
    for ratio in (0, 1):  # no anisotropy
        sampler = bl.BindlessImageSampler("clamp_to_edge", "normalized", max_mipmap_level_clamp=1, max_anisotropy=ratio)
        bl.destroy_image_handle(bl.create_image(memory, desc, queue, sampler=sampler), queue)
    sampler = bl.BindlessImageSampler("clamp_to_edge", "normalized", max_anisotropy=2)
    with raises(bl.FeatureNotSupportedError, names=missing.name):
        bl.create_image(memory, desc, queue, sampler=sampler)


# ---------------------------------------------------------------------- samplers of more than one property


def test_a_mode_for_each_dimension_of_a_mipmap(queue: bl.Queue) -> None:  # R39 R68
    require(queue.device, bl.Aspect.ext_oneapi_mipmap, bl.Aspect.ext_oneapi_unique_addressing_per_dim)
    desc, memory, pixels = mipmap(queue, (16, 8), 3)
    modes = ("repeat", "ext_oneapi_clamp_to_border", "clamp_to_edge")
    sampler = bl.BindlessImageSampler(modes, "normalized", max_mipmap_level_clamp=2)
    handle = bl.create_image(memory, desc, queue, sampler=sampler)
    coords = (np.random.default_rng(10).integers(-32, 64, (300, 2)) / 32 + 1 / 128).astype(np.float32)
    for level, part in enumerate(pixels):
        height, width = part.shape[:2]
        places = coords.astype(float) * (width, height)
        wanted = sample_pixels(part, places, modes[:2], "nearest", fold=False)
        assert (wanted == 0).all(1).any()
        np.testing.assert_array_equal(bl.sample_mipmap(queue, handle, coords, level=level), wanted)
    bl.destroy_image_handle(handle, queue)


@pytest.mark.parametrize("filtering", ["nearest", "linear"])
def test_a_mode_for_each_dimension_of_a_cubemap(queue: bl.Queue, filtering: str) -> None:  # R39 R43
    """Seamless filtering ignores the addressing modes; within a face the modes have no effect."""
    require(
        queue.device,
        bl.Aspect.ext_oneapi_cubemap,
        bl.Aspect.ext_oneapi_cubemap_seamless_filtering,
        bl.Aspect.ext_oneapi_unique_addressing_per_dim,
    )
    desc = bl.ImageDescriptor(8, 8, num_channels=1, type="cubemap", array_size=6)
    pixels = random_pixels(desc)
    memory = upload(queue, desc, pixels)
    modes = ("mirrored_repeat", "ext_oneapi_clamp_to_border", "repeat")
    centres = cube_directions(8)[:, 1:-1, 1:-1].reshape(-1, 3).astype(np.float32)
    edges = cube_directions(256)[:, ::17, [0, 1, 254, 255]].reshape(-1, 3).astype(np.float32)
    for between in ("disjointed", "seamless"):
        results = []
        for addressing in ("clamp_to_edge", modes):
            sampler = bl.BindlessImageSampler(addressing, "normalized", filtering, cubemap_filtering=between)
            handle = bl.create_image(memory, desc, queue, sampler=sampler)
            got = bl.sample_cubemap(queue, handle, centres)
            wanted = pixels[:, 1:-1, 1:-1].reshape(-1, 1)
            np.testing.assert_allclose(got, wanted, rtol=0, atol=0 if filtering == "nearest" else 0.02)
            results.append(bl.sample_cubemap(queue, handle, edges))
            bl.destroy_image_handle(handle, queue)
        if between == "seamless":
            np.testing.assert_array_equal(*results)


# ---------------------------------------------------------------------- user-defined types


COLOR = np.dtype([("r", "f4"), ("g", "f4"), ("b", "f4"), ("a", "f4")])


def test_user_types_of_layers(queue: bl.Queue) -> None:  # R61 R62
    require(queue.device, bl.Aspect.ext_oneapi_image_array)
    desc = bl.ImageDescriptor(7, 5, type="array", array_size=3)
    pixels = random_pixels(desc)
    memory = upload(queue, desc, pixels)
    every = np.tile(every_coordinate(7, 5), (3, 1))
    layers = np.repeat(np.arange(3, dtype=np.uint32), 35)
    unsampled, sampled = bl.create_image(memory, desc, queue), bl.create_image(memory, desc, queue, sampler=PLAIN)
    centres = (every + 0.5).astype(np.float32)
    for function, handle, coords in (
        (bl.fetch_image_array, unsampled, every),
        (bl.fetch_image_array, sampled, every),
        (bl.sample_image_array, sampled, centres),
    ):
        got = function(queue, handle, coords, layers, dtype=COLOR, hint="4f4")  # type: ignore[operator]
        assert got.dtype == COLOR
        np.testing.assert_array_equal(got.view(np.float32).reshape(pixels.shape), pixels)
        with raises(bl.InvalidError, names="hint"):
            function(queue, handle, coords, layers, dtype=COLOR)  # type: ignore[operator]
    after = random_pixels(desc, 1)
    bl.write_image_array(queue, unsampled, every, layers, after.view(COLOR).reshape(-1))
    out = np.empty_like(pixels)
    queue.ext_oneapi_copy(memory, out).wait()
    np.testing.assert_array_equal(out, after)


def test_user_types_of_faces(queue: bl.Queue) -> None:  # R61 R62
    require(queue.device, bl.Aspect.ext_oneapi_cubemap)
    desc = bl.ImageDescriptor(8, 8, type="cubemap", array_size=6)
    pixels = random_pixels(desc)
    memory = upload(queue, desc, pixels)
    every = np.tile(every_coordinate(8, 8), (6, 1))
    faces = np.repeat(np.arange(6, dtype=np.uint32), 64)
    unsampled = bl.create_image(memory, desc, queue)
    sampled = bl.create_image(memory, desc, queue, sampler=bl.BindlessImageSampler("clamp_to_edge", "normalized"))
    directions = cube_directions(8).reshape(-1, 3).astype(np.float32)
    fetched = bl.fetch_cubemap(queue, unsampled, every, faces, dtype=COLOR, hint="4f4")
    looked = bl.sample_cubemap(queue, sampled, directions, dtype=COLOR, hint="4f4")
    for got in (fetched, looked):
        assert got.dtype == COLOR
        np.testing.assert_array_equal(got.view(np.float32).reshape(pixels.shape), pixels)
    with raises(bl.InvalidError, names="hint"):
        bl.fetch_cubemap(queue, unsampled, every, faces, dtype=COLOR)
    with raises(bl.InvalidError, names="hint"):
        bl.sample_cubemap(queue, sampled, directions, dtype=COLOR)
    after = random_pixels(desc, 1)
    bl.write_cubemap(queue, unsampled, every, faces, after.view(COLOR).reshape(-1))
    out = np.empty_like(pixels)
    queue.ext_oneapi_copy(memory, out).wait()
    np.testing.assert_array_equal(out, after)


def test_user_types_of_levels(queue: bl.Queue) -> None:  # R61 R68
    require(queue.device, bl.Aspect.ext_oneapi_mipmap)
    desc, memory, pixels = mipmap(queue, (8, 8), 2)
    pair = np.dtype([("u", "f4"), ("v", "f4")])
    sampler = bl.BindlessImageSampler("clamp_to_edge", "normalized", max_mipmap_level_clamp=1)
    handle = bl.create_image(memory, desc, queue, sampler=sampler)
    for level, part in enumerate(pixels):
        size = part.shape[0]
        coords = ((every_coordinate(size, size) + 0.5) / size).astype(np.float32)
        step = np.full((len(coords), 1), 1 / size, np.float32)
        zero = np.zeros_like(step)
        gradients = {"dx": np.hstack([step, zero]), "dy": np.hstack([zero, step])}
        for way in ({"level": level}, gradients):
            got = bl.sample_mipmap(queue, handle, coords, dtype=pair, hint="2f4", **way)  # type: ignore[call-overload]
            assert got.dtype == pair
            np.testing.assert_array_equal(got.view(np.float32).reshape(part.shape), part)
            with raises(bl.InvalidError, names="hint"):
                bl.sample_mipmap(queue, handle, coords, dtype=pair, **way)  # type: ignore[call-overload]
    bl.destroy_image_handle(handle, queue)
