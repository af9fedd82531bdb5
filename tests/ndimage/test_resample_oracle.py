"""The computation that other tests compare with agrees with scipy's, in all modes, orders 0, 1 and 3."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.resample_oracle import positions, resampled, stored

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
ORDERS = {0: "nearest", 1: "linear", 3: "cubic"}


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
    # The order 3 of nearest and grid-constant needs a padded array: its coefficients are compared.
    expected = ndimage.map_coordinates(array, places.T, order=order, mode=mode, cval=-2.5, prefilter=False)
    found = resampled(
        array[..., None],
        places[:, ::-1],
        interpolation=ORDERS[order],
        boundary=(MODES[mode],) * 3,
        fill=-2.5,
    )
    np.testing.assert_allclose(found[:, 0], expected, rtol=0, atol=1e-12)


def test_boundaries_of_axes_differ() -> None:
    array = np.arange(12.0).reshape(3, 4)
    found = resampled(array[..., None], np.array([[-1.0, -1.0]]), boundary=("repeat", "edge"))
    assert found.tolist() == [[3.0]]


@pytest.mark.parametrize("name, a", [("catmull_rom", -0.5), ("bicubic", -0.75)])
def test_cubic_convolutions(name: str, a: float) -> None:
    impulse = np.array([0, 0, 0, 1.0, 0, 0, 0])[:, None]
    found = resampled(impulse, np.array([[1.5], [2.5], [3.0], [2.0]]), interpolation=name)
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
    assert np.isnan(resampled(line, places)).all()
    found = resampled(line, places, ignore_nan=True)
    assert found[[0, 2], 0].tolist() == [1, 3] and np.isnan(found[[1, 3]]).all()


def test_positions_that_are_not_finite_give_the_fill() -> None:
    for mode in MODES.values():
        found = resampled(np.ones((4, 1)), np.array([[np.nan], [np.inf], [1.0]]), boundary=(mode,), fill=7.0)
        assert found[:, 0].tolist() == [7, 7, 1]


def test_stored() -> None:
    assert stored([0.5, 1.5, -0.5, 300, -300, np.nan], np.int8).tolist() == [0, 2, 0, 127, -128, 0]
    assert stored([0.5, 2.5, -0.5, -1.5], np.int8, rounding="away").tolist() == [1, 3, -1, -2]
    assert stored([1.0, -1.0, -2.0, 0.5], np.int8, largest=127.0).tolist() == [127, -127, -127, 64]
    assert stored([1.0, 0.5], np.uint8, largest=255.0).tolist() == [255, 128]
