"""Pictures of an image that come again, in C, against those of new images, which Python draws."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.image import repetition
from tests.oracle.area_means import area_means
from tests.oracle.pictures import random_pixels
from tests.support.error_checks import raises
from tests.support.pixels import usm

PLANE, SIZE = (6, 8), (7, 9)
TIMES = 3


@pytest.fixture(params=[True, False], ids=["in order", "out of order"])
def own(device: bl.Device, request: pytest.FixtureRequest) -> Iterator[bl.Queue]:
    with bl.Queue(device, in_order=request.param) as queue:
        yield queue


def pixels(shape: tuple[int, ...] = SIZE, seed: int = 0) -> Any:
    return np.random.default_rng(seed).random(shape).astype(np.float32)


def maps(dims: int = 2) -> list[Any]:
    """Affine and projective matrices, in several forms."""
    random = np.random.default_rng(dims).random((3, dims, dims + 1)) / 5
    affine = [np.eye(dims, dims + 1) + entries for entries in random]
    projective = np.vstack([affine[0], [*[0.01] * dims, 1.0]])
    integers = np.eye(dims, dims + 1).astype(int).tolist()
    return [*affine, projective, affine[1].tolist(), np.asfortranarray(affine[2]), affine[0].astype("f4"), integers]


def numbers(array: Any) -> Any:
    return array.numpy() if isinstance(array, bl.UsmArray) else np.asarray(array)


def of_new_image(queue: bl.Queue, draw: Callable[[bl.Image], Any], array: Any, **options: Any) -> Any:
    with bl.Image(array, queue=queue, **options) as image:
        picture = draw(image)
        queue.wait()
        return numbers(picture).copy()


OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"precision": "exact"},
    {"precision": "exact", "coordinate": "normalized"},
    {"filtering": "cubic"},
    {"addressing": "border", "fill": 2.0},
)


@pytest.mark.parametrize("in_usm", [False, True], ids=["host", "usm"])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_calls_that_differ_in_one_part(own: bl.Queue, options: dict[str, Any], in_usm: bool) -> None:
    """Matrices, shapes, vectors and arrays in turns: each picture is that of a new image."""

    def array(values: Any) -> Any:
        return usm(own, values) if in_usm else values

    out, other = array(np.zeros(PLANE, np.float32)), array(np.zeros((5, 4), np.float32))
    moves = array(np.random.default_rng(1).random((*PLANE, 2)).astype(np.float32))
    wide = array(numbers(moves).astype(np.float64))
    draws: list[Callable[[bl.Image], Any]] = []
    for matrix in maps():
        draws += [
            lambda image, matrix=matrix: image.warp(matrix, PLANE, out=out),
            lambda image, matrix=matrix: image.warp(matrix, (5, 4), out=other),
            lambda image, matrix=matrix: image.warp(matrix, PLANE),
            lambda image, matrix=matrix: image.warp(matrix, PLANE, displacement=moves, out=out),
            lambda image, matrix=matrix: image.warp(matrix, PLANE, displacement=wide, out=out),
        ]
    draws += [
        lambda image: image.remap(moves, out=out),
        lambda image: image.remap(wide, out=out),
        lambda image: image.remap(moves, relative=True, out=out),
        lambda image: image.remap(moves),
        lambda image: image.resize((14, 18)),
    ]
    array_of_image = pixels()
    right = [of_new_image(own, draw, array_of_image, **options) for draw in draws]
    with bl.Image(array_of_image, queue=own, **options) as image:
        for _ in range(TIMES):
            for draw, picture in zip(draws, right):
                found = draw(image)
                own.wait()
                assert np.array_equal(numbers(found), picture)


@pytest.mark.parametrize("in_usm", [False, True], ids=["host", "usm"])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_samples_that_differ_in_one_part(own: bl.Queue, options: dict[str, Any], in_usm: bool) -> None:
    """Numbers of coordinates, their axes and types, and arrays at addresses of any alignment."""

    def array(values: Any) -> Any:
        return usm(own, values) if in_usm else values

    random = np.random.default_rng(2)
    points = random.random((12, 2)).astype(np.float32)
    pool, memory = array(random.random(64).astype(np.float32)), array(np.zeros(64, np.float32))
    shapes = [array(points), array(points.reshape(3, 4, 2)), array(points[:5].copy()), array(points.astype(np.float64))]
    draws: list[Callable[[bl.Image], Any]] = [
        lambda image, coords=coords: image.sample(coords, out=array(np.zeros(coords.shape[:-1], np.float32)))
        for coords in shapes
    ]
    draws += [lambda image, coords=coords: image.sample(coords) for coords in shapes]
    draws += [
        lambda image, at=at: image.sample(pool[at : at + 24].reshape(12, 2), out=memory[at : at + 12])
        for at in (0, 1, 2, 4, 5)
    ]
    right = [of_new_image(own, draw, pixels(), **options) for draw in draws]
    with bl.Image(pixels(), queue=own, **options) as image:
        for _ in range(TIMES):
            for draw, values in zip(draws, right):
                found = draw(image)
                own.wait()
                assert np.array_equal(numbers(found), values)
        for wrong in (array(np.zeros((12, 3), np.float32)), array(np.zeros((12, 1), np.float32))):
            with raises(bl.InvalidError):
                image.sample(wrong)
    with raises(bl.InvalidError):
        image.sample(shapes[0])


def test_layers_with_a_matrix_each(own: bl.Queue) -> None:
    stack, several = pixels((3, *SIZE)), np.stack(maps()[:3])
    right = [
        of_new_image(own, lambda image, m=m: image.warp(m, PLANE), stack, layers=True) for m in (several, several[0])
    ]
    with bl.Image(stack, layers=True, queue=own) as image:
        for _ in range(TIMES):
            for matrix, picture in zip((several, several[0]), right):
                assert np.array_equal(image.warp(matrix, PLANE), picture)


def test_volumes(own: bl.Queue) -> None:
    cube, shape = pixels((4, 5, 6)), (3, 4, 5)
    with bl.Image(cube, dimensions=3, queue=own) as image:
        for _ in range(TIMES):
            for matrix in maps(3):
                right = of_new_image(own, lambda new, m=matrix: new.warp(m, shape), cube, dimensions=3)
                assert np.array_equal(image.warp(matrix, shape), right)


@pytest.mark.parametrize("filtering", ["linear", "cubic"])
def test_new_pixels_are_seen(own: bl.Queue, filtering: str) -> None:
    matrix = maps()[0]
    out = usm(own, np.zeros(PLANE, np.float32))
    with bl.Image(pixels(), filtering=filtering, queue=own) as image:
        for seed in range(6):
            image.update(pixels(seed=seed))
            right = of_new_image(own, lambda new: new.warp(matrix, PLANE), pixels(seed=seed), filtering=filtering)
            for _ in range(TIMES):
                image.warp(matrix, PLANE, out=out)
                host = image.warp(matrix, PLANE)
                own.wait()
                assert np.array_equal(host, right) and np.array_equal(out.numpy(), right)


@pytest.mark.parametrize("by_kernels", [False, True])
def test_smaller_pictures(own: bl.Queue, monkeypatch: pytest.MonkeyPatch, by_kernels: bool) -> None:
    """Of new pixels each time, with kernels on processors, too: in one size after the other, and back."""
    if by_kernels:
        monkeypatch.setattr(bl.Device, "is_gpu", lambda _: True)
    for dtype, shape, options in (
        ("uint8", (40, 50, 3), {}),
        ("float32", (40, 50), {"filtering": "cubic"}),
        ("int16", (2, 40, 50), {"layers": True}),
        ("float16", (10, 40, 50), {"dimensions": 3}),
    ):
        space = shape[bool(options.get("layers")) : None if shape[-1] > 4 else -1]
        sizes = [tuple(-(-n // part) for n in space) for part in (2, 7, 50)]
        with bl.Image(random_pixels(dtype, shape), queue=own, **options) as image:
            for seed in range(TIMES):
                array = random_pixels(dtype, shape, seed)
                image.update(array)
                for size in sizes * TIMES:
                    whole = (*shape[: len(shape) - len(space) - (shape[-1] <= 4)], *size)
                    channels = array if shape[-1] <= 4 else array[..., None]
                    right = area_means(channels, whole, normalized=True).reshape(image.resize(size).shape)
                    out = usm(own, np.zeros(right.shape, dtype))
                    assert image.resize(size, out=out) is out
                    np.testing.assert_array_equal(image.resize(size), right)
                    own.wait()
                    np.testing.assert_array_equal(out.numpy(), right)


def test_new_results_are_arrays_of_their_own(own: bl.Queue) -> None:
    with bl.Image(pixels(), queue=own) as image:
        pictures = [image.warp(matrix, PLANE) for matrix in maps()[:3]]
        right = [of_new_image(own, lambda new, m=m: new.warp(m, PLANE), pixels()) for m in maps()[:3]]
    assert all(np.array_equal(picture, other) for picture, other in zip(pictures, right))


def test_a_result_that_has_room_once_commands_have_ended(own: bl.Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands hold results until they end: a library without memory is asked again after a wait."""
    attempts = []

    def new_array(*arguments: Any) -> bl.UsmArray:
        attempts.append(arguments)
        if len(attempts) == TIMES:
            raise MemoryError("no room")
        return bl.usm_empty(*arguments)

    monkeypatch.setattr(repetition, "new_array", new_array)
    array = pixels()
    with usm(own, array) as texels, bl.Image(texels, queue=own) as image:
        pictures = [numbers(image.warp(maps()[0], PLANE)).copy() for _ in range(2 * TIMES)]
    assert len(attempts) > TIMES
    expected = of_new_image(own, lambda image: image.warp(maps()[0], PLANE), array)
    for picture in pictures:
        np.testing.assert_array_equal(picture, expected)


