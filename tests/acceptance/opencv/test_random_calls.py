"""Random calls of ``bindless.cv2`` beside an installed OpenCV: no difference is larger than ``bounds.py`` derives.

What else differs, each with a test here:

- Where a position lies farther outside than the picture is wide, OpenCV 5 clamps it before it reflects or repeats.
- ``pyrDown`` of negative halves: OpenCV rounds up, here they go away from zero.
- ``BORDER_TRANSPARENT``: OpenCV 5 takes pixels outside from ``dst``, and mixes them in where a filter crosses the edge.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from bindless import cv2 as ours
from tests.acceptance.opencv.bounds import (
    CUBIC,
    LINEAR,
    NEAREST,
    SINGLE,
    STEP_OF_AFFINE,
    STEP_OF_MAPS,
    away,
    bound,
    far_from_ties,
)
from tests.cv2.opencv_values import BORDERS, DTYPES, grid

theirs = pytest.importorskip("cv2", reason="pip install opencv-python-headless")

Array = npt.NDArray[Any]

VALUES = (10, 200, 30, 40)
FUNCTIONS = ("remap", "relative", "warpAffine", "warpPerspective")
BITS_OF_SIZES = 11  # of weights of 8-bit pixels in resize


def picture_of(rng: np.random.Generator, dtype: str, size: tuple[int, int] | None = None) -> Array:
    """One of random pixels over the whole range."""
    channels = int(rng.integers(1, 5))
    height, width = rng.integers(1, 70, 2) if size is None else size
    shape = (height, width) if channels == 1 else (height, width, channels)
    if dtype == "float32":
        return (100 * rng.normal(size=shape)).astype(np.float32)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, np.dtype(dtype), endpoint=True)


def matrix_of(rng: np.random.Generator, size: Array, out: tuple[int, int], *, projective: bool) -> Array:
    """(3, 3), from pixels of a result, (width, height), to those near the middle of a picture."""
    angle, scale = rng.uniform(0, 2 * np.pi), np.exp(rng.uniform(-0.7, 0.7))
    matrix = np.eye(3)
    matrix[:2, :2] = scale * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    matrix[:2, 2] = size / 2 - matrix[:2, :2] @ np.divide(out, 2) + rng.uniform(-5, 5, 2)
    if projective:
        matrix[2, :2] = rng.uniform(-0.004, 0.004, 2)
    return matrix


def call(
    function: str, rng: np.random.Generator, picture: Array, kind: int, options: dict[str, Any], queue: bl.Queue
) -> tuple[Array, Array, Array, float]:
    """Both results, the positions (height, width, 2) in float64, and the error of OpenCV's."""
    size = np.array(picture.shape[1::-1])
    width, height = map(int, rng.integers(1, 70, 2))
    if function in ("remap", "relative"):
        steps = np.stack(np.meshgrid(np.arange(width), np.arange(height)), -1) if function == "relative" else 0
        maps = (rng.uniform(-5, size + 5, (height, width, 2)) - steps).astype(np.float32)
        flags = kind | (ours.WARP_RELATIVE_MAP if function == "relative" else 0)
        results = [module.remap(picture, maps, None, flags, **more) for module, more in both(options, queue)]
        return results[0], results[1], maps.astype(float) + steps, STEP_OF_MAPS
    whole = matrix_of(rng, size, (width, height), projective=function == "warpPerspective")
    matrix = whole[:2] if function == "warpAffine" else whole
    flags = kind | ours.WARP_INVERSE_MAP
    results = [
        getattr(module, function)(picture, matrix, (width, height), flags=flags, **more)
        for module, more in both(options, queue)
    ]
    return results[0], results[1], grid(whole, (width, height)), STEP_OF_AFFINE


def both(options: dict[str, Any], queue: bl.Queue) -> tuple[tuple[Any, dict[str, Any]], ...]:
    return (ours, options | {"queue": queue}), (theirs, options)


