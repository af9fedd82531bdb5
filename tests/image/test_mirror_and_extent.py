"""``mirror`` and ``extent`` of images with levels and faces, which texture units lack: values are those of float64."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from tests.oracle.cubemap import cubemap
from tests.oracle.samples import between_levels, sample_pixels
from tests.support.error_checks import raises

Array = npt.NDArray[Any]

MODES = ["mirror", "extent", ("extent", "mirror", "repeat")]
SIZES = {1: (37,), 2: (21, 14), 3: (9, 12, 7)}
COUNT = 400


@pytest.fixture
def mipmaps(queue: bl.Queue) -> bl.Queue:
    if not queue.device.has(bl.Aspect.ext_oneapi_mipmap):
        pytest.skip("the device has no mipmaps")
    return queue


def levels_of(image: bl.Image, dims: int) -> list[Array]:
    """([depth, [height,]] width, channels) of each level."""
    return [image.numpy(level).reshape(*image.numpy(level).shape[:dims], -1) for level in range(image.num_levels)]


def at_level(levels: list[Array], coords: Array, level: Array, mode: Any, filtering: str) -> Array:
    """Samples at pixels of the first level."""
    dims = coords.shape[-1]
    size = np.array(levels[0].shape[:dims][::-1], np.float64)
    axes = mode if isinstance(mode, str) else mode[:dims]
    values = []
    for part in levels:
        place = coords.astype(np.float64) * (np.array(part.shape[:dims][::-1]) / size)
        values.append(sample_pixels(part, place, axes, filtering))
    return np.asarray(between_levels(values, level, filtering))


def off_edges(coords: Array, levels: list[Array], filtering: str) -> Array:
    """Which coordinates are at least 1e-3 of a pixel from the image's borders, and for ``nearest`` from any pixel's."""
    dims = coords.shape[-1]
    size = np.array(levels[0].shape[:dims][::-1], np.float64)
    keep: Array = (np.minimum(np.abs(coords), np.abs(coords - size)) > 1e-3).all(-1)
    for part in levels if filtering == "nearest" else ():
        place = coords * (np.array(part.shape[:dims][::-1]) / size)
        keep &= (np.abs(place - np.round(place)) > 1e-3).all(-1)
    return keep


def coordinates(rng: np.random.Generator, size: tuple[int, ...]) -> Array:
    return (rng.uniform(-0.9, 1.6, (COUNT, len(size))) * np.array(size)).astype(np.float32)


def inside_and_outside(coords: Array, dims: int) -> tuple[int, int]:
    inside = ((coords >= 0) & (coords <= np.array(SIZES[dims]))).all(-1)
    return int(inside.sum()), int((~inside).sum())


@pytest.mark.parametrize("filtering", ["linear", "nearest"])
@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("coordinate", ["unnormalized", "normalized"])
def test_samples_at_levels(mipmaps: bl.Queue, coordinate: str, dims: int, mode: Any, filtering: str) -> None:
    rng = np.random.default_rng(dims)
    pixels = rng.standard_normal((*reversed(SIZES[dims]), 2)).astype(np.float32)
    options: dict[str, Any] = {"mipmaps": True, "dimensions": dims, "filtering": filtering, "coordinate": coordinate}
    with bl.Image(
        pixels, addressing=mode if dims == 3 or mode in MODES[:2] else mode[:dims], queue=mipmaps, **options
    ) as image:
        levels = levels_of(image, dims)
        coords = coordinates(rng, SIZES[dims])
        coords = coords[off_edges(coords, levels, filtering)]
        inside, outside = inside_and_outside(coords, dims)
        assert min(inside, outside) >= 15 and len(levels) > 3
        level = rng.uniform(-0.5, len(levels), len(coords)).astype(np.float32)
        level = level[np.abs(level % 1 - 0.5) > 1e-3] if filtering == "nearest" else level
        coords = coords[: len(level)]
        scale = np.float32(SIZES[dims]) if coordinate == "normalized" else np.float32(1)
        found = image.sample(coords / scale, level=level)
        np.testing.assert_allclose(found, at_level(levels, coords, level, mode, filtering), rtol=0, atol=1e-5)
        first = image.sample(coords / scale)
        np.testing.assert_allclose(first, at_level(levels, coords, np.zeros(len(coords)), mode, filtering), atol=1e-5)


@pytest.mark.parametrize("mode", MODES[:2])
def test_samples_at_footprints(mipmaps: bl.Queue, mode: str) -> None:
    """The level is the binary logarithm of the longer gradient in pixels."""
    rng = np.random.default_rng(4)
    pixels = rng.standard_normal((*reversed(SIZES[2]), 2)).astype(np.float32)
    with bl.Image(pixels, mipmaps=True, addressing=mode, queue=mipmaps) as image:
        levels = levels_of(image, 2)
        coords = coordinates(rng, SIZES[2])
        coords = coords[off_edges(coords, levels, "linear")]
        dx, dy = (rng.uniform(-6, 6, coords.shape).astype(np.float32) for _ in range(2))
        found = image.sample(coords, dx=dx, dy=dy)
    lengths = [np.hypot(*step.T.astype(np.float64)) for step in (dx, dy)]
    expected = at_level(levels, coords, np.log2(np.maximum(*lengths)), mode, "linear")
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("mode", MODES[:2])
def test_anisotropic_footprints(mipmaps: bl.Queue, mode: str) -> None:
    """A footprint of four pixels by one is a mean along the longer axis; on GPUs there is none that is exact."""
    rng = np.random.default_rng(4)
    pixels = rng.standard_normal((16, 32, 1)).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bl.SamplerWarning)
        image = bl.Image(pixels, mipmaps=True, addressing=mode, max_anisotropy=8, queue=mipmaps)
    with image:
        coords = coordinates(rng, (32, 16))
        steps = {"dx": np.float32([4, 0]), "dy": np.float32([0, 1])}
        if not mipmaps._backend.traits.computes_precisions:
            with raises(bl.FeatureNotSupportedError):
                image.sample(coords, **steps)
            return
        found, levels = image.sample(coords, **steps), levels_of(image, 2)
    moves = ((np.arange(32) + 0.5) / 32 - 0.5) * 3
    expected = np.mean([sample_pixels(levels[0], coords + np.array([move, 0.0]), mode) for move in moves], 0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("filtering", ["linear", "nearest"])
@pytest.mark.parametrize("mode", MODES[:2])
def test_pictures(mipmaps: bl.Queue, mode: str, filtering: str) -> None:
    """Maps of pictures choose the level, vectors read the first, enlargements do not look outside."""
    rng = np.random.default_rng(6)
    pixels, shape = rng.random((*reversed(SIZES[2]), 3), np.float32), (23, 31)
    options: dict[str, Any] = {"filtering": filtering, "queue": mipmaps}
    centres = np.stack(np.meshgrid(np.arange(31) + 0.5, np.arange(23) + 0.5), -1)
    with bl.Image(pixels, mipmaps=True, addressing=mode, **options) as image:
        levels = levels_of(image, 2)
        for scale, level in ((1.0, 0.0), (2.0, 1.0), (3.0, np.log2(3.0))):
            matrix = [[scale, 0.0, -9.3], [0.0, scale, -13.7]]
            coords = (centres * scale + [-9.3, -13.7]).astype(np.float32).reshape(-1, 2)
            expected = at_level(levels, coords, np.full(len(coords), level), mode, filtering)
            found, keep = image.warp(matrix, shape).reshape(-1, 3), off_edges(coords, levels, filtering)
            assert keep.sum() > 400
            np.testing.assert_allclose(found[keep], expected[keep], rtol=0, atol=2e-5)
        places = coordinates(rng, SIZES[2])
        with bl.Image(pixels, addressing=mode, precision="exact", **options) as plain:
            np.testing.assert_array_equal(image.remap(places), plain.remap(places))
            field = rng.normal(0, 9, (*shape, 2)).astype(np.float32)
            matrix = [[1.1, 0.2, -4.0], [-0.1, 0.9, -3.0]]
            moved = image.warp(matrix, shape, displacement=field)
            np.testing.assert_array_equal(moved, plain.warp(matrix, shape, displacement=field))
            for size in ((40, 50), (7, 9), (40, 9)):
                np.testing.assert_allclose(image.resize(size), plain.resize(size), rtol=0, atol=1e-6)


def test_layers_with_mipmaps(mipmaps: bl.Queue) -> None:
    rng = np.random.default_rng(7)
    stack, coords = rng.standard_normal((3, 14, 21)).astype(np.float32), coordinates(rng, SIZES[2])
    with bl.Image(stack, layers=True, mipmaps=True, addressing="mirror", queue=mipmaps) as image:
        found = image.sample(coords, level=1.0)
    for layer, values in zip(stack, found):
        with bl.Image(layer, mipmaps=True, addressing="mirror", queue=mipmaps) as alone:
            expected = at_level(levels_of(alone, 2), coords, np.ones(COUNT), "mirror", "linear")
        np.testing.assert_allclose(values, expected[:, 0], rtol=0, atol=1e-5)


@pytest.mark.parametrize("filtering", ["linear", "nearest"])
@pytest.mark.parametrize("mode", [*MODES[:2], "border", "clamp_to_edge"])
@pytest.mark.parametrize("seamless", [False, True])
def test_faces(queue: bl.Queue, seamless: bool, mode: str, filtering: str) -> None:
    """Only linear samples of faces apart look beyond a face, by half a pixel, which is within its extent."""
    if not queue.device.has(bl.Aspect.ext_oneapi_cubemap):
        pytest.skip("the device has no cubemaps")
    rng = np.random.default_rng(8)
    faces, directions = rng.standard_normal((6, 5, 5, 2)).astype(np.float32), rng.standard_normal((COUNT, 3))
    directions = directions.astype(np.float32)
    desc = bl.ImageDescriptor(5, 5, num_channels=2, channel_type="fp32", type="cubemap", array_size=6)
    sampler = bl.BindlessImageSampler(
        "clamp" if mode == "border" else mode, "normalized", filtering,
        cubemap_filtering="seamless" if seamless else "disjointed",
    )  # fmt: skip
    with bl.ImageMem(desc, queue) as memory:
        queue.ext_oneapi_copy(faces, memory).wait()
        handle = bl.create_image(memory, desc, queue, sampler=sampler, precision="exact")
        found = bl.sample_cubemap(queue, handle, directions)
        bl.destroy_image_handle(handle, queue)
    boundary = "edge" if mode == "clamp_to_edge" else mode
    expected = cubemap(
        faces, directions, linear=filtering == "linear", seamless=seamless, boundary=(boundary, boundary)
    )
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("mipmaps", [False, True])
@pytest.mark.parametrize("mode", MODES[:2])
def test_cubemaps_without_seams_have_no_outside(queue: bl.Queue, mode: str, mipmaps: bool) -> None:
    if not queue.device.has(bl.Aspect.ext_oneapi_cubemap_seamless_filtering):
        pytest.skip("the device has no seamless cubemaps")
    rng = np.random.default_rng(9)
    faces = rng.standard_normal((6, 8, 8, 2)).astype(np.float32)
    directions, level = rng.standard_normal((COUNT, 3)).astype(np.float32), rng.uniform(0, 3, COUNT)
    options: dict[str, Any] = {"cubemap": True, "mipmaps": mipmaps, "queue": queue}
    levels: dict[str, Any] = {"level": level} if mipmaps else {}
    with bl.Image(faces, addressing=mode, **options) as image, bl.Image(faces, precision="exact", **options) as plain:
        np.testing.assert_array_equal(image.sample(directions, **levels), plain.sample(directions, **levels))


# ---------------------------------------------------------------------- handles


@pytest.mark.parametrize("filtering", ["linear", "nearest"])
@pytest.mark.parametrize(
    ("mode", "coordinate"), [("mirror", "normalized"), ("extent", "normalized"), ("extent", "unnormalized")]
)
def test_samples_of_handles(queue: bl.Queue, mode: str, coordinate: str, filtering: str) -> None:
    """Every device computes exact samples, also of images that are neither mipmaps nor cubemaps."""
    rng = np.random.default_rng(10)
    pixels = rng.standard_normal((14, 21, 4)).astype(np.float32)
    coords = coordinates(rng, SIZES[2])
    coords = coords[off_edges(coords, [pixels], filtering)]
    desc = bl.ImageDescriptor(21, 14, num_channels=4, channel_type="fp32")
    scale = np.float32([21, 14] if coordinate == "normalized" else [1, 1])
    sampler = bl.BindlessImageSampler(mode, coordinate, filtering)
    with bl.ImageMem(desc, queue) as memory:
        queue.ext_oneapi_copy(pixels, memory).wait()
        handle = bl.create_image(memory, desc, queue, sampler=sampler, precision="exact")
        found = bl.sample_image(queue, handle, coords / scale)
        with raises(bl.FeatureNotSupportedError):
            bl.sample_image(queue, handle, coords / scale, precision="hardware")
        bl.destroy_image_handle(handle, queue)
        for precision in ("hardware", "reproducible"):
            with raises(bl.FeatureNotSupportedError):
                bl.create_image(memory, desc, queue, sampler=sampler, precision=precision)
    np.testing.assert_allclose(found, sample_pixels(pixels, coords, mode, filtering), rtol=0, atol=1e-5)


def test_mirror_needs_normalized_coordinates(queue: bl.Queue) -> None:
    """As other modes that repeat texels, it samples as ``clamp_to_edge`` along others."""
    pixels = np.arange(12, dtype=np.float32).reshape(3, 4)
    desc = bl.ImageDescriptor.from_array(pixels)
    coords = np.float32([[-1.5, 1.0], [5.5, 4.0], [2.0, 2.0]])
    with bl.ImageMem(desc, queue) as memory:
        queue.ext_oneapi_copy(pixels, memory).wait()
        with pytest.warns(bl.SamplerWarning):
            sampler = bl.BindlessImageSampler("mirror", filtering="linear")
            handle = bl.create_image(memory, desc, queue, sampler=sampler, precision="exact")
        found = bl.sample_image(queue, handle, coords)
        bl.destroy_image_handle(handle, queue)
    np.testing.assert_allclose(found, sample_pixels(pixels[..., None], coords), atol=1e-6)


@pytest.mark.parametrize("mode", MODES[:2])
def test_reproducible_levels_have_the_modes_of_texture_units(queue: bl.Queue, mode: str) -> None:
    pixels = np.zeros((6, 8, 8), np.float32)
    for options in ({"mipmaps": True, "dimensions": 3}, {"cubemap": True}):
        with raises(bl.InvalidError):
            bl.Image(pixels, addressing=mode, precision="reproducible", queue=queue, **options)  # type: ignore[arg-type]