@pytest.fixture
def repeated(own: bl.Queue) -> Iterator[tuple[bl.Image, Any]]:
    """An image with pictures that come again, and their array."""
    out = np.zeros(PLANE, np.float32)
    with bl.Image(pixels(), queue=own) as image:
        for _ in range(TIMES):
            image.warp(np.eye(3), PLANE, out=out)
            image.warp(np.eye(3), PLANE)
        yield image, out


BAD = (
    np.full((2, 3), np.nan),
    [[1.0, 0.0, float("inf")], [0.0, 1.0, 0.0]],
    np.eye(2),
    np.eye(4),
    np.stack([np.eye(3)] * 2),
    [[1, 0, 0], [0, 1]],
    [[1, 0, "x"], [0, 1, 0]],
    [[1, 0, 10**400], [0, 1, 0]],
    None,
    "matrix",
)


@pytest.mark.parametrize("matrix", BAD, ids=[str(number) for number in range(len(BAD))])
def test_a_wrong_matrix_is_refused_again(repeated: tuple[bl.Image, Any], matrix: Any) -> None:
    image, out = repeated
    for _ in range(TIMES):
        with raises(bl.InvalidError):
            image.warp(matrix, PLANE, out=out)
        with raises(bl.InvalidError):
            image.warp(matrix, PLANE)


