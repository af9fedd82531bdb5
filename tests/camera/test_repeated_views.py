"""Views that come again: those of a new image, which Python draws, and few functions of Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from tests.image.test_image_python_calls import WAIT, fewest_calls
from tests.support.pixels import usm

SIZE = (40, 24)  # (width, height)
MOST = 11  # functions of Python in a view that comes again

Array = npt.NDArray[Any]


def camera(scale: float, distortion: tuple[float, ...] = (), model: str = "opencv") -> bl.Camera:
    return bl.Camera([[scale, 0, 19.2], [0, scale, 11.7], [0, 0, 1]], distortion, model)


def turn(angle: float) -> Array:
    return np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])


LENSES: tuple[Callable[[], bl.Camera], ...] = (
    lambda: camera(30, (-0.2, 0.05, 0.001, -0.0005)),
    lambda: camera(30, (-0.1, 0.05, 0.001, -0.0005)),
    lambda: camera(30),
    lambda: camera(20, (0.02, 0.004, -0.0005, 0.0001), "fisheye"),
)
OPTIONS: dict[str, dict[str, Any]] = {
    "hardware": {},
    "exact": {"precision": "exact"},
    "normalized": {"coordinate": "normalized", "addressing": "repeat", "precision": "exact"},
    "extent": {"addressing": "extent", "fill": 3.0, "precision": "exact"},
    "cubic": {"filtering": "cubic"},
}


@pytest.fixture(params=["in order", "out of order"])
def owner(device: bl.Device, request: pytest.FixtureRequest) -> bl.Queue:
    return bl.Queue(device, in_order=request.param == "in order")


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("channels", [(), (3,), (4,)])
def test_views_in_turns(owner: bl.Queue, options: str, channels: tuple[int, ...]) -> None:
    """Lenses, rotations and shapes change from call to call, cameras are new objects, and pixels change."""
    rng = np.random.default_rng(len(channels))
    pixels = [rng.integers(0, 256, (*SIZE[::-1], *channels)).astype(np.uint8) for _ in range(2)]
    with bl.Image(usm(owner, pixels[0]), queue=owner, **OPTIONS[options]) as image:
        for number in range(40):
            if number == 20:
                image.update(pixels[1])
            lens, ideal = LENSES[rng.integers(4)](), LENSES[rng.integers(4)]()
            rotation = None if number % 3 == 0 else turn(0.1 * (number % 2))
            shape = ((12, 20), (24, 40))[rng.integers(2)]
            out = usm(owner, np.zeros((*shape, *channels), np.uint8)) if number % 4 else None
            view = image.reproject(lens, to=ideal, rotation=rotation, shape=shape, out=out)
            with bl.Image(pixels[number >= 20], queue=owner, **OPTIONS[options]) as fresh:
                expected = fresh.reproject(lens, to=ideal, rotation=rotation, shape=shape)
            np.testing.assert_array_equal(view.numpy(), expected, f"call {number}")


def test_frames_of_a_video(owner: bl.Queue) -> None:
    rng = np.random.default_rng(1)
    lens, ideal = LENSES[0](), LENSES[2]()
    frames = [rng.integers(0, 256, (36, 40)).astype(np.uint8) for _ in range(5)]
    out = usm(owner, np.zeros((24, 40, 3), np.uint8))
    with bl.Image.from_nv12(frames[0][:24], frames[0][24:], queue=owner) as image:
        for frame in frames * 2:
            image.update_nv12(frame[:24], frame[24:])
            image.reproject(lens, to=ideal, out=out)
            with bl.Image.from_nv12(frame[:24], frame[24:], queue=owner) as fresh:
                np.testing.assert_array_equal(out.numpy(), fresh.reproject(lens, to=ideal))


def test_what_is_wrong_is_told_each_time(owner: bl.Queue) -> None:
    lens, ideal = LENSES[0](), LENSES[2]()
    out = usm(owner, np.zeros((12, 20), np.uint8))
    with bl.Image(np.zeros(SIZE[::-1], np.uint8), queue=owner) as image:
        for _ in range(4):
            image.reproject(lens, to=ideal, shape=(12, 20), out=out)
            with pytest.raises(bl.InvalidError):
                image.reproject(lens, to=ideal, shape=(12, 21), out=out)
            with pytest.raises(bl.ArgumentError):
                image.reproject(lens, to=ideal, rotation=2 * np.eye(3), shape=(12, 20), out=out)
    with pytest.raises(bl.InvalidError):
        image.reproject(lens, to=ideal, shape=(12, 20), out=out)


@pytest.mark.parametrize("kind", ["hardware", "exact", "frame"])
def test_few_functions_run(owner: bl.Queue, kind: str) -> None:
    if not owner._stream.prepares or owner._backend.resampling is not None:
        pytest.skip("no kernels that C code repeats draw the pictures")
    lens, ideal = LENSES[0](), LENSES[2]()
    pixels = usm(owner, np.zeros((*SIZE[::-1], 3), np.uint8))
    out = usm(owner, np.zeros((12, 20, 3), np.uint8))
    if kind == "frame":
        image = bl.Image.from_nv12(np.zeros((24, 40), np.uint8), np.zeros((12, 40), np.uint8), queue=owner)
    else:
        image = bl.Image(pixels, queue=owner, **OPTIONS[kind])
    with image:
        calls = fewest_calls(lambda: image.reproject(lens, to=ideal, shape=(12, 20), out=out), besides=WAIT)
        assert calls <= MOST
