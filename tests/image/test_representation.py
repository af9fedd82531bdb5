"""Text and thumbnails of an ``Image``."""

from __future__ import annotations

import base64
import io
import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image as Picture

import bindless as bl

Array = npt.NDArray[Any]


def thumbnail(image: bl.Image) -> Array:
    """The picture of ``_repr_html_``, which is that of ``_repr_png_``."""
    found = re.search(r"base64,([^\"]+)", image._repr_html_())
    assert found is not None
    data = base64.b64decode(found[1])
    assert data == image._repr_png_()
    return np.asarray(Picture.open(io.BytesIO(data)))


def test_the_range_is_normalised(queue: bl.Queue) -> None:
    with bl.Image(np.array([[-1000.0, 0.0, 1000.0, np.nan, np.inf, -np.inf]], np.float32), queue=queue) as image:
        assert thumbnail(image).tolist() == [[0, 128, 255, 0, 255, 0]]
        assert "-1000 (black) to 1000 (white)" in image._repr_html_()
    with bl.Image(np.array([[100, 300]], np.uint16), queue=queue) as image:
        assert thumbnail(image).tolist() == [[0, 255]]


@pytest.mark.parametrize("fill", [0.0, 7.0, np.nan, np.inf])
def test_constant_pixels(queue: bl.Queue, fill: float) -> None:
    with bl.Image(np.full((3, 4), fill, np.float32), queue=queue) as image:
        assert thumbnail(image).shape == (3, 4)


def test_alpha_is_no_part_of_the_range(queue: bl.Queue) -> None:
    pixels = np.zeros((1, 2, 4), np.float32)
    pixels[0, 1, :3], pixels[..., 3] = 0.01, (0.5, 1.0)
    with bl.Image(pixels, queue=queue) as image:
        assert thumbnail(image).tolist() == [[[0, 0, 0, 128], [255, 255, 255, 255]]]


def test_two_channels_of_floats_are_red_and_green(queue: bl.Queue) -> None:
    with bl.Image(np.array([[[0, 1], [1, 0]]], np.float32), queue=queue) as image:
        assert thumbnail(image).tolist() == [[[0, 255, 0], [255, 0, 0]]]


def test_large_pictures_are_reduced(queue: bl.Queue) -> None:
    rng = np.random.default_rng(1)
    with bl.Image(rng.integers(0, 256, (1024, 1536, 3)).astype(np.uint8), queue=queue) as image:
        shown = thumbnail(image)
        np.testing.assert_array_equal(shown, image.resize((341, 512)))
    with bl.Image(rng.integers(0, 1000, (4, 4000)).astype(np.int32), filtering="nearest", queue=queue) as image:
        assert thumbnail(image).shape == (1, 512)


def test_volumes_show_the_middle_slice(queue: bl.Queue) -> None:
    volume = np.zeros((5, 3, 6), np.float32)
    volume[2] = np.arange(18).reshape(3, 6)
    with bl.Image(volume, queue=queue) as image:
        np.testing.assert_array_equal(thumbnail(image), np.rint(volume[2] / 17 * 255))
        assert "slice 2 of 0 to 4" in image._repr_html_()


def test_layers_and_faces_are_tiles(queue: bl.Queue) -> None:
    layers = np.arange(20, dtype=np.uint8)[:, None, None] * np.ones((20, 2, 3), np.uint8)
    with bl.Image(layers, layers=True, queue=queue) as image:
        shown = thumbnail(image)
        assert shown.shape == (11, 15)
        assert shown[::3, ::4].ravel().tolist() == list(range(16))
        assert "layers 0 to 15 of 20" in image._repr_html_()
    with bl.Image(layers[:6, :, :2], cubemap=True, queue=queue) as image:
        assert thumbnail(image)[::3, ::3].tolist() == [[0, 1, 2], [3, 4, 5]]


def test_lines_are_strips(queue: bl.Queue) -> None:
    with bl.Image(np.arange(5, dtype=np.uint8), queue=queue) as image:
        shown = thumbnail(image)
        assert shown.shape[1] == 5 and (shown == np.arange(5)).all()


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int16", "float16", "float32", "uint32"])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_every_format_has_a_thumbnail(queue: bl.Queue, dtype: str, channels: int) -> None:
    filtering = "nearest" if dtype == "uint32" else "linear"
    pixels = np.arange(6 * channels).reshape(2, 3, channels).astype(dtype)
    with bl.Image(pixels, filtering=filtering, queue=queue) as image:
        assert thumbnail(image).shape[:2] == (2, 3)


def test_a_closed_image_has_text_alone(queue: bl.Queue) -> None:
    image = bl.Image(np.zeros((3, 4), np.uint8), queue=queue)
    image.close()
    assert image._repr_png_() is None
    assert "closed" in repr(image) and "<img" not in image._repr_html_()
