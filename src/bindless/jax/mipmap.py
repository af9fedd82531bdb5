"""Levels of mipmaps as JAX computes them: each value is the mean of what it covers in the level before."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from jax import lax

__all__ = ["reductions"]


def reductions(textures: Any, first: int = 1) -> list[Any]:
    """Levels of (N, [[depth,] height,] width, channels), the first one included, down to one texel.

    ``first`` is the first axis that is reduced: 2 of cubemaps (N, 6, height, width, channels).
    """
    levels = [textures]
    while max(levels[-1].shape[first:-1]) > 1:
        last = levels[-1]
        for axis in range(first, last.ndim - 1):
            last = _halved(last, axis)
        levels.append(last)
    return levels


def _halved(array: Any, axis: int) -> Any:
    size = array.shape[axis]
    if size == 1:
        return array
    if size % 2 == 0:
        return array.reshape(*array.shape[:axis], size // 2, 2, *array.shape[axis + 1 :]).mean(axis + 1)
    weights = jnp.asarray(_areas(size), array.dtype)
    means = jnp.tensordot(weights, array, (1, axis), precision=lax.Precision.HIGHEST)
    return jnp.moveaxis(means, 0, axis)


def _areas(size: int) -> npt.NDArray[np.float64]:
    """Weights (size // 2, size) of the area filter."""
    half = size // 2
    edges = np.arange(half + 1) * (size / half)
    texels = np.arange(size)
    covered = np.minimum(edges[1:, None], texels + 1) - np.maximum(edges[:-1, None], texels)
    weights: npt.NDArray[np.float64] = np.clip(covered, 0, None) * (half / size)
    return weights
