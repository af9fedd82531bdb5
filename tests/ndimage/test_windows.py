"""Parts of results, computed from parts of inputs: ``Resampling.first`` and ``Resampling.window``."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from bindless import ndimage
from bindless.model.resampling import Window
from bindless.ndimage.arguments import filter_of
from bindless.ndimage.places import Places
from bindless.ndimage.plan import resample
from bindless.ndimage.source import source_of
from bindless.ndimage.target import Output
from tests.support.error_checks import raises

Array = npt.NDArray[Any]

MATRIX = np.array([[1.02, 0.1, -0.05], [-0.1, 0.97, 0.2], [0.03, -0.2, 1.01]])
OFFSET = np.array([1.3, -2.7, 3.1])
MODES = ("constant", "grid-constant", "nearest", "reflect", "grid-wrap", "mirror", "wrap")


@pytest.fixture
def volume() -> Array:
    return np.random.default_rng(5).random((20, 25, 30)).astype(np.float32)


def part(
    texels: Array, origin: tuple[int, ...], whole: Array, block: tuple[slice, ...], queue: bl.Queue, **options: Any
) -> Array:
    """The values of a block, from texels of which the first is at an origin."""
    settings = {"order": 1, "mode": "nearest", "cval": 0.0, "precision": "exact", **options}
    names = ("order", "mode", "cval", "precision")
    filter_ = filter_of("test", *(settings[name] for name in names), in_window=True)
    shape = tuple(along.stop - along.start for along in block)
    z, y, x = (along.start for along in block)
    sizes = whole.shape[::-1]
    places = Places.affine(MATRIX, OFFSET, shape)._replace(
        first=(x, y, z), window=Window((origin[2], origin[1], origin[0]), (sizes[0], sizes[1], sizes[2]))
    )
    source = source_of("test", texels, None, queue)
    found: Array = resample(source, Output("test", source, None, shape), places, filter_, prefilter=False)
    return found


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", [0, 1, 3])
def test_a_part_has_the_bits_of_the_whole(queue: bl.Queue, volume: Array, order: int, mode: str) -> None:
    options: dict[str, Any] = {"order": order, "mode": mode, "cval": 0.25}
    expected = ndimage.affine_transform(volume, MATRIX, OFFSET, prefilter=False, queue=queue, **options)
    block = (slice(5, 15), slice(10, 22), slice(2, 29))
    found = part(volume, (0, 0, 0), volume, block, queue, **options)
    np.testing.assert_array_equal(found, expected[block])


def test_texels_before_the_window_are_not_needed(queue: bl.Queue, volume: Array) -> None:
    expected = ndimage.affine_transform(volume, MATRIX, OFFSET, order=1, mode="nearest", queue=queue)
    block = (slice(8, 14), slice(14, 20), slice(10, 20))
    found = part(volume[5:, 6:, 4:], (5, 6, 4), volume, block, queue)
    np.testing.assert_array_equal(found, expected[block])


def test_a_window_may_continue_at_the_other_end(queue: bl.Queue, volume: Array) -> None:
    expected = ndimage.affine_transform(volume, MATRIX, OFFSET, order=1, mode="grid-wrap", queue=queue)
    block = (slice(0, 20), slice(0, 25), slice(0, 30))
    turned = np.roll(volume, (-7, -9, -11), (0, 1, 2))
    found = part(turned, (7, 9, 11), volume, block, queue, mode="grid-wrap")
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("order", [0, 1, 3])
def test_texture_units_have_the_bits_of_the_whole(queue: bl.Queue, volume: Array, order: int) -> None:
    if queue.device.backend is bl.Backend.opencl:
        pytest.skip("samplers of OpenCL have weights of more than 8 bits")
    options: dict[str, Any] = {"order": order, "mode": "nearest", "precision": "hardware"}
    expected = ndimage.affine_transform(volume, MATRIX, OFFSET, prefilter=False, queue=queue, **options)
    block = (slice(8, 14), slice(14, 20), slice(10, 20))
    found = part(volume[4:, 5:, 3:], (4, 5, 3), volume, block, queue, **options)
    np.testing.assert_array_equal(found, expected[block])


@pytest.mark.parametrize("order", [0, 1, 3])
def test_texture_units_fill_outside(queue: bl.Queue, volume: Array, order: int) -> None:
    options: dict[str, Any] = {"order": order, "mode": "constant", "cval": 7.0}
    block = (slice(0, 20), slice(0, 25), slice(0, 30))
    found = part(volume, (0, 0, 0), volume, block, queue, precision="hardware", **options)
    exact = part(volume, (0, 0, 0), volume, block, queue, **options)
    np.testing.assert_array_equal(found == 7, exact == 7)
    assert 0 < (found == 7).mean() < 1
    inside = exact != 7
    np.testing.assert_allclose(found[inside], exact[inside], atol={0: 1, 1: 3 / 64, 3: 8 / 64}[order])


def test_texels_that_the_window_lacks_are_in_it(queue: bl.Queue, volume: Array) -> None:
    small = np.full((3, 3, 3), 5, np.float32)
    found = part(small, (2, 2, 2), volume, (slice(0, 20), slice(0, 25), slice(0, 30)), queue)
    np.testing.assert_allclose(found, 5, rtol=1e-6)


@pytest.mark.parametrize("origin", [20, -(2**31)])
def test_the_reference_driver_checks_windows(volume: Array, origin: int) -> None:
    with bl.Queue("reference") as queue, raises(bl.InvalidError):
        part(volume, (origin, 0, 0), volume, (slice(0, 2),) * 3, queue)
