"""Arguments of ``Image``'s methods, checked and brought into the form that the layers below take."""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from ..model.arrays import Array
from ..model.enums import ImageType
from ..model.errors import InvalidError, ShapeWarning
from ..model.host_array import as_array
from ..model.image_descriptor import ImageDescriptor
from ..model.message_values import shown
from ..sampling.row_blocks import require_room
from ..sycl.usm import UsmArray
from .array_library import AnyArray

if TYPE_CHECKING:
    from .image import Image

__all__ = [
    "broadcast",
    "coordinate_axes",
    "gradient_of",
    "per_item",
    "points_of",
    "reason_of_dimensions",
    "shape_order",
    "sizes_of",
    "warn_of_channels",
]


_LEAST_PICTURE = 16  # pixels along each axis of what looks like a picture with channels
_MOST_CHANNELS = 8  # of pictures that have more than the four of an image


def warn_of_channels(shape: tuple[int, ...], described: ImageDescriptor) -> None:
    """Warns of an array that is taken as a volume and looks like a picture with channels."""
    if described.dimensions == 3 and (advice := _advice(shape)):
        text = f"an array of shape {shape} is taken as a volume: {advice}; if not, pass dimensions=3"
        warnings.warn(text, ShapeWarning, stacklevel=3)


def reason_of_dimensions(image: Image, count: int) -> str:
    """Why an image has its dimensions, for the message about an argument for fewer ones; empty for another count."""
    dims, advice = len(image.size), _advice(image.shape) if image._described.dimensions == 3 else ""
    if not 0 < count < dims:
        return ""
    return f"; the array of shape {image.shape} is an image of {dims}D, dimensions= says otherwise" + (
        f" ({advice})" if advice else ""
    )


def _advice(shape: tuple[int, ...]) -> str:
    """Return advice for a volume with an axis that looks like channels; empty for other volumes."""
    if len(shape) != 3:
        return ""
    if shape[0] <= 4 and min(shape[1:]) >= _LEAST_PICTURE:
        return f"if its first axis has {shape[0]} channels, move them to the last, numpy.moveaxis(array, 0, -1)"
    if 4 < shape[2] <= _MOST_CHANNELS and min(shape[:2]) >= max(_LEAST_PICTURE, 4 * shape[2]):
        return (
            f"if its last axis has {shape[2]} channels, make several images with up to 4 each, such as array[..., :4]"
        )
    return ""


def coordinate_axes(image: Image, values: AnyArray, *, fetch: bool = False) -> AnyArray:
    """Coordinates as (..., dims); those of a 1D image may lack the last axis."""
    if values.dtype.kind not in "iuf":
        raise InvalidError(f"coords have dtype {values.dtype}; they are numbers of shape (..., dims)")
    dims = 3 if image._described.type is ImageType.cubemap and not fetch else len(image._size)
    axes = len(values.shape)
    if dims == 1 and axes == 1:
        return values[:, None]
    if axes == 0 or values.shape[-1] != dims:
        why = "" if dims != len(image.size) else reason_of_dimensions(image, values.shape[-1] if axes else 0)
        if axes == 2 and len(values) == dims:
            why = ": transpose it"
        names = "a direction (x, y, z)" if dims != len(image.size) else f"({', '.join('xyz'[:dims])})"
        raise InvalidError(f"coords have shape {values.shape}; the last axis is {names}, {dims} long{why}")
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
        steps = np.asarray(array, np.float64)
        return np.broadcast_to(steps, (*leading, dims)).reshape(-1, dims)
    except (TypeError, ValueError, OverflowError):
        raise InvalidError(f"{name} has shape {array.shape}; it is {(*leading, dims)} or broadcasts to it") from None


def per_item(name: str, values: npt.ArrayLike, leading: tuple[int, ...], dtype: npt.DTypeLike) -> Any:
    """One number, or (N,) of them."""
    array = as_array(name, values)
    try:
        items = np.asarray(array, dtype)
        if items.ndim == 0:
            return items.item()
        return np.ascontiguousarray(np.broadcast_to(items, leading).reshape(-1))
    except (TypeError, ValueError, OverflowError):
        raise InvalidError(f"{name} has shape {array.shape}; it is a number or broadcasts to {leading}") from None


def shape_order(dims: int) -> str:
    """Return the names of a shape's numbers, for errors."""
    return f"({', '.join(('depth', 'height', 'width')[3 - dims :])})"


def sizes_of(value: int | Sequence[int], count: int, name: str, order: str, why: str = "") -> tuple[int, ...]:
    """``count`` positive integers; ``order``: what they are called, the first of them where there are fewer; ``why``
    there are as many, for the message about others."""
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
        why = "" if len(sizes) == count else why
        raise InvalidError(f"{name}={shown(value)}: it is {count} positive integers, {names}{why}")
    require_room(math.prod(sizes), f"{name}={shown(value)}")
    return sizes
