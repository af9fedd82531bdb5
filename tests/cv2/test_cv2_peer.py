"""``bindless.cv2`` beside OpenCV: equal flags, and values within the bits of OpenCV's weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import cv2 as ours
from tests.cv2.opencv_values import BORDERS, DTYPES, HOMOGRAPHY, MATRIX, pixels

theirs = pytest.importorskip("cv2", reason="pip install opencv-python-headless")

SIZE = (60, 40)
WEIGHTS = {0: 0.0, 1: 1 / 32, 2: 1 / 14}  # of the range: positions are rounded to 1/32 of a pixel along two axes


def check(found: Any, wanted: Any, part: float) -> None:
    assert found.shape == wanted.shape and found.dtype == wanted.dtype
    span = 255 if found.dtype in (np.uint8, np.float32) else 65535
    assert np.abs(found.astype(float) - wanted.astype(float)).max() <= max(part * span, 1e-3 if part else 0)


def test_numbers() -> None:
    for name in vars(ours.constants):
        if name.isupper() and not name.startswith("CV_") and hasattr(theirs, name):  # these: not in every release
            assert getattr(ours, name) == getattr(theirs, name)


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("interpolation", [1, 2])
@pytest.mark.parametrize("dtype", DTYPES)
def test_warps(queue: bl.Queue, dtype: str, interpolation: int, border: int) -> None:
    for channels in (1, 3, 4):
        picture = pixels(dtype, channels)
        options: dict[str, Any] = {"flags": interpolation, "borderMode": border, "borderValue": (9, 99, 199, 0)}
        for name, matrix in (("warpAffine", MATRIX), ("warpPerspective", HOMOGRAPHY)):
            found = getattr(ours, name)(picture, matrix, SIZE, queue=queue, **options)
            check(found, getattr(theirs, name)(picture, matrix, SIZE, **options), WEIGHTS[interpolation])


@pytest.mark.parametrize("interpolation", [0, 1, 2])
def test_maps(queue: bl.Queue, interpolation: int) -> None:
    picture, rng = pixels("uint8"), np.random.default_rng(8)
    x, y = rng.uniform(-9, 60, (2, 31, 43)).astype(np.float32)
    for maps in ((x, y), (np.dstack([x, y]), None), theirs.convertMaps(x, y, theirs.CV_16SC2)):
        for border in BORDERS:
            options = {"interpolation": interpolation, "borderMode": border}
            found = ours.remap(picture, *maps, queue=queue, **options)
            if interpolation == 0 and maps[0].dtype == np.int16:
                wanted = theirs.remap(picture, maps[0], None, **options)
            else:
                wanted = theirs.remap(picture, *maps, **options)
            check(found, wanted, WEIGHTS[interpolation])


@pytest.mark.parametrize("size", [(20, 18), (26, 18), (53, 37), (13, 9), (106, 74), (70, 50)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_sizes(queue: bl.Queue, dtype: str, size: tuple[int, int]) -> None:
    picture = pixels(dtype)
    for interpolation in (0, 6, 1, 5, 2, *((3,) if size[0] <= 53 else ())):
        found = ours.resize(picture, size, interpolation=interpolation, queue=queue)
        part = 0.0 if interpolation in (0, 6) else 0.005
        check(found, theirs.resize(picture, size, interpolation=interpolation), part)


@pytest.mark.parametrize("border", [2, 3, 4])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
def test_pyramids(queue: bl.Queue, dtype: str, border: int) -> None:
    picture = pixels(dtype)
    check(
        ours.pyrDown(picture, borderType=border, queue=queue),
        theirs.pyrDown(picture, borderType=border),
        1e-6 if dtype == "float32" else 0.0,
    )


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
def test_pyramids_upward(queue: bl.Queue, dtype: str, channels: int) -> None:
    picture = pixels(dtype, channels)
    height, width = picture.shape[:2]
    for size in (None, (2 * width - 1, 2 * height + 1)):
        check(
            ours.pyrUp(picture, dstsize=size, queue=queue),
            theirs.pyrUp(picture, dstsize=size),
            1e-6 if dtype == "float32" else 0.0,
        )


@pytest.mark.parametrize("form", ["NV12", "I420"])
def test_frames_of_video(queue: bl.Queue, form: str) -> None:
    """OpenCV repeats each colour for four pixels, rounds the matrix, and limits the brightness to black before it."""
    frame = np.random.default_rng(4).integers(16, 256, (36 * 3 // 2, 60)).astype(np.uint8)
    y, rest = frame[:36], frame[36:]
    kind: dict[str, Any] = {"standard": "bt601", "siting": "center", "filtering": "nearest", "queue": queue}
    if form == "NV12":
        image = bl.Image.from_nv12(y, rest, **kind)
    else:
        u, v = rest.reshape(2, 18, 30)
        image = bl.Image.from_yuv420(y, u, v, **kind)
    with image:
        wanted = theirs.cvtColor(frame, getattr(theirs, f"COLOR_YUV2RGB_{form}"))
        assert np.abs(image.numpy().astype(int) - wanted.astype(int)).max() <= 1
