"""``coefficients``: the prefilter of cubic B-splines, in functions of JAX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
import numpy.typing as npt

__all__ = ["coefficients"]

_MARGIN = 12
"""Coefficients on each side of an image whose outside is not periodic or mirrored; the filter of the edge decays to
2e-7 in them."""
_POLE = 3**0.5 - 2
_STEPS = (1, 2, 4, 8, 16)  # the product of (1 + pole^step shift) has the first 32 powers of the recursive filter
_REACH = sum(_STEPS)


def coefficients(image: Any, boundary: Sequence[str]) -> tuple[Any, list[int]]:
    """The coefficients of images, and their margin along each axis, x first.

    Parameters
    ----------
    image : jax.Array
        (N, *axes, channels). With the boundary "border" the outside is 0.
    boundary : Sequence[str]
        Members of ``Boundary``, x first.
    """
    margins = [_MARGIN if mode in ("edge", "border") else 0 for mode in boundary]
    for number, (mode, margin) in enumerate(zip(boundary, margins)):
        image = _filtered(image, image.ndim - 2 - number, mode, margin)
    return image, margins


def _filtered(image: Any, axis: int, mode: str, margin: int) -> Any:
    size = image.shape[axis]
    index = np.arange(-margin - _REACH, size + margin + _REACH)
    values = jnp.moveaxis(jnp.take(image, _inside(index, size, mode), axis), axis, -1)
    if mode == "border":
        values = jnp.where((index >= 0) & (index < size), values, 0)
    for step in _STEPS:
        values = values[..., step:] + _POLE**step * values[..., :-step]
    for step in _STEPS:
        values = values[..., :-step] + _POLE**step * values[..., step:]
    return jnp.moveaxis(values * (-6 * _POLE), -1, axis)


def _inside(index: npt.NDArray[np.int64], size: int, mode: str) -> npt.NDArray[np.int64]:
    """The texels that have the values at indices."""
    if mode == "repeat":
        return index % size
    if mode == "mirrored_repeat":
        index = index % (2 * size)
        return np.minimum(index, 2 * size - 1 - index)
    if mode == "mirror":
        index = index % max(2 * size - 2, 1)
        return np.minimum(index, np.abs(2 * size - 2 - index)) if size > 1 else index * 0
    return np.clip(index, 0, size - 1)
