"""``bindless.cv2`` gives the values of float64 arithmetic, rounded once."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import cv2
from tests.cv2.opencv_values import BORDERS, DTYPES, HOMOGRAPHY, MATRIX, check, expected, grid, inverse, pixels
from tests.oracle.area_means import area_means

SIZE = (60, 40)
INVERSE = cv2.WARP_INVERSE_MAP


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("interpolation", [cv2.INTER_NEAREST, cv2.INTER_LINEAR, cv2.INTER_CUBIC])
@pytest.mark.parametrize("dtype", DTYPES)
def test_warps(queue: bl.Queue, dtype: str, interpolation: int, border: int) -> None:
    picture = pixels(dtype)
    options: dict[str, Any] = {"borderMode": border, "queue": queue}
    found = cv2.warpAffine(picture, MATRIX, SIZE, flags=interpolation, **options)
    check(found, expected(picture, grid(inverse(MATRIX), SIZE), interpolation, border), dtype)
    found = cv2.warpPerspective(picture, HOMOGRAPHY, SIZE, flags=interpolation | INVERSE, **options)
    check(found, expected(picture, grid(HOMOGRAPHY, SIZE), interpolation, border), dtype)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", DTYPES)
def test_values_outside_of_each_channel(queue: bl.Queue, dtype: str, channels: int) -> None:
    picture, values = pixels(dtype, channels), (10, 200, 30, 40)
    found = cv2.warpAffine(picture, MATRIX, SIZE, flags=INVERSE | 1, borderValue=values, queue=queue)
    places = grid(np.vstack([MATRIX, [0, 0, 1]]), SIZE)
    check(found, expected(picture, places, 1, 0, values[:channels]), dtype)
    found = cv2.warpAffine(picture, MATRIX, SIZE, flags=INVERSE | 1, borderValue=1e6, queue=queue)
    first = 1e6 if dtype == "float32" else np.iinfo(dtype).max
    check(found, expected(picture, places, 1, 0, (first, 0, 0, 0)[:channels]), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("interpolation", [cv2.INTER_NEAREST, cv2.INTER_LINEAR, cv2.INTER_CUBIC])
def test_maps(queue: bl.Queue, interpolation: int, dtype: str) -> None:
    picture = pixels(dtype)
    places = np.random.default_rng(2).uniform(-20, 70, (30, 41, 2)).astype(np.float32)
    x, y = np.ascontiguousarray(places[..., 0]), np.ascontiguousarray(places[..., 1])
    wanted = expected(picture, places, interpolation, 4), dtype
    border: dict[str, Any] = {"borderMode": cv2.BORDER_REFLECT_101, "queue": queue}
    check(cv2.remap(picture, x, y, interpolation, **border), *wanted)
    check(cv2.remap(picture, places, None, interpolation, **border), *wanted)
    check(cv2.remap(picture, x.astype(float), y.astype(float), interpolation, **border), *wanted)
    steps = np.stack(np.meshgrid(np.arange(41), np.arange(30)), -1)
    moved = expected(picture, places.astype(float) + steps, interpolation, 4)
    check(cv2.remap(picture, x, y, interpolation | cv2.WARP_RELATIVE_MAP, **border), moved, dtype)


def test_halves_between_two_pixels(queue: bl.Queue) -> None:
    row = np.arange(5, dtype=np.uint8)[None]
    x = np.array([[-0.5, 0.5, 1.5, 2.5, 3.5, 4.5]], np.float32)
    found = cv2.remap(row, x, 0 * x, cv2.INTER_NEAREST, borderValue=9, queue=queue)
    assert found.tolist() == [[0, 0, 2, 2, 4, 4]]
    found = cv2.remap(row, x, 0 * x, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE, queue=queue)
    assert found.tolist() == [[0, 0, 2, 2, 4, 4]]  # values of 0.5, 1.5, ... become even


def test_fixed_point_maps(queue: bl.Queue) -> None:
    picture, rng = pixels("uint8"), np.random.default_rng(4)
    whole = rng.integers(-5, 60, (20, 30, 2)).astype(np.int16)
    steps = rng.integers(0, 32, (20, 30, 2))
    pairs = (steps[..., 1] << 5 | steps[..., 0]).astype(np.uint16)
    found = cv2.remap(picture, whole, pairs, cv2.INTER_LINEAR, queue=queue)
    check(found, expected(picture, whole + steps / 32, 1, 0), "uint8")
    check(cv2.remap(picture, whole, None, cv2.INTER_CUBIC, queue=queue), expected(picture, whole, 0, 0), "uint8")
    check(cv2.remap(picture, whole, pairs, cv2.INTER_NEAREST, queue=queue), expected(picture, whole, 0, 0), "uint8")


@pytest.mark.parametrize("size", [(20, 18), (26, 18), (53, 37), (106, 74), (70, 20)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_sizes(queue: bl.Queue, dtype: str, size: tuple[int, int]) -> None:
    picture = pixels(dtype)
    x, y = 53 / size[0], 37 / size[1]
    centres = grid(np.array([[x, 0, 0.5 * x - 0.5], [0, y, 0.5 * y - 0.5], [0, 0, 1]]), size)
    firsts = grid(np.array([[x, 0, 0], [0, y, 0], [0, 0, 1]]), size)
    for interpolation, kind in ((1, 1), (5, 1), (2, 2)):
        found = cv2.resize(picture, size, interpolation=interpolation, queue=queue)
        check(found, expected(picture, centres, kind, 1), dtype)
    found = cv2.resize(picture, size, interpolation=cv2.INTER_NEAREST_EXACT, queue=queue)
    check(found, expected(picture, centres, 0, 1, ties_to_even=False), dtype)
    found = cv2.resize(picture, size, interpolation=cv2.INTER_NEAREST, queue=queue)
    check(found, expected(picture, np.floor(firsts + 1e-9), 0, 1), dtype)


def test_exact_nearest_pixels_are_those_of_sums(queue: bl.Queue) -> None:
    """Of two pixels, the one that sums of steps in double precision lead to; where a step is exact, the upper one."""
    for old, new in ((128, 160), (8, 4), (7, 5), (58, 55), (2, 3)):
        sums = list(itertools.accumulate([old / new / 2, *[old / new] * (new - 1)]))
        column = np.arange(old, dtype=np.uint8)[:, None]
        found = cv2.resize(column, (1, new), interpolation=cv2.INTER_NEAREST_EXACT, queue=queue)[:, 0]
        assert found.tolist() == [int(place) for place in sums]
        found = cv2.resize(column.T.copy(), (new, 1), interpolation=cv2.INTER_NEAREST_EXACT, queue=queue)[0]
        assert found.tolist() == [int(place) for place in sums]


def test_sizes_of_factors(queue: bl.Queue) -> None:
    row = np.arange(7, dtype=np.float32)[None]
    found = cv2.resize(row, None, fx=0.5, fy=1, queue=queue)
    assert found.tolist() == [[0.5, 2.5, 4.5, 6.0]]
    assert cv2.resize(row, (0, 0), fx=2, fy=3, queue=queue).shape == (3, 14)


@pytest.mark.parametrize("size", [(20, 18), (26, 37), (53, 5), (53, 37)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_means(queue: bl.Queue, dtype: str, size: tuple[int, int]) -> None:
    picture = pixels(dtype)
    found = cv2.resize(picture, size, interpolation=cv2.INTER_AREA, queue=queue)
    check(found, area_means(picture, size[::-1]).astype(float), dtype)


@pytest.mark.parametrize("border", [cv2.BORDER_REFLECT_101, cv2.BORDER_REFLECT, cv2.BORDER_WRAP])
@pytest.mark.parametrize("shape", [(37, 53), (8, 6), (1, 9), (2, 1)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_pyramids(queue: bl.Queue, dtype: str, shape: tuple[int, int], border: int) -> None:
    picture = pixels(dtype, size=shape)
    mode = {4: "reflect", 2: "symmetric", 3: "wrap"}[border]
    values = np.pad(picture.astype(float), ((2, 2), (2, 2), (0, 0)), mode)
    weights = np.array([1, 4, 6, 4, 1]) / 16
    for axis in (0, 1):
        windows = np.lib.stride_tricks.sliding_window_view(values, 5, axis)
        values = np.take(windows @ weights, range(0, windows.shape[axis], 2), axis)
    if dtype != "float32":
        values = np.copysign(np.floor(np.abs(values) + 0.5), values)
    check(cv2.pyrDown(picture, borderType=border, queue=queue), values, dtype)


@pytest.mark.parametrize("shape", [(37, 53), (8, 6), (1, 9), (2, 1)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_pyramids_upward(queue: bl.Queue, dtype: str, shape: tuple[int, int]) -> None:
    """Zeros between the pixels, a mirror at the first pixel and at the last zero, and a window of five."""
    picture = pixels(dtype, size=shape)
    values, weights = picture.astype(float), np.array([1, 4, 6, 4, 1]) / 8
    for axis in (0, 1):
        wide = np.repeat(values, 2, axis)
        np.moveaxis(wide, axis, 0)[1::2] = 0
        around = np.moveaxis(np.pad(wide, [(2, 2) if n == axis else (0, 0) for n in range(3)], "reflect"), axis, 0)
        length = wide.shape[axis]
        values = np.moveaxis(sum(weight * around[n : n + length] for n, weight in enumerate(weights)), 0, axis)
    if dtype != "float32":
        values = np.copysign(np.floor(np.abs(values) + 0.5), values)
    found = cv2.pyrUp(picture, queue=queue)
    check(found, values, dtype)
    height, width = found.shape[:2]
    for size in ((width - 1, height + 1), (width + 1, height - 1)):
        edge = np.concatenate([found, found[-2:-1]])
        edge = np.concatenate([edge, edge[:, -1:]], 1)[: size[1], : size[0]]
        np.testing.assert_array_equal(cv2.pyrUp(picture, dstsize=size, queue=queue), edge)


def test_sizes_of_pyramids(queue: bl.Queue) -> None:
    picture = pixels("uint8")
    whole = cv2.pyrDown(picture, queue=queue)
    assert whole.shape == (19, 27, 3)
    smaller = cv2.pyrDown(picture, dstsize=(26, 18), queue=queue)
    np.testing.assert_array_equal(smaller, whole[:18, :26])
