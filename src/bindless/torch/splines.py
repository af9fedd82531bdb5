"""Coefficients of the interpolating cubic B-spline, in operations of torch: differentiable as often as wanted.

The filter is 6 / (z + 4 + 1/z) = -6 p / ((1 - p / z) (1 - p z)) with the pole p = sqrt(3) - 2. Each recursive part is a
product of sums of two samples, 1 / (1 - p z) = (1 + p z) (1 + p^2 z^2) (1 + p^4 z^4) ..., of which five leave 5e-19.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ..model.filter import fold, spline_margins

__all__ = ["coefficients"]

Tensor = Any

_POLE = 3**0.5 - 2
_STEPS = tuple((step, _POLE**step) for step in (1, 2, 4, 8, 16))
_REACH = sum(step for step, _ in _STEPS)


def coefficients(image: Tensor, boundary: Sequence[str]) -> tuple[Tensor, list[int]]:
    """The coefficients of images, and their margin for each axis, x first.

    Parameters
    ----------
    image : Tensor
        (N, *axes, C). With the boundary ``border`` the outside is 0.
    boundary : Sequence[str]
        Members of ``Boundary``, x first.
    """
    margins = list(spline_margins(boundary))
    for number, (mode, margin) in enumerate(zip(boundary, margins)):
        image = _filtered(image, image.dim() - 2 - number, mode, margin)
    return image, margins


def _filtered(image: Tensor, axis: int, mode: str, margin: int) -> Tensor:
    size, wide = image.shape[axis], margin + _REACH
    index = torch.arange(-wide, size + wide, device=image.device)
    values = image.index_select(axis, fold(index, size, mode))
    if mode == "border":
        outside = (index < 0) | (index >= size)
        values = values.masked_fill(outside.reshape(-1, *[1] * (image.dim() - axis - 1)), 0.0)
    for ascending in (True, False):
        for step, weight in _STEPS:
            count = values.shape[axis] - step
            left, right = values.narrow(axis, 0, count), values.narrow(axis, step, count)
            values = right + weight * left if ascending else left + weight * right
    return values * (-6 * _POLE)
