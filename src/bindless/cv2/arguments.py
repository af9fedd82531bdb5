"""Arguments of OpenCV's forms, checked."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import numpy.typing as npt

from ..image.array_library import ArrayLike
from ..model.arrays import DType
from ..model.errors import ArgumentError
from ..model.filter import Filter
from ..model.message_values import shown
from ..ndimage.source import Input, source_of
from ..sycl.queue.queue import Queue
from .constants import (
    BORDER_CONSTANT,
    BORDER_ISOLATED,
    BORDER_REFLECT_101,
    BORDER_TRANSPARENT,
    INTER_AREA,
    INTER_LINEAR,
    INTER_MAX,
    INTER_NEAREST,
)
from .errors import left_to_cv2

__all__ = [
    "border_of",
    "border_values",
    "filter_of",
    "flags_of",
    "interpolation_of",
    "matrix_of",
    "picture_of",
    "size_of",
]

_DTYPES = ("uint8", "uint16", "int16", "float32")
_MOST_CHANNELS = 4
_OF_WARPS = (0, 1, 2)
_BORDERS = range(5)

Floats = npt.NDArray[np.float64]


def picture_of(function: str, src: ArrayLike, queue: Queue | None) -> Input:
    """The picture (height, width[, channels]); one channel is none, as OpenCV returns it.

    Raises
    ------
    ArgumentError
        No array of two axes, and one of channels.
    FeatureNotSupportedError
        Another dtype, or more channels.
    """
    array: Any = src if hasattr(src, "dtype") and hasattr(src, "shape") else np.asarray(src)
    name = str(array.dtype).rpartition(".")[2]
    if name not in _DTYPES:
        raise left_to_cv2(function, f"src of {name} ({', '.join(_DTYPES)} are)")
    shape = tuple(array.shape)
    if len(shape) not in (2, 3) or 0 in shape:
        raise ArgumentError(f"src has shape {shape}: a picture is (height, width) or (height, width, channels)")
    if len(shape) == 3 and shape[2] > _MOST_CHANNELS:
        raise left_to_cv2(function, f"src with {shape[2]} channels (1 to {_MOST_CHANNELS} are)")
    if len(shape) == 3 and shape[2] == 1:
        array = array[..., 0]
    return source_of(function, array, 2 if len(array.shape) == 3 else None, queue)


def size_of(name: str, value: Any, default: tuple[int, int]) -> tuple[int, int]:
    """The shape (height, width) of a size (width, height); None and zeros are the default."""
    if value is None:
        return default
    try:
        width, height = map(operator.index, value)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name}={shown(value)} is no size: it is (width, height)") from None
    if (width, height) == (0, 0):
        return default
    if width <= 0 or height <= 0:
        raise ArgumentError(f"{name}={shown(value)} is no size: width and height are positive")
    return height, width


def flags_of(function: str, name: str, value: object, mask: int) -> int:
    """Flags that are a function's, beside those of the interpolation."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ArgumentError(f"{name}={shown(value)} is no number of flags")
    flags: int = value.__index__()
    if flags & ~(mask | INTER_MAX):
        raise left_to_cv2(function, f"{name}={flags}")
    return flags


def interpolation_of(function: str, flags: int) -> int:
    """The interpolation among the flags of warps and of maps, where areas are linear as in OpenCV."""
    interpolation = INTER_LINEAR if flags & INTER_MAX == INTER_AREA else flags & INTER_MAX
    if interpolation not in _OF_WARPS:
        raise left_to_cv2(function, f"interpolation {interpolation} (INTER_NEAREST, INTER_LINEAR and INTER_CUBIC are)")
    return interpolation


def border_of(function: str, value: object) -> int:
    """The border mode."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ArgumentError(f"borderMode={shown(value)} is no number of a border mode")
    border: int = value.__index__() & ~BORDER_ISOLATED
    if border not in _BORDERS and border != BORDER_TRANSPARENT:
        raise ArgumentError(f"borderMode={border} is no border mode: they are 0 to 5")
    return border


def border_values(value: Any, source: Input, border: int) -> tuple[float, ...]:
    """The value outside of each channel: a number is that of the first one, as in OpenCV; integers are clamped."""
    channels = int(source.pixels.shape[-1])
    if border != BORDER_CONSTANT:
        return (0.0,) * channels
    try:
        values = np.ravel(np.asarray(value, np.float64))
    except (TypeError, ValueError):
        raise ArgumentError(f"borderValue={shown(value)} is neither a number nor up to four of them") from None
    if not 1 <= values.size <= _MOST_CHANNELS:
        raise ArgumentError(f"borderValue={shown(value)} has {values.size} numbers: it is one, or up to four")
    whole = np.zeros(_MOST_CHANNELS)
    whole[: values.size] = values
    if source.dtype.kind in "iu":
        limits = np.iinfo(source.dtype)
        whole = np.clip(np.rint(np.nan_to_num(whole)), limits.min, limits.max)
    return tuple(whole[:channels].tolist())


def filter_of(interpolation: int, border: int, fill: float, dtype: DType, *, ties_to_even: bool = True) -> Filter:
    """The filter of pictures of a dtype; of two nearest pixels the even or the upper one."""
    mode = BORDER_REFLECT_101 if border == BORDER_TRANSPARENT else border
    is_wide = dtype.kind in "iu" and interpolation != INTER_NEAREST
    return Filter.from_opencv(interpolation, mode, fill, ties_to_even=ties_to_even, double_sums=is_wide)


def matrix_of(value: Any, rows: int) -> Floats:
    """A matrix (rows, 3)."""
    try:
        matrix = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(f"M={shown(value)} is not made of numbers") from None
    if matrix.shape != (rows, 3):
        raise ArgumentError(f"M has shape {matrix.shape}; it is ({rows}, 3)")
    if not np.isfinite(matrix).all():
        raise ArgumentError(f"M={matrix.tolist()} has entries that are not finite")
    return matrix
