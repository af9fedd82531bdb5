"""Coefficients of the interpolating cubic B-spline, in operations that arrays of all libraries have: differentiable as
often as wanted.

The filter is 6 / (z + 4 + 1/z) = -6 p / ((1 - p / z) (1 - p z)) with the pole p = sqrt(3) - 2. Each recursive part is a
product of sums of two samples, 1 / (1 - p z) = (1 + p z) (1 + p^2 z^2) (1 + p^4 z^4) ..., of which five leave 5e-19.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...model.filter import spline_margins

__all__ = ["coefficients"]

_POLE = 3**0.5 - 2
_STEPS = tuple((step, _POLE**step) for step in (1, 2, 4, 8, 16))
_REACH = sum(step for step, _ in _STEPS)


def coefficients(
    image: Any, boundary: Sequence[str], read: Callable[[Any, int, int, int, str], Any]
) -> tuple[Any, list[int]]:
    """The coefficients of images, and their margin for each axis, x first.

    Parameters
    ----------
    image : array
        Array (N, *axes, C).
    boundary : Sequence[str]
        Members of ``Boundary``, x first. With ``border`` the outside is 0.
    read : Callable
        ``read(image, axis, first, stop, boundary)``: the elements along an axis, inside and outside.
    """
    last, margins = len(image.shape) - 2, list(spline_margins(boundary))
    for number, (mode, margin) in enumerate(zip(boundary, margins)):
        axis, wide = last - number, margin + _REACH
        image = _filter_lines(read(image, axis, -wide, image.shape[axis] + wide, mode), axis)
    return image, margins


def _filter_lines(values: Any, axis: int) -> Any:
    before = (slice(None),) * axis
    for ascending in (True, False):
        for step, weight in _STEPS:
            first, last = (*before, slice(None, -step)), (*before, slice(step, None))
            left, right = values[first], values[last]
            values = right + weight * left if ascending else left + weight * right
    return values * (-6 * _POLE)
