"""``Image``: numpy in, numpy out, against computations in float64."""

from __future__ import annotations

import gc
import io
import threading
import weakref
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from tests.oracle.area_means import area_means, level_below
from tests.oracle.samples import sample_pixels
from tests.support.error_checks import raises

Array = npt.NDArray[Any]

# Texture units weight pixels with multiples of 1/256. For values in 0..1 the error of a linear sample is up to half a
# step for each dimension's position, and for each product of two positions that is rounded again.
WEIGHT = 1 / 512
LINE, PLANE, VOLUME = 1.01 * WEIGHT, 3.01 * WEIGHT, 6.01 * WEIGHT
BETWEEN_LEVELS = PLANE + 2 * WEIGHT


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20261120)


def centres(width: int, height: int) -> Array:
    return np.stack(np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5), -1)


# ---------------------------------------------------------------------- round trips


@pytest.mark.parametrize("channels", [None, 1, 2, 3, 4])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int8", "int16", "float16", "float32"])
def test_numpy_returns_what_was_given(
    rng: np.random.Generator, queue: bl.Queue, dtype: str, channels: int | None
) -> None:
    shape = (7, 13) if channels is None else (7, 13, channels)
    pixels = (rng.random(shape) * 100).astype(dtype)
    with bl.Image(pixels, queue=queue) as image:
        back = image.numpy()
        assert back.dtype == pixels.dtype and back.shape == shape
        np.testing.assert_array_equal(back, pixels)
        np.testing.assert_array_equal(np.asarray(image), pixels)
        assert image.shape == shape and image.dtype == pixels.dtype and image.size == (13, 7)
        assert image.num_channels == (channels or 1)


@pytest.mark.parametrize("channel_type", ["unsigned_int8", "signed_int16", "unsigned_int32", "signed_int32"])
def test_integer_images_are_read_as_integers(rng: np.random.Generator, queue: bl.Queue, channel_type: str) -> None:
    dtype = bl.ImageDescriptor(channel_type=channel_type).dtype
    pixels = rng.integers(0, 100, (5, 6, 2)).astype(dtype)
    with bl.Image(pixels, channel_type=channel_type, filtering="nearest", queue=queue) as image:
        values = image.sample(centres(6, 5))
        assert values.dtype == dtype
        np.testing.assert_array_equal(values, pixels)
        np.testing.assert_array_equal(image.fetch([[2, 3]])[0], pixels[3, 2])


def test_strided_and_swapped_arrays_are_taken(rng: np.random.Generator, queue: bl.Queue) -> None:
    pixels = rng.random((12, 10, 3)).astype(np.float32)
    fixed = pixels.copy()
    fixed.flags.writeable = False
    for given in (fixed, pixels[::-1, ::2], pixels.transpose(1, 0, 2), pixels.astype(">f4"), np.asfortranarray(pixels)):
        with bl.Image(given, queue=queue) as image:
            np.testing.assert_array_equal(image.numpy(), given)


def test_one_dimension(rng: np.random.Generator, queue: bl.Queue) -> None:
    pixels = rng.random(17).astype(np.float32)
    coords = rng.uniform(-2, 19, 200)
    with bl.Image(pixels, queue=queue) as image:
        expected = sample_pixels(pixels[:, None], coords[:, None])
        assert image.size == (17,)
        np.testing.assert_allclose(image.sample(coords), expected[:, 0], atol=LINE)
        np.testing.assert_array_equal(image.sample(coords[:, None]), image.sample(coords))
        np.testing.assert_array_equal(image.fetch(np.arange(17)), pixels)
    with bl.Image(rng.random((9, 2)).astype(np.float32), dimensions=1, queue=queue) as image:
        assert image.size == (9,) and image.num_channels == 2


# ---------------------------------------------------------------------- sampling


