"""``resize``, ``pyrDown`` and ``pyrUp``."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ..image.array_library import ArrayLike
from ..image.image import Image
from ..model.enums import Boundary, Interpolation, Precision
from ..model.errors import ArgumentError
from ..model.filter import Filter
from ..model.message_values import shown
from ..ndimage.places import Places
from ..ndimage.plan import resample
from ..ndimage.source import Input, source_of
from ..ndimage.target import Output
from ..sycl.queue.queue import Queue
from .arguments import border_of, filter_of, flags_of, picture_of, size_of
from .constants import (
    BORDER_DEFAULT,
    BORDER_REFLECT,
    BORDER_REFLECT_101,
    BORDER_REPLICATE,
    BORDER_WRAP,
    INTER_AREA,
    INTER_CUBIC,
    INTER_LINEAR,
    INTER_LINEAR_EXACT,
    INTER_NEAREST,
    INTER_NEAREST_EXACT,
)
from .errors import left_to_cv2
from .pictures import output_of, settle

__all__ = ["pyrDown", "pyrUp", "resize"]

_FILTERS = {
    INTER_NEAREST: INTER_NEAREST,
    INTER_NEAREST_EXACT: INTER_NEAREST,
    INTER_LINEAR: INTER_LINEAR,
    INTER_LINEAR_EXACT: INTER_LINEAR,
    INTER_CUBIC: INTER_CUBIC,
}
_REFLECTED = {
    BORDER_REFLECT_101: Boundary.mirror,
    BORDER_REFLECT: Boundary.mirrored_repeat,
    BORDER_WRAP: Boundary.repeat,
}
# Means of two neighbours: their boundary, their number less that of the pixels, and the position of the first one.
_MEANS = {
    Boundary.mirror: (Boundary.mirrored_repeat, -1, 0.5),
    Boundary.mirrored_repeat: (Boundary.mirror, 1, -0.5),
    Boundary.repeat: (Boundary.repeat, 0, 0.5),
    Boundary.edge: (Boundary.edge, 0, 0.0),
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
    return resample(source, target, places, filter_)


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
    channel = None if kind.kind == "f" else f"{'un' if kind.kind == 'u' else ''}signed_int{8 * kind.itemsize}"
    with Image(source.value, channel_type=channel, precision="exact", dimensions=2, queue=source.queue) as image:
        return image.resize(shape, out=dst)


def pyrDown(
    src: ArrayLike,
    dst: Any = None,
    dstsize: Sequence[int] | None = None,
    borderType: int = BORDER_DEFAULT,
    *,
    queue: Queue | None = None,
) -> Any:
    """The next level of a Gaussian pyramid: weights (1, 4, 6, 4, 1) / 16 along both axes, at every second pixel.

    Parameters
    ----------
    src : ArrayLike
        As of ``remap``.
    dst : ArrayLike, optional
        Array of any library for the result, of its shape and dtype.
    dstsize : Sequence[int], optional
        (width, height) of the result, half the picture's to a pixel; default half of it, rounded up.
    borderType : int
        What lies outside: ``BORDER_REFLECT_101``, ``BORDER_REFLECT`` or ``BORDER_WRAP``.
    queue : Queue, optional
        As of ``remap``.

    Returns
    -------
    ArrayLike
        As of ``remap``; integers halfway between two are rounded away from zero, as OpenCV rounds those above it.

    Raises
    ------
    ArgumentError, FeatureNotSupportedError
        As of ``remap``; another border.

    Examples
    --------
    >>> from bindless import cv2
    >>> cv2.pyrDown(np.array([[0, 16, 32, 48]], dtype=np.uint8), queue=bindless.Queue("reference"))
    array([[12, 30]], dtype=uint8)
    """
    border = border_of("pyrDown", borderType)
    if border not in _REFLECTED:
        raise left_to_cv2("pyrDown", f"borderType={border} (BORDER_REFLECT_101, BORDER_REFLECT and BORDER_WRAP are)")
    source = picture_of("pyrDown", src, queue)
    height, width = source.shape
    shape = size_of("dstsize", dstsize, ((height + 1) // 2, (width + 1) // 2))
    if any(abs(2 * new - old) > 2 for new, old in zip(shape, source.shape)):
        raise ArgumentError(f"dstsize={shown(dstsize)} is not half of {(width, height)}")
    target = output_of("pyrDown", source, dst, shape, "away")
    modes = [Boundary.edge if size == 1 else _REFLECTED[border] for size in source.shape]
    for turn in (1, -1, 1):  # the means of neighbours, of those, and of those; the last ones are the result
        steps = [_MEANS[mode] for mode in modes]
        sizes = tuple(size + more for size, (_, more, _) in zip(source.shape, steps))
        means = _between(source, Output("pyrDown", source, np.float32, sizes), modes, turn, 1)
        settle(means, source.queue)
        source, modes = source_of("pyrDown", means, source.channel_axis, source.queue), [mode for mode, _, _ in steps]
    return _between(source, target, modes, -1, 2)


def pyrUp(
    src: ArrayLike,
    dst: Any = None,
    dstsize: Sequence[int] | None = None,
    borderType: int = BORDER_DEFAULT,
    *,
    queue: Queue | None = None,
) -> Any:
    """The level before of a Gaussian pyramid: zeros between the pixels, and weights (1, 4, 6, 4, 1) / 8 on both axes.

    Parameters
    ----------
    src : ArrayLike
        As of ``remap``.
    dst : ArrayLike, optional
        Array of any library for the result, of its shape and dtype.
    dstsize : Sequence[int], optional
        (width, height) of the result, each twice the picture's, or one more or less; default twice the picture's. As
        OpenCV has it, one column more repeats the last one, and one row more the last but one.
    borderType : int
        What lies outside of pixels and zeros: ``BORDER_DEFAULT``, which is ``BORDER_REFLECT_101``.
    queue : Queue, optional
        As of ``remap``.

    Returns
    -------
    ArrayLike
        As of ``pyrDown``.

    Raises
    ------
    ArgumentError, FeatureNotSupportedError
        As of ``pyrDown``.

    Examples
    --------
    >>> from bindless import cv2
    >>> cv2.pyrUp(np.array([[0, 80]], dtype=np.uint8), queue=bindless.Queue("reference"))[0]
    array([20, 40, 70, 80], dtype=uint8)
    """
    border = border_of("pyrUp", borderType)
    if border != BORDER_DEFAULT:
        raise left_to_cv2("pyrUp", f"borderType={border} (BORDER_DEFAULT is)")
    source = picture_of("pyrUp", src, queue)
    height, width = source.shape
    shape = size_of("dstsize", dstsize, (2 * height, 2 * width))
    if any(abs(new - 2 * old) != new % 2 for new, old in zip(shape, source.shape)):
        raise ArgumentError(f"dstsize={shown(dstsize)} is not twice {(width, height)}, nor one more or less")
    target = output_of("pyrUp", source, dst, shape, "away")
    # Linear samples a quarter of a pixel beside the pixels, and means of two of them; beyond the ends the outermost.
    quarters = Output("pyrUp", source, np.float32, (2 * height - 1, 2 * width - 1))
    means = _linear(source, quarters, [Boundary.edge] * 2, [0.25, 0.25], 0.5)
    settle(means, source.queue)
    between = source_of("pyrUp", means, source.channel_axis, source.queue)
    last_row = Boundary.mirrored_repeat if shape[0] > 2 * height else Boundary.edge
    last_column = Boundary.edge if shape[1] > 2 * width else last_row  # some devices have one boundary for all axes
    return _linear(between, target, [last_row, last_column], [-0.5, -0.5], 1)


def _between(source: Input, target: Output, modes: list[Boundary], turn: int, step: int) -> Any:
    """Means of neighbours, at every step; where pixels repeat, of the next one or of the one before in turn."""
    starts = [_MEANS[mode][2] * (turn if mode is Boundary.repeat else 1) for mode in modes]
    return _linear(source, target, modes, starts, step)


def _linear(source: Input, target: Output, modes: list[Boundary], starts: list[float], step: float) -> Any:
    """Linear samples at starts, and at every step from there."""
    filter_ = Filter.of(Interpolation.linear, modes[::-1], precision=Precision.exact)
    places = Places.affine(np.eye(2) * step, np.array(starts), target.shape)
    return resample(source, target, places, filter_)
