"""Images of more layers than a native array has, and of layers with mipmaps, against single images of each layer."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from bindless.image import layer_groups
from tests.support.error_checks import raises

Array = npt.NDArray[Any]

LAYERS = 7


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20261123)


@pytest.fixture(params=["split", "mipmaps"])
def make(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[..., bl.Image]:
    """Makes a group of several arrays, as on a device of three layers, or of one mipmap for each layer."""
    monkeypatch.setattr(layer_groups, "limit", lambda device, name: 3)

    def made(array: Any, **options: Any) -> bl.Image:
        image = bl.Image(array, layers=True, mipmaps=request.param == "mipmaps", **options)
        assert type(image) is bl.Image
        assert len(image.parts) == (3 if request.param == "split" else LAYERS)
        return image

    return made


def singles(pixels: Array, queue: bl.Queue, **options: Any) -> list[bl.Image]:
    return [bl.Image(layer, queue=queue, **options) for layer in pixels]


@pytest.mark.parametrize(("channels", "dtype"), [(None, "uint8"), (3, "float32"), (4, "uint16")])
def test_a_group_is_its_layers(
    rng: np.random.Generator, queue: bl.Queue, make: Callable[..., bl.Image], channels: int | None, dtype: str
) -> None:
    shape = (LAYERS, 6, 8) if channels is None else (LAYERS, 6, 8, channels)
    pixels = (rng.random(shape) * 200).astype(dtype)
    with make(pixels, queue=queue, addressing="repeat", dimensions=2) as image:
        each = singles(pixels, queue, addressing="repeat", dimensions=2, mipmaps=image._mipmaps)
        assert image.shape == shape and image.num_layers == LAYERS and image.size == (8, 6)
        assert image.num_levels == each[0].num_levels
        np.testing.assert_array_equal(image.numpy(), pixels)
        coords = rng.uniform(-5, 15, (4, 5, 2))
        np.testing.assert_array_equal(image.sample(coords), [one.sample(coords) for one in each])
        which = rng.integers(0, LAYERS, (4, 5))
        expected = np.array([one.sample(coords) for one in each])
        picked = np.take_along_axis(expected, which.reshape(1, 4, 5, *(1,) * (expected.ndim - 3)), 0)[0]
        np.testing.assert_array_equal(image.sample(coords, layers=which), picked)
        np.testing.assert_array_equal(image.sample(coords, layers=5), expected[5])
        places = np.stack([rng.integers(0, 8, 9), rng.integers(0, 6, 9)], -1)
        fetched = np.array([one.fetch(places) for one in each])
        np.testing.assert_array_equal(image.fetch(places), fetched)
        many = np.arange(9) % LAYERS
        np.testing.assert_array_equal(image.fetch(places, layers=many), fetched[many, np.arange(9)])
        np.testing.assert_array_equal(image.resize((2, 3)), [one.resize((2, 3)) for one in each])
        np.testing.assert_array_equal(image.resize((9, 11)), [one.resize((9, 11)) for one in each])
        matrix = [[0.9, -0.2, 1.0], [0.2, 0.9, -0.5]]
        np.testing.assert_array_equal(image.warp(matrix, (5, 4)), [one.warp(matrix, (5, 4)) for one in each])
        np.testing.assert_array_equal(np.asarray(image), pixels)


def test_levels_of_layers(rng: np.random.Generator, queue: bl.Queue) -> None:
    pixels = rng.random((3, 8, 8), np.float32)
    with bl.Image(pixels, layers=True, mipmaps=True, max_anisotropy=4, queue=queue) as image:
        each = singles(pixels, queue, mipmaps=True, max_anisotropy=4)
        assert image.num_levels == 4 and image.descriptor == each[0].descriptor and image.sampler == each[0].sampler
        for level in range(4):
            np.testing.assert_array_equal(image.numpy(level), [one.numpy(level) for one in each])
        coords, levels = rng.uniform(0, 8, (10, 2)), rng.uniform(0, 3, 10)
        which = np.arange(10) % 3
        expected = np.array([one.sample(coords, level=levels) for one in each])
        np.testing.assert_array_equal(image.sample(coords, level=levels), expected)
        picked = expected[which, np.arange(10)]
        np.testing.assert_array_equal(image.sample(coords, level=levels, layers=which), picked)
        dx, dy = rng.uniform(0, 3, (10, 2)), [0.5, 1.0]
        expected = np.array([one.sample(coords, dx=dx, dy=dy) for one in each])[which, np.arange(10)]
        np.testing.assert_array_equal(image.sample(coords, dx=dx, dy=dy, layers=which), expected)
        fetched = [one.fetch([[1, 1], [0, 1]], level=2) for one in each]
        np.testing.assert_array_equal(image.fetch([[1, 1], [0, 1]], level=2), fetched)


def test_lines(rng: np.random.Generator, queue: bl.Queue, make: Callable[..., bl.Image]) -> None:
    pixels = rng.random((LAYERS, 8), np.float32)
    with make(pixels, queue=queue) as image:
        each = singles(pixels, queue, mipmaps=image._mipmaps)
        coords = rng.uniform(0, 8, 5)
        np.testing.assert_array_equal(image.sample(coords), [one.sample(coords) for one in each])
        np.testing.assert_array_equal(image.resize(4), [one.resize(4) for one in each])


def test_results_go_to_out(rng: np.random.Generator, queue: bl.Queue, make: Callable[..., bl.Image]) -> None:
    pixels = rng.random((LAYERS, 6, 8), np.float32)
    coords = rng.uniform(0, 6, (5, 2)).astype(np.float32)
    with make(pixels, queue=queue) as image:
        for call, shape in (
            (lambda out: image.sample(coords, out=out), (LAYERS, 5)),
            (lambda out: image.sample(coords, layers=np.arange(5), out=out), (5,)),
            (lambda out: image.fetch([[1, 1], [0, 1]], out=out), (LAYERS, 2)),
            (lambda out: image.resize((2, 3), out=out), (LAYERS, 2, 3)),
            (lambda out: image.warp([[1, 0, 0], [0, 1, 0]], (6, 8), out=out), (LAYERS, 6, 8)),
        ):
            host, device = np.empty(shape, np.float32), bl.usm_empty(shape, np.float32, queue)
            assert call(host) is host and call(device) is device
            np.testing.assert_array_equal(host, call(None))
            np.testing.assert_array_equal(device.numpy(), host)


def test_coordinates_on_the_device(rng: np.random.Generator, queue: bl.Queue, make: Callable[..., bl.Image]) -> None:
    pixels = rng.random((LAYERS, 6, 8), np.float32)
    points = rng.uniform(0, 6, (50, 2)).astype(np.float32)
    coords = bl.usm_empty(points.shape, np.float32, queue).copy_from(points)
    which = bl.usm_empty(50, np.int32, queue).copy_from(np.arange(50) % LAYERS)
    with make(pixels, queue=queue) as image:
        for options, layers in (
            ({}, {}),
            ({"layers": which}, {"layers": which.numpy()}),
            ({"layers": 4}, {"layers": 4}),
        ):
            values = image.sample(coords, **options)
            assert isinstance(values, bl.UsmArray)
            np.testing.assert_array_equal(values.numpy(), image.sample(points, **layers))


def test_new_pixels(rng: np.random.Generator, queue: bl.Queue, make: Callable[..., bl.Image]) -> None:
    pixels = rng.random((2, LAYERS, 6, 8), np.float32)
    with make(pixels[0], queue=queue) as image:
        assert image.update(pixels[1]) is None
        np.testing.assert_array_equal(image.numpy(), pixels[1])
        event = image.update(bl.usm_empty(pixels[0].shape, np.float32, queue).copy_from(pixels[0]))
        assert event is not None
        np.testing.assert_array_equal(image.numpy(), pixels[0])
        with raises(bl.InvalidError):
            image.update(pixels[0, :-1])


def test_pixels_on_the_device(rng: np.random.Generator, queue: bl.Queue, make: Callable[..., bl.Image]) -> None:
    pixels = rng.random((LAYERS, 6, 8), np.float32)
    with make(bl.usm_empty(pixels.shape, np.float32, queue).copy_from(pixels), queue=queue) as image:
        np.testing.assert_array_equal(image.numpy(), pixels)
        picture = image.resize((3, 4))
        assert isinstance(picture, bl.UsmArray)
        with make(pixels, queue=queue) as other:
            np.testing.assert_array_equal(picture.numpy(), other.resize((3, 4)))


def test_handles_belong_to_the_parts(queue: bl.Queue, make: Callable[..., bl.Image]) -> None:
    image = make(np.arange(LAYERS * 4, dtype=np.float32).reshape(LAYERS, 2, 2), queue=queue)
    for refused in (lambda: image.handle, lambda: image.memory, image.unsampled_handle):
        with raises(bl.InvalidError, names="parts"):
            refused()
    first = image.parts[0]
    assert first.handle and first.memory.get_descriptor() == first.descriptor
    assert "7 layers" in repr(image) and "<img" in image._repr_html_()
    for made in (copy.copy(image), pickle.loads(pickle.dumps(image))):
        np.testing.assert_array_equal(made.numpy(), image.numpy())
        assert made.num_levels == image.num_levels
        made.close()
    image.close()
    image.close()
    assert "closed" in repr(image)
    for refused in (
        lambda: image.parts,
        lambda: image.numpy(),
        lambda: image.sample([[0.5, 0.5]]),
        lambda: image.handle,
    ):
        with raises(bl.InvalidError):
            refused()


def test_what_does_not_fit_is_refused(queue: bl.Queue, make: Callable[..., bl.Image]) -> None:
    with make(np.zeros((LAYERS, 2, 2), np.float32), queue=queue) as image:
        for refused in (
            lambda: image.sample([[0.5, 0.5]], layers=LAYERS),
            lambda: image.sample([[0.5, 0.5]], layers=-1),
            lambda: image.sample([[0.5, 0.5]], layers=0.5),
            lambda: image.sample([0.5, 0.5, 0.5]),
            lambda: image.sample([[0.5, 0.5]] * 3, layers=[0, 1]),
            lambda: image.fetch([[0.5, 0.5]]),
            lambda: image.fetch([[2, 0]]),
            lambda: image.fetch([[0, 0]], level=9),
            lambda: image.resize((1, 0)),
            lambda: image.warp([[1]], (2, 2)),
            lambda: image.numpy(9),
        ):
            with raises(bl.InvalidError):
                refused()
    with raises(bl.InvalidError):
        make(np.zeros((LAYERS, 2, 2), np.complex64), queue=queue)
    with raises(bl.InvalidError):
        bl.Image(np.zeros((6, 2, 2), np.float32), layers=True, cubemap=True, queue=queue)


def test_ten_thousand_pictures(rng: np.random.Generator, queue: bl.Queue) -> None:
    most = layer_groups.layers_of_part(queue, False)
    pixels = rng.integers(0, 256, (10_000, 8, 8, 3)).astype(np.uint8)
    with bl.Image(pixels, layers=True, queue=queue) as image:
        assert (len(image.parts) == 1) == (most is None or most >= 10_000)
        which = rng.integers(0, 10_000, 2000)
        places = rng.integers(0, 8, (2000, 2))
        expected = (pixels[which, places[:, 1], places[:, 0]] / np.float32(255)).astype(np.float32)
        np.testing.assert_allclose(image.sample(places + 0.5, layers=which), expected, atol=1e-6)
        np.testing.assert_array_equal(image.numpy(), pixels)
        small = image.resize((4, 4))
    blocks = pixels.reshape(10_000, 4, 2, 4, 2, 3).mean((2, 4))
    assert np.abs(small - blocks).max() <= 0.5


def test_maps_and_fields_of_a_group(rng: np.random.Generator, queue: bl.Queue, make: Callable[..., bl.Image]) -> None:
    pixels = rng.integers(0, 256, (LAYERS, 6, 8, 4)).astype(np.uint8)
    matrices = np.eye(2, 3) + rng.uniform(-0.2, 0.2, (LAYERS, 2, 3))
    field, coords = rng.normal(0, 2, (5, 7, 2)), rng.uniform(0, 6, (3, 2))
    with make(pixels, queue=queue) as image:
        each = singles(pixels, queue, mipmaps=image._mipmaps)
        expected = [one.warp(matrix, (5, 7), displacement=field) for one, matrix in zip(each, matrices)]
        np.testing.assert_array_equal(image.warp(matrices, (5, 7), displacement=field), expected)
        expected = [one.warp(matrices[0], (5, 7)) for one in each]
        np.testing.assert_array_equal(image.warp(matrices[0], (5, 7)), expected)
        np.testing.assert_array_equal(image.remap(coords), [one.remap(coords) for one in each])
        relative = [one.remap(field, relative=True) for one in each]
        there = bl.usm_empty(field.shape, np.float32, queue).copy_from(field.astype(np.float32))
        found = image.remap(there, relative=True)
        assert isinstance(found, bl.UsmArray)
        np.testing.assert_array_equal(found.numpy(), relative)
        with raises(bl.InvalidError, names="7 layers"):
            image.warp(matrices[:2], (5, 7))


def test_filters_of_a_group(rng: np.random.Generator, queue: bl.Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layer_groups, "limit", lambda device, name: 3)
    pixels = rng.integers(-1000, 1000, (LAYERS, 6, 8)).astype(np.int16)
    coords, which = rng.uniform(-2, 9, (20, 2)), rng.integers(0, LAYERS, 20)
    options: dict[str, Any] = {"filtering": "cubic", "precision": "exact", "addressing": "clamp", "fill": -1000}
    with bl.Image(pixels, layers=True, queue=queue, **options) as image:
        assert len(image.parts) == 3
        assert (image.filtering, image.precision, image.fill) == ("cubic", "exact", -1000)
        each = singles(pixels, queue, **options)
        expected = np.array([one.sample(coords) for one in each])
        np.testing.assert_array_equal(image.sample(coords), expected)
        np.testing.assert_array_equal(image.sample(coords, layers=which), expected[which, range(20)])
        np.testing.assert_array_equal(image.remap(coords), [one.remap(coords) for one in each])
        image.update(pixels[::-1])
        np.testing.assert_array_equal(image.sample(coords), expected[::-1])
