"""Arguments of ``Image``'s methods, checked and brought into the form that the layers below take."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from ..model.enums import ImageType
from ..model.errors import InvalidError
from ..model.host_array import as_array
from ..model.message_values import shown
from ..sycl.usm import UsmArray
from .array_library import AnyArray
from .row_blocks import require_room

if TYPE_CHECKING:
    from .image import Image

__all__ = ["broadcast", "coordinate_axes", "gradient_of", "per_item", "points_of", "sizes_of"]

Array = npt.NDArray[Any]


def coordinate_axes(image: Image, values: AnyArray, *, fetch: bool = False) -> AnyArray:
    """Coordinates as (..., dims); those of a 1D image may lack the last axis."""
    if values.dtype.kind not in "iuf":
        raise InvalidError(f"coords have dtype {values.dtype}; they are numbers of shape (..., dims)")
    dims = 3 if image._described.type is ImageType.cubemap and not fetch else len(image.size)
    if dims == 1 and values.ndim == 1:
        return values[:, None]
    if values.ndim == 0 or values.shape[-1] != dims:
        names = "a direction (x, y, z)" if dims != len(image.size) else f"({', '.join('xyz'[:dims])})"
        raise InvalidError(f"coords have shape {values.shape}; the last axis is {names}, {dims} long")
    return values


def points_of(image: Image, values: Array, dtype: npt.DTypeLike, *, fetch: bool = False) -> Array:
    """Coordinates as (N, dims)."""
    axes = coordinate_axes(image, values, fetch=fetch)
    assert isinstance(axes, np.ndarray)
    if axes.dtype != np.float32:
        axes = axes.astype(dtype, copy=False)
    return axes.reshape(-1, axes.shape[-1])


def broadcast(name: str, array: UsmArray, shape: tuple[int, ...]) -> UsmArray:
    """An array on the device as a view of a shape that it can be broadcast to."""
    sizes = (1,) * (len(shape) - array.ndim) + tuple(array.shape)
    if len(sizes) != len(shape) or any(size not in (1, whole) for size, whole in zip(sizes, shape)):
        raise InvalidError(f"{name} has shape {array.shape}; it broadcasts to {shape}")
    strides = (0,) * (len(shape) - array.ndim) + tuple(array.strides)
    strides = tuple(0 if size == 1 else stride for size, stride in zip(sizes, strides))
    return UsmArray(array._owner, shape, array.dtype, strides, array._offset)


def gradient_of(image: Image, name: str, values: npt.ArrayLike, leading: tuple[int, ...]) -> Array:
    """Gradients as (N, dims)."""
    dims = len(image.size)
    array = as_array(name, values)
    try:
        given = np.asarray(array, np.float64)
        return np.broadcast_to(given, (*leading, dims)).reshape(-1, dims)
    except (TypeError, ValueError, OverflowError):
        raise InvalidError(f"{name} has shape {array.shape}; it is {(*leading, dims)} or broadcasts to it") from None


def per_item(name: str, values: npt.ArrayLike, leading: tuple[int, ...], dtype: npt.DTypeLike) -> Any:
    """One number, or (N,) of them."""
    array = as_array(name, values)
    try:
        given = np.asarray(array, dtype)
        if given.ndim == 0:
            return given.item()
        return np.ascontiguousarray(np.broadcast_to(given, leading).reshape(-1))
    except (TypeError, ValueError, OverflowError):
        raise InvalidError(f"{name} has shape {array.shape}; it is a number or broadcasts to {leading}") from None


def sizes_of(value: int | Sequence[int], count: int, name: str, order: str) -> tuple[int, ...]:
    """``count`` positive integers; ``order``: what they are called, the first of them where there are fewer."""
    listed = order.strip("()").split(", ")[:count]
    names = f"({listed[0]},)" if count == 1 else f"({', '.join(listed)})"
    try:
        if isinstance(value, (tuple, list)):
            several = True
        else:
            several = value.ndim > 0 if isinstance(value, np.ndarray) else not isinstance(value, SupportsIndex)
        items = tuple(value) if several else (value,)  # type: ignore[arg-type]
        sizes = tuple(operator.index(item) for item in items)  # type: ignore[arg-type]
    except TypeError:
        raise InvalidError(f"{name}={shown(value)} is not made of integers; it is {names}") from None
    if len(sizes) != count or min(sizes) < 1:
        raise InvalidError(f"{name}={shown(value)}: it is {count} positive integers, {names}")
    require_room(math.prod(sizes), f"{name}={shown(value)}")
    return sizes
