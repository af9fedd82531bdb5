"""Calls with OpenCV's names that come again: the pixels of calls in a queue that keeps nothing, and few functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from bindless import cv2
from bindless.model.filter import CoordinateMap, Filter
from bindless.sampling.memory.picture import Arrangement, MemoryPicture, Planes
from tests.cv2.opencv_values import pixels
from tests.support.pixels import usm
from tests.support.python_calls import front_calls

K = [[40.0, 0, 29.5], [0, 42.0, 19.5], [0, 0, 1]]
SIZE = (44, 30)  # (width, height) of results
LENSES = ((-0.2, 0.05, 0.001, 0.0), (-0.1, 0.0, 0.0, 0.002, 0.01, 0.03, 0.0, 0.001), (0.0,) * 4)  # kernels differ
MOST = 70  # functions of Python; 3 to 5 launches of pyrDown each take some

Array = npt.NDArray[Any]
Place = Callable[[Array], Any]


def maps(number: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(number)
    return tuple(rng.uniform(-9, 60, SIZE[::-1]).astype(np.float32) for _ in range(2))  # type: ignore[return-value]


def new_matrix(number: int) -> Any:
    return None if number % 2 else [[38.0, 0, 30], [0, 39.0, 20 + number], [0, 0, 1]]


CALLS: dict[str, Callable[[Place, Any, int, dict[str, Any]], Any]] = {
    "undistort": lambda place, picture, number, options: cv2.undistort(
        picture, K, LENSES[number % 3], newCameraMatrix=new_matrix(number), **options
    ),
    "fisheye": lambda place, picture, number, options: cv2.fisheye.undistortImage(
        picture, np.array(K), LENSES[number % 3][:4], Knew=K, new_size=SIZE, **options
    ),
    "remap": lambda place, picture, number, options: cv2.remap(
        picture, *map(place, maps(number)), cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT_101, **options
    ),
    "remap_of_one_map": lambda place, picture, number, options: cv2.remap(
        picture, place(np.stack(maps(number), -1)), None, cv2.INTER_CUBIC, **options
    ),
    "resize": lambda place, picture, number, options: cv2.resize(picture, SIZE, **options),
    "nearest": lambda place, picture, number, options: cv2.resize(
        picture, list(SIZE), interpolation=cv2.INTER_NEAREST_EXACT, **options
    ),
    "pyrDown": lambda place, picture, number, options: cv2.pyrDown(picture, **options),
    "pyrUp": lambda place, picture, number, options: cv2.pyrUp(picture, **options),
}


@pytest.fixture
def owner(device: bl.Device) -> Iterator[bl.Queue]:
    with bl.Queue(device, in_order=True) as queue:
        yield queue


@pytest.mark.parametrize("where", ["host", "device"])
@pytest.mark.parametrize("channels", [None, 1, 3])
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("name", CALLS)
def test_pixels(owner: bl.Queue, device: bl.Device, name: str, dtype: str, channels: int | None, where: str) -> None:
    call = CALLS[name]
    place: Place = np.asarray if where == "host" else lambda array: usm(owner, np.ascontiguousarray(array))
    with bl.Queue(device) as other:
        for number in range(6):
            picture = pixels(dtype, channels or 1)
            picture = np.roll(picture if channels else picture.reshape(picture.shape[:2]), number, 0)
            expected = call(np.asarray, picture, number, {"queue": other})
            out = place(np.zeros_like(expected)) if number % 2 else None
            target = {} if out is None else {"undistorted" if name == "fisheye" else "dst": out}
            result = call(place, place(picture), number, {"queue": owner, **target})
            assert out is None or result is out
            np.testing.assert_array_equal(result if where == "host" else result.numpy(), expected, f"call {number}")


@pytest.mark.parametrize("where", ["host", "device"])
@pytest.mark.parametrize("name", [name for name in CALLS if name != "nearest"])
def test_few_functions_run(owner: bl.Queue, name: str, where: str) -> None:
    if where == "device" and owner._backend.resampling is not None:
        pytest.skip("pictures of arrays in USM are copied into images")
    if where == "device" and name == "remap_of_one_map":
        pytest.skip("planes of a map on a device are copied by Python")
    place: Place = np.asarray if where == "host" else lambda array: usm(owner, np.ascontiguousarray(array))
    picture, (x, y) = place(pixels("uint8", 3)), map(place, maps(0))
    both = place(np.stack(maps(0), -1))
    calls: dict[str, Callable[[], Any]] = {
        "remap": lambda: cv2.remap(picture, x, y, cv2.INTER_LINEAR, queue=owner),
        "remap_of_one_map": lambda: cv2.remap(picture, both, None, cv2.INTER_LINEAR, queue=owner),
    }
    call = calls.get(name, lambda: CALLS[name](place, picture, 0, {"queue": owner}))
    call()
    assert min(len(front_calls(call)) for _ in range(6)) <= MOST


def test_wrong_arguments_after_right_ones(owner: bl.Queue) -> None:
    picture, (x, y) = pixels("uint8", 3), maps(0)
    for _ in range(3):
        cv2.undistort(picture, K, LENSES[0], queue=owner)
        cv2.remap(picture, x, y, 1, queue=owner)
        cv2.resize(picture, SIZE, queue=owner)
        with pytest.raises(bl.ArgumentError):
            cv2.undistort(picture, [[1, 0, 0], [0, 1, 0]], LENSES[0], queue=owner)
        with pytest.raises(bl.ArgumentError):
            cv2.undistort(picture, K, "lens", queue=owner)
        with pytest.raises(bl.ArgumentError):
            cv2.remap(picture, x, y[:-1], 1, queue=owner)
        with pytest.raises(bl.ArgumentError):
            cv2.resize(picture, SIZE, interpolation=True, queue=owner)
        with pytest.raises(bl.ArgumentError):
            cv2.pyrDown(picture, dstsize=(3, 3), queue=owner)


@pytest.mark.parametrize("first", [0, 1])
def test_maps_in_arrays_of_their_own(owner: bl.Queue, first: int) -> None:
    """The kernel that reads both maps where they lie gives what it gives of one array of both, y first."""
    if not owner.device.has(bl.Aspect.fp64):
        pytest.skip("the kernel computes positions in float64")
    picture = pixels("float32", 3)
    shape, count = SIZE[::-1], SIZE[0] * SIZE[1]
    strides = tuple(stride // picture.itemsize for stride in picture.strides)
    arranged = Arrangement.of(picture.shape, strides, shape, (), at_points=True)
    assert arranged is not None
    dtype = np.dtype(np.float32)
    kernel = MemoryPicture(owner, arranged, dtype, dtype, Filter.from_opencv(1, 4, 0.0), 0.0, dtype)
    x, y = maps(first)
    texels, stack = usm(owner, picture), usm(owner, np.stack([y, x]).reshape(2, -1))
    planes = usm(owner, np.concatenate([(x, y)[first].ravel(), np.zeros(77, np.float32), (y, x)[first].ravel()]))
    places = planes.pointer, planes.pointer + 4 * (count + 77)
    values: list[bl.UsmArray] = [bl.usm_empty((*shape, 3), dtype, owner) for _ in range(2)]
    map_ = CoordinateMap.pictures((0.0,) * 15 + (1.0,), 0.0)
    kernel.submit(map_, texels.pointer, values[0].pointer, stack.pointer)
    at = places[first], places[1 - first]
    vectors = Planes(at[0], int(at[0]), int(at[1]), 4 * count)
    assert not vectors.is_apart(int(places[0]) + 4 * count - 1, 1) and vectors.is_apart(int(places[0]) + 4 * count, 300)
    kernel.submit(map_, texels.pointer, values[1].pointer, vectors)
    np.testing.assert_array_equal(values[0].numpy(), values[1].numpy())
    assert values[0].numpy().any()


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32"])
@pytest.mark.parametrize("interpolation", [cv2.INTER_NEAREST, cv2.INTER_LINEAR, cv2.INTER_CUBIC])
def test_pixels_that_are_read_where_they_lie(owner: bl.Queue, dtype: str, interpolation: int) -> None:
    """Later calls give the first one's pixels: also into the picture itself, of views and of read-only memory."""
    x, y = maps(3)
    picture = pixels(dtype, 3)
    rows = np.repeat(picture, 2, 0)
    locked = picture.copy()
    locked.flags.writeable = False
    odd = np.frombuffer(b"\0" + picture.tobytes(), np.uint8)[1:].view(picture.dtype).reshape(picture.shape)

    def remap(picture: Array, **options: Any) -> Array:
        result: Array = cv2.remap(picture, x, y, interpolation, queue=owner, **options)
        return result

    def half(picture: Array) -> Array:
        result: Array = cv2.resize(picture, (26, 18), interpolation=cv2.INTER_AREA, queue=owner)
        return result

    for same in (rows[::2], locked, odd):
        np.testing.assert_array_equal(half(same), half(picture))
        np.testing.assert_array_equal(cv2.pyrDown(same, queue=owner), cv2.pyrDown(picture, queue=owner))
        np.testing.assert_array_equal(cv2.pyrUp(same, queue=owner), cv2.pyrUp(picture, queue=owner))
    expected = remap(picture)
    square = np.zeros((50, 64, 3), dtype)
    height, width = x.shape
    square[:height, :width] = expected
    for _ in range(3):
        for same in (picture, rows[::2], locked, odd):
            np.testing.assert_array_equal(remap(same), expected)
    if dtype == "float32":
        for number in range(2):
            gray = picture[..., 0].copy()
            plain = cv2.remap(gray, x, y, interpolation, queue=owner)
            both = np.empty((height + 1, width), np.float32)
            places = [x, y]
            places[number] = both[:-1]
            for _ in range(3):
                both[:-1] = (x, y)[number]
                cv2.remap(gray, *places, interpolation, dst=both[1:], queue=owner)
                np.testing.assert_array_equal(both[1:], plain)
    x, y = (np.pad(array, ((0, 50 - height), (0, 64 - width))) for array in (x, y))
    expected = remap(square)
    for _ in range(3):
        both = square.copy()
        assert remap(both, dst=both) is both
        np.testing.assert_array_equal(both, expected)
        memory = np.zeros((60, 64, 3), dtype)
        memory[10:] = square
        np.testing.assert_array_equal(remap(memory[10:], dst=memory[:50]), expected)
