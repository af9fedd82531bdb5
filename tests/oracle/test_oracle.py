"""The oracle has the values that were computed by hand, and those of scipy and torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.oracle.area_means import area_means
from tests.oracle.boundary import texel
from tests.oracle.cubemap import cubemap
from tests.oracle.pictures import positions, stored
from tests.oracle.samples import between_levels, sample, sample_textures
from tests.oracle.unit_weights import linear

ndimage = pytest.importorskip("scipy.ndimage")

MODES = {
    "reflect": "mirrored_repeat",
    "grid-mirror": "mirrored_repeat",
    "constant": "constant",
    "grid-constant": "border",
    "nearest": "edge",
    "mirror": "mirror",
    "grid-wrap": "repeat",
    "wrap": "wrap",
}
ORDERS = {0: "nearest", 1: "linear", 2: "quadratic", 3: "cubic", 4: "quartic", 5: "quintic"}


def places_around(shape: tuple[int, ...], seed: int) -> Any:
    """(N, dims) in scipy's order: anywhere, and halves and integers, within three periods."""
    rng = np.random.default_rng(seed)
    anywhere = rng.uniform(-1.6, 2.6, (300, len(shape))) * np.array(shape)
    return np.concatenate([anywhere, np.rint(2 * anywhere) / 2, np.rint(anywhere)])


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", [(7,), (1,), (2,), (5, 6), (4, 1, 3)], ids=str)
def test_equals_scipy(shape: tuple[int, ...], mode: str, order: int) -> None:
    array = np.random.default_rng(3).uniform(-5, 5, shape)
    places = places_around(shape, order)
    if (mode, order) == ("mirror", 0):  # halves outside: scipy mirrors some of them before it rounds, some after
        places = places[:300]
    # Splines of nearest and grid-constant need a padded array: their coefficients are compared.
    expected = ndimage.map_coordinates(array, places.T, order=order, mode=mode, cval=-2.5, prefilter=False)
    found = sample(
        array[..., None],
        places[:, ::-1],
        interpolation=ORDERS[order],
        boundary=(MODES[mode],) * 3,
        fill=-2.5,
    )
    np.testing.assert_allclose(found[:, 0], expected, rtol=0, atol=1e-12)


def test_boundaries_of_axes_differ() -> None:
    array = np.arange(12.0).reshape(3, 4)
    found = sample(array[..., None], np.array([[-1.0, -1.0]]), boundary=("repeat", "edge"))
    assert found.tolist() == [[3.0]]


@pytest.mark.parametrize("name, a", [("catmull_rom", -0.5), ("bicubic", -0.75)])
def test_cubic_convolutions(name: str, a: float) -> None:
    impulse = np.array([0, 0, 0, 1.0, 0, 0, 0])[:, None]
    found = sample(impulse, np.array([[1.5], [2.5], [3.0], [2.0]]), interpolation=name)
    assert found[:, 0].tolist() == pytest.approx([a / 8, 0.5 - a / 8, 1, 0])


def test_positions() -> None:
    turned = (0, 2, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 2)  # x = (2 y + 1) / 2
    found = positions((2, 3, 1), turned, [1.0, 0, 0], centre=0.0)
    y, x = np.indices((3, 2))
    assert np.array_equal(found[0, ..., 0], y + 0.5 + 1)
    assert np.array_equal(found[0, ..., 1], x / 2)
    assert positions((2, 1, 1))[0, 0].tolist() == [[0, 0, 0], [1, 0, 0]]


def test_nan_is_ignored() -> None:
    line = np.array([1.0, np.nan, 3.0, np.nan, np.nan])[:, None]
    places = np.array([[0.25], [1.0], [1.75], [3.5]])
    assert np.isnan(sample(line, places)).all()
    found = sample(line, places, ignore_nan=True)
    assert found[[0, 2], 0].tolist() == [1, 3] and np.isnan(found[[1, 3]]).all()


