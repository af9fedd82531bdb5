"""``Image.warp`` of one, two and three dimensions and stacks, with and without a displacement.

Exact precision is compared with float64; the texture unit's with ``sample`` at coordinates computed with numpy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from tests.oracle.pictures import expected_picture, map_of, random_pixels
from tests.support.error_checks import raises

Array = npt.NDArray[Any]

SHAPES = {1: (37,), 2: (19, 23), 3: (9, 11, 13)}  # of images
PICTURES = {1: (41,), 2: (17, 21), 3: (8, 10, 7)}
DTYPES = ("uint8", "int8", "uint16", "int16", "float16", "float32")


def close(found: Array, expected: Array) -> None:
    """Exact precision: 1e-6 of the range, and integers of values halfway between two."""
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    if found.dtype.kind in "iu":
        difference = np.abs(found.astype(np.int64) - expected.astype(np.int64))
        assert difference.max() <= 1
        assert np.mean(difference > 0) <= (0.05 if found.dtype.itemsize == 2 else 0.002)
        return
    bound = 1e-6 * np.ptp(expected[np.isfinite(expected)].astype(np.float64))
    step = np.spacing(np.abs(expected)).astype(np.float64) if found.dtype == np.float16 else 0
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    error = np.abs(found.astype(np.float64) - expected.astype(np.float64))
    assert np.nanmax(error - step) <= bound


def normalized(values: Array, dtype: str) -> Array:
    """Samples as pixels: times the largest code, rounded to nearest even."""
    if np.dtype(dtype).kind == "f":
        return values.astype(dtype)
    largest = np.float32(np.iinfo(dtype).max)
    return np.clip(np.rint(values * largest), -largest if dtype[0] == "i" else 0, largest).astype(dtype)


def coordinates(matrix: Array, shape: tuple[int, ...]) -> Array:
    """(*shape, d) of the map at the centres of a picture's pixels; float64."""
    dims = len(shape)
    index = np.indices(shape).astype(np.float64)[::-1] + 0.5
    rows = [row[:dims] @ index.reshape(dims, -1) + row[dims] for row in matrix]
    return (np.stack(rows[:dims], -1) / rows[dims][:, None]).reshape(*shape, dims)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("filtering", ["nearest", "linear"])
def test_exact_warps(queue: bl.Queue, filtering: str, dims: int, dtype: str) -> None:
    pixels, matrix = random_pixels(dtype, (*SHAPES[dims], 2)), map_of(dims, projective=True)
    with bl.Image(pixels, dimensions=dims, filtering=filtering, precision="exact", queue=queue) as image:
        found = image.warp(matrix, PICTURES[dims])
    close(found, expected_picture(pixels, matrix, PICTURES[dims][::-1], filtering=filtering))


@pytest.mark.parametrize("addressing", ["clamp_to_edge", "clamp", "repeat", "mirrored_repeat"])
@pytest.mark.parametrize("coordinate", ["unnormalized", "normalized"])
def test_exact_warps_outside(queue: bl.Queue, coordinate: str, addressing: str) -> None:
    pixels, matrix = random_pixels("int16", SHAPES[3])[..., None], map_of(3)
    matrix[:3, 3] -= 6
    fill = -1000 if addressing == "clamp" else 0
    given = np.diag([1 / 13, 1 / 11, 1 / 9, 1]) @ matrix if coordinate == "normalized" else matrix
    options: dict[str, Any] = {"addressing": addressing, "coordinate": coordinate, "fill": fill, "dimensions": 3}
    with bl.Image(pixels[..., 0], precision="exact", queue=queue, **options) as image:
        found = image.warp(given[:3], PICTURES[3])
    expected = expected_picture(pixels, matrix, PICTURES[3][::-1], addressing=addressing, fill=fill)
    close(found, expected[..., 0])