def test_wrong_arrays_are_refused_again(own: bl.Queue, repeated: tuple[bl.Image, Any]) -> None:
    image, out = repeated
    constant = np.zeros(PLANE, np.float32)
    constant.flags.writeable = False
    memory = np.zeros(4 * 48, np.float32)
    moves, within = memory[:96].reshape(*PLANE, 2), memory[64:112].reshape(PLANE)
    freed = usm(own, np.zeros(PLANE, np.float32))
    for _ in range(TIMES):
        image.warp(np.eye(3), PLANE, displacement=moves, out=out)
        for wrong in (
            constant,
            np.zeros(PLANE, np.float64),
            np.zeros((8, 6), np.float32),
            np.zeros((6, 16), "f4")[:, ::2],
        ):
            with raises(bl.InvalidError):
                image.warp(np.eye(3), PLANE, out=wrong)
        with raises(bl.InvalidError):
            image.warp(np.eye(3), PLANE, displacement=moves, out=within)
    for _ in range(TIMES):
        image.warp(np.eye(3), PLANE, out=freed)
    own.wait()
    bl.free(freed)
    with raises(bl.InvalidError):
        image.warp(np.eye(3), PLANE, out=freed)


def test_a_closed_image(repeated: tuple[bl.Image, Any]) -> None:
    image, out = repeated
    image.close()
    assert image._pictures.count() == 0
    with raises(bl.InvalidError):
        image.warp(np.eye(3), PLANE, out=out)


