"""``Image.reproject`` of images with mipmaps, where the view shrinks: means of areas instead of single pixels."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from tests.oracle.cameras import pixels_of, rays_of
from tests.oracle.samples import sample

Array = npt.NDArray[Any]

SIZE, SHAPE = (256, 192), (24, 32)  # (width, height) of the image, (height, width) of the picture
K = [[180, 0, 127.5], [0, 180, 95.5], [0, 0, 1]]
SMALL = [[20, 0, 15.5], [0, 20, 11.5], [0, 0, 1]]
SPHERE = [[256 / (2 * np.pi), 0, 127.5], [0, 192 / np.pi, 95.5], [0, 0, 1]]
CAMERAS: dict[str, Any] = {
    "barrel": (K, (-0.2, 0.03, 0.003, -0.002), "opencv"),
    "fisheye": ([[110, 0, 127.5], [0, 110, 95.5], [0, 0, 1]], (0.02, 0.004, -0.0005, 0.0001), "fisheye"),
    "sphere": (SPHERE, (), "equirectangular"),
}
DENSITY = 6  # positions along a pixel of the reference


def texture(*shape: int) -> Array:
    """Fine stripes, which alias, on a coarse wave."""
    y, x = np.mgrid[: SIZE[1], : SIZE[0]]
    values = 60 * np.sin(0.03 * x) * np.cos(0.04 * y) + 40 * np.sin(1.9 * x + 0.7 * y)
    return np.stack([values + n for n in range(max(shape, default=1))], -1).astype(np.float32).reshape(*x.shape, *shape)


def means(image: Array, camera: Any, to: Any, turn: Array, boundary: Any) -> tuple[Array, Array]:
    """The mean over each pixel of the picture, in float64, and where all of it lies inside the image."""
    steps = (np.arange(DENSITY) + 0.5) / DENSITY - 0.5
    total, inside = 0.0, np.ones(SHAPE, bool)
    rows, columns = np.indices(SHAPE)
    for dy in steps:
        for dx in steps:
            places = pixels_of(*camera, rays_of(*to, np.stack([columns + dx, rows + dy], -1)) @ turn.T)
            inside &= ((places >= 4) & (places <= np.array(SIZE) - 5)).all(-1)
            total = total + sample(image, np.where(np.isfinite(places), places, 0.0), boundary=boundary)
    return np.asarray(total) / DENSITY**2, inside


@pytest.mark.parametrize("seen", CAMERAS)
def test_means_of_areas(queue: bl.Queue, seen: str) -> None:
    camera, turn = CAMERAS[seen], np.eye(3)
    to: Any = ([[8, 0, 15.5], [0, 8, 11.5], [0, 0, 1]] if seen == "sphere" else SMALL, (), "opencv")
    image, addressing = texture(1), "mirrored_repeat"
    expected, inside = means(image, camera, to, turn, addressing)
    assert inside.mean() > 0.2
    errors = {}
    for mipmaps in (False, True):
        options: dict[str, Any] = {"mipmaps": True, "max_anisotropy": 8} if mipmaps else {}
        with bl.Image(image, addressing=addressing, queue=queue, **options) as one:
            picture = one.reproject(bl.Camera(*camera), to=bl.Camera(*to), shape=SHAPE)
            assert picture.shape == (*SHAPE, 1) and picture.dtype == np.float32
            errors[mipmaps] = np.abs(picture - expected)[inside]
    assert errors[False].max() > 25
    assert errors[True].max() < errors[False].max() / 3 and errors[True].mean() < errors[False].mean() / 5


@pytest.mark.parametrize("coordinate", ["unnormalized", "normalized"])
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_an_affine_lens_is_a_warp(queue: bl.Queue, dtype: str, coordinate: str) -> None:
    """Of two ideal cameras the positions are those of a matrix, whose footprints ``warp`` follows."""
    image = (texture() + 110).astype(dtype)
    matrix = np.array(K) @ np.linalg.inv(SMALL)
    matrix[:2, 2] += 0.5 - 0.5 * matrix[:2, :2].sum(1)
    scale = 1 / np.array([SIZE]).T if coordinate == "normalized" else 1.0
    with bl.Image(image, mipmaps=True, coordinate=coordinate, queue=queue) as one:
        picture = one.reproject(bl.Camera(K), to=bl.Camera(SMALL), shape=SHAPE)
        wanted = one.warp(scale * matrix[:2], SHAPE)
        out = bl.usm_empty(SHAPE, dtype, queue)
        assert one.reproject(bl.Camera(K), to=bl.Camera(SMALL), shape=SHAPE, out=out) is out
    assert picture.dtype == dtype
    np.testing.assert_allclose(
        picture.astype(float), wanted.astype(float), rtol=0, atol=1 if dtype == "uint8" else 0.05
    )
    np.testing.assert_array_equal(out.numpy(), picture)


def test_layers_with_mipmaps(queue: bl.Queue) -> None:
    stack = np.stack([texture(), -texture()])
    camera, to = bl.Camera(*CAMERAS["barrel"]), bl.Camera(SMALL)
    with bl.Image(stack, layers=True, mipmaps=True, queue=queue) as one:
        pictures = one.reproject(camera, to=to, shape=SHAPE)
    for layer, picture in zip(stack, pictures):
        with bl.Image(layer, mipmaps=True, queue=queue) as one:
            np.testing.assert_array_equal(one.reproject(camera, to=to, shape=SHAPE), picture)


def test_no_blur_at_the_seam_of_a_panorama(queue: bl.Queue) -> None:
    """Of a wave along the sphere, in a view backward whose middle column lies on the seam."""
    x = np.arange(SIZE[0])
    image = np.broadcast_to(np.sin(2 * np.pi * 8 * x / SIZE[0]), SIZE[::-1]).astype(np.float32).copy()
    sphere, back = bl.Camera(None, model="equirectangular", size=SIZE), np.diag([-1.0, 1.0, -1.0])
    to = bl.Camera([[25, 0, 16], [0, 25, 12], [0, 0, 1]])
    with bl.Image(image, mipmaps=True, addressing=("repeat", "clamp_to_edge"), queue=queue) as one:
        picture = one.reproject(sphere, to=to, rotation=back, shape=(25, 33))
    angle = np.arctan((np.arange(33) - 16) / 25)[None]
    wanted = np.sin(2 * np.pi * 8 * ((angle + np.pi) / (2 * np.pi) * SIZE[0] - 0.5) / SIZE[0])
    assert np.abs(picture[12, 12:21] - wanted[0, 12:21]).max() < 0.15


def test_views_that_do_not_shrink_stay_as_they_are(queue: bl.Queue) -> None:
    image, camera = texture(), bl.Camera(*CAMERAS["barrel"])
    larger = bl.Camera([[240, 0, 20], [0, 240, 20], [0, 0, 1]])
    pictures = []
    for mipmaps in (False, True):
        with bl.Image(image, mipmaps=mipmaps, queue=queue) as one:
            pictures.append(one.reproject(camera, to=larger, shape=(60, 80)))
    np.testing.assert_allclose(pictures[1], pictures[0], rtol=0, atol=0.5)