@pytest.mark.parametrize("coordinate", ["unnormalized", "normalized"])
@pytest.mark.parametrize("addressing", ["clamp_to_edge", "clamp_to_border", "repeat", "mirrored_repeat"])
@pytest.mark.parametrize("mipmaps", [False, True])
def test_addressing_means_what_it_says_in_either_coordinates(
    rng: np.random.Generator, queue: bl.Queue, addressing: str, coordinate: str, mipmaps: bool
) -> None:
    pixels = rng.random((11, 20, 3)).astype(np.float32)
    coords = rng.uniform((-50, -30), (70, 40), (500, 2))
    given = coords / (20, 11) if coordinate == "normalized" else coords
    with bl.Image(pixels, addressing=addressing, coordinate=coordinate, mipmaps=mipmaps, queue=queue) as image:
        values = image.sample(given)
    assert values.dtype == np.float32 and values.shape == (500, 3)
    np.testing.assert_allclose(values, sample_pixels(pixels, coords, addressing), atol=PLANE)


def test_pixel_centres_read_the_pixels(rng: np.random.Generator, queue: bl.Queue) -> None:
    """Holds also with internally normalized coordinates, at a size whose reciprocal is inexact."""
    pixels = rng.integers(0, 256, (331, 1021, 3)).astype(np.uint8)
    for options in ({}, {"mipmaps": True}, {"addressing": "repeat"}, {"addressing": "mirrored_repeat"}):
        for filtering in ("nearest", "linear"):
            with bl.Image(pixels, filtering=filtering, queue=queue, **options) as image:
                values = image.sample(centres(1021, 331))
                np.testing.assert_allclose(values * 255, pixels, atol=1e-3)


def test_volume(rng: np.random.Generator, queue: bl.Queue) -> None:
    pixels = rng.random((6, 7, 9)).astype(np.float32)
    coords = rng.uniform(-2, 11, (4, 25, 3))
    with bl.Image(pixels, queue=queue) as image:
        assert image.size == (9, 7, 6)
        values = image.sample(coords)
        assert values.shape == (4, 25)
        expected = sample_pixels(pixels[..., None], coords.reshape(-1, 3)).reshape(4, 25)
        np.testing.assert_allclose(values, expected, atol=VOLUME)
        np.testing.assert_array_equal(image.fetch([[8, 2, 5]]), [pixels[5, 2, 8]])


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 5), (2, 3, 4)])
def test_results_have_the_shape_of_the_coordinates(queue: bl.Queue, shape: tuple[int, ...]) -> None:
    with bl.Image(np.ones((4, 5, 3), np.float32), queue=queue) as image:
        assert image.sample(np.ones((*shape, 2))).shape == (*shape, 3)
        assert image.fetch(np.ones((*shape, 2), np.int64)).shape == (*shape, 3)


def test_coordinates_that_are_no_numbers_or_huge_stay_inside(rng: np.random.Generator, queue: bl.Queue) -> None:
    pixels = rng.random((8, 8)).astype(np.float32)
    for options in ({}, {"addressing": "repeat"}, {"mipmaps": True}):
        with bl.Image(pixels, queue=queue, **options) as image:
            values = image.sample([[np.nan, np.nan], [np.inf, -np.inf], [1e38, -1e38]])
            assert np.isfinite(values).all() and pixels.min() <= values.min() and values.max() <= pixels.max()
    with bl.Image(pixels, queue=queue) as image:
        np.testing.assert_array_equal(image.sample([[np.inf, -np.inf]]), [pixels[0, 7]])


# ---------------------------------------------------------------------- resizing and warping


@pytest.mark.parametrize("size", [(10, 6), (25, 15), (7, 29), (1, 1), (49, 31), (13, 31), (49, 8)])
def test_shrinking_is_the_mean_over_the_area(rng: np.random.Generator, queue: bl.Queue, size: tuple[int, int]) -> None:
    pixels = rng.random((31, 49, 3)).astype(np.float32)
    expected = area_means(pixels, (size[1], size[0]), rounded=False)
    with bl.Image(pixels, queue=queue) as image:
        result = image.resize(size[::-1])
    assert result.dtype == np.float32 and result.shape == (size[1], size[0], 3)
    np.testing.assert_allclose(result, expected, rtol=2e-6)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int8", "int16"])