def test_an_image_whose_handle_was_destroyed(own: bl.Queue) -> None:
    image, out = bl.Image(pixels(), queue=own), np.zeros(PLANE, np.float32)
    for _ in range(TIMES):
        image.warp(np.eye(3), PLANE, out=out)
    bl.destroy_image_handle(image.handle, own)
    with raises(bl.InvalidError):
        image.warp(np.eye(3), PLANE, out=out)
    with raises(bl.SyclRuntimeError):  # its handle was the image's
        image.close()


def test_a_closed_queue(repeated: tuple[bl.Image, Any]) -> None:
    image, out = repeated
    image.queue.close()
    with raises(bl.InvalidError):
        image.warp(np.eye(3), PLANE, out=out)


def test_pictures_of_many_shapes(own: bl.Queue) -> None:
    """The table has an end."""
    with bl.Image(pixels(), queue=own) as image:
        for side in range(1, 70):
            for _ in range(2):
                assert image.warp(np.eye(3), (side, side)).shape == (side, side)
        assert 0 < image._pictures.count() <= 32


class Matrix:
    """An array-like that calls a function when it is read, once."""

    def __init__(self, action: Callable[[], object]) -> None:
        self.action: Callable[[], object] | None = action

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        action, self.action = self.action, None
        if action is not None:
            action()
        return np.eye(3, dtype=dtype)


def test_a_matrix_that_closes_the_image(repeated: tuple[bl.Image, Any]) -> None:
    image, out = repeated
    with raises(bl.InvalidError):
        image.warp(Matrix(image.close), PLANE, out=out)


def test_a_matrix_that_draws(repeated: tuple[bl.Image, Any]) -> None:
    """The same picture, many others that take its place in the table, and another image's."""
    image, out = repeated
    right = image.warp(np.eye(3), PLANE).copy()

    def act() -> None:
        image.warp(np.eye(3) * 2, PLANE, out=out)
        for side in range(1, 40):
            image.warp(np.eye(3), (side, 3))
        image._pictures.forget()

    assert np.array_equal(image.warp(Matrix(act), PLANE, out=out), right)


def test_a_matrix_that_frees_the_array(own: bl.Queue, repeated: tuple[bl.Image, Any]) -> None:
    image, _ = repeated
    out = usm(own, np.zeros(PLANE, np.float32))
    for _ in range(TIMES):
        image.warp(np.eye(3), PLANE, out=out)

    def act() -> None:
        own.wait()
        bl.free(out)

    with raises(bl.InvalidError):
        image.warp(Matrix(act), PLANE, out=out)


def test_one_image_from_many_threads(own: bl.Queue) -> None:
    """Each thread has matrices and arrays of its own; the memory that stages pictures is one thread's at a time."""
    matrices, wrong = maps()[:3], []
    right = [of_new_image(own, lambda new, m=m: new.warp(m, PLANE), pixels()) for m in matrices]

    def work(number: int) -> None:
        out = np.zeros(PLANE, np.float32)
        for turn in range(40):
            index = (number + turn) % len(matrices)
            for picture in (image.warp(matrices[index], PLANE, out=out), image.warp(matrices[index], PLANE)):
                if not np.array_equal(picture, right[index]):
                    wrong.append((number, turn))

    with bl.Image(pixels(), queue=own) as image:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong
