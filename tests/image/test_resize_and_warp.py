"""Whole pictures of ``Image``: the device and the host compute the same pixels.

Expected values come from ``sample`` at coordinates computed with numpy, and from means in float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import bindless as bl
from bindless.sampling.area import area_launches, run_launches
from bindless.sycl.kernel.builtin import builtin_kernel
from tests.oracle.area_means import area_means
from tests.oracle.samples import sample_pixels

MAPS = {
    "affine": np.array([[0.3, -0.7, 20.5], [1.1, 0.2, -3.25], [0, 0, 1]]),
    "projective": np.array([[1.0, 0.1, 0.0], [0.2, 0.9, 4.0], [0.002, -0.003, 1.5]]),
    "reduction": np.array([[3.7, 0.4, 1.0], [-0.2, 2.9, 9.0], [0, 0, 1]]),
}
DTYPES = ("uint8", "int8", "uint16", "int16", "float16", "float32", "int32", "uint32")


def random_pixels(dtype: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(8)
    if dtype.startswith("float"):
        return rng.standard_normal(shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def stored(values: np.ndarray[Any, Any], dtype: str) -> np.ndarray[Any, Any]:
    """Convert samples to pixels of a dtype: normalized samples times the largest code, rounded to nearest even."""
    if np.dtype(dtype).kind == "f" or values.dtype == dtype:
        return values.astype(dtype)
    largest = np.float32(np.iinfo(dtype).max)
    return np.clip(np.rint(values * largest), -largest if dtype[0] == "i" else 0, largest).astype(dtype)


def coordinates(matrix: np.ndarray[Any, Any], height: int, width: int) -> tuple[Any, Any, Any]:
    """The input coordinates of each pixel's centre, and their differences to the next column and row; float64."""
    y, x = np.mgrid[:height, :width] + 0.5
    u, v, w = (row[0] * x + (row[1] * y + row[2]) for row in matrix)
    at = np.stack([u / w, v / w], -1)
    dx, dy = (np.stack([(matrix[k, axis] - at[..., k] * matrix[2, axis]) / w for k in (0, 1)], -1) for axis in (0, 1))
    return at, dx, dy


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("name", MAPS)
def test_warp_is_sample_at_the_mapped_centres(queue: bl.Queue, name: str, channels: int, dtype: str) -> None:
    pixels = random_pixels(dtype, (37, 53, channels))
    filtering = "nearest" if dtype in ("int32", "uint32") else "linear"
    at = coordinates(MAPS[name], 43, 61)[0].astype(np.float32)
    with bl.Image(pixels, filtering=filtering, queue=queue) as image:
        np.testing.assert_array_equal(image.warp(MAPS[name], (43, 61)), stored(image.sample(at), dtype))


@pytest.mark.parametrize("addressing", ["repeat", "mirrored_repeat", "clamp_to_border"])
@pytest.mark.parametrize("coordinate", ["unnormalized", "normalized"])
def test_warp_with_every_kind_of_coordinates(queue: bl.Queue, coordinate: str, addressing: str) -> None:
    pixels = random_pixels("uint8", (37, 53, 4))
    matrix = MAPS["projective"]
    if coordinate == "normalized":
        matrix = np.diag([1 / 53, 1 / 37, 1.0]) @ matrix
    at = coordinates(matrix, 43, 61)[0].astype(np.float32)
    with bl.Image(pixels, addressing=addressing, coordinate=coordinate, queue=queue) as image:
        np.testing.assert_array_equal(image.warp(matrix, (43, 61)), stored(image.sample(at), "uint8"))


