"""Arrays of other libraries and of devices, channels and results in the caller's arrays, for ``bindless.ndimage``."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from bindless import ndimage
from tests.oracle.pictures import positions, stored
from tests.oracle.samples import sample
from tests.support.error_checks import raises

Array = npt.NDArray[Any]


def on_device(array: npt.ArrayLike, queue: bl.Queue) -> bl.UsmArray:
    values = np.asarray(array)
    return bl.usm_empty(values.shape, values.dtype, queue).copy_from(values)


def moved(array: Array, distance: tuple[float, ...]) -> Array:
    """The linear interpolation of the oracle, edges repeated, in float64; channels in the last axis."""
    shape = array.shape[-2::-1]
    matrix = np.eye(4)
    matrix[: len(distance), 3] = -np.array(distance)[::-1]
    places = positions((*shape, 1, 1)[:3], matrix.ravel().tolist(), centre=0.0)
    return sample(array, places).reshape(array.shape)


@pytest.fixture
def array() -> Array:
    return np.random.default_rng(3).uniform(-50, 50, (9, 14)).astype(np.float32)


def test_arrays_of_the_device(queue: bl.Queue, array: Array) -> None:
    expected = moved(array[..., None], (0.5, 1.25))[..., 0]
    memory = on_device(array, queue)
    found = ndimage.shift(memory, (0.5, 1.25), order=1, mode="nearest", queue=queue)
    assert isinstance(found, bl.UsmArray) and found.dtype == np.float32
    np.testing.assert_allclose(found.numpy(), expected, rtol=0, atol=1e-4)
    turned = ndimage.shift(memory.T[::-1], (0.5, 1.25), order=1, mode="nearest", queue=queue)
    np.testing.assert_allclose(turned.numpy(), moved(array.T[::-1, :, None], (0.5, 1.25))[..., 0], rtol=0, atol=1e-4)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "int64", "float16", "float32", "float64"])
@pytest.mark.parametrize("order", [0, 1, 2, 3, 5])
def test_the_device_gives_what_the_host_gives(queue: bl.Queue, array: Array, dtype: str, order: int) -> None:
    if dtype == "float64" and not queue.device.has(bl.Aspect.fp64):
        pytest.skip("the device has no double precision")
    values = (np.abs(array) if dtype == "uint8" else array > 0 if dtype == "bool" else array).astype(dtype)
    atol = {"float16": 0.04, "float32": 1e-4, "float64": 1e-4}.get(dtype, 1 if order > 1 else 0)  # a last place
    for mode in ("constant", "grid-constant", "nearest"):
        options: dict[str, Any] = {"order": order, "mode": mode, "cval": 3.0, "queue": queue}
        here = ndimage.rotate(values, 25.0, **options)
        there = ndimage.rotate(on_device(values, queue), 25.0, **options)
        assert isinstance(there, bl.UsmArray) and there.dtype == here.dtype
        np.testing.assert_allclose(there.numpy().astype(float), here.astype(float), rtol=0, atol=atol)
    assert ndimage.spline_filter(on_device(values, queue), output=np.float32, queue=queue).dtype == np.float32


def test_coordinates_anywhere(queue: bl.Queue, array: Array) -> None:
    places = np.random.default_rng(1).uniform(-1, 10, (2, 3, 5))
    expected = ndimage.map_coordinates(array, places, order=1, queue=queue)
    for dtype in ("float64", "float32"):
        for coordinates in (places.astype(dtype), on_device(places.astype(dtype), queue)):
            found = ndimage.map_coordinates(array, coordinates, order=1, queue=queue)
            assert type(found) is np.ndarray
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-3)
            there = ndimage.map_coordinates(on_device(array, queue), coordinates, order=1, queue=queue)
            assert isinstance(there, bl.UsmArray)
            np.testing.assert_allclose(there.numpy(), expected, rtol=0, atol=1e-3)
    whole = np.array([[0, 2], [1, 3]])
    for coordinates in (whole, whole.tolist(), on_device(whole, queue), np.asfortranarray(whole)):
        found = ndimage.map_coordinates(array, coordinates, order=1, queue=queue)
        np.testing.assert_allclose(found, array[[0, 2], [1, 3]], rtol=0, atol=1e-5)
    assert ndimage.map_coordinates(array, np.empty((2, 0, 3)), queue=queue).shape == (0, 3)


def test_results_in_arrays_of_the_caller(queue: bl.Queue, array: Array) -> None:
    expected = ndimage.shift(array, 0.5, order=1, queue=queue)
    outputs: list[Any] = [np.empty_like(array), np.empty(array.shape, ">f8"), np.empty((14, 9), np.float32).T]
    outputs += [np.empty((18, 28), np.float32)[::2, ::2], on_device(np.zeros_like(array), queue)]
    for given in (array, on_device(array, queue)):
        for output in outputs:
            assert ndimage.shift(given, 0.5, output, order=1, queue=queue) is output
            values = output.numpy() if isinstance(output, bl.UsmArray) else output
            np.testing.assert_allclose(values, expected, rtol=0, atol=1e-6)
            output[...] = np.zeros(1, np.float32)
    own = array.copy()
    assert ndimage.shift(own, 0.5, own, order=1, queue=queue) is own
    np.testing.assert_array_equal(own, expected)
    wide = np.empty((20, 30), np.float32)
    assert ndimage.affine_transform(array, np.eye(2), 0, output=wide, order=0, queue=queue) is wide
    np.testing.assert_array_equal(wide[:9, :14], array)
    fixed = np.empty_like(array)
    fixed.flags.writeable = False
    for output in (np.empty((3, 3)), fixed, np.empty(array.shape, complex)):
        with raises(bl.Error, bl.Errc.feature_not_supported if output.dtype.kind == "c" else bl.Errc.invalid):
            ndimage.shift(array, 1, output, queue=queue)


@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_channels(queue: bl.Queue, channels: int, axis: int, order: int) -> None:
    stack = np.random.default_rng(2).uniform(-50, 50, (channels, 9, 14)).astype(np.float32)
    options: dict[str, Any] = {"order": order, "mode": "reflect", "queue": queue}
    expected = np.stack([ndimage.rotate(one, 25.0, **options) for one in stack], axis)
    given = np.moveaxis(stack, 0, axis)
    output = np.empty(expected.shape, np.float32)
    for values in (
        ndimage.rotate(given, 25.0, channel_axis=axis, **options),
        ndimage.rotate(on_device(np.ascontiguousarray(given), queue), 25.0, channel_axis=axis, **options).numpy(),
        ndimage.rotate(given, 25.0, output=output, channel_axis=axis, **options),
    ):
        np.testing.assert_allclose(values, expected, rtol=0, atol=1e-4)


def test_channels_of_points(queue: bl.Queue, array: Array) -> None:
    pixels = np.stack([array, array + 1], -1)
    found = ndimage.map_coordinates(pixels, np.array([[1.0], [2.0]]), order=1, channel_axis=-1, queue=queue)
    np.testing.assert_allclose(found, pixels[1, 2][None], rtol=1e-6)


class Other:
    """An array of another library, on the device, known by DLPack alone."""

    def __init__(self, memory: bl.UsmArray) -> None:
        self.memory, self.shape = memory, memory.shape

    def __dlpack__(self, **options: Any) -> object:
        return self.memory.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        place: tuple[int, int] = self.memory.__dlpack_device__()
        return place

    def __array_namespace__(self) -> Any:
        return SimpleNamespace(from_dlpack=Other.from_dlpack)

    @classmethod
    def from_dlpack(cls, array: bl.UsmArray) -> Other:
        array.__dlpack__()  # what orders the use after the work so far
        return cls(array)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_another_library_on_the_device(device: bl.Device, array: Array, dtype: str) -> None:
    if dtype == "float64" and not device.has(bl.Aspect.fp64):
        pytest.skip("the device has no double precision")
    queue = bl.Queue(device, in_order=True)  # of the default context, in which libraries export memory
    given = Other(on_device(array.astype(dtype), queue))
    expected = ndimage.rotate(array.astype(dtype), 20.0, order=1, queue=queue)
    found = ndimage.rotate(given, 20.0, order=1, queue=queue)
    assert isinstance(found, Other)
    values = found.memory.numpy() if isinstance(found.memory, bl.UsmArray) else found.memory
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-4)
    output = Other(on_device(np.zeros(expected.shape, dtype), queue))
    assert ndimage.rotate(given, 20.0, output=output, order=1, queue=queue) is output
    # A library reads it later on a stream of its own, which DLPack orders; the array itself knows nothing of that work.
    np.testing.assert_allclose(output.memory.numpy(queue), expected, rtol=0, atol=1e-4)


def test_libraries(array: Array) -> None:
    torch = pytest.importorskip("torch")
    tensor = torch.from_numpy(array)
    found = ndimage.shift(tensor, 0.5, order=1, mode="nearest")
    assert isinstance(found, torch.Tensor) and found.dtype is torch.float32
    np.testing.assert_allclose(found.numpy(), moved(array[..., None], (0.5, 0.5))[..., 0], rtol=0, atol=1e-4)
    assert ndimage.shift(tensor, 1, torch.int16, order=0).dtype is torch.int16
    output = torch.empty_like(tensor)
    assert ndimage.shift(tensor, 0.5, output, order=1, mode="nearest") is output
    assert torch.equal(output, found)


def test_lists_and_byte_orders(queue: bl.Queue, array: Array) -> None:
    expected = ndimage.shift(array, 0.5, order=1, queue=queue)
    np.testing.assert_allclose(ndimage.shift(array.tolist(), 0.5, order=1, queue=queue), expected, rtol=0, atol=1e-5)
    swapped = ndimage.shift(array.astype(">f4"), 0.5, order=1, queue=queue)
    assert swapped.dtype == np.float32 and swapped.dtype.isnative
    np.testing.assert_array_equal(swapped, expected)


def test_rounding_is_away_from_zero(queue: bl.Queue) -> None:
    array = np.array([-3, -2, 2, 3], np.int16)
    found = ndimage.map_coordinates(array, [[0.5, 1.5, 2.5]], order=1, queue=queue)
    assert found.tolist() == stored([-2.5, 0.0, 2.5], np.int16, rounding="away").tolist() == [-3, 0, 3]
