"""``coefficients``: the prefilter of cubic B-splines, in functions of JAX."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..model.enums import Boundary
from ..model.filter import Filter, fold

__all__ = ["coefficients"]

_POLE = 3**0.5 - 2
_STEPS = (1, 2, 4, 8, 16)  # the product of (1 + pole^step shift) has the first 32 powers of the recursive filter
_REACH = sum(_STEPS)


def coefficients(image: Any, filter_: Filter) -> tuple[Any, list[int]]:
    """The coefficients of images, and their margin along each axis, x first.

    Parameters
    ----------
    image : jax.Array
        (N, *axes, channels). With the boundary "border" the outside is 0.
    filter_ : Filter
        Says what lies outside.
    """
    margins = list(filter_.spline_margin[: image.ndim - 2])
    for number, (mode, margin) in enumerate(zip(filter_.boundary, margins)):
        image = _filtered(image, image.ndim - 2 - number, mode, margin)
    return image, margins


def _filtered(image: Any, axis: int, mode: Boundary, margin: int) -> Any:
    size = image.shape[axis]
    index = np.arange(-margin - _REACH, size + margin + _REACH)
    values = jnp.moveaxis(jnp.take(image, fold(index, size, mode), axis), axis, -1)
    if mode is Boundary.border:
        values = jnp.where((index >= 0) & (index < size), values, 0)
    for step in _STEPS:
        values = values[..., step:] + _POLE**step * values[..., :-step]
    for step in _STEPS:
        values = values[..., :-step] + _POLE**step * values[..., step:]
    return jnp.moveaxis(values * (-6 * _POLE), -1, axis)