def test_shrunk_integers_are_rounded(rng: np.random.Generator, queue: bl.Queue, dtype: str) -> None:
    limits = np.iinfo(dtype)
    pixels = rng.integers(max(limits.min, -limits.max), limits.max, (31, 49), endpoint=True).astype(dtype)
    expected = area_means(pixels, (11, 17), rounded=False)
    with bl.Image(pixels, queue=queue) as image:
        result = image.resize((11, 17))
    assert result.dtype == np.dtype(dtype)
    assert np.abs(result - expected).max() <= 0.5 + limits.max * 1e-6


def test_enlarging_is_linear_and_keeps_the_edges(rng: np.random.Generator, queue: bl.Queue) -> None:
    pixels = rng.integers(0, 256, (9, 11, 3)).astype(np.uint8)
    expected = 255 * sample_pixels(pixels / 255.0, centres(44, 27) * (11 / 44, 9 / 27))
    for options in ({}, {"addressing": "clamp_to_border"}, {"coordinate": "normalized"}, {"mipmaps": True}):
        with bl.Image(pixels, queue=queue, **options) as image:
            result = image.resize((27, 44))
        assert result.dtype == np.uint8
        assert np.abs(result - expected).max() <= 0.5 + 255 * PLANE
    with bl.Image(pixels, queue=queue) as image:
        np.testing.assert_array_equal(image.resize((9, 11)), pixels)
        assert image.resize(shape=(5, 7)).shape == image.warp(np.eye(3), shape=(5, 7)).shape == (5, 7, 3)


def test_one_axis_may_grow_while_the_other_shrinks(rng: np.random.Generator, queue: bl.Queue) -> None:
    pixels = rng.random((24, 6, 3)).astype(np.float32)
    with bl.Image(pixels, queue=queue) as image:
        result = image.resize((5, 18))
    reduced = area_means(pixels, (5,), rounded=False)
    expected = sample_pixels(reduced, centres(18, 5) * (6 / 18, 1))
    np.testing.assert_allclose(result, expected, atol=LINE)


def test_nearest_images_keep_their_values(rng: np.random.Generator, queue: bl.Queue) -> None:
    labels = rng.integers(0, 2**31, (20, 30)).astype(np.int32)
    with bl.Image(labels, filtering="nearest", queue=queue) as image:
        np.testing.assert_array_equal(image.resize((5, 10)), labels[2::4, 1::3])
        np.testing.assert_array_equal(image.resize((40, 60)), labels.repeat(2, 0).repeat(2, 1))


def test_resizing_volumes_and_lines(rng: np.random.Generator, queue: bl.Queue) -> None:
    volume = rng.random((8, 9, 10)).astype(np.float32)
    with bl.Image(volume, queue=queue) as image:
        expected = area_means(volume, (4, 5, 3), rounded=False)
        np.testing.assert_allclose(image.resize((4, 5, 3)), expected, rtol=2e-6)
    with bl.Image(volume[0, 0], queue=queue) as image:
        np.testing.assert_allclose(image.resize((4,)), area_means(volume[0, 0], (4,), rounded=False), rtol=2e-6)
        np.testing.assert_allclose(image.resize(4), area_means(volume[0, 0], (4,), rounded=False), rtol=2e-6)


