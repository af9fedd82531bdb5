"""``Image.remap``: pictures at arrays of coordinates, absolute and relative."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from tests.oracle.pictures import expected_picture, random_pixels
from tests.support.error_checks import raises

Array = npt.NDArray[Any]

SHAPES = {1: (37,), 2: (19, 23), 3: (9, 11, 13)}


def codes(values: Array, dtype: str) -> Array:
    if np.dtype(dtype).kind == "f":
        return values.astype(dtype)
    largest = np.float32(np.iinfo(dtype).max)
    return np.clip(np.rint(values * largest), -largest if dtype[0] == "i" else 0, largest).astype(dtype)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "float16", "float32"])
@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("coordinate", ["unnormalized", "normalized"])
def test_pictures_are_samples_as_pixels(queue: bl.Queue, coordinate: str, dims: int, dtype: str) -> None:
    pixels = random_pixels(dtype, (*SHAPES[dims], 3))
    rng = np.random.default_rng(3)
    at = (rng.random((5, 6, dims)) * 1.2 - 0.1) * (1 if coordinate == "normalized" else SHAPES[dims][::-1])
    for points in (at.astype(np.float32), at[0].astype(np.float32), at[:, None, :, None].astype(np.float32)):
        with bl.Image(pixels, dimensions=dims, coordinate=coordinate, queue=queue) as image:
            found = image.remap(points)
            assert found.dtype == dtype
            np.testing.assert_array_equal(found, codes(image.sample(points), dtype))


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("coordinate", ["unnormalized", "normalized"])
@pytest.mark.parametrize("precision", ["hardware", "exact"])
def test_displacements_of_the_picture_s_pixels(queue: bl.Queue, precision: str, coordinate: str, dims: int) -> None:
    shape = SHAPES[dims]
    pixels = random_pixels("uint8", (*shape, 1))
    smaller = tuple(size - 2 for size in shape)
    field = np.random.default_rng(3).integers(-500, 500, (*smaller, dims)) / 256 + 1 / 512
    expected = expected_picture(pixels, np.eye(dims + 1), smaller[::-1], vectors=field)
    given = field / shape[::-1] if coordinate == "normalized" else field
    options: dict[str, Any] = {"dimensions": dims, "coordinate": coordinate, "precision": precision}
    with bl.Image(pixels, queue=queue, **options) as image:
        found = image.remap(given, relative=True)
    bound = 1 if precision == "exact" else 255 * dims / 512 + 1
    assert np.abs(found.astype(int) - expected).max() <= bound
    assert np.mean(found != expected) < (0.01 if precision == "exact" else 0.6)


def test_every_layer_and_every_place_of_arrays(queue: bl.Queue) -> None:
    stack = random_pixels("int16", (3, 9, 12))
    at = (np.random.default_rng(3).random((4, 5, 2)) * [12, 9]).astype(np.float32)

    def there(array: Array) -> bl.UsmArray:
        return bl.usm_empty(array.shape, array.dtype, queue).copy_from(array)

    with bl.Image(stack, layers=True, queue=queue) as image:
        expected = codes(image.sample(at), "int16")
        assert expected.shape == (3, 4, 5)
        np.testing.assert_array_equal(image.remap(at), expected)
        np.testing.assert_array_equal(image.remap(at.astype(np.float64)), expected)
        np.testing.assert_array_equal(image.remap(np.moveaxis(np.moveaxis(at, -1, 0).copy(), 0, -1)), expected)
        np.testing.assert_array_equal(image.remap(at[::-1, ::-1])[:, ::-1, ::-1], expected)
        out = np.empty((3, 4, 5), np.int16)
        assert image.remap(at, out=out) is out
        np.testing.assert_array_equal(out, expected)
        found = image.remap(there(at))
        assert isinstance(found, bl.UsmArray)
        np.testing.assert_array_equal(found.numpy(), expected)
        result = np.empty((3, 4, 5), np.int16)
        image.remap(there(at)[::-1], out=result)
        np.testing.assert_array_equal(result[:, ::-1], expected)
        assert image.remap(np.empty((0, 7, 2), np.float32)).shape == (3, 0, 7)
    with bl.Image(stack, layers=True, mipmaps=True, queue=queue) as image:
        np.testing.assert_array_equal(image.remap(at), expected)


@pytest.mark.parametrize(
    ("coords", "options", "message"),
    [
        ([[1.0, 2.0, 3.0]], {}, ("(1, 3)", "(x, y)")),
        (np.zeros((4, 2)), {"relative": True}, ("(4, 2)", "(height, width, 2)")),
        ([["a", "b"]], {}, "<U1"),
        ([[1.0, 2.0]], {"out": np.empty(1, np.float64)}, "float64"),
    ],
)
def test_arguments_that_are_refused(queue: bl.Queue, coords: Any, options: dict[str, Any], message: object) -> None:
    with bl.Image(np.zeros((5, 6), np.float32), queue=queue) as image, raises(bl.InvalidError, names=message):
        image.remap(coords, **options)


def test_images_that_have_no_remap(queue: bl.Queue) -> None:
    with bl.Image(np.zeros((5, 6), np.float32), queue=queue) as image:
        pass
    with raises(bl.InvalidError, names="closed"):
        image.remap([[1.0, 2.0]])
    if queue.device.has(bl.Aspect.ext_oneapi_cubemap):
        with (
            bl.Image(np.zeros((6, 4, 4), np.float32), cubemap=True, queue=queue) as image,
            raises(bl.InvalidError, names="cubemap"),
        ):
            image.remap([[1.0, 2.0, 3.0]])
