"""Sampling in JAX's own functions, of which JAX makes the derivatives."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

_REMAINDERS = {"repeat": lambda i, n: i % n, "clamp_to_edge": lambda i, n: jnp.clip(i, 0, n - 1)}


def _place(index: Any, size: int, addressing: str) -> tuple[Any, Any]:
    """The texel of an index and whether it exists."""
    if addressing == "mirrored_repeat":
        turned = index % (2 * size)
        return jnp.where(turned < size, turned, 2 * size - 1 - turned), True
    if addressing == "mirror":
        turned = index % max(2 * size - 2, 1)
        return jnp.where(turned < size, turned, 2 * size - 2 - turned), True
    if addressing == "clamp":
        return jnp.clip(index, 0, size - 1), (index >= 0) & (index < size)
    return _REMAINDERS[addressing](index, size), True


def sample(image: Any, coords: Any, addressing: str = "clamp_to_edge", fill: float = 0.0) -> Any:
    """Linear samples of ([depth,] height, width, channels) at pixels whose centres are at 0.5."""
    dims = coords.shape[-1]
    low = jnp.floor(coords - 0.5)
    weight = coords - 0.5 - low
    total = 0.0
    for corner in np.ndindex((2,) * dims):
        index, exists, product = [], True, 1.0
        for axis in range(dims):
            size = image.shape[dims - 1 - axis]
            at, inside = _place(low[..., axis].astype(int) + corner[axis], size, addressing)
            index.append(at)
            exists = exists & inside
            product = product * (weight[..., axis] if corner[axis] else 1 - weight[..., axis])
        texel = jnp.where(jnp.asarray(exists)[..., None], image[tuple(reversed(index))], fill)
        total = total + product[..., None] * texel
    return total