@pytest.mark.parametrize("max_anisotropy", [0.0, 8.0])
@pytest.mark.parametrize("name", MAPS)
def test_warp_of_mipmaps_chooses_levels_by_the_map(queue: bl.Queue, name: str, max_anisotropy: float) -> None:
    pixels = random_pixels("uint8", (64, 96, 3))
    at, dx, dy = (part.astype(np.float32) for part in coordinates(MAPS[name], 43, 61))
    with bl.Image(pixels, mipmaps=True, max_anisotropy=max_anisotropy, queue=queue) as image:
        expected = stored(image.sample(at, dx=dx, dy=dy), "uint8")
        np.testing.assert_array_equal(image.warp(MAPS[name], (43, 61)), expected)
        y, x = ((np.arange(n) + 0.5) * (old / n) for n, old in ((90, 64), (130, 96)))
        larger = np.stack(np.broadcast_arrays(x, y[:, None]), -1)
        np.testing.assert_array_equal(image.resize((90, 130)), stored(image.sample(larger, level=0), "uint8"))


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize(
    ("shape", "size"),
    [
        ((37, 53), (130, 90)),
        ((20, 30), (31, 20)),
        ((40, 64), (1500, 700)),
        ((5, 1), (40, 50)),
        ((3, 9000), (9001, 8)),
    ],
)
def test_enlarged_pixels_are_samples_at_their_centres(
    queue: bl.Queue, shape: tuple[int, int], size: tuple[int, int], channels: int, dtype: str
) -> None:
    pixels = random_pixels(dtype, (*shape, channels))
    y, x = ((np.arange(new) + 0.5) * (old / new) for new, old in zip(size[::-1], shape))
    at = np.stack(np.broadcast_arrays(x, y[:, None]), -1).astype(np.float32)
    with bl.Image(pixels, queue=queue) as image:
        np.testing.assert_array_equal(image.resize(size[::-1]), stored(image.sample(at), dtype))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    entries=st.lists(st.floats(-100, 100, width=32), min_size=9, max_size=9),
    shape=st.tuples(st.integers(1, 40), st.integers(1, 70)),
    dtype=st.sampled_from(("uint8", "int16", "float32", "float16")),
    addressing=st.sampled_from(("clamp_to_edge", "repeat", "clamp_to_border")),
)
def test_warp_by_any_matrix(
    queue: bl.Queue, entries: list[float], shape: tuple[int, int], dtype: str, addressing: str
) -> None:
    """Matrices that mirror, are degenerate, or have a horizon in the picture, with infinite or NaN coordinates."""
    pixels = random_pixels(dtype, (9, 14, 2))
    matrix = np.array(entries).reshape(3, 3)
    with np.errstate(all="ignore"):
        at = coordinates(matrix, *shape)[0].astype(np.float32)
    if queue.device.backend == "opencl":  # OpenCL does not define reads at such distant coordinates
        assume(np.abs(at).max() < 1e5)
    with bl.Image(pixels, addressing=addressing, queue=queue) as image:
        np.testing.assert_array_equal(image.warp(matrix, shape), stored(image.sample(at), dtype))


@pytest.mark.parametrize("count", [1, 3])
def test_warp_of_every_layer(queue: bl.Queue, count: int) -> None:
    pixels = random_pixels("uint16", (count, 20, 30, 3))
    at = coordinates(MAPS["affine"], 15, 33)[0].astype(np.float32)
    with bl.Image(pixels, layers=True, queue=queue) as image:
        result = image.warp(MAPS["affine"], (15, 33))
        np.testing.assert_array_equal(result, stored(image.sample(at), "uint16"))
        assert result.shape == (count, 15, 33, 3)


@pytest.mark.parametrize("dtype", DTYPES[:6])  # 32-bit integers are not filtered: the nearest pixel is read
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("size", [(20, 30), (40, 45), (17, 13), (53, 11), (19, 74), (1, 1)])
def test_reduced_pixels_are_means_of_their_areas(
    queue: bl.Queue, size: tuple[int, int], channels: int, dtype: str
) -> None:
    pixels = random_pixels(dtype, (90, 80, channels))
    with bl.Image(pixels, queue=queue) as image:
        result = image.resize(size[::-1])
    np.testing.assert_array_equal(result, area_means(pixels, size[::-1], normalized=True), strict=True)


@pytest.mark.parametrize("dtype", DTYPES[:6])
@pytest.mark.parametrize("size", [(36, 48), (24, 32), (18, 24), (12, 16), (24, 24)])
def test_areas_of_whole_pixels(queue: bl.Queue, size: tuple[int, int], dtype: str) -> None:
    pixels = random_pixels(dtype, (96, 72))
    with bl.Image(pixels, queue=queue) as image:
        result = image.resize(size[::-1])
    expected = area_means(pixels[..., None], size[::-1], normalized=True)[..., 0]
    np.testing.assert_array_equal(result, expected, strict=True)


@pytest.mark.parametrize("channel_type", ["unsigned_int8", "signed_int8", "unsigned_int16", "signed_int16"])
def test_reduced_integers_are_not_normalized(queue: bl.Queue, channel_type: str) -> None:
    """The lowest code of a signed integer is a number of its own."""
    dtype = channel_type.replace("unsigned_", "u").replace("signed_", "")
    pixels = np.full((8, 6), np.iinfo(dtype).min, dtype)
    pixels[::2] += 2
    with bl.Image(pixels, channel_type=channel_type, filtering="linear", queue=queue) as image:
        np.testing.assert_array_equal(image.resize((4, 3)), area_means(pixels, (4, 3)), strict=True)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
