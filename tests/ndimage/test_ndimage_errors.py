"""Arguments that ``bindless.ndimage`` refuses, and what it leaves to scipy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless import ndimage
from tests.support.error_checks import raises

ROW = np.arange(5.0)
PLANE = np.zeros((3, 4))

LEFT_TO_SCIPY: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    *(("shift", (ROW, 1), {"order": order, "precision": "hardware", "mode": "nearest"}) for order in (2, 4, 5)),
    ("shift", (ROW, 1), {"order": 2, "precision": "reproducible", "mode": "nearest"}),
    ("shift", (ROW.astype(complex), 1), {}),
    ("zoom", (np.zeros((2, 2, 2, 2)), 2), {}),
    ("map_coordinates", (np.zeros((2, 2, 2, 2)), np.zeros((4, 1))), {}),
    ("spline_filter", (np.zeros((2, 2, 2, 2)),), {}),
    ("affine_transform", (ROW, np.ones((1, 4))), {"output_shape": (2, 2, 2, 2)}),
    ("shift", (ROW, 1, np.complex64), {}),
    *(("shift", (ROW, 1), {"precision": "hardware", "mode": mode}) for mode in ("constant", "mirror", "wrap")),
    ("shift", (ROW, 1), {"precision": "hardware", "mode": "grid-constant", "cval": 1.0}),
]

INVALID: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    *(("shift", (ROW, 1), {"order": order}) for order in (-1, 6, 1.0, True, None)),
    *(("shift", (ROW, 1), {"mode": mode}) for mode in ("clamp", 3, None)),
    *(("shift", (ROW, 1), {"cval": cval}) for cval in ("x", 1j, None)),
    ("shift", (ROW, 1), {"precision": "best"}),
    ("shift", (ROW, 1), {"queue": "reference"}),
    ("shift", (ROW, (1, 2)), {}),
    ("shift", (ROW, "x"), {}),
    ("shift", (np.float64(3), 1), {}),
    ("shift", (np.zeros((0, 3)), 1), {}),
    ("shift", (np.array(["a"]), 1), {}),
    ("shift", (np.zeros(3, np.longdouble), 1), {}),
    ("shift", (np.array([0, 2**40]), 1), {}),
    ("shift", (ROW, 1, "nothing"), {}),
    ("shift", (ROW, 1, "bool"), {}),
    ("shift", (ROW, 1, np.zeros(3)), {}),
    ("shift", (ROW, 1, np.longdouble), {}),
    ("shift", (PLANE, 1), {"channel_axis": 2}),
    ("shift", (PLANE, 1), {"channel_axis": "x"}),
    ("shift", (ROW, 1), {"channel_axis": 0}),
    ("map_coordinates", (ROW, [0, 1]), {}),
    ("map_coordinates", (ROW, [[0], [1]]), {}),
    ("map_coordinates", (ROW, [[1j]]), {}),
    ("map_coordinates", (ROW, [["x"]]), {}),
    ("affine_transform", (PLANE, np.eye(4)), {}),
    ("affine_transform", (PLANE, np.ones((3, 3))), {}),
    ("affine_transform", (PLANE, np.eye(2), (1, 2, 3)), {}),
    ("affine_transform", (PLANE, "x"), {}),
    ("affine_transform", (PLANE, np.eye(2)), {"output_shape": (5,)}),
    ("affine_transform", (PLANE, np.eye(2)), {"output_shape": "x"}),
    ("affine_transform", (PLANE, np.eye(2)), {"output_shape": (2, -1)}),
    ("affine_transform", (ROW, [[1]]), {"output": np.zeros(16), "output_shape": (12,)}),
    *(("zoom", (PLANE, factor), {}) for factor in (np.nan, -1, (1, 2, 3), "x", np.inf)),
    ("rotate", (ROW, 3), {}),
    *(("rotate", (PLANE, 3, axes), {}) for axes in ((0, 2), (0, 0), (0, 1, 1), (0, 0.5), 1, "ab")),
    *(("rotate", (PLANE, angle), {}) for angle in ("x", np.nan, (1, 2))),
    ("spline_filter", (ROW,), {"order": 1}),
    ("spline_filter1d", (ROW,), {"axis": 1}),
]


@pytest.mark.parametrize("name, arguments, options", LEFT_TO_SCIPY)
def test_left_to_scipy(queue: bl.Queue, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
    with raises(bl.FeatureNotSupportedError, names=f"scipy.ndimage.{name}"):
        getattr(ndimage, name)(*arguments, **{"queue": queue, **options})


@pytest.mark.parametrize("name, arguments, options", INVALID)
def test_refused(queue: bl.Queue, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
    with raises(bl.InvalidError):
        getattr(ndimage, name)(*arguments, **{"queue": queue, **options})


def test_errors_are_those_of_scipy_s_programs() -> None:
    assert issubclass(ndimage.ArgumentError, RuntimeError) and issubclass(ndimage.ArgumentError, ValueError)
    with raises(ndimage.ArgumentError):
        ndimage.zoom(PLANE, (1, 2, 3))


def test_arrays_larger_than_images(queue: bl.Queue) -> None:
    most = queue.device.get_info("image1d_max_width")
    row = np.broadcast_to(np.uint8(1), (most + 1,))
    with raises(bl.MemoryAllocationError, names=most):
        ndimage.shift(row, 1, order=0, queue=queue)
    with raises(bl.MemoryAllocationError):
        ndimage.zoom(PLANE, 1e9, order=0, queue=queue)