def test_positions_that_are_not_finite_give_the_fill() -> None:
    for mode in MODES.values():
        found = sample(np.ones((4, 1)), np.array([[np.nan], [np.inf], [1.0]]), boundary=(mode,), fill=7.0)
        assert found[:, 0].tolist() == [7, 7, 1]


def test_stored() -> None:
    assert stored([0.5, 1.5, -0.5, 300, -300, np.nan], np.int8).tolist() == [0, 2, 0, 127, -128, 0]
    assert stored([0.5, 2.5, -0.5, -1.5], np.int8, rounding="away").tolist() == [1, 3, -1, -2]
    assert stored([1.0, -1.0, -2.0, 0.5], np.int8, largest=127.0).tolist() == [127, -127, -127, 64]
    assert stored([1.0, 0.5], np.uint8, largest=255.0).tolist() == [255, 128]


def test_area_means_are_differences_of_the_integral_image() -> None:
    pixels = np.random.default_rng(2).normal(size=(9, 14, 2))
    expected = pixels
    for axis, size in ((0, 4), (1, 5)):
        length = pixels.shape[axis]
        integral = np.insert(np.cumsum(expected, axis), 0, 0, axis)
        lines = np.moveaxis(integral, axis, -1)
        edges = np.arange(size + 1) * length / size
        flat = [np.interp(edges, np.arange(length + 1), line) for line in lines.reshape(-1, length + 1)]
        at_edges = np.moveaxis(np.reshape(flat, (*lines.shape[:-1], size + 1)), -1, axis)
        expected = np.diff(at_edges, axis=axis) * size / length
    np.testing.assert_allclose(area_means(pixels, (4, 5), rounded=False), expected, rtol=1e-6)


TEXELS = {  # of an axis of three, at the indices -4 to 6
    "edge": [0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2],
    "border": [-1, -1, -1, -1, 0, 1, 2, -1, -1, -1, -1],
    "repeat": [2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0],
    "mirrored_repeat": [2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0],
    "mirror": [0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2],
}


@pytest.mark.parametrize("boundary", TEXELS)
def test_texels_at_indices(boundary: str) -> None:
    assert texel(boundary, 3, np.arange(-4, 7)).tolist() == TEXELS[boundary]
    if boundary != "border":
        assert not texel(boundary, 1, np.arange(-4, 7)).any()


@pytest.mark.parametrize(
    ("interpolation", "expected"),
    [
        ("nearest", [0, 0, 1, 0, 0]),
        ("linear", [0, 0.75, 0.25, 0, 0]),
        ("quadratic", [0.03125, 0.6875, 0.28125, 0, 0]),  # 1, 22 and 9 of 32
        ("cubic", [0.0703125, 0.6119791667, 0.3151041667, 0.0026041667, 0]),  # 27, 235, 121 and 1 of 384
        ("catmull_rom", [-0.0703125, 0.8671875, 0.2265625, -0.0234375, 0]),  # -9, 111, 29 and -3 of 128
        ("bicubic", [-0.10546875, 0.87890625, 0.26171875, -0.03515625, 0]),  # -27, 225, 67 and -9 of 256
    ],
)
def test_weights_at_a_quarter(interpolation: str, expected: list[float]) -> None:
    place = 2.25 if interpolation != "nearest" else 2.5
    found = sample(np.eye(6), np.array([[place]]), interpolation=interpolation)
    assert found[0, 1:].tolist() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("interpolation", ["linear", "cubic", "catmull_rom", "bicubic"])
def test_a_second_axis_multiplies(interpolation: str) -> None:
    x, y = (sample(np.eye(6), np.array([[place]]), interpolation=interpolation) for place in (2.25, 3.5))
    found = sample(np.eye(36).reshape(6, 6, 36), np.array([[2.25, 3.5]]), interpolation=interpolation)
    np.testing.assert_allclose(found.reshape(6, 6), y.T @ x, atol=1e-15)


