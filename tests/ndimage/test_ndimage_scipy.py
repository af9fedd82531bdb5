"""``bindless.ndimage`` gives what scipy gives: values, dtypes and shapes, in single precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from bindless import ndimage

scipy_ndimage = pytest.importorskip("scipy.ndimage")

Array = npt.NDArray[Any]

MODES = ("reflect", "grid-mirror", "constant", "grid-constant", "nearest", "mirror", "grid-wrap", "wrap")
DTYPES = ("float64", "float32", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
SHAPES = {1: (23,), 2: (13, 14), 3: (13, 15, 14)}  # scipy's coefficients of short lines are inexact with "reflect"


def numbers(shape: tuple[int, ...], dtype: str = "float32") -> Array:
    values = np.random.default_rng(7).uniform(-100, 100, shape)
    return (np.abs(values) if dtype.startswith("u") else values).astype(dtype)


def check(name: str, queue: bl.Queue, *arguments: Any, unequal: float = 0.02, **options: Any) -> None:
    """Values within 1e-5 of the range; integers differ by 1 at most, where scipy's value is a half but for rounding."""
    found = getattr(ndimage, name)(*arguments, queue=queue, **options)
    expected = getattr(scipy_ndimage, name)(*arguments, **options)
    assert type(found) is np.ndarray and found.dtype == expected.dtype and found.shape == expected.shape
    if found.dtype.kind == "f":
        span = np.nanmax(np.abs(expected), initial=1.0)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * span)
        return
    far = np.abs(found.astype(np.float64) - expected.astype(np.float64))
    assert far.max(initial=0) <= 1 and np.count_nonzero(far) <= unequal * far.size


@pytest.mark.parametrize("dims", SHAPES)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", range(6))
def test_map_coordinates(queue: bl.Queue, order: int, mode: str, dims: int) -> None:
    array = numbers(SHAPES[dims])
    places = np.random.default_rng(dims).uniform(-1.2, 2.2, (dims, 11, 13)) * np.reshape(array.shape, (-1, 1, 1))
    check("map_coordinates", queue, array, places, order=order, mode=mode, cval=7.5)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", range(6))
def test_maps_of_volumes(queue: bl.Queue, order: int, mode: str) -> None:
    volume = numbers(SHAPES[3])
    options: dict[str, Any] = {"order": order, "mode": mode, "cval": -3.25}
    matrix = np.array([[0.903, 0.217, -0.331], [-0.139, 1.071, 0.113], [0.413, 0.037, 0.773]])
    check("affine_transform", queue, volume, matrix, (0.307, -1.109, 0.601), output_shape=(5, 8, 6), **options)
    check("affine_transform", queue, volume, (1.37, -0.71, 2.0), (1.01, 4.03, 0.6), **options)
    check("shift", queue, volume, (1.3, -0.7, 2.0), **options)
    check("zoom", queue, volume, (1.3, 0.7, 2), **options)
    for axes in ((1, 0), (0, 2), (-1, 1)):
        check("rotate", queue, volume, 33.0, axes, **options)
    check("rotate", queue, volume, -115.0, reshape=False, **options)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", [0, 1, 2, 3, 5])
def test_types(queue: bl.Queue, order: int, dtype: str) -> None:
    array = numbers((9, 14), dtype)
    check("rotate", queue, array, 27.0, order=order, mode="mirror")
    check("zoom", queue, array, 1.7, order=order)
    check("map_coordinates", queue, array, [[0.25, 40], [1.5, 0]], order=order, cval=-3.5)
    for output in ("float64", "float32", "int16", "uint8"):
        check("shift", queue, array, (0.3, 1.2), output, order=order)
    if order > 1:
        for mode in MODES:
            check("spline_filter", queue, array, order, mode=mode)
            check("spline_filter1d", queue, array, order, axis=0, mode=mode)
    else:
        check("spline_filter1d", queue, array, order)


@pytest.mark.parametrize("order", [0, 1])
def test_extremes_of_integers(queue: bl.Queue, order: int) -> None:
    for dtype in ("int8", "uint8", "int16", "uint16"):
        info = np.iinfo(dtype)
        array = np.array([info.min, info.max, info.min, info.min], dtype)
        check("map_coordinates", queue, array, [[0, 0.5, 1, 2, 3]], order=order)
        for cval in (-1e9, 1e9, 0.5, -1.5, 2.5, np.nan):
            check("map_coordinates", queue, array, [[9.0]], order=order, cval=cval)


