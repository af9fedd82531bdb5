"""Arrays of any library, on the host or the device, as pixels, coordinates and results of an ``Image``."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import bindless as bl
from bindless.image.array_library import maker_of
from tests.support.error_checks import raises

Array = npt.NDArray[Any]


class Foreign:
    """An array of another library, over a numpy array or a ``UsmArray``, known by DLPack alone."""

    def __init__(self, memory: Any) -> None:
        self.memory = memory

    def __dlpack__(self, **options: Any) -> object:
        return self.memory.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        place: tuple[int, int] = self.memory.__dlpack_device__()
        return place

    def __array_namespace__(self) -> Any:
        return SimpleNamespace(from_dlpack=Foreign.from_dlpack)

    @classmethod
    def from_dlpack(cls, array: Any) -> Foreign:
        array.__dlpack__()  # what orders the use after the work so far
        return cls(array)


class Interface:
    """An array that exports ``__sycl_usm_array_interface__``, or on CUDA ``__cuda_array_interface__``, alone."""

    def __init__(self, memory: bl.UsmArray) -> None:
        self.memory = memory
        name = (
            "__cuda_array_interface__" if memory.context.backend is bl.Backend.cuda else "__sycl_usm_array_interface__"
        )
        setattr(self, name, getattr(memory, name))


def host(array: Any) -> Array:
    if isinstance(array, Foreign):
        array = array.memory
    return array.numpy() if isinstance(array, bl.UsmArray) else np.asarray(array)


def on_device(array: npt.ArrayLike, queue: bl.Queue) -> bl.UsmArray:
    values = np.asarray(array)
    return bl.usm_empty(values.shape, values.dtype, queue).copy_from(values)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20261123)


# ---------------------------------------------------------------------- pixels


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float16", "float32", "float64", "bool"])
@pytest.mark.parametrize("channels", [None, 1, 2, 3, 4])
def test_pixels_on_the_device(rng: np.random.Generator, queue: bl.Queue, dtype: str, channels: int | None) -> None:
    if dtype == "float64" and not queue.device.has(bl.Aspect.fp64):
        pytest.skip("the device has no double precision")
    shape = (14, 23) if channels is None else (14, 23, channels)
    pixels = (rng.random(shape) * 100 - (dtype == "int16") * 50).astype(dtype)
    memory = on_device(pixels, queue)
    taken = pixels.astype({"float64": "float32", "bool": "uint8"}.get(dtype, dtype))
    views = [(memory, taken), (memory[::-1, ::3], taken[::-1, ::3]), (memory[2:9], taken[2:9])]
    if channels is None:
        views.append((memory.T, taken.T))
    else:
        views.append((memory.transpose(1, 0, 2), taken.transpose(1, 0, 2)))
    for given, expected in views:
        with bl.Image(given, queue=queue) as image:
            np.testing.assert_array_equal(image.numpy(), expected)
            assert image.dtype == expected.dtype


def test_layers_and_levels_of_pixels_on_the_device(rng: np.random.Generator, queue: bl.Queue) -> None:
    stack = rng.random((3, 8, 12, 3)).astype(np.float32)
    for count in (1, 3):
        with bl.Image(on_device(stack[:count], queue), layers=True, queue=queue) as image:
            np.testing.assert_array_equal(image.numpy(), stack[:count])
    with bl.Image(stack[0], mipmaps=True, queue=queue) as image:
        expected = [image.numpy(level) for level in range(image.num_levels)]
    with bl.Image(on_device(stack[0], queue), mipmaps=True, queue=queue) as image:
        for level, pixels in enumerate(expected):
            np.testing.assert_array_equal(image.numpy(level), pixels)


def test_the_host_s_arrays_are_converted(rng: np.random.Generator, queue: bl.Queue) -> None:
    pixels = rng.random((9, 12, 3))
    for given in (pixels, pixels.astype(">f8"), np.asfortranarray(pixels), pixels[::-1, ::-2]):
        with bl.Image(given, queue=queue) as image:
            assert image.dtype == np.float32
            np.testing.assert_array_equal(image.numpy(), given.astype(np.float32))
    mask = pixels[..., 0] > 0.5
    with bl.Image(mask, queue=queue) as image:
        np.testing.assert_array_equal(image.numpy(), mask.astype(np.uint8))
    with bl.Image(pixels.tolist(), queue=queue) as image:
        np.testing.assert_array_equal(image.numpy(), pixels.astype(np.float32))


def test_the_queue_follows_the_array(queue: bl.Queue) -> None:
    context = bl.Context(queue.device)
    with bl.Queue(queue.device, context) as other:
        memory = on_device(np.ones((4, 5), np.float32), other)
        with bl.Image(memory) as image:
            assert image.queue.context is context
        with raises(bl.InvalidError):
            bl.Image(memory, queue=queue)
        with bl.Image(np.ones((4, 5), np.float32), queue=queue) as image, raises(bl.InvalidError):
            image.sample(on_device(np.ones((3, 2), np.float32), other))
        memory.close()


# ---------------------------------------------------------------------- coordinates

OPTIONS: list[dict[str, Any]] = [
    {},
    {"addressing": "repeat"},
    {"coordinate": "normalized"},
    {"filtering": "nearest"},
    {"mipmaps": True},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "uint8"])
def test_coordinates_on_the_device(
    rng: np.random.Generator, queue: bl.Queue, options: dict[str, Any], dtype: str
) -> None:
    if dtype == "float64" and not queue.device.has(bl.Aspect.fp64):
        pytest.skip("the device has no double precision")
    pixels = rng.random((11, 20, 3)).astype(np.float32)
    coords = (rng.uniform(0, 25, (6, 7, 2)) / (20 if options.get("coordinate") else 1)).astype(dtype)
    with bl.Image(pixels, queue=queue, **options) as image:
        expected = image.sample(coords)
        for given in (on_device(coords, queue), on_device(coords.transpose(1, 2, 0), queue).transpose(2, 0, 1)):
            values = image.sample(given)
            assert isinstance(values, bl.UsmArray) and values.shape == (6, 7, 3)
            np.testing.assert_allclose(values.numpy(), expected, atol=2e-3 if dtype == "float16" else 1e-5)


def test_levels_gradients_and_layers_of_either_place(rng: np.random.Generator, queue: bl.Queue) -> None:
    pixels, coords = rng.random((16, 32)).astype(np.float32), rng.uniform(0, 30, (5, 8, 2)).astype(np.float32)
    level, step = rng.uniform(0, 4, (5, 1)).astype(np.float32), np.array([2.0, 1.0], np.float32)
    there = on_device(coords, queue)
    with bl.Image(pixels, mipmaps=True, queue=queue) as image:
        expected = image.sample(coords, level=level)
        assert expected.shape == (5, 8)
        for levels in (level, on_device(level, queue), Interface(on_device(level, queue))):
            np.testing.assert_allclose(image.sample(there, level=levels).numpy(), expected, atol=1e-6)
        np.testing.assert_allclose(host(image.sample(coords, level=on_device(level, queue))), expected, atol=1e-6)
        np.testing.assert_allclose(image.sample(there, level=1).numpy(), image.sample(coords, level=1), atol=1e-6)
        expected = image.sample(coords, dx=step, dy=step[::-1])
        values = image.sample(there, dx=on_device(step, queue), dy=step[::-1])
        np.testing.assert_allclose(values.numpy(), expected, atol=1e-3)
    stack = rng.random((3, 9, 9, 2)).astype(np.float32)
    layers = rng.integers(0, 3, (5, 8))
    pixels_at = rng.integers(0, 9, (5, 8, 2))
    with bl.Image(stack, layers=True, queue=queue) as image:
        np.testing.assert_array_equal(image.sample(there).numpy(), image.sample(coords))
        for given in (layers, on_device(layers, queue)):
            np.testing.assert_array_equal(host(image.sample(there, layers=given)), image.sample(coords, layers=layers))
            fetched = image.fetch(on_device(pixels_at, queue), layers=given)
            np.testing.assert_array_equal(host(fetched), stack[layers, pixels_at[..., 1], pixels_at[..., 0]])
        np.testing.assert_array_equal(image.fetch(on_device(pixels_at, queue)).numpy(), image.fetch(pixels_at))
    faces = rng.random((6, 8, 8)).astype(np.float32)
    directions = rng.normal(size=(40, 3)).astype(np.float32)
    with bl.Image(faces, cubemap=True, queue=queue) as image:
        np.testing.assert_array_equal(image.sample(on_device(directions, queue)).numpy(), image.sample(directions))


def test_empty_coordinates_on_the_device(queue: bl.Queue) -> None:
    with bl.Image(np.ones((4, 5, 3), np.float32), queue=queue) as image:
        assert image.sample(bl.usm_empty((0, 2), np.float32, queue)).shape == (0, 3)
        assert image.fetch(bl.usm_empty((2, 0, 2), np.int32, queue)).shape == (2, 0, 3)


@pytest.mark.parametrize("dtype", ["complex64", "bool"])
def test_coordinates_on_the_device_that_are_no_numbers(queue: bl.Queue, dtype: str) -> None:
    with bl.Image(np.ones((4, 5), np.float32), queue=queue) as image, raises(bl.InvalidError):
        image.sample(bl.usm_empty((3, 2), dtype, queue))


# ---------------------------------------------------------------------- libraries and results


def test_results_are_of_the_library_that_leads_the_call(rng: np.random.Generator, queue: bl.Queue) -> None:
    pixels = rng.random((9, 12, 3)).astype(np.float32)
    coords = rng.uniform(0, 9, (10, 2)).astype(np.float32)
    with bl.Image(pixels, queue=queue) as image:
        expected = image.sample(coords)
        for given in (Foreign(coords), Foreign(on_device(coords, queue))):
            values = image.sample(given)
            assert type(values) is Foreign
            np.testing.assert_array_equal(host(values), expected)
        values = image.sample(Interface(on_device(coords, queue)))
        np.testing.assert_array_equal(values.numpy(), expected)
        assert type(image.warp(np.eye(3), (9, 12))) is np.ndarray
    for given in (Foreign(pixels), Foreign(on_device(pixels, queue))):
        with bl.Image(given, queue=queue) as image:
            assert type(image.sample(coords)) is np.ndarray
            for picture, same in ((image.warp(np.eye(3), (9, 12)), pixels), (image.resize((9, 12)), pixels)):
                assert type(picture) is Foreign
                np.testing.assert_allclose(host(picture), same, atol=1e-6)
    with bl.Image(on_device(pixels, queue), queue=queue) as image:
        assert type(image.warp(np.eye(3), (9, 12))) is bl.UsmArray


@pytest.mark.parametrize("place", ["numpy", "foreign", "device", "pinned", "foreign device"])
def test_out_takes_the_values(rng: np.random.Generator, queue: bl.Queue, place: str) -> None:
    pixels = rng.random((9, 12, 3)).astype(np.float32)
    coords = rng.uniform(0, 9, (4, 5, 2)).astype(np.float32)
    at = rng.integers(0, 9, (4, 5, 2))

    def empty(shape: tuple[int, ...]) -> Any:
        if place in ("numpy", "foreign"):
            memory = np.full(shape, np.nan, np.float32)
            return memory if place == "numpy" else Foreign(memory)
        memory = bl.usm_empty(shape, np.float32, queue, kind="host" if place == "pinned" else "device")
        return Foreign(memory) if place.startswith("foreign") else memory

    def values(array: Any) -> Array:
        if place == "foreign device":
            queue.wait()  # the work is ordered with the library's stream, which ``host`` does not use
        return host(array)

    with bl.Image(pixels, queue=queue) as image:
        for given in (coords, on_device(coords, queue)):
            out = empty((4, 5, 3))
            assert image.sample(given, out=out) is out
            np.testing.assert_array_equal(values(out), image.sample(coords))
        out = empty((4, 5, 3))
        assert image.fetch(at, out=out) is out
        np.testing.assert_array_equal(values(out), pixels[at[..., 1], at[..., 0]])
        out = empty((6, 7, 3))
        assert image.warp([[1, 0.5, 0], [0, 1, 0.5]], (6, 7), out=out) is out
        np.testing.assert_array_equal(values(out), image.warp([[1, 0.5, 0], [0, 1, 0.5]], (6, 7)))
        for shape in ((18, 24), (4, 5), (4, 24)):
            out = empty((*shape, 3))
            assert image.resize(shape, out=out) is out
            np.testing.assert_array_equal(values(out), image.resize(shape))


def test_out_that_does_not_fit(queue: bl.Queue) -> None:
    coords = np.ones((4, 2), np.float32)
    read_only = np.empty(4, np.float32)
    read_only.flags.writeable = False
    block = np.empty(12, np.float32)
    with bl.Image(np.ones((5, 5), np.float32), queue=queue) as image:
        for out in (
            np.empty((4, 1), np.float32), np.empty(4), np.empty(8, np.float32)[::2], read_only, [0.0] * 4,
            bl.usm_empty(5, np.float32, queue), bl.usm_empty(8, np.float32, queue)[::2],
        ):  # fmt: skip
            with raises(bl.InvalidError):
                image.sample(coords, out=out)
        with raises(bl.InvalidError):
            image.sample(block[:8].reshape(4, 2), out=block[6:10])
        memory = bl.usm_empty(12, np.float32, queue)
        with raises(bl.InvalidError):
            image.sample(memory[:8].reshape(4, 2), out=memory[6:10])
        with raises(bl.InvalidError):
            image.warp(np.eye(3), (5, 5), out=np.empty((5, 5, 1), np.float32))


def test_torch_on_the_host(rng: np.random.Generator, queue: bl.Queue) -> None:
    torch = pytest.importorskip("torch", reason="pip install torch")
    pixels, coords = rng.random((9, 12, 3)).astype(np.float32), rng.uniform(0, 9, (10, 2))
    with bl.Image(torch.from_numpy(pixels).permute(1, 0, 2), queue=queue) as image:
        np.testing.assert_array_equal(image.numpy(), pixels.transpose(1, 0, 2))
        values, out = image.sample(torch.from_numpy(coords)), torch.empty((10, 3))
        assert type(values) is torch.Tensor
        np.testing.assert_array_equal(values.numpy(), image.sample(coords))
        assert image.sample(coords, out=out) is out
        np.testing.assert_array_equal(out.numpy(), values.numpy())
        floats = torch.from_numpy(coords.astype(np.float32)).reshape(2, 5, 2)
        for given in (floats, floats[:, 1:], floats[0, 0], floats[:, :0]):
            expected = image.sample(given.numpy())
            values, out = image.sample(given), torch.empty(expected.shape)
            assert type(values) is torch.Tensor and values.shape == expected.shape
            assert image.sample(given, out=out) is out
            np.testing.assert_array_equal(values.numpy(), expected)
            np.testing.assert_array_equal(out.numpy(), expected)
            with raises(bl.InvalidError):
                image.sample(given, out=out.double())
        assert type(image.resize((4, 3))) is torch.Tensor
        with raises(bl.InvalidError):
            image.sample(torch.ones((3, 2), requires_grad=True))


# ---------------------------------------------------------------------- shapes


def test_grey_images_have_no_axis_of_channels(rng: np.random.Generator, queue: bl.Queue) -> None:
    pixels = rng.random((4, 5)).astype(np.float32)
    coords = np.array([[[1, 2], [3, 0]]])
    for given, tail in ((pixels, ()), (pixels[..., None], (1,))):
        with bl.Image(given, queue=queue) as image:
            assert image.sample(coords).shape == image.fetch(coords).shape == (1, 2, *tail)
            assert image.sample(coords[0, 0]).shape == tail
            assert (
                image.resize((np.int64(2), np.uint8(3))).shape == image.warp(np.eye(3), (2, 3)).shape == (2, 3, *tail)
            )
            with raises(bl.InvalidError, names=("coords[0, 1]", "(9, 0)")):
                image.fetch([[[1, 2], [9, 0]]])
    with bl.Image(np.stack([pixels, pixels]), layers=True, queue=queue) as image:
        assert image.sample(coords).shape == image.fetch(coords).shape == (2, 1, 2)
        assert image.sample(coords, layers=1).shape == (1, 2)


class _CuPy:
    """Arrays of a library without exchange functions, which makes them on its current device."""

    current = (2, 0)

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape, self.dtype, self.place = shape, dtype, _CuPy.current

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.place


def test_results_of_cupy_are_on_the_device_of_the_array(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(ndarray=_CuPy, empty=_CuPy))
    dtype = np.dtype(np.float32)
    first = maker_of(_CuPy((4,), dtype))
    monkeypatch.setattr(_CuPy, "current", (2, 1))
    second = maker_of(_CuPy((4,), dtype))
    assert first is not None and second is not None
    make_first, make_second = first((3,), dtype), second((3,), dtype)
    assert make_first is not None and make_second is not None
    assert make_first() is None
    result = make_second()
    assert (result.place, result.shape, result.dtype) == ((2, 1), (3,), dtype)
