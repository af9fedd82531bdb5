"""Arguments that ``Image`` refuses, with messages that name the permitted values."""

from __future__ import annotations

import inspect
import pydoc
import warnings
from typing import Any

import numpy as np
import pytest

import bindless as bl
from tests.support.error_checks import raises

GREY = np.zeros((4, 5), np.float32)


@pytest.mark.parametrize(
    ("array", "options", "message"),
    [
        (np.zeros((0, 5), np.float32), {}, "shape (0, 5)"),
        (np.zeros((4, 0, 3), np.float32), {}, None),
        (np.zeros((4, 5), np.int64), {}, "int64"),
        (np.zeros((4, 5), np.complex64), {}, "complex64"),
        (np.array([["a"]]), {}, "<U1"),
        ("photo.jpg", {}, "Image.open"),
        (np.float32(1), {}, "shape ()"),
        (np.zeros((2, 3, 4, 5, 4), np.float32), {}, "shape (2, 3, 4, 5, 4)"),
        (np.zeros((2, 3, 4, 5), np.float32), {"dimensions": 3}, None),
        (GREY, {"layers": True, "cubemap": True}, None),
        (GREY, {"filtering": "area"}, ("filtering='area'", "'nearest', 'linear'")),
        (GREY, {"addressing": "wrap"}, ("addressing='wrap'", "repeat")),
        (np.zeros((2, 3, 4), np.float32), {"addressing": ("repeat", "repeat"), "dimensions": 3}, None),
        (GREY, {"addressing": ("repeat",) * 4}, None),
        (GREY, {"addressing": "none"}, None),
        (GREY, {"addressing": None}, None),
        (GREY, {"coordinate": "pixels"}, "coordinate='pixels'"),
        (GREY, {"channel_type": "unorm_int8"}, ("unorm_int8", "uint8", "float32")),
        (GREY, {"channel_type": "float"}, "channel_type='float'"),
        (GREY, {"max_anisotropy": 4}, ("max_anisotropy=4.0", "mipmaps=True")),
        (GREY, {"max_anisotropy": np.nan}, "max_anisotropy"),
        (GREY.astype(np.int32), {}, None),
        (np.zeros((5, 4, 4), np.float32), {"cubemap": True}, None),
        (np.zeros((6, 4, 5), np.float32), {"cubemap": True}, None),
    ],
)
def test_arrays_and_options(queue: bl.Queue, array: Any, options: dict[str, Any], message: object) -> None:
    with raises(bl.InvalidError, names=message):
        bl.Image(array, queue=queue, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"coords": [[1, 2, 3]]}, "shape (1, 3); the last axis is (x, y), 2 long"),
        ({"coords": 1.0}, "shape ()"),
        ({"coords": [["a", "b"]]}, "<U1"),
        ({"coords": [[1j, 0]]}, "complex128"),
        ({"coords": [[1, 1]], "level": 1}, "mipmaps=True"),
        ({"coords": [[1, 1]], "dx": [1, 0]}, None),
        ({"coords": [[1, 1]], "dx": [1, 0], "dy": [0, 1]}, "mipmaps=True"),
        ({"coords": [[1, 1]], "layers": 0}, "layers=True"),
    ],
)
def test_samples(queue: bl.Queue, options: dict[str, Any], message: object) -> None:
    coords = options.pop("coords")
    with bl.Image(GREY, queue=queue) as image, raises(bl.InvalidError, names=message):
        image.sample(coords, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 1, "dx": [1, 0], "dy": [0, 1]}, None),
        ({"level": [1, 2, 3]}, ("level has shape (3,)", "broadcasts to (2,)")),
        ({"level": "fine"}, "level"),
        ({"dx": [1, 0, 0], "dy": [0, 1, 0]}, "dx has shape (3,)"),
    ],
)
def test_levels(queue: bl.Queue, options: dict[str, Any], message: object) -> None:
    with bl.Image(GREY, mipmaps=True, queue=queue) as image, raises(bl.InvalidError, names=message):
        image.sample([[1, 1], [2, 2]], **options)


def test_fetches(queue: bl.Queue) -> None:
    with bl.Image(GREY, queue=queue) as image:
        for coords, message in (
            ([[1.0, 1.0]], None),
            ([[0, 0], [5, 0]], ("coords[1]", "(5, 0)", "0", "4")),
            ([[0, -1]], ("0", "3")),
            ([[0, 2**40]], ("0", "3")),
            ([0], None),
        ):
            with raises(bl.InvalidError, names=message):
                image.fetch(coords)
        for level in (1, -1):
            with raises(bl.InvalidError, names="level"):
                image.numpy(level)
    with bl.Image(GREY, mipmaps=True, queue=queue) as image:
        with raises(bl.InvalidError, names=(0, 1)):
            image.fetch([[0, 2]], level=1)
        with raises(bl.InvalidError, names=("levels 0", 2)):
            image.fetch([[0, 0]], level=3)


def test_layers(queue: bl.Queue) -> None:
    with bl.Image(np.zeros((3, 4, 5), np.float32), layers=True, queue=queue) as image:
        for layers, message in ((3, ("0", "2")), (-1, ("0", "2")), ([0, 1], None), (0.5, None)):
            with raises(bl.InvalidError, names=message):
                image.sample([[1, 1], [1, 1], [2, 2]], layers=layers)