def test_warp_maps_output_centres_to_input_coordinates(rng: np.random.Generator, queue: bl.Queue) -> None:
    pixels = rng.random((20, 30, 3)).astype(np.float32)
    affine = np.array([[0.8, -0.3, 2.0], [0.25, 0.9, -1.5]])
    points = centres(25, 15).reshape(-1, 2) @ affine[:, :2].T + affine[:, 2]
    with bl.Image(pixels, queue=queue) as image:
        result = image.warp(affine, (15, 25))
        np.testing.assert_allclose(result.reshape(-1, 3), sample_pixels(pixels, points), atol=PLANE)
        np.testing.assert_array_equal(result, image.warp(np.vstack([affine, [0, 0, 1]]), (15, 25)))
        np.testing.assert_array_equal(result, image.warp(np.vstack([affine, [0, 0, 1]]) * -2.0, (15, 25)))
        np.testing.assert_array_equal(image.warp(np.eye(3), (20, 30)), pixels)
        shifted = image.warp([[1, 0, 4], [0, 1, 3]], (10, 10))
        np.testing.assert_array_equal(shifted, pixels[3:13, 4:14])


def test_projective_warp(rng: np.random.Generator, queue: bl.Queue) -> None:
    pixels = rng.random((20, 30)).astype(np.float32)
    matrix = np.array([[1.2, 0.1, -2], [0.05, 1.4, 1], [0.01, 0.02, 1]])
    homogeneous = np.dstack([centres(25, 15), np.ones((15, 25))]) @ matrix.T
    points = (homogeneous[..., :2] / homogeneous[..., 2:]).reshape(-1, 2)
    with bl.Image(pixels, queue=queue) as image:
        result = image.warp(matrix, (15, 25))
    assert result.shape == (15, 25)
    np.testing.assert_allclose(result.reshape(-1, 1), sample_pixels(pixels[..., None], points), atol=PLANE)


def test_warp_of_bytes_and_normalized_coordinates(rng: np.random.Generator, queue: bl.Queue) -> None:
    pixels = rng.integers(0, 256, (12, 16, 3)).astype(np.uint8)
    with bl.Image(pixels, coordinate="normalized", queue=queue) as image:
        result = image.warp([[1 / 16, 0, 0], [0, 1 / 12, 0]], (12, 16))
    assert result.dtype == np.uint8
    np.testing.assert_array_equal(result, pixels)


def test_pictures_larger_than_one_block(
    rng: np.random.Generator, queue: bl.Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    pixels = rng.integers(0, 256, (2, 40, 30, 3)).astype(np.uint8)
    with bl.Image(pixels, layers=True, queue=queue) as image:
        whole = image.warp([[0.5, 0.1, 0], [0, 0.5, 0]], (64, 50)), image.resize((83, 61))
        monkeypatch.setattr("bindless.sampling.row_blocks._BLOCK", 200)
        parts = image.warp([[0.5, 0.1, 0], [0, 0.5, 0]], (64, 50)), image.resize((83, 61))
    for one, other in zip(whole, parts):
        np.testing.assert_array_equal(one, other)


# ---------------------------------------------------------------------- mipmaps


def test_levels_are_area_means_of_the_level_before(rng: np.random.Generator, queue: bl.Queue) -> None:
    pixels = rng.random((37, 50, 3)).astype(np.float32)
    with bl.Image(pixels, mipmaps=True, queue=queue) as image:
        assert image.num_levels == 6
        expected = pixels
        for level in range(image.num_levels):
            width, height = max(50 >> level, 1), max(37 >> level, 1)
            if level:
                expected = area_means(expected, (height, width), rounded=False)
            stored = image.numpy(level)
            assert stored.shape == (height, width, 3)
            np.testing.assert_allclose(stored, expected, rtol=1e-5)


@pytest.mark.parametrize("shape", [(21,), (20, 34), (21, 35, 3), (9, 14, 11), (1, 7), (7, 1, 4), (5, 6, 1, 2)])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int8", "int16", "float16", "float32", "int32", "uint32"])
def test_levels_are_the_same_on_every_device(
    rng: np.random.Generator, queue: bl.Queue, dtype: str, shape: tuple[int, ...]
) -> None:
    """Levels follow from the stored pixels of the level before, to the last bit."""
    if np.dtype(dtype).kind == "f":
        pixels = rng.standard_normal(shape).astype(dtype)
    else:
        limits = np.iinfo(dtype)
        pixels = rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    options = {"filtering": "nearest"} if dtype.endswith("32") and dtype != "float32" else {}
    with bl.Image(pixels, mipmaps=True, queue=queue, **options) as image:
        channel = image.descriptor.channel
        expected = pixels.reshape(*image.size[::-1], -1)
        for level in range(1, image.num_levels):
            expected = level_below(expected, len(image.size), normalized=channel.normalized)
            np.testing.assert_array_equal(image.numpy(level).reshape(expected.shape), expected)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32"])
def test_levels_of_large_images(rng: np.random.Generator, queue: bl.Queue, dtype: str) -> None:
    """Rows fill registers, and threads share them."""
    for channels in (1, 2, 3, 4):
        pixels = (rng.random((330, 614, channels)) * 250).astype(dtype)
        with bl.Image(pixels, mipmaps=True, queue=queue) as image:
            for level in range(1, image.num_levels):
                pixels = level_below(pixels, 2)
                np.testing.assert_array_equal(image.numpy(level), pixels)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "float16"])
