"""``pyrDown`` and ``pyrUp``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..image.array_library import ArrayLike
from ..model.enums import Boundary, Interpolation, Precision
from ..model.errors import ArgumentError
from ..model.filter import Filter
from ..model.message_values import shown
from ..ndimage.places import Places
from ..ndimage.plan import resample
from ..ndimage.repeated import Call, Calls, Key, add, recall
from ..ndimage.source import Input, source_of
from ..ndimage.target import Output
from ..sycl.queue.queue import Queue
from .arguments import border_of, picture_of, size_of
from .constants import BORDER_DEFAULT, BORDER_REFLECT, BORDER_REFLECT_101, BORDER_WRAP
from .errors import left_to_cv2
from .levels import pyramid_level
from .pictures import arrays_of_processor, output_of, repeat, settle

__all__ = ["pyrDown", "pyrUp"]

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
    name = "pyrDown"
    key, result = repeat(name, queue, src, dst, dstsize, borderType, type(borderType))
    if result is not None:
        return result
    border = border_of(name, borderType)
    if border not in _REFLECTED:
        raise left_to_cv2(name, f"borderType={border} (BORDER_REFLECT_101, BORDER_REFLECT and BORDER_WRAP are)")
    source = picture_of(name, src, queue)
    height, width = source.shape
    shape = size_of("dstsize", dstsize, ((height + 1) // 2, (width + 1) // 2))
    if any(abs(2 * new - old) > 2 for new, old in zip(shape, source.shape)):
        raise ArgumentError(f"dstsize={shown(dstsize)} is not half of {(width, height)}")
    target = output_of(name, source, dst, shape, "away")
    modes = [Boundary.edge if size == 1 else _REFLECTED[border] for size in source.shape]
    arrays = arrays_of_processor(source, target)
    if arrays is not None:
        pyramid_level(*arrays, modes, up=False)
        return target.deliver(arrays[1])
    steps, sizes = [], source.shape
    for turn in (1, -1, 1):  # the means of neighbours, of those, and of those; the last ones are the result
        means = [_MEANS[mode] for mode in modes]
        sizes = tuple(size + more for size, (_, more, _) in zip(sizes, means))
        steps.append(_between(sizes, modes, turn, 1))
        modes = [mode for mode, _, _ in means]
    steps.append(_between(shape, modes, -1, 2))
    return _follow(name, source, target, steps, key)


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
    name = "pyrUp"
    key, result = repeat(name, queue, src, dst, dstsize, borderType, type(borderType))
    if result is not None:
        return result
    border = border_of(name, borderType)
    if border != BORDER_DEFAULT:
        raise left_to_cv2(name, f"borderType={border} (BORDER_DEFAULT is)")
    source = picture_of(name, src, queue)
    height, width = source.shape
    shape = size_of("dstsize", dstsize, (2 * height, 2 * width))
    if any(abs(new - 2 * old) != new % 2 for new, old in zip(shape, source.shape)):
        raise ArgumentError(f"dstsize={shown(dstsize)} is not twice {(width, height)}, nor one more or less")
    target = output_of(name, source, dst, shape, "away")
    last_row = Boundary.mirrored_repeat if shape[0] > 2 * height else Boundary.edge
    last_column = Boundary.edge if shape[1] > 2 * width else last_row  # some devices have one boundary for all axes
    arrays = arrays_of_processor(source, target)
    if arrays is not None:
        pyramid_level(*arrays, (last_row, last_column), up=True)
        return target.deliver(arrays[1])
    # Linear samples a quarter of a pixel beside the pixels, and means of two of them; beyond the ends the outermost.
    quarters = _Step((2 * height - 1, 2 * width - 1), (Boundary.edge,) * 2, (0.25, 0.25), 0.5)
    return _follow(name, source, target, [quarters, _Step(shape, (last_row, last_column), (-0.5, -0.5), 1)], key)


class _Step(NamedTuple):
    """Linear samples of a picture, at starts and at every step from there.

    Attributes
    ----------
    shape : tuple[int, ...]
        Of the samples.
    modes : tuple[Boundary, ...]
        What lies outside of the picture, for each axis.
    starts : tuple[float, ...]
        Position of the first sample.
    step : float
        From a sample to the next one.
    """

    shape: tuple[int, ...]
    modes: tuple[Boundary, ...]
    starts: tuple[float, ...]
    step: float

    def draw(self, source: Input, target: Output, key: Key | None) -> Any:
        """The samples."""
        filter_ = Filter.of(Interpolation.linear, self.modes[::-1], precision=Precision.exact)
        places = Places.affine(np.eye(2) * self.step, np.array(self.starts), self.shape)
        return resample(source, target, places, filter_, key=key)


def _between(shape: tuple[int, ...], modes: list[Boundary], turn: int, step: int) -> _Step:
    """Means of neighbours, at every step; where pixels repeat, of the next one or of the one before in turn."""
    starts = [_MEANS[mode][2] * (turn if mode is Boundary.repeat else 1) for mode in modes]
    return _Step(shape, tuple(modes), tuple(starts), step)


def _follow(name: str, source: Input, target: Output, steps: list[_Step], key: Key | None) -> Any:
    """The samples of samples, those between in single precision; added to the calls that come again."""
    calls = []
    for step in steps[:-1]:
        between = Output(name, source, np.float32, step.shape)
        samples, call = _repeat(name, source, between, np.float32, step)
        calls.append(call)
        settle(samples, source.queue)
        source = source_of(name, samples, source.channel_axis, source.queue)
    result, call = _repeat(name, source, target, target.caller, steps[-1])
    repeats = tuple([each for each in (*calls, call) if each is not None])
    if key is not None and len(repeats) == len(steps):
        add(key, Calls(repeats))
    return result


def _repeat(name: str, source: Input, target: Output, output: Any, step: _Step) -> tuple[Any, Call | None]:
    """The samples of a step, and the call that comes again, if one does."""
    arguments = f"cv2.{name}", source.queue, source.value, output, 0.0, step
    samples = step.draw(source, target, recall(*arguments)[0])
    return samples, recall(*arguments)[1]
