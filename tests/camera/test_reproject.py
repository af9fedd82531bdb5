"""``Image.reproject`` beside the computation in float64 of ``tests.oracle.cameras``."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from bindless.camera.lens import Lens
from tests.oracle.cameras import pixels_of, places_in, rays_of
from tests.oracle.samples import sample

Array = npt.NDArray[Any]

SIZE, SHAPE = (53, 37), (31, 43)  # (width, height) of the image, (height, width) of the picture
TURN = np.array([[0.96, -0.1, 0.26], [0.11, 0.99, -0.03], [-0.25, 0.06, 0.97]])
TURN = np.linalg.svd(TURN)[0] @ np.linalg.svd(TURN)[2]


def matrix(scale: float, size: tuple[int, int]) -> list[list[float]]:
    return [[scale, 0, (size[0] - 1) / 2 + 1.3], [0, 1.1 * scale, (size[1] - 1) / 2 - 0.7], [0, 0, 1]]


CAMERAS: dict[str, Any] = {
    "pinhole": lambda size: (matrix(40, size), (), "opencv"),
    "barrel": lambda size: (matrix(38, size), (-0.2, 0.03, 0.003, -0.002), "opencv"),
    "cushion": lambda size: (matrix(45, size), (0.12, 0.01, -0.002, 0.003, 0.004), "opencv"),
    "rational": lambda size: (matrix(40, size), (0.3, 0.05, 0.001, 0.002, 0.01, 0.4, 0.1, 0.02), "opencv"),
    "prism": lambda size: (
        matrix(40, size), (-0.1, 0.02, 0.001, 0.002, 0, 0.05, 0, 0, 0.01, -0.004, -0.008, 0.003), "opencv",
    ),
    "tilt": lambda size: (
        matrix(40, size), (-0.1, 0.02, 0.001, 0.002, 0, 0, 0, 0, 0.01, 0, -0.008, 0, 0.05, -0.08), "opencv",
    ),
    "fisheye": lambda size: (matrix(22, size), (0.02, 0.004, -0.0005, 0.0001), "fisheye"),
    "sphere": lambda size: (
        [[size[0] / (2 * np.pi), 0, (size[0] - 1) / 2], [0, size[1] / np.pi, (size[1] - 1) / 2], [0, 0, 1]], (),
        "equirectangular",
    ),
}  # fmt: skip


def pixels(*shape: int) -> Array:
    """Smooth ones, so that a small step in the position is a small one in the value."""
    y, x = np.mgrid[: SIZE[1], : SIZE[0]]
    waves = [np.sin(0.2 * x + 0.1 * n) * np.cos(0.15 * y - n) for n in range(max(shape, default=1))]
    return (100 * np.stack(waves, -1)).astype(np.float32).reshape(SIZE[1], SIZE[0], *shape)


def expect(image: Array, places: Array, boundary: str = "border", fill: float = 7.0) -> Array:
    channels = image[..., None] if image.ndim == 2 else image
    values = sample(channels, np.where(np.isfinite(places), places, np.nan), boundary=boundary, fill=fill)
    return values[..., 0] if image.ndim == 2 else values


@pytest.mark.parametrize(("seen", "drawn"), list(itertools.product(CAMERAS, CAMERAS)))
def test_pairs(queue: bl.Queue, seen: str, drawn: str) -> None:
    old, new = CAMERAS[seen](SIZE), CAMERAS[drawn](SHAPE[::-1])
    image, places = pixels(), places_in(old, new, TURN, SHAPE)
    with bl.Image(image, precision="exact", addressing="border", fill=7.0, queue=queue) as one:
        values = one.reproject(bl.Camera(*old), to=bl.Camera(*new), rotation=TURN, shape=SHAPE)
        assert values.shape == SHAPE and values.dtype == np.float32
        np.testing.assert_allclose(values, expect(image, places), rtol=0, atol=2e-3)
        out = np.empty(SHAPE, np.float32)
        assert one.reproject(bl.Camera(*old), to=bl.Camera(*new), rotation=TURN, shape=SHAPE, out=out) is out
        np.testing.assert_array_equal(out, values)
    assert np.isfinite(places).mean() > 0.2


@pytest.mark.parametrize(("seen", "drawn"), list(itertools.product(CAMERAS, CAMERAS)))
def test_positions_are_those_of_float64(seen: str, drawn: str) -> None:
    old, new = CAMERAS[seen](SIZE), CAMERAS[drawn](SHAPE[::-1])
    rows, columns = np.indices(SHAPE)
    lens = Lens.between(bl.Camera(*old), bl.Camera(*new), TURN)
    places, expected = lens.move(np.stack([columns, rows], -1)), places_in(old, new, TURN, SHAPE)
    np.testing.assert_array_equal(np.isfinite(places), np.isfinite(expected))
    where = np.isfinite(expected)
    assert np.abs(places[where] - expected[where]).max() < 1e-10 * np.abs(expected[where]).max()


@pytest.mark.parametrize("coordinate", ["unnormalized", "normalized"])
@pytest.mark.parametrize("drawn", ["pinhole", "fisheye", "tilt"])
def test_the_texture_unit(queue: bl.Queue, drawn: str, coordinate: str) -> None:
    """Positions are rounded to 1/256 of a pixel."""
    old, new = CAMERAS["barrel"](SIZE), CAMERAS[drawn](SHAPE[::-1])
    image, places = pixels(4), places_in(old, new, TURN, SHAPE)
    with bl.Image(image, coordinate=coordinate, addressing="border", queue=queue) as one:
        values = one.reproject(bl.Camera(*old, SIZE), to=bl.Camera(*new, SHAPE[::-1]), rotation=TURN)
    np.testing.assert_allclose(values, expect(image, places, fill=0.0), rtol=0, atol=0.5)


@pytest.mark.parametrize("filtering", ["nearest", "cubic", "bicubic"])
def test_other_filters(queue: bl.Queue, filtering: str) -> None:
    """A lens that moves nothing: a picture of the image itself."""
    image = pixels(3)
    camera = bl.Camera(*CAMERAS["barrel"](SIZE))
    with bl.Image(image, filtering=filtering, precision="exact", queue=queue) as one:
        np.testing.assert_allclose(one.reproject(camera, to=camera), image, rtol=0, atol=1e-3)


def test_a_panorama_has_no_seam(queue: bl.Queue) -> None:
    """A camera that looks backward sees both ends of a panorama."""
    old, new = CAMERAS["sphere"](SIZE), CAMERAS["pinhole"](SHAPE[::-1])
    image, back = pixels(), np.diag([-1.0, 1.0, -1.0])
    places = places_in(old, new, back, SHAPE)
    sphere = bl.Camera(None, model="equirectangular", size=SIZE)
    np.testing.assert_allclose(sphere.K, old[0])
    with bl.Image(image, precision="exact", addressing=("repeat", "clamp_to_edge"), queue=queue) as one:
        values = one.reproject(sphere, to=bl.Camera(*new), rotation=back, shape=SHAPE)
    np.testing.assert_allclose(values, expect(image, places, ("repeat", "edge")), rtol=0, atol=2e-3)  # type: ignore[arg-type]


def test_layers_and_integers(queue: bl.Queue) -> None:
    old, new = CAMERAS["fisheye"](SIZE), CAMERAS["pinhole"](SHAPE[::-1])
    stack = np.stack([pixels(), pixels()[::-1]]).astype(np.int16)
    places = places_in(old, new, np.eye(3), SHAPE)
    with bl.Image(stack, layers=True, precision="exact", addressing="border", queue=queue) as one:
        values = one.reproject(bl.Camera(*old), to=bl.Camera(*new), shape=SHAPE)
    assert values.dtype == np.int16 and values.shape == (2, *SHAPE)
    for layer, value in zip(stack, values):
        assert np.abs(value - expect(layer, places, fill=0.0)).max() < 0.51


def test_a_camera_sees_nothing_beyond_where_its_distortion_turns_back(queue: bl.Queue) -> None:
    """r (1 - r^2 / 3) grows up to r = 1."""
    camera = bl.Camera([[10, 0, 9.5], [0, 10, 0], [0, 0, 1]], (-1 / 3, 0, 0, 0))
    assert camera.limit == pytest.approx(1.0)
    ideal = bl.Camera([[10, 0, 19.5], [0, 10, 0], [0, 0, 1]])
    options: dict[str, Any] = {"filtering": "nearest", "precision": "exact", "addressing": "border", "fill": 5.0}
    with bl.Image(np.ones((1, 20), np.float32), queue=queue, **options) as one:
        values = one.reproject(camera, to=ideal, shape=(1, 40))[0]
    with bl.Image(np.ones((1, 40), np.float32), queue=queue, **options) as one:
        distorted = one.reproject(ideal, to=camera, shape=(1, 20))[0]
    away = np.abs(np.arange(40) - 19.5) / 10
    np.testing.assert_array_equal(values, np.where(away < 1, 1, 5))
    np.testing.assert_array_equal(distorted, np.where(np.abs(np.arange(20) - 9.5) / 10 < 2 / 3, 1, 5))
    fisheye = bl.Camera(np.eye(3), (-1 / 3, 0, 0, 0), "fisheye")
    assert fisheye.limit == pytest.approx(1.0) and bl.Camera(np.eye(3), (), "fisheye").limit == pytest.approx(np.pi)
    pole = bl.Camera(np.eye(3), (0, 0, 0, 0, 0, -0.25, 0, 0))
    assert pole.limit <= 4 and bl.Camera(np.eye(3)).limit == np.inf


@pytest.mark.parametrize("name", CAMERAS)
def test_there_and_back(name: str) -> None:
    """Newton's inverse of a distortion, followed by the distortion."""
    camera = CAMERAS[name](SIZE)
    rows, columns = np.indices(SHAPE)
    points = np.stack([columns, rows], -1)
    lens = Lens.between(bl.Camera(*camera), bl.Camera(*camera), np.eye(3))
    assert np.abs(lens.move(points) - points).max() < 1e-12 * max(SIZE)
    assert np.abs(pixels_of(*camera, rays_of(*camera, points)) - points).max() < 1e-9  # the oracle itself