def test_levels_of_other_types_are_rounded(rng: np.random.Generator, queue: bl.Queue, dtype: str) -> None:
    pixels = (rng.random((16, 24)) * 200).astype(dtype)
    with bl.Image(pixels, mipmaps=True, queue=queue) as image:
        stored = image.numpy(1)
        expected = area_means(pixels, (8, 12), rounded=False)
        half_step = 0.5 if np.dtype(dtype).kind in "iu" else 0.0625
        assert stored.dtype == np.dtype(dtype) and np.abs(stored - expected).max() <= half_step
        np.testing.assert_allclose(
            image.fetch([3, 2], level=1) * (np.iinfo(dtype).max if half_step == 0.5 else 1),
            stored[2, 3],
            rtol=1e-6,
        )


def test_levels_in_one_and_three_dimensions(rng: np.random.Generator, queue: bl.Queue) -> None:
    volume = rng.random((6, 10, 9)).astype(np.float32)
    with bl.Image(volume, mipmaps=True, queue=queue) as image:
        expected = area_means(volume, (3, 5, 4), rounded=False)
        np.testing.assert_allclose(image.numpy(1), expected, rtol=1e-5)
        np.testing.assert_allclose(image.sample([[2, 2.5, 1.5]], level=1.0), image.sample([[2, 2.5, 1.5]], level=[1.0]))
    with bl.Image(volume[0, 0], mipmaps=True, queue=queue) as image:
        np.testing.assert_allclose(image.numpy(1), area_means(volume[0, 0], (4,), rounded=False), rtol=1e-5)


def test_level_blends_two_levels(rng: np.random.Generator, queue: bl.Queue) -> None:
    pixels = rng.random((16, 32)).astype(np.float32)
    coords = rng.uniform((4, 4), (28, 12), (50, 2))
    with bl.Image(pixels, mipmaps=True, queue=queue) as image:
        fine, coarse = image.sample(coords, level=1), image.sample(coords, level=2)
        np.testing.assert_allclose(fine, sample_pixels(image.numpy(1)[..., None], coords / 2)[:, 0], atol=PLANE)
        np.testing.assert_allclose(image.sample(coords, level=1.25), 0.75 * fine + 0.25 * coarse, atol=BETWEEN_LEVELS)
        mixed = image.sample(coords, level=np.where(np.arange(50) % 2, 1.0, 2.0))
        np.testing.assert_array_equal(mixed, np.where(np.arange(50) % 2, fine, coarse))
        np.testing.assert_array_equal(image.sample(coords, level=99), image.sample(coords, level=image.num_levels - 1))


