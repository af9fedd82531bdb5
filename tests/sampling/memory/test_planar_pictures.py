"""Linear samples of float32 pictures, which have code of their own, compared with the code for float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bindless.sampling.memory import Lookup, backward, forward
from tests.support.filters import lookup as make_lookup

Array = np.ndarray[Any, Any]

BOUNDARIES = ["border", "edge", "repeat", "mirrored_repeat", "mirror", "extent"]
WIDTH, HEIGHT = 23, 17


def planes(array: Array) -> Array:
    """The same numbers (N, ..., C) with each channel in a plane of memory."""
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(array, -1, 1)), 1, -1)


def positions(rng: np.random.Generator, kind: str, count: int) -> Array:
    """Coordinates of two pictures in pixels, none of them near a kink of the filter."""
    if kind == "inside":
        x, y = rng.uniform(1, WIDTH - 2, (2, count)), rng.uniform(1, HEIGHT - 2, (2, count))
    elif kind == "rows":
        number = np.arange(count) + np.array([[0.0], [3.0]])
        x, y = 1 + number * 0.9 % (WIDTH - 4), 1 + number // WIDTH % (HEIGHT - 3)
    else:
        x, y = rng.uniform(-2 * WIDTH, 3 * WIDTH, (2, count)), rng.uniform(-2 * HEIGHT, 3 * HEIGHT, (2, count))
    found = np.stack([x, y], -1)
    return np.floor(found) + 0.1 + 0.8 * rng.random(found.shape)


def results(lookup: Lookup, image: Array, coords: Array, grad_out: Array, texels: bool, places: bool) -> list[Array]:
    """Values, the gradient of the image and that of the coordinates."""
    values = np.full_like(grad_out, np.nan)
    forward(lookup, [image], coords, None, values)
    grad_image = np.zeros_like(image) if texels else None
    grad_coords = np.full_like(coords, np.nan) if places else None
    wanted = None if grad_image is None else [grad_image]
    backward(lookup, [image], coords, None, grad_out, wanted, grad_coords, None)
    return [values, *(each for each in (grad_image, grad_coords) if each is not None)]


def compare(lookup: Lookup, image: Array, coords: Array, grad_out: Array, **wanted: bool) -> None:
    options = {"texels": True, "places": True, **wanted}
    found = results(lookup, image, coords, grad_out, **options)
    expected = results(lookup, *(each.astype("d") for each in (image, coords, grad_out)), **options)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-4)


def random_case(kind: str, channels: int, count: int, layout: str) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(count)
    image = rng.standard_normal((2, HEIGHT, WIDTH, channels)).astype("f")
    grad_out = rng.standard_normal((2, count, channels)).astype("f")
    if layout == "planes":
        image, grad_out = planes(image), planes(grad_out)
    return image, positions(rng, kind, count).astype("f"), grad_out


@pytest.mark.parametrize("count", [1, 17, 63, 64, 300])
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("layout", ["planes", "rows"])
@pytest.mark.parametrize("kind", ["inside", "rows", "far"])
def test_layouts_and_counts(kind: str, layout: str, channels: int, count: int) -> None:
    compare(make_lookup(2, boundary="border", fill=0.5), *random_case(kind, channels, count, layout))


@pytest.mark.parametrize("count", [1, 63, 64, 400])
@pytest.mark.parametrize("channels", [4, 7, 16, 35])
def test_rows_of_channels_with_planes_of_values(channels: int, count: int) -> None:
    """The layout of torch.channels_last, whose samples PyTorch keeps in planes; and the reverse."""
    image, coords, grad_out = random_case("far", channels, count, "rows")
    compare(make_lookup(2), image, coords, planes(grad_out))
    compare(make_lookup(2), planes(image), coords, grad_out)


@pytest.mark.parametrize("across", BOUNDARIES)
@pytest.mark.parametrize("down", BOUNDARIES)
def test_boundaries(across: str, down: str) -> None:
    compare(make_lookup(2, boundary=(across, down), fill=-0.75), *random_case("far", 3, 400, "planes"))


@pytest.mark.parametrize(("texels", "places"), [(True, False), (False, True)])
def test_one_gradient(texels: bool, places: bool) -> None:
    image, coords, grad_out = random_case("inside", 2, 200, "planes")
    compare(make_lookup(2), image, coords, grad_out, texels=texels, places=places)


@pytest.mark.parametrize("flip", [(1, 1), (1, -1), (-1, 1), (-1, -1)])
def test_strides(flip: tuple[int, int]) -> None:
    """Flipped images, coordinates of another order in memory, and one gradient for all values."""
    image, coords, grad_out = random_case("inside", 2, 200, "planes")
    compare(make_lookup(2), image[:, :: flip[1], :: flip[0]], coords, grad_out)
    compare(make_lookup(2), image, planes(coords), np.broadcast_to(grad_out[:1, :1, :1], grad_out.shape))


def test_scale_and_offset() -> None:
    image, coords, grad_out = random_case("inside", 2, 200, "planes")
    lookup = make_lookup(2, scale=(0.5, 2.0), offset=(0.25, -0.5), shift=0.75)
    compare(lookup, image, ((coords - [0.25, -0.5]) / [0.5, 2.0] - 0.75).astype("f"), grad_out)


def test_shared_picture() -> None:
    """Two sets of samples of one picture: gradients of both add up."""
    image, coords, grad_out = random_case("rows", 3, 600, "planes")
    compare(make_lookup(2), image[:1], coords, grad_out)


@pytest.mark.parametrize("size", [(1, 1), (1, 7), (7, 1), (2, 2)])
@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_tiny_pictures(size: tuple[int, int], boundary: str) -> None:
    rng = np.random.default_rng(5)
    image = rng.standard_normal((2, *size, 2)).astype("f")
    coords = (rng.integers(-9, 9, (2, 100, 2)) + rng.uniform(0.1, 0.4, (2, 100, 2))).astype("f")
    compare(make_lookup(2, boundary=boundary, fill=2.0), image, coords, rng.standard_normal((2, 100, 2)).astype("f"))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e30, -1e30])
@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_any_coordinate_is_safe(boundary: str, value: float) -> None:
    """Other samples of the same vector have their values."""
    image, coords, grad_out = random_case("inside", 1, 40, "planes")
    lookup = make_lookup(2, boundary=boundary)
    expected = results(lookup, image, coords, grad_out, True, True)[0]
    coords[:, ::3, 0] = value
    found = results(lookup, image, coords, grad_out, True, True)[0]
    keeps = np.arange(40) % 3 != 0
    np.testing.assert_array_equal(found[:, keeps], expected[:, keeps])


def test_texels_of_weight_zero_do_not_count() -> None:
    image = np.full((1, 4, 4, 1), np.nan, "f")
    image[0, 1, 1] = 3.0
    values = np.empty((1, 1, 1), "f")
    forward(make_lookup(2), [image], np.ones((1, 1, 2), "f"), None, values)
    assert values.item() == 3.0
