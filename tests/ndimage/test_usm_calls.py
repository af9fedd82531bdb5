"""Calls on arrays in USM that come again, with others between them, against scipy and the same call on the host."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import ndimage
from tests.support.pixels import usm

scipy_ndimage = pytest.importorskip("scipy.ndimage")

DTYPES = ("float32", "uint8", "float64", "int16", "bool", "int64")
TURN = np.array([[0.9, 0.1, 0.02], [-0.1, 0.95, 0.05], [0.03, -0.02, 1.02]])


@pytest.fixture
def ordered(device: bl.Device) -> Iterator[bl.Queue]:
    with bl.Queue(device, in_order=True) as queue:
        yield queue


def random_call(rng: np.random.Generator) -> tuple[str, str, Any, dict[str, Any]]:
    """A function, a dtype, a shape and options, of few kinds: many of them come again with other arrays."""
    dims = int(rng.integers(1, 4))
    shape = tuple(int(size) for size in rng.choice((5, 8, 11), dims))
    name = str(rng.choice(("affine_transform", "shift", "zoom", "map_coordinates", "spline_filter", "spline_filter1d")))
    order = 3 if name.startswith("spline") else int(rng.choice((0, 1, 3)))
    mode = "mirror" if name.startswith("spline") else str(rng.choice(("nearest", "mirror", "constant")))
    options: dict[str, Any] = {"order": order, "mode": mode, "output": np.dtype(rng.choice(DTYPES[:4]))}
    return name, str(rng.choice(DTYPES)), shape, options


def arguments_of(name: str, shape: tuple[int, ...], rng: np.random.Generator) -> tuple[Any, ...]:
    dims = len(shape)
    if name == "affine_transform":
        return (TURN[:dims, :dims] + rng.random((dims, dims)) * 0.01, float(rng.random()))
    if name == "shift":
        return (tuple((rng.random(dims) * 3 - 1).tolist()),)
    if name == "zoom":
        return (1.5,)
    return (rng.random((dims, 17)) * 7,) if name == "map_coordinates" else ()


def new_values(shape: tuple[int, ...], dtype: str, rng: np.random.Generator) -> Any:
    values = rng.random(shape) * 100
    return (values > 50 if dtype == "bool" else values).astype(dtype)


def close(result: Any, expected: Any) -> None:
    if result.dtype.kind == "f":
        np.testing.assert_allclose(result, expected, atol=3e-3)
    else:  # halves are rounded, and floats before them
        assert np.abs(result.astype(int) - expected.astype(int)).max() <= 1


@pytest.mark.parametrize("seed", range(4))
def test_many_calls_in_turns(ordered: bl.Queue, seed: int) -> None:
    """New arrays of random kinds, some with arrays for their results: none gets what another one computed."""
    rng = np.random.default_rng(seed)
    kinds = [random_call(rng) for _ in range(12)]
    for number in rng.integers(0, len(kinds), 72):
        name, dtype, shape, options = kinds[number]
        arguments, array = arguments_of(name, shape, rng), new_values(shape, dtype, rng)
        there = [usm(ordered, value) if name == "map_coordinates" else value for value in arguments]
        expected = getattr(ndimage, name)(array, *arguments, **options, queue=bl.Queue("reference"))
        if rng.random() < 0.5:
            options = {**options, "output": usm(ordered, np.zeros_like(expected))}
        result = getattr(ndimage, name)(usm(ordered, array), *there, **options, queue=ordered)
        assert isinstance(result, bl.UsmArray) and result.shape == expected.shape and result.dtype == expected.dtype
        close(result.numpy(), expected)
        if expected.dtype.kind == "f" and not (options["order"] == 0 or dtype == "bool"):
            options = {**options, "output": np.float64}
            close(expected, getattr(scipy_ndimage, name)(array.astype(float), *arguments, **options))


def repeats(call: Callable[[], Any]) -> Any:
    for _ in range(3):
        result = call()
    return result


@pytest.mark.parametrize("order", [1, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_memory_that_was_freed(ordered: bl.Queue, order: int, dtype: str) -> None:
    """The error of a freed array, however often the call was made; the other arrays stay as they are."""
    array, points = np.arange(72, dtype=dtype).reshape(8, 9), np.ones((2, 5), np.float32)
    calls: tuple[Callable[..., Any], ...] = (
        lambda a, p, o: ndimage.map_coordinates(a, p, o, order, queue=ordered),
        lambda a, p, o: ndimage.shift(a, 0.5, o, order, queue=ordered),
        lambda a, p, o: ndimage.spline_filter1d(a, 3, 0, o, queue=ordered),
    )
    for call, shape in zip(calls, ((5,), (8, 9), (8, 9))):
        arrays = [usm(ordered, value) for value in (array, points, np.zeros(shape, dtype))]
        repeats(partial(call, *arrays))
        for freed in (0, 1, 2):
            if freed == 1 and len(shape) == 2:
                continue
            arguments = list(arrays)
            arguments[freed] = usm(ordered, arrays[freed].numpy())
            arguments[freed].close()
            with pytest.raises(bl.InvalidError):
                call(*arguments)
        repeats(partial(call, *arrays))


def test_arrays_that_overlap(ordered: bl.Queue) -> None:
    """The result in the place of the input."""
    values = np.random.default_rng(8).random((8, 9)).astype(np.float32)
    for function in (
        partial(ndimage.shift, shift=0.5, order=1),
        partial(ndimage.shift, shift=0.5, order=3),
        ndimage.spline_filter,
        partial(ndimage.spline_filter1d, axis=0),
    ):
        expected = function(usm(ordered, values), output=np.float32, queue=bl.Queue(ordered.device)).numpy()
        for _ in range(3):
            array = usm(ordered, values)
            assert function(array, output=array, queue=ordered) is array
            np.testing.assert_array_equal(array.numpy(), expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("channels", [2, 3])
@pytest.mark.parametrize("order", [0, 1, 3])
def test_channels(ordered: bl.Queue, dtype: str, channels: int, order: int) -> None:
    rng = np.random.default_rng(9)
    for _ in range(4):
        array = new_values((7, 9, channels), dtype, rng)
        call = partial(ndimage.shift, shift=0.5, order=order, channel_axis=-1, mode="nearest", queue=ordered)
        close(call(usm(ordered, array)).numpy(), call(array))


def test_calls_after_work_of_the_queue(ordered: bl.Queue) -> None:
    """A repeated call reads what commands before it write."""
    array = usm(ordered, np.zeros((64, 64), np.float32))
    for number in range(6):
        ordered.fill(array, float(number))
        for dtype in (np.float32, np.float64):
            assert (ndimage.shift(array, 0.0, dtype, 1, queue=ordered).numpy() == number).all()


@pytest.mark.parametrize("kind", ["numpy", "usm"])
def test_an_unchanged_axis_of_one_element(ordered: bl.Queue, kind: str) -> None:
    """It is no axis that coefficients are extended along."""
    array = np.random.default_rng(10).random((1, 12, 14)).astype(np.float32)
    expected = scipy_ndimage.rotate(array, 30, axes=(1, 2), order=3, mode="nearest", reshape=False)
    for _ in range(3):
        there = usm(ordered, array) if kind == "usm" else array
        result = ndimage.rotate(there, 30, axes=(1, 2), order=3, mode="nearest", reshape=False, queue=ordered)
        np.testing.assert_allclose(result.numpy() if kind == "usm" else result, expected, atol=1e-4)
