"""Lenses of ``bindless.cv2`` beside OpenCV's: maps and points to rounding, pictures within the bits of its weights."""

from __future__ import annotations

import numpy as np
import pytest

import bindless as bl
from bindless import cv2 as ours
from tests.cv2.test_cv2_lenses import BENT, COEFFICIENTS, COUNTS, NEW, SIZE, TURN, K

theirs = pytest.importorskip("cv2", reason="pip install opencv-python-headless")


def smooth(dtype: str) -> np.ndarray:
    """Ones in which a pixel differs little from its neighbours, as a part of the range."""
    y, x = np.mgrid[: SIZE[1], : SIZE[0]]
    waves = np.stack([0.5 + 0.5 * np.sin(0.2 * x + n) * np.cos(0.17 * y) for n in range(3)], -1)
    return (waves * (65535 if dtype == "uint16" else 255)).astype(dtype)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
def test_pictures(queue: bl.Queue, dtype: str, count: int) -> None:
    picture = smooth(dtype)
    span = 65535 if dtype == "uint16" else 255
    d = np.array(COEFFICIENTS[:count]) if count else None
    for new in (None, NEW):
        values = ours.undistort(picture, K, d, None, new, queue=queue)
        wanted = theirs.undistort(picture, K, d, None, new)
        assert np.abs(values.astype(float) - wanted).max() <= span / 32
        assert np.abs(values.astype(float) - wanted).mean() <= span / 512
    values = ours.fisheye.undistortImage(picture, K, BENT, None, NEW, queue=queue)
    wanted = theirs.fisheye.undistortImage(picture, K, np.array(BENT), None, NEW)
    assert np.abs(values.astype(float) - wanted).max() <= span / 32


@pytest.mark.parametrize("turn", [None, TURN])
def test_maps(turn: np.ndarray | None) -> None:
    for count in COUNTS:
        d = np.array(COEFFICIENTS[:count]) if count else None
        for new in (None, NEW):
            for kind in (theirs.CV_32FC1, theirs.CV_32FC2):
                maps = ours.initUndistortRectifyMap(K, d, turn, new, SIZE, kind)
                wanted = theirs.initUndistortRectifyMap(K, d, turn, new, SIZE, kind)
                np.testing.assert_allclose(maps[0], wanted[0], rtol=1e-6, atol=1e-5)
                if kind == theirs.CV_32FC1:
                    np.testing.assert_allclose(maps[1], wanted[1], rtol=1e-6, atol=1e-5)  # type: ignore[arg-type]
    R = np.eye(3) if turn is None else turn
    for new in (None, NEW):
        maps = ours.fisheye.initUndistortRectifyMap(K, BENT, R, new, SIZE, ours.CV_32FC1)
        wanted = theirs.fisheye.initUndistortRectifyMap(K, np.array(BENT), R, new, SIZE, theirs.CV_32FC1)
        np.testing.assert_allclose(maps[0], wanted[0], rtol=1e-6, atol=1e-5)


def test_points() -> None:
    points, steps = np.random.default_rng(4).uniform(0, 36, (20, 2)), (3, 1000, 1e-13)
    for count in COUNTS:
        d = np.array(COEFFICIENTS[:count]) if count else None
        values = ours.undistortPoints(points, K, d, None, TURN, NEW)
        wanted = theirs.undistortPoints(points, K, d, None, TURN, NEW, steps)
        assert values.shape == wanted.shape
        np.testing.assert_allclose(values, wanted, atol=1e-6)
    values = ours.fisheye.undistortPoints(points[None], K, BENT, None, TURN, NEW)
    wanted = theirs.fisheye.undistortPoints(points[None], K, np.array(BENT), None, TURN, NEW)
    np.testing.assert_allclose(values, wanted, atol=1e-6)