def test_gradients_choose_the_level_in_the_users_coordinates(rng: np.random.Generator, queue: bl.Queue) -> None:
    pixels = rng.random((64, 128)).astype(np.float32)
    coords = rng.uniform((20, 20), (100, 40), (50, 2))
    for scale, coordinate in (((1.0, 1.0), "unnormalized"), ((128.0, 64.0), "normalized")):
        with bl.Image(pixels, mipmaps=True, coordinate=coordinate, queue=queue) as image:
            by_level = image.sample(coords / scale, level=2)
            by_gradient = image.sample(coords / scale, dx=np.array([4, 0]) / scale, dy=np.array([0, 4]) / scale)
        np.testing.assert_allclose(by_gradient, by_level, atol=BETWEEN_LEVELS)


def test_warp_with_mipmaps_does_not_alias(queue: bl.Queue) -> None:
    """A fine checkerboard at an eighth of its size is grey, not black and white."""
    board = ((np.indices((256, 256)).sum(0) % 2) * 255).astype(np.uint8)
    with bl.Image(board, mipmaps=True, addressing="repeat", queue=queue) as image:
        result = image.warp([[8, 0, 0], [0, 8, 0]], (32, 32))
    assert np.abs(result.astype(int) - 127.5).max() <= 1.5


def test_anisotropy_keeps_what_lies_across(rng: np.random.Generator, queue: bl.Queue) -> None:
    """Vertical stripes squeezed vertically: an isotropic footprint blurs them, an anisotropic one does not."""
    stripes = np.tile(np.repeat(np.array([0.0, 1.0], np.float32), 2), (256, 16))
    matrix = [[1, 0, 0], [0, 8, 0]]
    contrast = []
    for anisotropy in (0, 16):
        with bl.Image(stripes, mipmaps=True, max_anisotropy=anisotropy, queue=queue) as image:
            contrast.append(float(np.ptp(image.warp(matrix, (32, 64))[16])))
    assert contrast[0] < 0.1 and contrast[1] > 0.9


def test_an_image_of_one_pixel_may_have_mipmaps(queue: bl.Queue) -> None:
    with bl.Image(np.full((1, 1, 4), 7, np.uint8), mipmaps=True, queue=queue) as image:
        assert image.num_levels == 1
        np.testing.assert_allclose(image.sample([[0.5, 0.5]], level=3) * 255, 7, rtol=1e-6)
        np.testing.assert_allclose(image.sample([[0.5, 0.5]], dx=[1, 0], dy=[0, 1]) * 255, 7, rtol=1e-6)
        assert image.warp(np.eye(3), (2, 2)).tolist() == [[[7] * 4] * 2] * 2


# ---------------------------------------------------------------------- layers and cubemaps


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("channels", [None, 3])
def test_layers_are_never_blended(rng: np.random.Generator, queue: bl.Queue, count: int, channels: int | None) -> None:
    shape = (count, 8, 9) if channels is None else (count, 8, 9, channels)
    stack = rng.random(shape).astype(np.float32)
    each = stack.reshape(count, 8, 9, -1)
    coords = rng.uniform(-1, 10, (40, 2))
    expected = np.stack([sample_pixels(layer, coords) for layer in each])
    if channels is None:
        expected, each = expected[..., 0], each[..., 0]
    with bl.Image(stack, layers=True, queue=queue) as image:
        assert image.num_layers == count and image.shape == shape
        np.testing.assert_array_equal(image.numpy(), stack)
        np.testing.assert_allclose(image.sample(coords), expected, atol=PLANE)
        chosen = rng.integers(0, count, 40)
        np.testing.assert_allclose(image.sample(coords, layers=chosen), expected[chosen, np.arange(40)], atol=PLANE)
        np.testing.assert_allclose(image.sample(coords, layers=count - 1), expected[-1], atol=PLANE)
        np.testing.assert_array_equal(image.fetch([[3, 2]])[:, 0], each[:, 2, 3])
        np.testing.assert_array_equal(image.fetch([[3, 2]], layers=0)[0], each[0, 2, 3])
        reduced = image.resize((4, 3))
        np.testing.assert_allclose(reduced, area_means(stack, (len(stack), 4, 3), rounded=False), rtol=2e-6)
        np.testing.assert_array_equal(image.warp(np.eye(3), (8, 9)), stack)
        assert image.resize((16, 18)).shape == (count, 16, 18, *shape[3:])