@pytest.mark.parametrize("size", [(0, 4), (-1, 4), (4,), (4, 4, 4), (2.5, 4), "4x4"])
def test_sizes(queue: bl.Queue, size: Any) -> None:
    with bl.Image(GREY, queue=queue) as image, raises(bl.InvalidError, names="shape="):
        image.resize(size)


@pytest.mark.parametrize(
    ("matrix", "shape", "message"),
    [
        (np.eye(2), (4, 4), ("shape (2, 2)", "(2, 3)", "(3, 3)")),
        ([[1, 0, np.nan], [0, 1, 0]], (4, 4), None),
        ("rotate", (4, 4), None),
        (np.eye(3), (0, 4), "shape="),
        (np.eye(3), (4, 4, 3), "shape="),
    ],
)
def test_warps(queue: bl.Queue, matrix: Any, shape: Any, message: object) -> None:
    with bl.Image(GREY, queue=queue) as image, raises(bl.InvalidError, names=message):
        image.warp(matrix, shape)


def test_kinds_without_a_picture(queue: bl.Queue) -> None:
    with bl.Image(np.zeros((6, 4, 4), np.float32), cubemap=True, queue=queue) as image:
        with raises(bl.InvalidError, names="cubemap"):
            image.resize((2, 2))
        with raises(bl.InvalidError, names="cubemap"):
            image.warp(np.eye(3), (2, 2))
        with raises(bl.InvalidError):
            image.sample([[1.0, 2.0]])
    volume = np.zeros((4, 5, 6), np.float32)
    with bl.Image(volume, queue=queue) as image, raises(bl.InvalidError):
        image.warp(np.eye(3), (2, 2))
    with raises(bl.InvalidError, names="panorama"):
        bl.Image.from_equirectangular(np.zeros(4, np.float32), queue=queue)
    with raises(bl.InvalidError, names="size=0"):
        bl.Image.from_equirectangular(np.zeros((4, 8), np.float32), 0, queue=queue)


def test_memory_beyond_the_device(queue: bl.Queue) -> None:
    """An image far larger than any memory is refused before the array is touched."""
    endless = np.broadcast_to(np.float32(0), (1 << 14, 1 << 14, 1 << 14))
    with pytest.raises((bl.MemoryAllocationError, bl.InvalidError)):
        bl.Image(endless, dimensions=3, queue=queue)


def test_a_refusal_has_no_other_error_as_its_context(queue: bl.Queue) -> None:
    """Lists cannot be keys of the cache of plans; the traceback does not show that."""
    with raises(bl.InvalidError) as refused:
        bl.Image(GREY, addressing=["repeat", "sideways"], queue=queue)
    assert refused.value.__context__ is None


def test_the_signature_names_the_options() -> None:
    assert inspect.signature(bl.Image) == inspect.signature(bl.Image.__init__.__get__(bl.Image.__new__(bl.Image)))


@pytest.mark.parametrize("shape", [(3, 32, 48), (1, 16, 16), (4, 20, 16), (32, 48, 5), (64, 32, 8)])
def test_a_volume_that_looks_like_a_picture_with_channels_is_told(queue: bl.Queue, shape: tuple[int, ...]) -> None:
    pixels = np.zeros(shape, np.float32)
    with pytest.warns(bl.ShapeWarning) as told, bl.Image(pixels, queue=queue) as image:
        assert image.size == shape[::-1]
        with raises(bl.InvalidError) as caught:
            image.sample([[1.0, 2.0]])
        assert "dimensions=" in str(caught.value)
        with raises(bl.InvalidError) as caught:
            image.resize((4, 4))
        assert "dimensions=" in str(caught.value)
    assert [one.filename for one in told] == [__file__]
    assert "dimensions=3" in str(told[0].message)


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((3, 32, 48), {"dimensions": 3}),
        ((32, 48, 5), {"dimensions": 3}),
        ((3, 32, 48), {"layers": True, "dimensions": 2}),
        ((3, 4, 5), {}),
        ((32, 48, 3), {}),
        ((5, 32, 48), {}),
        ((16, 16, 8), {}),
        ((32, 48, 64), {}),
        ((3, 32, 48, 4), {}),
        ((32, 48), {}),
    ],
)
def test_other_shapes_are_taken_silently(queue: bl.Queue, shape: tuple[int, ...], options: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bl.Image(np.zeros(shape, np.float32), queue=queue, **options).close()


@pytest.mark.parametrize("value", [None, {}, [None, 1], object(), (x for x in range(3))])
def test_what_is_no_array_is_named(queue: bl.Queue, value: Any) -> None:
    with raises(bl.InvalidError) as caught:
        bl.Image(value, queue=queue)
    assert f"array={value!r}" in str(caught.value)


def test_help_shows_the_parameters() -> None:
    text = pydoc.render_doc(bl.Image.__init__, renderer=pydoc.plaintext)
    assert "addressing" in text
    assert "max_anisotropy : float" in text
    assert list(inspect.signature(bl.Image).parameters) == list(inspect.signature(bl.Image.__init__).parameters)[1:]
