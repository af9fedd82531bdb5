"""``Image(array, grid=...).resample`` beside the computation in float64 of ``tests.oracle.space``."""

from __future__ import annotations

import copy
import pickle
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from bindless import space
from tests.oracle.space import resample as expect
from tests.space.random_cases import grid, transform

EXACT: dict[str, Any] = {"precision": "exact", "addressing": "extent", "fill": 7.0}


class Case:
    """Grids, a transform, and pixels of random numbers."""

    def __init__(self, dims: int, kinds: str, *more: object) -> None:
        self.random = np.random.default_rng(zlib.crc32(repr((dims, kinds, more)).encode()))
        self.source, self.target = grid(self.random, dims), grid(self.random, dims)
        parts, self.parts = transform(self.random, dims, kinds)
        self.transform = space.Sequence(parts) if parts else None

    def pixels(self, *channels: int, stack: tuple[int, ...] = ()) -> npt.NDArray[Any]:
        return self.random.uniform(-100, 100, (*stack, *self.source.shape, *channels)).astype(np.float32)

    def check(self, image: npt.NDArray[Any], values: npt.NDArray[Any], **options: Any) -> None:
        expected, steady = expect(
            image, self.source.index_matrix, self.target.shape, self.target.index_matrix, self.parts,
            **{"fill": 7.0, **options},
        )  # fmt: skip
        assert values.dtype == np.float32 and values.shape == expected.shape and steady.mean() > 0.9
        np.testing.assert_allclose(values[steady], expected[steady], rtol=0, atol=0.02)


@pytest.mark.parametrize("coordinate", ["unnormalized", "normalized"])
@pytest.mark.parametrize("kinds", ["", "a", "d", "ada", "b", "dd", "adabd"])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_pictures_through_transforms(queue: bl.Queue, dims: int, kinds: str, coordinate: str) -> None:
    case = Case(dims, kinds)
    pixels = case.pixels()
    with bl.Image(pixels, grid=case.source, coordinate=coordinate, queue=queue, **EXACT) as image:
        assert image.grid is case.source and image.size == case.source.shape[::-1]
        case.check(pixels, image.resample(case.target, case.transform))
        out = np.empty(case.target.shape, np.float32)
        assert image.resample(case.target, case.transform, out=out) is out
        case.check(pixels, out)


@pytest.mark.parametrize("kinds", ["a", "adabd"])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_the_texture_unit(queue: bl.Queue, dims: int, kinds: str) -> None:
    """Coordinates are rounded to 1/256 of a pixel, normalized ones too."""
    case = Case(dims, kinds, "unit")
    pixels = case.pixels()
    for options in ({}, {"coordinate": "normalized"}):
        with bl.Image(pixels, grid=case.source, queue=queue, **options) as image:
            values = image.resample(case.target, case.transform)
        expected = space.resample(
            pixels, case.source, case.target, case.transform, addressing="clamp_to_edge", queue=queue
        )
        np.testing.assert_allclose(values, expected, rtol=0, atol=200 * dims / 512)


@pytest.mark.parametrize("addressing", ["extent", "clamp_to_edge", "border", "mirror", "repeat"])
@pytest.mark.parametrize("kinds", ["a", "db"])
def test_cubic_pictures_are_those_of_arrays(queue: bl.Queue, kinds: str, addressing: str) -> None:
    case = Case(2, kinds, addressing)
    pixels = case.pixels()
    options: dict[str, Any] = {"filtering": "cubic", "precision": "exact", "addressing": addressing}
    with bl.Image(pixels, grid=case.source, queue=queue, **options) as image:
        values = image.resample(case.target, case.transform)
    expected = space.resample(pixels, case.source, case.target, case.transform, queue=queue, **options)
    np.testing.assert_allclose(values, expected, rtol=0, atol=2e-3)


