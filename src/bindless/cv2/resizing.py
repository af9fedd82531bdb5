"""``resize``."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ..image.area_filter import area_means
from ..image.array_library import ArrayLike
from ..image.image import Image
from ..model.channels import CHANNELS
from ..model.enums import ImageChannelType
from ..model.errors import ArgumentError
from ..model.message_values import shown
from ..ndimage.places import Places
from ..ndimage.plan import resample
from ..ndimage.source import Input
from ..sycl.queue.queue import Queue
from .arguments import filter_of, flags_of, picture_of, size_of
from .constants import (
    BORDER_REPLICATE,
    INTER_AREA,
    INTER_CUBIC,
    INTER_LINEAR,
    INTER_LINEAR_EXACT,
    INTER_NEAREST,
    INTER_NEAREST_EXACT,
)
from .errors import left_to_cv2
from .pictures import arrays_of_processor, output_of, repeat

__all__ = ["resize"]

_FILTERS = {
    INTER_NEAREST: INTER_NEAREST,
    INTER_NEAREST_EXACT: INTER_NEAREST,
    INTER_LINEAR: INTER_LINEAR,
    INTER_LINEAR_EXACT: INTER_LINEAR,
    INTER_CUBIC: INTER_CUBIC,
}


def resize(
    src: ArrayLike,
    dsize: Sequence[int] | None,
    dst: Any = None,
    fx: float = 0.0,
    fy: float = 0.0,
    interpolation: int = INTER_LINEAR,
    *,
    queue: Queue | None = None,
) -> Any:
    """The picture in another size.

    Parameters
    ----------
    src : ArrayLike
        As of ``remap``.
    dsize : Sequence[int] | None
        (width, height) of the result; None or (0, 0): the picture's, times ``fx`` and ``fy``, rounded.
    dst : ArrayLike, optional
        Array of any library for the result, of its shape and dtype.
    fx, fy : float
        Factors of width and height, where ``dsize`` is None.
    interpolation : int
        ``INTER_LINEAR``, ``INTER_CUBIC``, ``INTER_NEAREST`` and ``INTER_NEAREST_EXACT`` at positions
        (x + 0.5) * scale - 0.5 (``INTER_NEAREST``: x * scale, rounded down), with the edge replicated;
        ``INTER_NEAREST_EXACT`` takes the pixels that Pillow takes, ``INTER_LINEAR_EXACT`` is ``INTER_LINEAR``.
        ``INTER_AREA``: means of areas, of pictures that get no larger.
    queue : Queue, optional
        As of ``remap``.

    Returns
    -------
    ArrayLike
        As of ``remap``.

    Raises
    ------
    ArgumentError, FeatureNotSupportedError
        As of ``remap``; neither a size nor factors; ``INTER_AREA`` of a picture that grows.

    Examples
    --------
    >>> from bindless import cv2
    >>> row = np.array([[0, 10, 20, 31]], dtype=np.uint8)
    >>> cv2.resize(row, (2, 1), interpolation=cv2.INTER_AREA, queue=bindless.Queue("reference"))
    array([[ 5, 26]], dtype=uint8)
    """
    key, result = repeat("resize", queue, src, dst, dsize, fx, fy, interpolation, type(interpolation))
    if result is not None:
        return result
    flags = flags_of("resize", "interpolation", interpolation, 0)
    source = picture_of("resize", src, queue)
    height, width = source.shape
    shape = size_of("dsize", dsize, (0, 0))
    factors = shape[1] / width, shape[0] / height
    if shape == (0, 0):
        factors = _factor("fx", fx), _factor("fy", fy)
        shape = round(height * factors[1]), round(width * factors[0])
        if 0 in shape:
            raise ArgumentError(f"fx={fx}, fy={fy}: nothing is left of a picture of shape {source.shape}")
    if flags == INTER_AREA and shape == source.shape:
        flags = INTER_NEAREST_EXACT  # each pixel is its own area
    if flags == INTER_AREA:
        return _means(source, shape, (1 / factors[1], 1 / factors[0]), dst)
    if flags not in _FILTERS:
        raise left_to_cv2("resize", f"interpolation {flags}")
    x, y = 1 / factors[0], 1 / factors[1]
    matrix, offset, centre = np.diag([y, x]), np.zeros(2), 0.5
    if flags == INTER_NEAREST:
        offset, centre = np.full(2, -0.5), 0.0
    places = Places.affine(matrix, offset, shape, centre=centre)
    if flags == INTER_NEAREST_EXACT:
        places = _nearest(source.shape, shape)
    target = output_of("resize", source, dst, shape)
    filter_ = filter_of(_FILTERS[flags], BORDER_REPLICATE, 0.0, source.dtype, ties_to_even=False)
    return resample(source, target, places, filter_, key=key if places.coords is None else None)


def _nearest(sizes: tuple[int, ...], shape: tuple[int, int]) -> Places:
    """The places of ``INTER_NEAREST_EXACT``: OpenCV adds up the steps from pixel to pixel, as Pillow does.

    Only halves between two pixels tell sums from products, where a step is an even number of odd parts.
    """
    steps = [Fraction(old, new) for old, new in zip(sizes, shape)]
    if all(step.numerator % 2 or step.denominator % 2 == 0 or step.denominator == 1 for step in steps):
        matrix, above = np.diag([float(step) for step in steps]), 1 / (8 * np.array(shape))  # halves go up
        return Places.affine(matrix, above, shape, centre=0.5)
    pixels = [
        np.minimum(np.floor(np.cumsum([0.5 * float(step), *[float(step)] * (new - 1)])), old - 1)
        for step, old, new in zip(steps, sizes, shape)
    ]
    coords = np.stack(np.meshgrid(*pixels, indexing="ij")).astype(np.float32).reshape(2, -1)
    return Places.at(coords)._replace(shape=shape)


def _factor(name: str, value: Any) -> float:
    try:
        factor = float(value)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name}={shown(value)} is not a number") from None
    if not 0 < factor < np.inf:
        raise ArgumentError(f"dsize is None, and {name}={factor}: give the size, or positive factors")
    return factor


def _means(source: Input, shape: tuple[int, int], scale: tuple[float, float], dst: Any) -> Any:
    """The means of areas."""
    if any(new > old for new, old in zip(shape, source.shape)):
        raise left_to_cv2("resize", f"INTER_AREA from {source.shape} to {shape}, which enlarges,")
    if any(abs(step * new - old) > 1e-9 * old for step, new, old in zip(scale, shape, source.shape)):
        raise left_to_cv2("resize", f"INTER_AREA with factors that {source.shape} pixels do not divide")
    kind = source.dtype
    channel = "fp32" if kind.kind == "f" else f"{'un' if kind.kind == 'u' else ''}signed_int{8 * kind.itemsize}"
    target = output_of("resize", source, dst, shape)
    arrays = arrays_of_processor(source, target)
    if arrays is not None:
        (pixels, means), (height, width) = arrays, source.shape
        extent, size = (width, height, 1), (shape[1], shape[0], 1)
        area_means(pixels, extent, size, CHANNELS[ImageChannelType(channel)], means)
        return target.deliver(means)
    with Image(source.value, channel_type=channel, precision="exact", dimensions=2, queue=source.queue) as image:
        return image.resize(shape, out=dst)