@pytest.mark.parametrize("dtype", ["float32", "uint8"])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_displacements(queue: bl.Queue, dims: int, dtype: str) -> None:
    pixels, matrix, shape = random_pixels(dtype, (*SHAPES[dims], 1)), map_of(dims), PICTURES[dims]
    field = np.random.default_rng(5).normal(0, 3, (*shape, dims)).astype(np.float32)
    expected = expected_picture(pixels, matrix, shape[::-1], vectors=field)
    planes = np.moveaxis(np.ascontiguousarray(np.moveaxis(field, -1, 0)), 0, -1)
    for given in (field, planes, field.astype(np.float64), np.concatenate([field, field], -1)[..., :dims]):
        with bl.Image(pixels, dimensions=dims, precision="exact", queue=queue) as image:
            close(image.warp(matrix, shape, displacement=given), expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dims", [1, 3])
def test_warps_by_the_texture_unit_are_samples(queue: bl.Queue, dims: int, dtype: str) -> None:
    pixels, matrix, shape = random_pixels(dtype, (*SHAPES[dims], 2)), map_of(dims, projective=True), PICTURES[dims]
    field = np.random.default_rng(5).normal(0, 3, (*shape, dims)).astype(np.float32)
    for addressing in ("clamp_to_edge", "repeat"):
        with bl.Image(pixels, dimensions=dims, addressing=addressing, queue=queue) as image:
            plain, moved = image.warp(matrix, shape), image.warp(matrix, shape, displacement=field)
            at = coordinates(matrix, shape)
            np.testing.assert_array_equal(plain, normalized(image.sample(at.astype(np.float32)), dtype))
            there = (at + field).astype(np.float32)
            np.testing.assert_array_equal(moved, normalized(image.sample(there), dtype))


def test_displacements_in_two_dimensions_by_the_texture_unit(queue: bl.Queue) -> None:
    pixels, matrix = random_pixels("uint8", (19, 23, 3)), map_of(2)
    field = np.random.default_rng(5).normal(0, 3, (17, 21, 2)).astype(np.float32)
    with bl.Image(pixels, queue=queue) as image:
        at = (coordinates(matrix, (17, 21)) + field).astype(np.float32)
        found = image.warp(matrix, (17, 21), displacement=field)
        np.testing.assert_array_equal(found, normalized(image.sample(at), "uint8"))


@pytest.mark.parametrize("mipmaps", [False, True])
def test_a_stack_has_a_matrix_for_each_layer(queue: bl.Queue, mipmaps: bool) -> None:
    pixels = random_pixels("uint8", (3, 19, 23, 4))
    matrices = np.stack([map_of(2, seed=seed) for seed in (1, 5, 9)])
    field = np.random.default_rng(5).normal(0, 2, (12, 14, 2)).astype(np.float32)
    with bl.Image(pixels, layers=True, mipmaps=mipmaps, queue=queue) as image:
        found, moved = image.warp(matrices, (12, 14)), image.warp(matrices[:, :2], (12, 14), displacement=field)
        same = image.warp(matrices[1], (12, 14), displacement=field)
    for number, layer in enumerate(pixels):
        with bl.Image(layer, mipmaps=mipmaps, queue=queue) as single:
            np.testing.assert_array_equal(found[number], single.warp(matrices[number], (12, 14)))
            expected = single.warp(matrices[number], (12, 14), displacement=field)
            np.testing.assert_array_equal(moved[number], expected)
            np.testing.assert_array_equal(same[number], single.warp(matrices[1], (12, 14), displacement=field))


def test_arrays_on_the_device_stay_there(queue: bl.Queue) -> None:
    pixels, matrix, shape = random_pixels("float32", (9, 11, 13)), map_of(3), PICTURES[3]
    field = np.random.default_rng(5).normal(0, 3, (*shape, 3)).astype(np.float32)

    def there(array: Array) -> bl.UsmArray:
        return bl.usm_empty(array.shape, array.dtype, queue).copy_from(array)

    with bl.Image(pixels, dimensions=3, queue=queue) as image:
        expected = image.warp(matrix, shape, displacement=field)
        assert isinstance(image.warp(matrix, shape, displacement=there(field)), np.ndarray)
        out = bl.usm_empty(shape, np.float32, queue)
        assert image.warp(matrix, shape, displacement=field, out=out) is out
        np.testing.assert_array_equal(out.numpy(), expected)
        planes = there(np.ascontiguousarray(np.moveaxis(field, -1, 0))).transpose(1, 2, 3, 0)
        wide = there(np.concatenate([field, field], -1))[..., :3]
        for given in (planes, wide, there(field)[:]):
            result = np.empty(shape, np.float32)
            assert image.warp(matrix, shape, displacement=given, out=result) is result
            np.testing.assert_array_equal(result, expected)
    with bl.Image(there(pixels), dimensions=3, queue=queue) as image:
        found = image.warp(matrix, shape, displacement=field)
        assert isinstance(found, bl.UsmArray)
        np.testing.assert_array_equal(found.numpy(), expected)


@pytest.mark.parametrize(
    ("matrix", "shape", "displacement", "message"),
    [
        (np.eye(3), (4, 4, 4), None, ("shape (3, 3); it is (3, 4)", "(4, 4)")),
        (np.eye(4), (4, 4), None, ("(4, 4)", "(depth, height, width)")),
        (np.eye(4) * np.nan, (4, 4, 4), None, "finite"),
        (np.eye(4), (4, 4, 0), None, "positive"),
        (np.eye(4), (4, 4, 5), np.zeros((4, 4, 5, 2)), "(4, 4, 5, 2); it is (4, 4, 5, 3)"),
        (np.eye(4), (4, 4, 5), np.zeros((4, 4, 5, 3), "c8"), "complex64"),
        (np.zeros((2, 3, 4)), (4, 4, 5), None, "(2, 3, 4)"),
        ([["a"]], (4, 4, 5), None, "matrix"),
    ],
)
def test_arguments_that_are_refused(
    queue: bl.Queue, matrix: Any, shape: Any, displacement: Any, message: object
) -> None:
    with bl.Image(np.zeros((5, 6, 7), np.float32), dimensions=3, queue=queue) as image:
        with raises(bl.InvalidError, names=message):
            image.warp(matrix, shape, displacement=displacement)
        with raises(bl.InvalidError, match="shares memory"):
            field = np.zeros((4, 4, 5, 3), np.float32)
            image.warp(np.eye(4), (4, 4, 5), displacement=field, out=field.reshape(-1)[:80].reshape(4, 4, 5))
    with raises(bl.InvalidError, names="closed"):
        image.warp(np.eye(4), (4, 4, 4))


def test_the_number_of_matrices_is_that_of_layers(queue: bl.Queue) -> None:
    with bl.Image(np.zeros((3, 6, 7), np.float32), layers=True, queue=queue) as image:
        with raises(bl.InvalidError, names="3 layers"):
            image.warp(np.zeros((2, 2, 3)), (4, 4))
        with raises(bl.InvalidError, names="matrix[1]"):
            image.warp(np.stack([np.eye(3), np.full((3, 3), np.nan), np.eye(3)]), (4, 4))