def test_labels_keep_all_bits(queue: bl.Queue) -> None:
    for dtype, large in (("int32", 2**31 - 1), ("uint32", 2**32 - 1), ("int64", -(2**31)), ("uint64", 2**32 - 1)):
        array = np.array([large, large // 2, 16777217, 5], dtype)
        found = ndimage.shift(array, 0, order=0, mode="nearest", queue=queue)
        assert found.dtype == array.dtype and found.tolist() == array.tolist()


def test_bool(queue: bl.Queue) -> None:
    array = numbers((9, 14)) > 0
    for order in (0, 1):
        check("shift", queue, array, (0, 1), order=order)
    full = np.ones((9, 14), bool)
    assert ndimage.rotate(full, 10.0, order=1, reshape=False, mode="nearest", queue=queue).all()
    check("map_coordinates", queue, numbers((9,)), [[0, 1, 2, 3]], order=1, output=bool)


@pytest.mark.parametrize("mode", ["constant", "grid-constant", "nearest"])
@pytest.mark.parametrize("order", [0, 1])
def test_nan(queue: bl.Queue, order: int, mode: str) -> None:
    array = numbers((9, 14))
    check("shift", queue, array, (1.3, -2.2), order=order, mode=mode, cval=np.nan)
    array[4, 5] = np.nan
    check("shift", queue, array, (1.3, -2.2), order=order, mode=mode)


def test_forms_of_matrices(queue: bl.Queue) -> None:
    array = numbers((9, 14), "float64")
    turned = np.array([[0.8, -0.6], [0.6, 0.8]])
    homogeneous = np.block([[turned, np.array([[2.5], [-1]])], [np.zeros((1, 2)), np.ones((1, 1))]])
    for matrix, offset in (
        (turned, 0.5),
        (turned, (2.5, -1)),
        (homogeneous, 9.0),
        (homogeneous[:2], 0.0),
        ((2, 0.5), 1),
    ):
        check("affine_transform", queue, array, np.asarray(matrix), offset, order=1)
    check("affine_transform", queue, array, np.array([[0.3], [1.1]]), (1, 0.5), (12,), order=1)
    check("affine_transform", queue, numbers((20,)), np.array([[0.3, 1.1, 2]]), 0.5, (3, 4, 5), order=1)


def test_zooms(queue: bl.Queue) -> None:
    array = numbers((9, 14))
    for factors in (0.5, 2, (0.3, 3.7), 1, (1, 2), 0.01):
        for order in (0, 1, 3, 4):
            check("zoom", queue, array, factors, order=order, mode="nearest", grid_mode=True)
            check("zoom", queue, array, factors, order=order, mode="reflect")
    coefficients = scipy_ndimage.spline_filter(array, output=np.float32)
    for order in (2, 3, 4, 5):
        check("zoom", queue, coefficients, 1, order=order, prefilter=False)
    with pytest.warns(UserWarning, match="grid-wrap"):
        ndimage.zoom(array, 2, mode="wrap", grid_mode=True, queue=queue)


def test_right_angles(queue: bl.Queue) -> None:
    array = numbers((9, 14))
    for angle in (0, 90, -90, 180, 270, 360, 450):
        check("rotate", queue, array, angle, order=1)
        check("rotate", queue, array, angle, order=0)
    assert np.array_equal(ndimage.rotate(array, 180, order=1, queue=queue), array[::-1, ::-1])


@pytest.mark.parametrize("order", [0, 1, 3])
def test_further_axes(queue: bl.Queue, order: int) -> None:
    """Axes that a map leaves as they are, in any places; planes that a rotation turns."""
    array = numbers((3, 5, 4, 6))
    check("shift", queue, array, (0, 1.3, 0, -0.7), order=order, mode="mirror")
    check("shift", queue, array, (0, 1.3, 0.4, -0.7), order=order)
    check("shift", queue, array, 0, order=order)
    check("zoom", queue, array, (1.5, 1, 1, 2), order=order, mode="nearest")
    matrix = np.eye(4)
    matrix[2:, 2:] = [[0.903, 0.217], [-0.139, 1.071]]
    check("affine_transform", queue, array, matrix, (0, 0.37, 0, 0), order=order, mode="grid-wrap")
    check("rotate", queue, array, 33.0, (1, 3), order=order)
    check("spline_filter1d", queue, array, order, 2)
    found = ndimage.rotate(array, 33.0, channel_axis=0, order=order, queue=queue)
    np.testing.assert_allclose(found, ndimage.rotate(array, 33.0, (2, 1), order=order, queue=queue), rtol=0, atol=1e-3)


@pytest.mark.parametrize("order", [0, 1, 3])
def test_planes_of_a_rotation_do_not_mix(queue: bl.Queue, order: int) -> None:
    volume = numbers((4, 9, 7))
    volume[2] = np.nan
    check("rotate", queue, volume, 33.0, (1, 2), order=order)
    coefficients = scipy_ndimage.spline_filter(numbers((4, 9, 7)), output=np.float32)
    check("rotate", queue, coefficients, 33.0, (1, 2), order=order, prefilter=False)


def test_coefficients_of_the_caller(queue: bl.Queue) -> None:
    array = numbers((9, 14), "float64")
    coefficients = scipy_ndimage.spline_filter(array)
    for mode in ("mirror", "constant"):
        check("shift", queue, coefficients, 1.5, prefilter=False, mode=mode)


@pytest.mark.parametrize("precision, atol", [("hardware", 0.8), ("reproducible", 0.8)])
def test_other_precisions(queue: bl.Queue, precision: str, atol: float) -> None:
    array = numbers((9, 14))
    for mode in ("nearest", "reflect", "grid-wrap", "grid-constant"):
        for order in (0, 1, 3):
            options: dict[str, Any] = {"order": order, "mode": mode}
            found = ndimage.shift(array, (1.3, -0.7), precision=precision, queue=queue, **options)
            expected = scipy_ndimage.shift(array, (1.3, -0.7), **options)
            np.testing.assert_allclose(found, expected, rtol=0, atol=atol * (1 if order < 3 else 4))
    codes = array.astype(np.int16)
    found = ndimage.shift(codes, (1.3, -0.7), order=1, mode="nearest", precision=precision, queue=queue)
    expected = scipy_ndimage.shift(codes, (1.3, -0.7), order=1, mode="nearest")
    assert found.dtype == np.int16 and np.abs(found - expected).max() <= 2
