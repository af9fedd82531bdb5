"""``bindless.space.resample`` beside the computation in float64 of ``tests.oracle.space``."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from bindless import space
from tests.oracle.space import apply, indices, move
from tests.oracle.space import resample as expect
from tests.space.random_cases import grid, transform

# Affine parts alone; one field, between affine parts too; several fields; and B-splines.
KINDS = ["", "a", "d", "ad", "ada", "b", "aba", "dd", "adabd", "bdb"]


def picture(random: np.random.Generator, shape: tuple[int, ...], dtype: Any = np.float32) -> npt.NDArray[Any]:
    return (random.uniform(-100, 100, shape)).astype(dtype)


def case(dims: int, kinds: str, *more: object) -> tuple[np.random.Generator, space.Grid, space.Grid, Any, list[Any]]:
    random = np.random.default_rng(zlib.crc32(repr((dims, kinds, more)).encode()))
    source, target = grid(random, dims), grid(random, dims)
    parts, expected = transform(random, dims, kinds)
    return random, source, target, space.Sequence(parts) if parts else None, expected


@pytest.mark.parametrize("filtering", ["linear", "nearest"])
@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_pictures_through_transforms(queue: bl.Queue, dims: int, kinds: str, filtering: str) -> None:
    random, source, target, transform_, parts = case(dims, kinds, filtering)
    image = picture(random, source.shape)
    found = space.resample(image, source, target, transform_, filtering=filtering, fill=7.0, queue=queue)
    expected, steady = expect(
        image, source.index_matrix, target.shape, target.index_matrix, parts, nearest=filtering == "nearest", fill=7.0
    )
    assert found.dtype == np.float32 and steady.mean() > 0.9
    np.testing.assert_allclose(found[steady], expected[steady], rtol=0, atol=0.02 if filtering == "linear" else 0)


@pytest.mark.parametrize("addressing", ["extent", "clamp_to_edge", "border", "mirror"])
def test_cubic_pictures_pass_through_the_pixels(queue: bl.Queue, addressing: str) -> None:
    random, source, *_ = case(2, "", "cubic")
    image = picture(random, source.shape)
    found = space.resample(image, source, source, filtering="cubic", addressing=addressing, queue=queue)
    np.testing.assert_allclose(found, image, rtol=0, atol=2e-3)


@pytest.mark.parametrize("addressing", ["extent", "clamp_to_edge"])
@pytest.mark.parametrize("kinds", ["", "d", "b", "db"])
def test_cubic_pictures_of_planes_are_planes(queue: bl.Queue, kinds: str, addressing: str) -> None:
    """Far from the edges, through fields too, whatever the image is extended by."""
    random = np.random.default_rng(8)
    rows, columns = np.meshgrid(np.arange(60), np.arange(70), indexing="ij")
    source, target = space.Grid((60, 70), 0.5), space.Grid((5, 6), 0.8, (16.0, 14.0))
    lies = space.Grid((8, 8), 6.0, (-3.0, -3.0))
    fields = [random.normal(size=(8, 8, 2)) for _ in kinds]
    made = [(space.Displacement if kind == "d" else space.BSpline)(field, lies) for kind, field in zip(kinds, fields)]
    parts = [(field, lies.index_matrix, 1 if kind == "d" else 3) for kind, field in zip(kinds, fields)]
    places = move(apply(target.index_matrix, indices(target.shape)), parts) / 0.5
    transform_ = space.Sequence(made) if made else None
    plane = (2 * rows + columns).astype(np.float32)
    found = space.resample(plane, source, target, transform_, filtering="cubic", addressing=addressing, queue=queue)
    np.testing.assert_allclose(found, places[..., 0] + 2 * places[..., 1], rtol=0, atol=1e-3)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint16", "int32", "float16", "float64", "bool"])
def test_types_of_pixels(queue: bl.Queue, dtype: str) -> None:
    random, source, target, transform_, parts = case(2, "ada", dtype)
    image = (random.uniform(0, 100, source.shape) > 50) if dtype == "bool" else picture(random, source.shape, "int8")
    image = abs(image.astype(np.int16)).astype(dtype)
    found = space.resample(image, source, target, transform_, queue=queue)
    expected, steady = expect(image, source.index_matrix, target.shape, target.index_matrix, parts)
    assert found.dtype == dtype
    if dtype == "bool":
        assert (found == (expected >= 1))[steady & (abs(expected - 1) > 1e-3)].all()
    else:
        np.testing.assert_allclose(found[steady], expected[steady], rtol=0, atol=0.1 if dtype[0] == "f" else 0.51)


@pytest.mark.parametrize("kinds", ["a", "ada", "dbd"])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_stacks_and_channels(queue: bl.Queue, dims: int, kinds: str) -> None:
    random, source, target, transform_, parts = case(dims, kinds, "stacks")
    lies = source.index_matrix, target.shape, target.index_matrix, parts
    for stack, channels in (((), 3), ((), 6), ((2,), 0), ((2, 2), 0), ((2,), 2)):
        image = picture(random, (*stack, *source.shape, *((channels,) if channels else ())))
        found = space.resample(image, source, target, transform_, queue=queue)
        assert found.shape == (*stack, *target.shape, *((channels,) if channels else ()))
        for index in np.ndindex(*stack):
            expected, steady = expect(image[index], *lies)
            np.testing.assert_allclose(found[index][steady], expected[steady], rtol=0, atol=0.02)


def test_arrays_of_the_device(queue: bl.Queue) -> None:
    random, source, target, _, _ = case(2, "", "device")
    image = picture(random, source.shape)
    lies = grid(random, 2, (6, 7), 80.0)
    vectors = random.normal(size=(6, 7, 2)).astype(np.float32) * 3
    expected, steady = expect(
        image, source.index_matrix, target.shape, target.index_matrix, [(vectors, lies.index_matrix, 1)]
    )
    there = bl.usm_empty(image.shape, image.dtype, queue).copy_from(image)
    field = bl.usm_empty(vectors.shape, vectors.dtype, queue).copy_from(vectors)
    out = bl.usm_empty(target.shape, np.float32, queue)
    for pixels, moves, result in (
        (there, vectors, None),
        (there, field, None),
        (image, field, None),
        (there, field, out),
        (there, field[::, ::], out),
    ):
        found = space.resample(pixels, source, target, space.Displacement(moves, lies), out=result, queue=queue)
        assert result is None or found is result
        values = found.numpy() if isinstance(found, bl.UsmArray) else found
        np.testing.assert_allclose(values[steady], expected[steady], rtol=0, atol=0.02)


@pytest.mark.parametrize("filtering", ["linear", "cubic"])
def test_calls_that_come_again(device: bl.Device, context: bl.Context, filtering: str) -> None:
    """With other pixels, grids and transforms: the values of the first call of another queue."""
    random = np.random.default_rng(4)
    with bl.Queue(device, context, in_order=True) as queue, bl.Queue(device, context) as other:
        out = np.empty((5, 6, 7), np.int16)
        for turn in range(4):
            image = picture(random, (8, 9, 10), np.int16)
            source = space.Grid((8, 9, 10), random.uniform(0.5, 2, 3), random.uniform(-3, 3, 3))
            target = space.Grid((5, 6, 7), random.uniform(0.5, 2, 3))
            matrix = space.Affine.rotation(random.uniform(-20, 20, 3), (4, 5, 6))
            transform_ = (None, matrix, space.Sequence([matrix, matrix]), matrix.matrix)[turn]
            options: dict[str, Any] = {"filtering": filtering, "fill": -7}
            expected = space.resample(image, source, target, transform_, queue=other, **options)
            assert space.resample(image, source, target, transform_, out=out, queue=queue, **options) is out
            np.testing.assert_array_equal(out, expected)
            new = space.resample(image, source, target, transform_, queue=queue, **options)
            np.testing.assert_array_equal(new, expected)
        with pytest.raises(bl.ArgumentError):
            space.resample(image, source, target, space.Affine(np.eye(3)), out=out, queue=queue, **options)
        with pytest.raises(bl.ArgumentError):
            space.resample(image, space.Grid((8, 9, 11)), target, matrix, out=out, queue=queue, **options)


def through_fields(kinds: str, vectors: list[Any], lies: space.Grid) -> space.Sequence:
    made = {"d": space.Displacement, "b": space.BSpline}
    return space.Sequence([made[kind](values, lies) for kind, values in zip(kinds, vectors)])


@pytest.mark.parametrize("filtering", ["linear", "cubic"])
@pytest.mark.parametrize("kinds", ["d", "b", "dd"])
@pytest.mark.parametrize("on_device", [(), ("fields",), ("pixels", "out"), ("fields", "pixels", "out")])
def test_calls_with_fields_that_come_again(
    device: bl.Device, context: bl.Context, on_device: tuple[str, ...], kinds: str, filtering: str
) -> None:
    """With other vectors in the same memory, and on other grids: the values of the first call of another queue."""
    random = np.random.default_rng(5)
    source, target = grid(random, 3, (12, 13, 14)), grid(random, 3, (5, 6, 7))
    with bl.Queue(device, context, in_order=True) as queue, bl.Queue(device, context) as other:
        pixels = picture(random, source.shape)
        memory = [bl.usm_empty((5, 6, 7, 3), np.float32, queue) for _ in kinds]
        out = bl.usm_empty(target.shape, np.float32, queue) if "out" in on_device else None
        image = bl.usm_empty(pixels.shape, pixels.dtype, queue).copy_from(pixels) if "pixels" in on_device else pixels
        for _ in range(3):
            lies = grid(random, 3, (5, 6, 7), 70.0)
            vectors = [random.normal(size=(5, 6, 7, 3)).astype(np.float32) * 3 for _ in kinds]
            expected = space.resample(
                pixels, source, target, through_fields(kinds, vectors, lies), filtering=filtering, queue=other
            )
            moves = [there.copy_from(v) for there, v in zip(memory, vectors)] if "fields" in on_device else vectors
            found = space.resample(
                image, source, target, through_fields(kinds, moves, lies), filtering=filtering, out=out, queue=queue
            )
            assert out is None or found is out
            values = found.numpy() if isinstance(found, bl.UsmArray) else found
            np.testing.assert_allclose(values, expected, rtol=0, atol=1e-3)


class OnlyDLPack:
    """Vectors of a library that tells neither dtype nor strides but by DLPack."""

    def __init__(self, memory: bl.UsmArray) -> None:
        self.memory, self.shape = memory, memory.shape

    def __dlpack__(self, **options: Any) -> object:
        return self.memory.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        place: tuple[int, int] = self.memory.__dlpack_device__()
        return place


def test_vectors_that_are_known_by_dlpack_alone(device: bl.Device, context: bl.Context) -> None:
    random = np.random.default_rng(6)
    source, target, lies = grid(random, 2), grid(random, 2), grid(random, 2, (6, 7), 80.0)
    image, vectors = picture(random, source.shape), random.normal(size=(6, 7, 2)).astype(np.float32)
    expected, steady = expect(
        image, source.index_matrix, target.shape, target.index_matrix, [(vectors, lies.index_matrix, 1)]
    )
    with bl.Queue(device, context, in_order=True) as queue:
        memory = OnlyDLPack(bl.usm_empty(vectors.shape, vectors.dtype, queue).copy_from(vectors))
        for _ in range(2):
            values = space.resample(image, source, target, space.Displacement(memory, lies), queue=queue)
            np.testing.assert_allclose(values[steady], expected[steady], rtol=0, atol=0.02)


def test_results_in_the_callers_array(queue: bl.Queue) -> None:
    random, source, target, transform_, parts = case(3, "ad", "out")
    image = picture(random, source.shape, np.int16)
    out = np.full(target.shape, -1, np.int16)
    assert space.resample(image, source, target, transform_, out=out, queue=queue) is out
    expected, steady = expect(image, source.index_matrix, target.shape, target.index_matrix, parts)
    np.testing.assert_allclose(out[steady], expected[steady], rtol=0, atol=0.51)


def test_positions_far_from_the_origin(queue: bl.Queue) -> None:
    """A thousandth of a pixel at 2^16, with large origins and a rotation."""
    size = min(1 << 16, int(queue.device.get_info("image2d_max_width")))
    ramp = np.broadcast_to(np.arange(size, dtype=np.float32) % 128, (2, size))
    turn = space.Affine.rotation(30, (5000.0, -3000.0))
    source = space.Grid((2, size), (0.3, 0.3), (1e4, -2e4), turn.matrix[:2, :2])
    shifted = source.index_matrix @ (0.25, 0, 1)
    target = space.Grid((2, size), (0.3, 0.3), shifted[:2], turn.matrix[:2, :2])
    lies = space.Grid((4, 4), (2e4, 2e4), (0.0, -3e4))
    for transform_ in (None, space.Displacement(np.zeros((4, 4, 2)), lies)):
        found = space.resample(np.ascontiguousarray(ramp), source, target, transform_, queue=queue)
        expected = np.where(np.arange(size) % 128 == 127, 0.75 * 127, np.arange(size) % 128 + 0.25)
        np.testing.assert_allclose(found[:, :-1], np.broadcast_to(expected, (2, size))[:, :-1], rtol=0, atol=0.13)
        inner = np.arange(size) % 128 < 127
        np.testing.assert_allclose(found[:, inner], np.broadcast_to(expected, (2, size))[:, inner], rtol=0, atol=1e-3)


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("spread", [0.0, 0.3])
def test_the_edges_of_pixels_and_of_fields(queue: bl.Queue, spread: float, rows: int) -> None:
    """Edge values within half a pixel, the fill value beyond; a field ends half a pixel from its centres."""
    image = np.array([[10.0, 20.0], [30.0, 40.0]], np.float32)
    lies = space.Grid((2, 2))
    target = space.Grid((1, 5), (0.6, 1.0), (-0.7, 0.0))
    found = space.resample(image, lies, target, fill=-1.0, queue=queue)
    np.testing.assert_allclose(found, [[-1.0, 10.0, 15.0, 20.0, -1.0]], atol=1e-5)
    field = space.Displacement(np.full((rows, 2, 2), [spread, 1.0]), space.Grid((rows, 2), (1.0, 4.0)))
    found = space.resample(image, lies, target, field, fill=-1.0, queue=queue)
    expected = [-1.0] + [30.0 + 10 * np.clip(x + spread, 0, 1) if x + spread <= 1.5 else -1.0 for x in (-0.1, 0.5, 1.1)]
    np.testing.assert_allclose(found, [[*expected, -1.0]], atol=1e-4)


def test_other_addressing(queue: bl.Queue) -> None:
    ramp = np.array([0.0, 10.0, 20.0, 30.0], np.float32)
    lies, target = space.Grid(4), space.Grid(6, 1.0, -1.25)
    inside = [7.5, 17.5, 27.5]
    for addressing, first, second, last in (
        ("clamp_to_edge", 0.0, 0.0, 30.0),
        ("border", -1.0, -0.25, 6.75),
        ("repeat", 27.5, 7.5, 7.5),
        ("mirrored_repeat", 2.5, 0.0, 30.0),
        ("mirror", 12.5, 2.5, 22.5),
    ):
        found = space.resample(ramp, lies, target, addressing=addressing, fill=-1.0, queue=queue)
        np.testing.assert_allclose(found[2:5], inside, atol=1e-4)
        np.testing.assert_allclose(found[[0, 1, 5]], [first, second, last], atol=1e-4, err_msg=addressing)