def test_mipmaps_are_reduced_from_their_first_level(queue: bl.Queue, dtype: str) -> None:
    pixels = random_pixels(dtype, (64, 48, 3))
    with bl.Image(pixels, mipmaps=True, queue=queue) as image:
        np.testing.assert_array_equal(image.resize((16, 16)), area_means(pixels, (16, 16)))


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("dtype", ["uint8", "float16"])
def test_every_layer_is_reduced(queue: bl.Queue, dtype: str, count: int) -> None:
    pixels = random_pixels(dtype, (count, 30, 42, 3))
    with bl.Image(pixels, layers=True, queue=queue) as image:
        expected = np.stack([area_means(layer, (20, 14)) for layer in pixels])
        np.testing.assert_array_equal(image.resize((20, 14)), expected)


@pytest.mark.parametrize("shape", [(200,), (9, 200), (3, 50, 41)])
def test_long_sums_and_other_dimensions_keep_their_digits(queue: bl.Queue, shape: tuple[int, ...]) -> None:
    pixels = np.random.default_rng(2).random(shape, np.float32) + 1
    sizes = tuple(max(n // 7, 2) for n in shape)
    with bl.Image(pixels, dimensions=len(shape), queue=queue) as image:
        np.testing.assert_array_equal(image.resize(sizes), area_means(pixels, sizes))
        np.testing.assert_allclose(image.resize((1,) * len(shape)).ravel(), pixels.mean(dtype=np.float64), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float16", "float32"])
def test_the_kernels_of_other_devices_give_the_same_means(queue: bl.Queue, dtype: str) -> None:
    """Whatever makes the means of a queue's images, the built-in kernels make the same on its device."""
    if queue.backend == "opencl" and not queue.device.has(bl.Aspect.usm_device_allocations):
        pytest.skip("the kernels read memory of the device")
    described = bl.ImageDescriptor.from_array(np.empty((1, 1, 3), dtype), dimensions=2)
    kernel = builtin_kernel(queue, "bindless_area_reals" if dtype.startswith("float") else "bindless_area_codes")
    for extent, size in (((90, 80, 1), (60, 20, 1)), ((70, 81, 2), (33, 19, 1)), ((300, 200, 3), (3, 2, 3))):
        pixels = random_pixels(dtype, (*extent[::-1], 4))
        source = bl.usm_empty(pixels.shape, pixels.dtype, queue)
        means = bl.usm_empty((*size[::-1], 3), pixels.dtype, queue)
        copied = queue.memcpy(source, pixels)
        launches = area_launches(queue, source, extent, size, described)
        run_launches(queue, kernel, launches, means, copied).wait()
        expected = area_means(pixels[..., :3], size[::-1], normalized=True)
        np.testing.assert_array_equal(means.numpy(queue), expected)


def test_one_side_shrinks_while_another_grows(queue: bl.Queue) -> None:
    pixels = random_pixels("uint8", (2, 64, 40, 3))
    with bl.Image(pixels, layers=True, queue=queue) as image:
        result = image.resize((16, 80))
    means = np.stack([area_means(layer, (16,), rounded=False) for layer in pixels])
    places = (np.arange(80)[:, None] + 0.5) / 2
    expected = np.stack([[sample_pixels(row, places) for row in layer] for layer in means])
    assert np.abs(result - expected).max() <= 0.5 + 0.5  # hardware weights have eight bits


@pytest.mark.parametrize("precision", ["exact", "hardware"])
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_large_pictures_have_the_elements_of_small_ones(precision: str, channels: int) -> None:
    """Of 17 MiB and more, which leave the caches of processors at once, at any address."""
    height, width = 1501, 3012 // channels
    pixels = np.random.default_rng(8).random((300, 400, channels), np.float32)
    matrix = np.array([[400 / width, 0, 0], [0, 300 / height, 0], [0, 0, 1]])
    with bl.Queue("reference") as queue, bl.Image(pixels, queue=queue, precision=precision) as image:
        whole = np.full(height * width * channels + 2, -1, np.float32)
        picture = whole[1:-1].reshape(height, width, channels)
        image.warp(matrix, (height, width), out=picture)
        assert picture.nbytes > 17 << 20 and whole[0] == whole[-1] == -1
        for row in range(0, height, 500):
            rows = min(500, height - row)
            part = image.warp(matrix @ np.array([[1, 0, 0], [0, 1, row], [0, 0, 1]]), (rows, width))
            bound = 1e-2 if precision == "hardware" else 1e-5  # places are rounded otherwise
            np.testing.assert_allclose(picture[row : row + rows], part, rtol=0, atol=bound)
        np.testing.assert_array_equal(picture[:500], image.warp(matrix, (500, width)))