def test_arguments(queue: bl.Queue) -> None:
    K = matrix(40, SIZE)
    for arguments in (
        (K, (1, 2, 3)), (K, (1, 2, 3, 4, 5), "fisheye"), (K, (), "wide"), (np.eye(2),), (np.ones((3, 3)),),
        (np.zeros((3, 3)),), (None,), ([["a"] * 3] * 3,), (K, (np.nan,) * 4), (K, (), "opencv", (0, 3)),
        (K, (), "opencv", 3), (K, "abcd"),
    ):  # fmt: skip
        with pytest.raises(bl.ArgumentError):
            bl.Camera(*arguments)  # type: ignore[arg-type]
    camera = bl.Camera(K)
    assert camera.distortion == () and "Camera" in repr(camera)
    with bl.Image(pixels(), queue=queue) as one:
        for options in (
            {"to": None},
            {"to": camera, "rotation": np.ones((3, 3))},
            {"to": camera, "rotation": -np.eye(3)},
        ):
            with pytest.raises(bl.ArgumentError):
                one.reproject(camera, **options)  # type: ignore[arg-type]
        with pytest.raises(bl.ArgumentError):
            one.reproject(bl.Camera(K, size=(3, 4)), to=camera)
        with pytest.raises(bl.InvalidError):
            one.reproject(camera, to=camera, shape=(3,))
    with bl.Image(np.zeros((4, 4, 4), np.float32), dimensions=3, queue=queue) as one, pytest.raises(bl.Error):
        one.reproject(camera, to=camera)
