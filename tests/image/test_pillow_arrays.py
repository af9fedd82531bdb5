"""Images of Pillow as pixels of an ``Image``."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl

pillow = pytest.importorskip("PIL.Image", reason="pip install pillow")

Array = npt.NDArray[Any]


def rgb() -> Array:
    return np.random.default_rng(8).integers(0, 256, (6, 9, 3)).astype(np.uint8)


@pytest.mark.parametrize("mode", ["L", "LA", "RGB", "RGBA", "F"])
def test_modes_with_plain_channels(queue: bl.Queue, mode: str) -> None:
    picture = pillow.fromarray(rgb()).convert(mode)
    with bl.Image(picture, queue=queue) as image:
        np.testing.assert_array_equal(image.numpy(), np.asarray(picture))


def test_sixteen_bits(queue: bl.Queue) -> None:
    levels = np.random.default_rng(9).integers(0, 65536, (5, 7)).astype(np.uint16)
    with bl.Image(pillow.fromarray(levels), queue=queue) as image:
        assert image.dtype == np.uint16
        np.testing.assert_array_equal(image.numpy(), levels)


def test_palettes_are_expanded(queue: bl.Queue) -> None:
    colours = np.array([[255, 0, 10], [0, 200, 20], [5, 6, 7]], np.uint8)
    indices = np.random.default_rng(10).integers(0, 3, (6, 9)).astype(np.uint8)
    picture = pillow.fromarray(indices).convert("P")
    picture.putdata(indices.ravel())
    picture.putpalette(colours.ravel().tolist())
    with bl.Image(picture, queue=queue) as image:
        np.testing.assert_array_equal(image.numpy(), colours[indices])
    picture.info["transparency"] = 1
    with bl.Image(picture, queue=queue) as image:
        np.testing.assert_array_equal(image.numpy()[..., :3], colours[indices])
        np.testing.assert_array_equal(image.numpy()[..., 3], np.where(indices == 1, 0, 255))


def test_one_bit_is_black_and_white(queue: bl.Queue) -> None:
    bits = np.random.default_rng(11).integers(0, 2, (6, 9)).astype(bool)
    with bl.Image(pillow.fromarray(bits), queue=queue) as image:
        np.testing.assert_array_equal(image.numpy(), np.where(bits, 255, 0))


@pytest.mark.parametrize("mode", ["CMYK", "YCbCr", "HSV", "LAB"])
def test_other_colours_become_rgb(queue: bl.Queue, mode: str) -> None:
    picture = pillow.new(mode, (4, 3))
    with bl.Image(picture, queue=queue) as image:
        assert image.shape == (3, 4, 3)
        np.testing.assert_array_equal(image.numpy(), np.asarray(picture.convert("RGB")))
