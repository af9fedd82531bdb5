"""Arrays in memory of the device, which exact filters read where they lie, against scipy and arrays of the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import ndimage
from bindless.kernels import launch_range
from tests.support.pixels import usm

scipy_ndimage = pytest.importorskip("scipy.ndimage")

MODES = ("reflect", "constant", "grid-constant", "nearest", "mirror", "grid-wrap", "wrap")
MATRIX = np.array([[0.9, 0.1, 0.0], [-0.1, 0.9, 0.05], [0.0, 0.02, 1.0]])
SHAPES = ((37,), (13, 24), (13, 14, 21))


def values(shape: tuple[int, ...], dtype: Any = np.float32) -> Any:
    kind = np.dtype(dtype).kind
    return (np.random.default_rng(5).random(shape) * 200 - (0 if kind in "ub" else 60)).astype(dtype)


def compare(
    queue: bl.Queue, call: Callable[[Any], Any], array: Any, *, view: Any = ..., has_splines: bool = False
) -> Any:
    """The result of an array on the device, equal to that of the same array on the host, which has an image.

    Coefficients of splines are rounded differently on the host.
    """
    here = call(array[view])
    there = call(usm(queue, array)[view])
    assert isinstance(there, bl.UsmArray)
    got = there.numpy()
    assert got.dtype == here.dtype
    if has_splines:
        np.testing.assert_allclose(got, here, atol=2e-3)
    else:
        np.testing.assert_array_equal(got, here)
    return got


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("order", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("mode", MODES)
def test_every_boundary(queue: bl.Queue, shape: tuple[int, ...], order: int, mode: str) -> None:
    dims, image = len(shape), values(shape)
    options: dict[str, Any] = {"order": order, "mode": mode, "cval": 2.5}
    matrix = MATRIX[:dims, :dims]
    got = compare(
        queue, lambda a: ndimage.affine_transform(a, matrix, 0.3, queue=queue, **options), image, has_splines=order > 1
    )
    if (order, mode) != (0, "mirror"):  # positions halfway between two elements
        expected = scipy_ndimage.affine_transform(image.astype(float), matrix, 0.3, **options)
        np.testing.assert_allclose(got, expected, atol=2e-3)


@pytest.mark.parametrize("dtype", ["f2", "f8", "i1", "u1", "i2", "u2", "i4", "u4"])
@pytest.mark.parametrize("output", [None, "f4", "i2", "u1", "f8"])
def test_types(queue: bl.Queue, dtype: str, output: Any) -> None:
    image = values((9, 30), dtype)
    compare(queue, lambda a: ndimage.shift(a, (0.4, -1.3), order=1, mode="mirror", output=output, queue=queue), image)


@pytest.mark.parametrize("order", [0, 1, 2, 3, 5])
def test_unchanged_axes_and_channels(queue: bl.Queue, order: int) -> None:
    volume = values((5, 11, 12))
    for axes in ((0, 1), (1, 2), (0, 2)):
        compare(
            queue,
            lambda a, axes=axes: ndimage.rotate(a, 31, axes, order=order, queue=queue),
            volume,
            has_splines=order > 1,
        )
    for shape, axis in (((9, 12, 3), 2), ((3, 9, 12), 0), ((9, 12, 7), 2), ((7, 9, 12), 0), ((4, 5, 6, 9), 3)):
        compare(
            queue,
            lambda a, axis=axis: ndimage.shift(a, 0.4, order=order, mode="reflect", channel_axis=axis, queue=queue),
            values(shape),
            has_splines=order > 1,
        )


@pytest.mark.parametrize("view", [np.s_[::2, ::-1, 1::3], np.s_[:, 3], np.s_[1:, :, ::-2]])
@pytest.mark.parametrize("order", [0, 1, 2, 3, 5])
def test_views(queue: bl.Queue, view: Any, order: int) -> None:
    compare(
        queue,
        lambda a: ndimage.shift(a, 0.6, order=order, mode="mirror", queue=queue),
        values((8, 9, 24)),
        view=view,
        has_splines=order > 1,
    )


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_coordinates(queue: bl.Queue, dtype: str) -> None:
    image, points = values((13, 24)), (np.random.default_rng(7).random((2, 50)) * 30 - 4).astype(dtype)
    here = ndimage.map_coordinates(image, points, order=1, mode="nearest", queue=queue)
    there = ndimage.map_coordinates(usm(queue, image), usm(queue, points), order=1, mode="nearest", queue=queue)
    np.testing.assert_array_equal(there.numpy(), here)


def test_an_output_that_is_the_input(queue: bl.Queue) -> None:
    image = values((20, 20))
    array = usm(queue, image)
    ndimage.shift(array, 0.5, order=1, output=array, queue=queue)
    np.testing.assert_array_equal(array.numpy(), ndimage.shift(image, 0.5, order=1, queue=queue))


def test_values_outside(queue: bl.Queue) -> None:
    image = values((6, 6))
    for cval in (np.nan, -0.0):
        compare(queue, lambda a, cval=cval: ndimage.shift(a, 4.5, order=1, cval=cval, queue=queue), image)


@pytest.mark.parametrize("order", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("shape", [(6, 7, 21), (5, 9, 300), (8, 4, 128)])
def test_slabs(queue: bl.Queue, monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...], order: int) -> None:
    """Large volumes are computed in slabs of four planes, whose last one may exceed the volume."""
    monkeypatch.setattr(launch_range, "_SMALLEST_SLAB", 1)
    image = values(shape)
    got = compare(
        queue, lambda a: ndimage.affine_transform(a, MATRIX, 0.4, order=order, queue=queue), image,
        has_splines=order > 1,
    )  # fmt: skip
    expected = scipy_ndimage.affine_transform(image, MATRIX, 0.4, order=order)
    assert np.quantile(np.abs(got - expected), 0.995) < 2e-3