@pytest.mark.parametrize("mipmaps", [False, True])
@pytest.mark.parametrize("kinds", ["a", "ad"])
def test_layers_and_channels(queue: bl.Queue, kinds: str, mipmaps: bool) -> None:
    if mipmaps and not queue.device.has(bl.Aspect.ext_oneapi_mipmap):
        pytest.skip("the device has no mipmaps")
    case = Case(2, kinds, "layers")
    pixels = case.pixels(2, stack=(3,))
    target = space.Grid(case.target.shape, np.min(case.source.spacing), case.target.origin, case.target.direction)
    case.target = target  # enlarged: no level but the first is read
    options = {**EXACT, "fill": 0.0 if mipmaps else 7.0}
    with bl.Image(pixels, layers=True, mipmaps=mipmaps, grid=case.source, queue=queue, **options) as image:
        values = image.resample(target, case.transform)
        assert values.shape == (3, *target.shape, 2)
    for layer in range(3):
        if not (mipmaps and kinds == "a"):
            case.check(pixels[layer], values[layer], fill=options["fill"])


def test_arrays_of_the_device(queue: bl.Queue) -> None:
    case = Case(2, "", "device")
    lies = grid(case.random, 2, (6, 7), 80.0)
    vectors = case.random.normal(size=(6, 7, 2)).astype(np.float32) * 3
    case.parts = [(vectors, lies.index_matrix, 1)]
    pixels, there = case.pixels(), bl.usm_empty(case.source.shape, np.float32, queue)
    there.copy_from(pixels)
    field = bl.usm_empty(vectors.shape, vectors.dtype, queue).copy_from(vectors)
    out = bl.usm_empty(case.target.shape, np.float32, queue)
    for array, moves, result in (
        (there, vectors, None),
        (there, field, None),
        (pixels, field, None),
        (there, field, out),
    ):
        with bl.Image(array, grid=case.source, queue=queue, **EXACT) as image:
            values = image.resample(case.target, space.Displacement(moves, lies), out=result)
            assert isinstance(values, bl.UsmArray) is (array is there) and (result is None or values is result)
            case.check(pixels, values.numpy() if isinstance(values, bl.UsmArray) else values)


def test_copies_have_the_grid(queue: bl.Queue) -> None:
    case = Case(3, "a", "copies")
    pixels = case.pixels()
    with bl.Image(pixels, grid=case.source, queue=queue, **EXACT) as image:
        with copy.copy(image) as other:
            assert other.grid is case.source
            case.check(pixels, other.resample(case.target, case.transform))
        other = pickle.loads(pickle.dumps(image))
        with other:
            assert other.grid is not None and (other.grid.index_matrix == case.source.index_matrix).all()


def test_a_grid_tells_the_axes(queue: bl.Queue) -> None:
    pixels = np.zeros((5, 6, 3), np.float32)
    for lies in (space.Grid((5, 6)), space.Grid((5, 6, 3))):
        with bl.Image(pixels, grid=lies, queue=queue) as image:
            assert image.size == lies.shape[::-1]


def test_errors(queue: bl.Queue) -> None:
    pixels, lies = np.zeros((5, 6), np.float32), space.Grid((5, 6))
    wrong: list[Any] = [space.Grid((6, 5)), space.Grid((5, 6, 1)), (5, 6)]
    for grid_ in wrong:
        with pytest.raises(bl.InvalidError):
            bl.Image(pixels, grid=grid_, queue=queue)
    with pytest.raises(bl.ArgumentError):
        bl.Image(pixels, grid=lies, dimensions=1, queue=queue)
    with pytest.raises(bl.ArgumentError):
        bl.Image(np.zeros((6, 5, 5), np.float32), grid=space.Grid((5, 5)), cubemap=True, queue=queue)
    with bl.Image(pixels, queue=queue) as image, pytest.raises(bl.ArgumentError):
        image.resample(lies)
    with bl.Image(pixels, grid=lies, queue=queue) as image:
        targets: list[Any] = [(5, 6), space.Grid((5, 6, 7)), None]
        for target in targets:
            with pytest.raises(bl.ArgumentError):
                image.resample(target)
        with pytest.raises(bl.ArgumentError):
            image.resample(lies, space.Affine(np.eye(4)))
        with pytest.raises(bl.InvalidError):
            image.resample(lies, out=np.zeros((5, 5), np.float32))
    with pytest.raises(bl.InvalidError):
        image.resample(lies)
