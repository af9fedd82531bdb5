"""Undistortion of ``bindless.cv2`` beside float64, and beside OpenCV within the bits of its weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import cv2
from tests.cv2.opencv_values import check, expected, pixels
from tests.oracle.cameras import pixels_of, places_in

SIZE = (53, 37)
K = np.array([[40, 0.7, 25.3], [0, 44, 18.9], [0, 0, 1]])
PLAIN = np.array([[40, 0, 25.3], [0, 44, 18.9], [0, 0, 1]])  # OpenCV reads no skew
NEW = np.array([[33, 0.2, 24], [0, 35, 17], [0, 0, 1]])
TURN = np.linalg.qr([[0.98, -0.1, 0.16], [0.11, 0.99, -0.03], [-0.15, 0.06, 0.97]])[0]
TURN = TURN * np.sign(np.diag(TURN))
COEFFICIENTS = (-0.2, 0.05, 0.003, -0.002, 0.01, 0.02, -0.01, 0.003, 0.01, -0.004, -0.008, 0.003, 0.05, -0.08)
BENT = (0.02, -0.004, 0.001, -0.0002)
COUNTS = (0, 4, 5, 8, 12, 14)


def places_of(seen: tuple[Any, ...], new: Any, turn: Any = None) -> Any:
    back = np.linalg.inv(np.eye(3) if turn is None else turn)
    return places_in(seen, (new, (), "opencv"), back, SIZE[::-1])


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "float32"])
def test_undistort(queue: bl.Queue, dtype: str, count: int) -> None:
    for channels in (1, 3, 4):
        picture, d = pixels(dtype, channels), COEFFICIENTS[:count]
        values = cv2.undistort(picture, K, d, queue=queue)
        check(values, expected(picture, places_of((PLAIN, d, "opencv"), K), 1, 0), dtype)
        out = np.empty_like(picture)
        assert cv2.undistort(picture, K, d, out, NEW, queue=queue) is out
        check(out, expected(picture, places_of((PLAIN, d, "opencv"), NEW), 1, 0), dtype)


@pytest.mark.parametrize("size", [None, (60, 30)])
def test_undistort_a_fisheye(queue: bl.Queue, size: Any) -> None:
    picture = pixels("uint8")
    values = cv2.fisheye.undistortImage(picture, K, BENT, None, NEW, size, queue=queue)
    shape = SIZE[::-1] if size is None else size[::-1]
    places = places_in((PLAIN, BENT, "fisheye"), (NEW, (), "opencv"), np.eye(3), shape)
    check(values, expected(picture, places, 1, 0), "uint8")


def test_arrays_of_the_device(queue: bl.Queue) -> None:
    picture = pixels("uint8")
    there = bl.usm_empty(picture.shape, picture.dtype, queue)
    there[...] = picture
    values = cv2.undistort(there, K, COEFFICIENTS[:5])
    assert isinstance(values, bl.UsmArray)
    np.testing.assert_array_equal(values.numpy(), cv2.undistort(picture, K, COEFFICIENTS[:5], queue=queue))


@pytest.mark.parametrize("turn", [None, TURN])
def test_maps(turn: Any) -> None:
    wide = np.hstack([NEW, [[3], [4], [5]]])
    for module, model, d in ((cv2, "opencv", COEFFICIENTS), (cv2.fisheye, "fisheye", BENT)):
        places = places_of((PLAIN, d, model), NEW, turn)
        for new in (NEW, wide):
            x, y = module.initUndistortRectifyMap(K, d, turn, new, SIZE, cv2.CV_32FC1)
            np.testing.assert_allclose(np.dstack([x, y]), places, rtol=1e-7, atol=1e-9)
            both, none = module.initUndistortRectifyMap(K, d, turn, new, SIZE, cv2.CV_32FC2)
            assert none is None and both.dtype == np.float32
            np.testing.assert_array_equal(both, np.dstack([x, y]))
        first, second = np.empty_like(x), np.empty_like(x)
        maps = module.initUndistortRectifyMap(K, d, turn, NEW, SIZE, cv2.CV_32FC1, first, second)
        assert maps[0] is first and maps[1] is second
        np.testing.assert_array_equal(first, x)
    centred = cv2.initUndistortRectifyMap(K, None, None, None, SIZE, 37)[0]
    np.testing.assert_allclose(centred[18, 26], PLAIN[:2, 2], atol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_points(dtype: str) -> None:
    points = np.random.default_rng(4).uniform(0, 36, (20, 2)).astype(dtype)
    for module, model, d in ((cv2, "opencv", COEFFICIENTS), (cv2.fisheye, "fisheye", BENT)):
        places = module.undistortPoints(points[None], K, d, None, TURN, NEW)
        assert places.dtype == dtype and places.shape == (1, 20, 2)
        rays = np.concatenate([places[0], np.ones((20, 1))], -1) @ np.linalg.inv(NEW).T @ TURN
        np.testing.assert_allclose(pixels_of(PLAIN, d, model, rays), points, atol=1e-4 if dtype == "float32" else 1e-9)
    assert cv2.undistortPoints(points, K, None).shape == (20, 1, 2)
    assert cv2.fisheye.undistortPoints(points, K, None).shape == (20, 2)
    out = np.empty((20, 1, 2), dtype)
    assert cv2.undistortPoints(points, K, None, out) is out


def test_arguments(queue: bl.Queue) -> None:
    picture = pixels("uint8")
    for m1type in (11, 35, -1, "CV_32FC1", None):
        for module in (cv2, cv2.fisheye):
            with pytest.raises(bl.FeatureNotSupportedError):
                module.initUndistortRectifyMap(K, None, None, K, SIZE, m1type)
    with pytest.raises(bl.FeatureNotSupportedError):
        cv2.fisheye.initUndistortRectifyMap(K, BENT, (0, 0, 0), K, SIZE, cv2.CV_32FC1)
    for arguments in ((np.eye(2), None), (K, (1, 2, 3)), (K, "a"), (None, None)):
        with pytest.raises(bl.ArgumentError):
            cv2.undistort(picture, *arguments, queue=queue)
    for R, P, size, maps in (
        (np.eye(2), K, SIZE, ()),
        (np.zeros((3, 3)), K, SIZE, ()),
        (None, np.eye(2), SIZE, ()),
        (None, K, (0, 3), ()),
        (None, K, None, ()),
        (None, K, SIZE, (np.empty((3, 3), np.float32),)),
        (None, K, SIZE, (np.empty(SIZE[::-1]),)),
    ):
        with pytest.raises(bl.ArgumentError):
            cv2.initUndistortRectifyMap(K, None, R, P, size, cv2.CV_32FC1, *maps)  # type: ignore[arg-type]
    for points in (np.zeros((3, 2), np.int32), np.zeros((3, 3)), np.zeros(2)):
        with pytest.raises(bl.ArgumentError):
            cv2.undistortPoints(points, K, None)
