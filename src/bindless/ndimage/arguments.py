"""Arguments of scipy's forms, checked."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ..image.array_library import AnyArray, view
from ..model.enums import Interpolation, Precision
from ..model.errors import ArgumentError, FeatureNotSupportedError
from ..model.filter import Filter
from ..model.message_values import shown
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray
from .errors import left_to_scipy
from .source import native

__all__ = [
    "COPY",
    "MOST_AXES",
    "NUMBERS",
    "affine_of",
    "coordinates_of",
    "filter_of",
    "numbers_of",
    "require_axes",
    "shape_of",
]

MOST_AXES = 3
NUMBERS = frozenset((int, float))
"""Types of numbers that need no check."""

COPY = Filter(Interpolation.nearest, precision=Precision.exact)
"""The filter that gives elements as they are, at their own places."""

Floats = npt.NDArray[np.float64]


def filter_of(function: str, order: Any, mode: Any, cval: Any, precision: Any, *, in_window: bool = False) -> Filter:
    """The filter that the options of all functions describe.

    Parameters
    ----------
    in_window : bool
        Whether arrays are parts of larger ones: a texture unit then has no boundary to follow.
    """
    try:
        filter_ = _filter(order, mode, cval, precision)
    except FeatureNotSupportedError as error:
        raise left_to_scipy(function, str(error)) from None
    if not (in_window or filter_.precision is Precision.exact or filter_.has_unit_boundary):
        raise left_to_scipy(
            function,
            f"precision={filter_.precision} with mode={mode} and cval={filter_.fill:g} (the modes nearest, reflect, "
            "grid-wrap, and grid-constant with cval=0 are, and with precision=exact all are)",
        )
    return filter_


_remembered = lru_cache(256, typed=True)(lambda *options: Filter.from_scipy(*options[:4]))


def _filter(order: Any, mode: Any, cval: Any, precision: Any) -> Filter:
    """``Filter.from_scipy``, once for equal options."""
    try:
        sign = math.copysign(1.0, cval)  # 0.0 and -0.0 are equal
        hash((order, mode, cval, precision))
    except (TypeError, ValueError, OverflowError):
        return Filter.from_scipy(order, mode, cval, precision)
    return _remembered(order, mode, cval, precision, sign)


def numbers_of(name: str, value: Any, count: int) -> Floats:
    """``count`` numbers from one, or from a sequence."""
    try:
        array = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name}={shown(value)} is neither a number nor a sequence of numbers") from None
    if array.ndim == 0:
        return np.full(count, array)
    if array.shape != (count,):
        raise ArgumentError(f"{name}={shown(value)} has shape {array.shape}; it is a number, or {count} of them")
    return array


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of a result."""
    try:
        shape = tuple(operator.index(size) for size in (value if isinstance(value, Iterable) else (value,)))
    except TypeError:
        raise ArgumentError(f"output_shape={shown(value)} is not made of integers") from None
    if not shape or min(shape) < 0:
        raise ArgumentError(f"output_shape={shape}: it has at least one axis, and no negative sizes")
    return shape


def require_axes(function: str, count: int) -> None:
    """Refuses more axes than images have."""
    if count > MOST_AXES:
        raise left_to_scipy(function, f"interpolation along {count} axes (up to {MOST_AXES} are, and channel_axis)")


def affine_of(matrix: Any, offset: Any, dims: int, count: int) -> tuple[Floats, Floats]:
    """Matrix (axes of the input, axes of the result) and offset, from all the forms that scipy takes.

    Parameters
    ----------
    matrix : array
        (dims,), diagonal; (dims, count); homogeneous (dims, dims + 1) or (dims + 1, dims + 1), which hold the offset.
    offset : Any
        A number, or one for each axis of the input.
    dims, count : int
        Axes of the input and of the result.
    """
    try:
        array = np.asarray(matrix.numpy() if isinstance(matrix, UsmArray) else matrix, np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(f"matrix={shown(matrix)} is not made of numbers") from None
    if array.ndim == 2 and array.shape[1] == dims + 1 and array.shape[0] in (dims, dims + 1):
        last = [0.0] * dims + [1.0]
        if len(array) == dims + 1 and array[dims].tolist() != last:
            raise ArgumentError(f"matrix has {array[dims].tolist()} as its last row; a homogeneous one has {last}")
        array, offset = array[:dims, :dims], array[:dims, dims]
    if array.ndim == 1 and len(array) == dims:
        array = np.diag(array)
    if array.shape != (dims, count):
        raise ArgumentError(
            f"matrix has shape {array.shape}; for {dims} axes of the input and {count} of the result it is "
            f"({dims}, {count}), ({dims},), ({dims}, {dims + 1}) or ({dims + 1}, {dims + 1})"
        )
    if type(offset) in NUMBERS:
        return array, np.full(dims, float(offset))
    if type(offset) is np.ndarray and offset.shape == (dims,) and offset.dtype == np.float64:
        return array, offset
    return array, numbers_of("offset", offset, dims)


def coordinates_of(value: Any, dims: int, queue: Queue) -> tuple[AnyArray, tuple[int, ...]]:
    """Coordinates as (dims, N), contiguous float32 or float64, and the shape of the result."""
    array = view("coordinates", value, queue)
    if array.dtype.kind == "c":
        raise ArgumentError(f"coordinates are {array.dtype}; they are real numbers")
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        raise ArgumentError(f"coordinates have dtype {array.dtype}; they are real numbers of at most 64 bits")
    if array.ndim < 2 or array.shape[0] != dims:
        raise ArgumentError(f"coordinates have shape {tuple(array.shape)}; for {dims} axes it is ({dims}, ...)")
    shape = tuple(int(size) for size in array.shape[1:])
    fits = array.dtype in (np.dtype(np.float32), np.dtype(np.float64))
    if isinstance(array, UsmArray):
        if fits and array.is_contiguous:
            return array.reshape(dims, -1) if array.size else array.numpy().reshape(dims, 0), shape
        array = array.numpy()
    dtype = native(array.dtype) if fits else np.dtype(np.float64)
    return np.ascontiguousarray(array, dtype).reshape(dims, int(np.prod(shape))), shape
