"""Arrays of JAX as splines and mipmaps of ``sampling.memory`` read them."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..model.filter import fold

__all__ = ["outer_weights", "read_line"]


def read_line(image: Any, axis: int, first: int, stop: int, boundary: str) -> Any:
    """The elements along an axis, inside and outside."""
    size, index = image.shape[axis], np.arange(first, stop)
    values = jnp.take(image, fold(index, size, boundary), axis)
    if boundary != "border":
        return values
    inside = ((index >= 0) & (index < size)).reshape(-1, *[1] * (image.ndim - axis - 1))
    return jnp.where(inside, values, 0)


def outer_weights(image: Any, axis: int, size: int) -> tuple[Any, Any]:
    """Weights of the first and the last of three texels, for each mean along an axis of odd length."""
    shape = (-1, *[1] * (image.ndim - axis - 1))
    first = np.arange(size // 2, 0, -1) / size
    return jnp.asarray(first.reshape(shape), image.dtype), jnp.asarray(first[::-1].reshape(shape), image.dtype)