def test_layers_of_lines(rng: np.random.Generator, queue: bl.Queue) -> None:
    stack = rng.random((3, 12)).astype(np.float32)
    with bl.Image(stack, layers=True, queue=queue) as image:
        assert image.size == (12,)
        expected = np.stack([sample_pixels(line[:, None], np.array([[2.75], [9.0]]))[:, 0] for line in stack])
        np.testing.assert_allclose(image.sample([2.75, 9.0]), expected, atol=LINE)
        np.testing.assert_array_equal(image.fetch([4, 5], layers=[0, 2]), [stack[0, 4], stack[2, 5]])


# Directions of each face, as axis and sign: (normal, right, down).
FACES = (
    ((1, 0, 0), (0, 0, -1), (0, -1, 0)),
    ((-1, 0, 0), (0, 0, 1), (0, -1, 0)),
    ((0, 1, 0), (1, 0, 0), (0, 0, 1)),
    ((0, -1, 0), (1, 0, 0), (0, 0, -1)),
    ((0, 0, 1), (1, 0, 0), (0, -1, 0)),
    ((0, 0, -1), (-1, 0, 0), (0, -1, 0)),
)


def face_directions(size: int) -> Array:
    ramp = (np.arange(size) + 0.5) / size * 2 - 1
    return np.array(
        [[[np.add(n, np.add(np.multiply(r, s), np.multiply(d, t))) for s in ramp] for t in ramp] for n, r, d in FACES]
    )


def test_cubemap_from_six_arrays(rng: np.random.Generator, queue: bl.Queue) -> None:
    faces = rng.integers(0, 256, (6, 8, 8, 3)).astype(np.uint8)
    with bl.Image(faces, cubemap=True, queue=queue) as image:
        assert image.shape == faces.shape
        values = image.sample(face_directions(8) * 3.0)
        assert values.shape == (6, 8, 8, 3)
        np.testing.assert_allclose(values * 255, faces, atol=0.01)
        np.testing.assert_array_equal(image.numpy(), faces)
        np.testing.assert_allclose(image.fetch([[1, 2]], layers=4)[0] * 255, faces[4, 2, 1], atol=1e-3)
        np.testing.assert_allclose(image.fetch([[1, 2]])[:, 0] * 255, faces[:, 2, 1], atol=1e-3)
        middle = image.sample([[1.0, 1.0, 0.01]])[0]
        across = np.abs(middle - (faces[0, 0, 3:5].mean(0) + faces[2, 3:5, 7].mean(0)) / 2 / 255)
        assert across.max() < 0.35  # seamless: both faces of the edge take part


def test_panorama(queue: bl.Queue) -> None:
    """Each pixel of the panorama encodes its direction, so every lookup returns its own direction."""
    height, width = 128, 256
    v, u = np.meshgrid((np.arange(height) + 0.5) / height, (np.arange(width) + 0.5) / width, indexing="ij")
    longitude, polar = (u - 0.5) * 2 * np.pi, v * np.pi
    direction = np.dstack([np.sin(longitude) * np.sin(polar), np.cos(polar), -np.cos(longitude) * np.sin(polar)])
    panorama = (direction * 0.5 + 0.5).astype(np.float32)
    wanted = face_directions(9)
    wanted = wanted / np.linalg.norm(wanted, axis=-1, keepdims=True)
    for size, tolerance in ((None, 0.01), (16, 0.03)):
        with bl.Image.from_equirectangular(panorama, size, queue=queue) as image:
            assert image.shape == (6, size or 64, size or 64, 3)
            np.testing.assert_allclose(image.sample(wanted) * 2 - 1, wanted, atol=tolerance)
    with bl.Image.from_equirectangular((panorama[..., 0] * 255).astype(np.uint8), 8, queue=queue) as image:
        assert image.shape == (6, 8, 8) and image.dtype == np.uint8


