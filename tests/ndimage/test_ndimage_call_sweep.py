"""Python functions that repeated calls run: every function, library, type, order and form of the result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import ndimage
from bindless.image import default_queue
from bindless.ndimage import repeated
from tests.support.pixels import usm
from tests.support.python_calls import front_calls

MOST, MOST_OF_MEMORY = 12, 12  # and of a new array in USM
# Of types that the host converts: the values of integers of 64 bits decide.
MORE = {"int64": 4}
MORE_IN_USM = {"float64": 4, "bool": 5, "int64": 10}
MORE_OF_FILTERS = {"uint8": 5, "int16": 5, **MORE_IN_USM}
SHAPE = (8, 9)
MATRIX = np.array([[0.9, 0.1], [0.0, 1.0]])
POINTS = np.random.default_rng(1).random((2, 20)).astype(np.float32) * 7
DTYPES = ("float32", "uint8", "float64", "int16", "bool", "int64")
ORDERS = (0, 1, 3)
RESULTS = ("new", "dtype", "output")
FORMS = [form for form in product(("numpy", "torch", "jax", "usm"), RESULTS) if form != ("jax", "output")]  # read alone

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "affine": lambda image, points, **options: ndimage.affine_transform(image, MATRIX, 0.3, **options),
    "points": lambda image, points, **options: ndimage.map_coordinates(image, points, **options),
    "shift": lambda image, points, **options: ndimage.shift(image, (0.4, -0.2), **options),
    "zoom": lambda image, points, **options: ndimage.zoom(image, 1.5, **options),
    "rotate": lambda image, points, **options: ndimage.rotate(image, 30, **options),
    "inside": lambda image, points, **options: ndimage.rotate(image, 30, reshape=False, **options),
    "coefficients": lambda image, points, **options: ndimage.spline_filter(image, **options),
    "line": lambda image, points, **options: ndimage.spline_filter1d(image, **options),
    "column": lambda image, points, **options: ndimage.spline_filter1d(image, axis=0, **options),
}


def new(kind: str, values: Any, queue: bl.Queue) -> Any:
    """The values as an array of a library."""
    if kind == "usm":
        return usm(queue, values)
    if kind == "torch":
        return pytest.importorskip("torch").from_numpy(values.copy())
    if kind == "jax":
        jax = pytest.importorskip("jax")
        with jax.enable_x64(True):
            return jax.device_put(values, jax.devices("cpu")[0])  # where the reference device reads
    return values


@pytest.fixture
def own_queue(device: bl.Device, monkeypatch: pytest.MonkeyPatch) -> Iterator[bl.Queue]:
    """A default queue of the device."""
    with bl.Queue(device, in_order=True) as queue:
        monkeypatch.setattr(default_queue, "_default", queue)
        monkeypatch.setattr(repeated, "_calls", {})
        yield queue


def on_host(array: Any) -> Any:
    return array.numpy() if isinstance(array, bl.UsmArray) else np.asarray(array)


@pytest.mark.parametrize(("kind", "result"), FORMS)
@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_repeated_calls(own_queue: bl.Queue, name: str, kind: str, result: str) -> None:
    """The third result is that of a queue out of order, where nothing is repeated."""
    values = np.random.default_rng(3).random(SHAPE) * 100
    over = []
    in_usm = kind == "usm"
    most = MOST + MOST_OF_MEMORY if in_usm and result != "output" else MOST
    device = own_queue.device.backend
    with bl.Queue(own_queue.device) as other:
        for order, dtype in product(ORDERS, DTYPES):
            if (name == "coefficients" and order != 3) or (kind == "torch" and dtype == "bool" and result == "dtype"):
                continue
            array = new(kind, (values > 50 if dtype == "bool" else values).astype(dtype), own_queue)
            points = new(kind, POINTS, own_queue)
            options: dict[str, Any] = {"order": order}
            if result != "new":
                options["output"] = np.dtype(dtype)
            function = partial(FUNCTIONS[name], array, points, **options)
            expected = on_host(function(queue=other))
            if result == "output":
                function.keywords["output"] = new(kind, np.zeros_like(expected), own_queue)
            for _ in range(3):
                values_of_call = function()
            assert type(values_of_call) is type(array)
            np.testing.assert_array_equal(on_host(values_of_call), expected, f"{order} {dtype}")
            calls = min((front_calls(function) for _ in range(3)), key=len)
            filters = order == 3 and name in ("coefficients", "line", "column")
            more = MORE_OF_FILTERS if in_usm and filters else MORE_IN_USM if in_usm else MORE
            # Others copy bytes between the host and USM by functions of their own.
            counts = device in ("reference", "cuda") or (in_usm and dtype not in ("bool", "int64"))
            if counts and len(calls) > most + more.get(dtype, 0):
                over.append(f"order {order}, {dtype}: {len(calls)} {' '.join(calls)}")
    assert not over