def test_nearest_rounds_halves_up_or_to_even() -> None:
    texels, places = np.arange(6.0)[:, None], np.array([[0.5], [1.5], [2.5]])
    assert sample(texels, places, interpolation="nearest")[:, 0].tolist() == [1, 2, 3]
    assert sample(texels, places, interpolation="nearest", ties_to_even=True)[:, 0].tolist() == [0, 2, 2]


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic"])
def test_equals_torch(mode: str, padding: str, align: bool) -> None:
    torch = pytest.importorskip("torch")
    from tests.torch.composition import grid_sample

    generator = torch.Generator().manual_seed(3)
    image = torch.rand(2, 3, 5, 4, generator=generator, dtype=torch.float64)
    grid = 3 * torch.rand(2, 6, 7, 2, generator=generator, dtype=torch.float64) - 1.5
    expected = torch.nn.functional.grid_sample(image, grid, mode, padding, align)
    torch.testing.assert_close(grid_sample(image, grid, mode, padding, align), expected, rtol=0, atol=1e-12)


def test_levels_are_mixed() -> None:
    values = [np.full((4, 1), value) for value in (10.0, 20.0, 40.0)]
    level = np.array([-1.0, 0.25, 1.5, 9.0])
    assert between_levels(values, level)[:, 0].tolist() == [10, 12.5, 30, 40]
    assert between_levels(values, level, "nearest")[:, 0].tolist() == [10, 10, 40, 40]
    assert between_levels(values, level, "none")[:, 0].tolist() == [10] * 4


def test_textures_scale_coordinates_for_each_level() -> None:
    levels = [np.arange(8.0).reshape(1, 8, 1), np.arange(4.0).reshape(1, 4, 1)]
    coords, level = np.array([[[2.0], [2.0]]]), np.array([[0.0, 1.0]])
    options = {"between": "linear", "scale": (1.5,), "offset": (0.25,), "shift": 0.5}
    found = sample_textures(levels, coords, level, **options)
    assert found[0, :, 0].tolist() == pytest.approx([4.0, 1.75])  # (2 + 0.5) * 1.5 + 0.25, and 4.5 / 2 - 0.5


def test_faces_of_cubemaps() -> None:
    """The table of faces, and the texel nearest to the corner of two faces."""
    values = np.arange(24.0).reshape(6, 2, 2, 1)
    directions = np.array([[9, 1, 1], [-9, 1, 1], [1, 9, 1], [1, -9, 1], [1, 1, 9], [1, 1, -9]])
    found = cubemap(values, directions, linear=False, seamless=True)
    assert found[:, 0].tolist() == [0, 5, 11, 13, 17, 20]
    middle = cubemap(values, np.array([[1.0, 0.5, 1.0]]), linear=True, seamless=True)
    assert middle[0, 0] == pytest.approx((values[0, 0, 0, 0] + values[4, 0, 1, 0]) / 2)


def test_weights_of_a_texture_unit() -> None:
    row = np.array([[0.0], [256.0]])
    assert linear(row, np.array([[0.5 + 1 / 3], [0.5 + 1 / 1024], [9.0]]))[:, 0].tolist() == [85, 0, 256]
    assert linear(row, np.array([[2.0], [-0.25]]), "repeat")[:, 0].tolist() == [128, 192]
    corners = np.eye(4).reshape(2, 2, 4)
    assert (256 * linear(corners, np.array([[0.75, 0.875]])))[0].tolist() == [120, 40, 72, 24]
    corners = np.eye(8).reshape(2, 2, 2, 8)  # half a step is rounded up in each slice
    assert (256 * linear(corners, np.array([[0.5 + 1 / 256, 0.5, 1.0]])))[0].tolist() == [127, 1, 0, 0, 127, 1, 0, 0]


def test_extent_has_the_edge_for_half_a_texel() -> None:
    texels, places = np.array([[1.0], [2.0]]), np.array([[-0.51], [-0.49], [1.49], [1.51]])
    assert sample(texels, places, boundary="extent", fill=9.0)[:, 0].tolist() == [9, 1, 2, 9]
    assert sample(texels, places, boundary="constant", fill=9.0)[:, 0].tolist() == [9] * 4