def require_near(found: Array, wanted: Array, limit: Array | float, where: Array) -> None:
    """The differences are within a limit at the pixels that count."""
    counts = where if found.ndim == 2 else where[..., None]
    assert ((away(found, wanted) <= limit) | ~counts).all()


@pytest.mark.parametrize("kind", [NEAREST, LINEAR, CUBIC])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_warps_and_maps(queue: bl.Queue, function: str, dtype: str, kind: int) -> None:
    rng = np.random.default_rng([FUNCTIONS.index(function), DTYPES.index(dtype), kind])
    for border in (*BORDERS, *BORDERS):
        picture = picture_of(rng, dtype)
        size = np.array(picture.shape[1::-1])
        options: dict[str, Any] = {"borderMode": border, "borderValue": VALUES}
        found, wanted, places, step = call(function, rng, picture, kind, options, queue)
        is_near = ((places >= -size) & (places <= 2 * size - 1)).all(-1)
        if kind == NEAREST:
            require_near(found, wanted, 0.0, is_near & far_from_ties(places, 2 / 1024))
            continue
        values = VALUES[: picture.shape[2] if picture.ndim == 3 else 1] if border == 0 else 0.0
        require_near(found, wanted, bound(picture, places, kind, border, step, values), is_near)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("model", ["opencv", "fisheye"])
def test_lenses(queue: bl.Queue, model: str, dtype: str) -> None:
    rng = np.random.default_rng([model == "fisheye", DTYPES.index(dtype)])
    parts = np.array([1, 0.5, 0.05, 0.05, 0.3, 1, 0.3, 0.1, *[0.05] * 4, 1, 1])
    for count in (0, 4, 5, 8, 12, 14) if model == "opencv" else (4, 4):
        picture = picture_of(rng, dtype, tuple(map(int, rng.integers(9, 70, 2))))  # type: ignore[arg-type]
        height, width = picture.shape[:2]
        fx, fy = rng.uniform(20, 90, 2)
        K = np.array([[fx, 0, width / 2 + rng.uniform(-3, 3)], [0, fy, height / 2 + rng.uniform(-3, 3)], [0, 0, 1]])
        new = K * [[rng.uniform(0.7, 1.4)], [rng.uniform(0.7, 1.4)], [1]]
        d = (rng.uniform(-0.08, 0.08, 14) * parts)[:count] if count else None
        module, other = (ours, theirs) if model == "opencv" else (ours.fisheye, theirs.fisheye)
        name = "undistort" if model == "opencv" else "undistortImage"
        found = getattr(module, name)(picture, K, d, None, new, queue=queue)
        maps, _ = module.initUndistortRectifyMap(K, d, None, new, (width, height), ours.CV_32FC2)
        limit = bound(picture, maps.astype(float), LINEAR, 0, STEP_OF_MAPS)
        assert (away(found, getattr(other, name)(picture, K, d, None, new)) <= limit).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_sizes(queue: bl.Queue, dtype: str) -> None:
    rng = np.random.default_rng(DTYPES.index(dtype))
    for _ in range(8):
        picture = picture_of(rng, dtype)
        height, width = picture.shape[:2]
        out = tuple(map(int, rng.integers(1, 70, 2)))
        x, y = width / out[0], height / out[1]
        centres = grid(np.array([[x, 0, 0.5 * x - 0.5], [0, y, 0.5 * y - 0.5], [0, 0, 1]]), out)  # type: ignore[arg-type]
        step = (2.0 ** -(BITS_OF_SIZES + 1) if dtype == "uint8" else 0) + max(width, height) * SINGLE
        for flag, kind in ((1, LINEAR), (2, CUBIC)):
            limit = bound(picture, centres, kind, 1, step, bits=BITS_OF_SIZES)
            found, wanted = (m.resize(picture, out, interpolation=flag, **more) for m, more in both({}, queue))
            assert (away(found, wanted) <= limit).all()
        found, wanted = (m.resize(picture, out, interpolation=0, **more) for m, more in both({}, queue))
        np.testing.assert_array_equal(found, wanted)
        less = min(out[0], width), min(out[1], height)
        terms = width / less[0] + height / less[1] + 4
        rounding = np.abs(picture.astype(float)).max() * SINGLE * terms
        found, wanted = (m.resize(picture, less, interpolation=3, **more) for m, more in both({}, queue))
        assert away(found, wanted).max() <= (rounding if dtype == "float32" else np.floor(1 + rounding))