# ---------------------------------------------------------------------- lifetime


def test_close_frees_once_and_later_use_is_refused(queue: bl.Queue) -> None:
    image = bl.Image(np.zeros((4, 4), np.float32), queue=queue)
    image.sample([[1, 1]])
    image.close()
    image.close()
    assert "closed" in repr(image)
    for use in (
        lambda: image.sample([[1, 1]]),
        image.numpy,
        lambda: image.fetch([[0, 0]]),
        lambda: image.resize((2, 2)),
    ):
        with raises(bl.InvalidError):
            use()


@pytest.mark.parametrize("mipmaps", [False, True])
@pytest.mark.parametrize("channels", [3, 4])
def test_a_dropped_image_frees_its_memory_at_once(queue: bl.Queue, mipmaps: bool, channels: int) -> None:
    """The next image of a loop takes the memory: the garbage collector may come too late for that."""
    pixels = np.zeros((300, 400, channels), np.uint8)
    gc.collect()
    gc.disable()
    try:
        image = bl.Image(pixels, mipmaps=mipmaps, queue=queue)
        image.update(pixels)
        image.sample([[1, 1]])
        image.fetch([[1, 1]])
        image.warp(np.eye(3), (20, 30))
        image.resize((120, 100))
        store, memory = weakref.ref(image._store), weakref.ref(image.memory)
        del image
        queue.wait()
        assert store() is None and memory() is None
    finally:
        gc.enable()


def test_queue_context_and_image_are_closed_in_any_order(device: bl.Device) -> None:
    for order in ("queue image context", "context image queue", "image queue context", "context queue image"):
        context = bl.Context(device)
        queue = bl.Queue(device, context)
        image = bl.Image(np.zeros((4, 4, 3), np.float32), queue=queue)
        image.sample([[1, 1]])
        image.fetch([[1, 1]])
        objects = {"queue": queue, "image": image, "context": context}
        for name in order.split():
            objects[name].close()
        with raises(bl.InvalidError):
            image.sample([[1, 1]])


def test_images_are_used_from_several_threads(rng: np.random.Generator, queue: bl.Queue) -> None:
    pixels = rng.random((64, 64, 3)).astype(np.float32)
    coords = rng.uniform(0, 64, (8, 2000, 2))
    expected = [sample_pixels(pixels, part) for part in coords]
    results: list[Any] = [None] * 8
    with bl.Image(pixels, queue=queue) as image:

        def work(index: int) -> None:
            results[index] = image.sample(coords[index])

        threads = [threading.Thread(target=work, args=(index,)) for index in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for result, wanted in zip(results, expected):
        np.testing.assert_allclose(result, wanted, atol=PLANE)


def test_images_without_a_queue_share_one() -> None:
    with bl.Image(np.zeros((4, 4), np.float32)) as one, bl.Image(np.zeros((4, 4), np.float32)) as other:
        assert one.queue is other.queue


def test_notebook_picture_of_bytes_is_exact(rng: np.random.Generator, queue: bl.Queue) -> None:
    from PIL import Image as Picture

    for channels in (None, 1, 2, 3, 4):
        pixels = rng.integers(0, 256, (9, 7) if channels is None else (9, 7, channels)).astype(np.uint8)
        with bl.Image(pixels, queue=queue) as image:
            data = image._repr_png_()
        assert data is not None
        picture = np.asarray(Picture.open(io.BytesIO(data)))
        np.testing.assert_array_equal(picture.reshape(9, 7, -1), pixels.reshape(9, 7, -1))
