"""Cubemaps with mipmaps, against a cubemap of each level and the levels of each face."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from tests.oracle.samples import between_levels
from tests.support.error_checks import raises

Array = npt.NDArray[Any]


@pytest.fixture
def faces() -> Array:
    return np.random.default_rng(5).integers(0, 256, (6, 8, 8, 3)).astype(np.uint8)


@pytest.fixture
def directions() -> Array:
    return np.random.default_rng(6).normal(size=(40, 3)).astype(np.float32)


def levels_of(faces: Array, queue: bl.Queue) -> list[Array]:
    """Every level of the faces, made by six mipmaps."""
    images = [bl.Image(face, mipmaps=True, dimensions=2, queue=queue) for face in faces]
    return [np.stack([image.numpy(level) for image in images]) for level in range(images[0].num_levels)]


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float16"])
def test_levels_are_cubemaps(queue: bl.Queue, faces: Array, directions: Array, dtype: str) -> None:
    faces = faces.astype(dtype)
    expected = levels_of(faces, queue)
    with bl.Image(faces, cubemap=True, mipmaps=True, queue=queue) as image:
        assert image.num_levels == len(image.parts) == 4 and image.shape == faces.shape
        for level, pixels in enumerate(expected):
            np.testing.assert_array_equal(image.numpy(level), pixels)
            with bl.Image(pixels, cubemap=True, queue=queue) as one:
                np.testing.assert_array_equal(image.sample(directions, level=level), one.sample(directions))
                np.testing.assert_array_equal(image.fetch([[0, 0]], level=level), one.fetch([[0, 0]]))
        np.testing.assert_array_equal(image.sample(directions), image.sample(directions, level=0))


def test_samples_between_levels_are_blended(queue: bl.Queue, faces: Array, directions: Array) -> None:
    levels = np.random.default_rng(7).uniform(-1, 5, len(directions))
    with bl.Image(faces, cubemap=True, mipmaps=True, queue=queue) as image:
        each = np.array([image.sample(directions, level=level) for level in range(4)], np.float64)
        expected = between_levels(each, levels)
        np.testing.assert_allclose(image.sample(directions, level=levels), expected, atol=1e-6)
        middle = image.sample(directions, level=1.25)
        np.testing.assert_allclose(middle, 0.75 * each[1] + 0.25 * each[2], atol=1e-6)
        coords = bl.usm_empty(directions.shape, np.float32, queue).copy_from(directions)
        on_device = image.sample(coords, level=1.25)
        assert isinstance(on_device, bl.UsmArray)
        np.testing.assert_array_equal(on_device.numpy(), middle)
        out = np.empty_like(middle)
        assert image.sample(directions, level=1.25, out=out) is out
        np.testing.assert_array_equal(out, middle)
    with bl.Image(faces, cubemap=True, mipmaps=True, filtering="nearest", queue=queue) as image:
        np.testing.assert_array_equal(image.sample(directions, level=1.4), image.sample(directions, level=1))


def test_gradients_choose_the_level(queue: bl.Queue, faces: Array) -> None:
    """Steps across a face of 8 pixels, which spans 2: a step of a quarter is one pixel, of level 0."""
    with bl.Image(faces, cubemap=True, mipmaps=True, queue=queue) as image:
        for direction, s, t in (((1, 0.2, -0.4), 1, 2), ((-0.3, -2, 0.1), 0, 2), ((0.7, 0.6, 4), 0, 1)):
            depth = max(map(abs, direction))
            for pixels, level in ((0.5, 0.0), (1.0, 0.0), (2.0, 1.0), (3.0, np.log2(3)), (100.0, 3.0)):
                dx, dy = np.zeros(3), np.zeros(3)
                dx[s], dy[t] = 0.25 * pixels * depth, -0.1 * depth
                found, expected = image.sample([direction], dx=dx, dy=dy), image.sample([direction], level=level)
                np.testing.assert_allclose(found, expected, atol=1e-5)
        along = image.sample([[1, 0.2, 0.3]], dx=[9, 1.8, 2.7], dy=[0, 0, 0])  # a longer direction is the same one
        np.testing.assert_allclose(along, image.sample([[1, 0.2, 0.3]]), atol=1e-5)


def test_a_panorama_with_levels(queue: bl.Queue) -> None:
    panorama = np.random.default_rng(8).random((16, 32, 3), np.float32)
    with (
        bl.Image.from_equirectangular(panorama, mipmaps=True, queue=queue) as image,
        bl.Image.from_equirectangular(panorama, queue=queue) as plain,
    ):
        np.testing.assert_array_equal(image.numpy(), plain.numpy())
        assert image.num_levels == 4


def test_new_pixels_copies_and_the_end(queue: bl.Queue, faces: Array) -> None:
    image = bl.Image(np.zeros_like(faces), cubemap=True, mipmaps=True, queue=queue)
    image.update(faces)
    for made in (copy.copy(image), pickle.loads(pickle.dumps(image))):
        for level, pixels in enumerate(levels_of(faces, queue)):
            np.testing.assert_array_equal(made.numpy(level), pixels)
        made.close()
    assert "4 levels" in repr(image) and "<img" in image._repr_html_()
    with raises(bl.InvalidError, names="parts"):
        _ = image.handle
    assert image.parts[1].handle
    image.close()
    with raises(bl.InvalidError):
        image.numpy()


def test_what_does_not_fit_is_refused(queue: bl.Queue, faces: Array) -> None:
    with bl.Image(faces, cubemap=True, mipmaps=True, queue=queue) as image:
        for refused in (
            lambda: image.sample([[1, 0, 0]], dx=[[0, 0, 1]]),
            lambda: image.sample([[1, 0, 0]], dx=[[0, 0, 1]], dy=[[0, 1, 0]], level=1),
            lambda: image.sample([[1, 0, 0]], dx=[[0, 0, 1]] * 2, dy=[[0, 1, 0]]),
            lambda: image.sample([[1, 0, 0]], layers=2),
            lambda: image.sample([[1, 0, 0]], layers=2, level=0.5),
            lambda: image.sample([[1, 0]], level=0.5),
            lambda: image.numpy(4),
            lambda: image.fetch([[0, 0]], level=-1),
            lambda: image.resize((2, 2)),
            lambda: image.warp([[1, 0, 0], [0, 1, 0]], (2, 2)),
            lambda: image.update(faces[:, :4]),
        ):
            with raises(bl.InvalidError):
                refused()
    with raises(bl.InvalidError):
        bl.Image(faces, cubemap=True, mipmaps=True, max_anisotropy=2, queue=queue)
    with raises(bl.InvalidError):
        bl.Image(faces[:5], cubemap=True, mipmaps=True, queue=queue)