def test_exact_sizes(queue: bl.Queue) -> None:
    for old in (*range(1, 70, 5), 128):
        row = np.arange(2 * old, dtype=np.float32).reshape(2, old)
        for new in (*range(1, 90, 4), 160):
            found, wanted = (m.resize(row, (new, 3), interpolation=6, **more) for m, more in both({}, queue))
            np.testing.assert_array_equal(found, wanted)
            found, wanted = (m.resize(row.T.copy(), (1, new), interpolation=6, **more) for m, more in both({}, queue))
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("border", [2, 3, 4])
@pytest.mark.parametrize("dtype", DTYPES)
def test_pyramids(queue: bl.Queue, dtype: str, border: int) -> None:
    rng = np.random.default_rng([DTYPES.index(dtype), border])
    for _ in range(4):
        picture = picture_of(rng, dtype, tuple(map(int, rng.integers(3, 70, 2))))  # type: ignore[arg-type]
        found, wanted = (m.pyrDown(picture, borderType=border, **more) for m, more in both({}, queue))
        if dtype == "float32":
            assert away(found, wanted).max() <= 16 * SINGLE * np.abs(picture).max()
            continue
        mode = {4: "reflect", 2: "symmetric", 3: "wrap"}[border]
        values = np.pad(picture.astype(int), ((2, 2), (2, 2), *((0, 0),) * (picture.ndim - 2)), mode)
        for axis in (0, 1):
            windows = np.lib.stride_tricks.sliding_window_view(values, 5, axis)
            values = np.take(windows @ [1, 4, 6, 4, 1], range(0, windows.shape[axis], 2), axis)
        halves = (values % 256 == 128) & (values < 0)
        np.testing.assert_array_equal(found, wanted - halves)


@pytest.mark.parametrize("kind", [NEAREST, LINEAR, CUBIC])
@pytest.mark.parametrize("dtype", DTYPES)
def test_pixels_that_stay(queue: bl.Queue, dtype: str, kind: int) -> None:
    """Where all texels of a filter lie inside, or none does."""
    rng = np.random.default_rng([DTYPES.index(dtype), kind])
    picture = picture_of(rng, dtype, (33, 41))
    maps = rng.uniform(-6, 46, (60, 50, 2)).astype(np.float32)
    places, last = maps.astype(float), np.array([40, 32])
    before = picture_of(np.random.default_rng([DTYPES.index(dtype), kind]), dtype, (33, 41))[:1, :1] // 2
    dst = np.broadcast_to(before, (60, 50, *picture.shape[2:]))
    results = [
        module.remap(picture, maps, None, kind, dst.copy(), ours.BORDER_TRANSPARENT, **more)
        for module, more in both({}, queue)
    ]
    reach = {NEAREST: 0.51, LINEAR: 0.0, CUBIC: 1.0}[kind]
    inside = ((places >= (0 if kind == NEAREST else reach)) & (places <= last - reach)).all(-1)
    outside = ((places < -reach - 1) | (places > last + reach + 1)).any(-1)
    limit = 0.0 if kind == NEAREST else bound(picture, places, kind, 4, STEP_OF_MAPS)
    certain = inside | outside
    require_near(results[0], results[1], limit, certain & far_from_ties(places, 0.01) if kind == NEAREST else certain)
    np.testing.assert_array_equal(results[0][outside], dst[outside])
    assert inside.any() and outside.any()
