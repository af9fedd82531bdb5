"""Filtering at unnormalized coordinates, linear with the weights of texture units: whole 256ths, whose sum is 256."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tests.oracle.boundary import BOUNDARIES, texel
from tests.oracle.samples import sample_pixels

__all__ = ["linear", "nearest"]

Array = npt.NDArray[Any]


def linear(pixels: Array, coords: Array, addressing: str = "clamp_to_edge") -> Array:
    """Samples at unnormalized coordinates.

    Parameters
    ----------
    pixels : Array
        ([depth,] [height,] width, channels) values.
    coords : Array
        (N, dims) in (x, y, z), in texels, whose centres are at one half.
    addressing : str
        An addressing mode of samplers, for every dimension.
    """
    dims = coords.shape[1]
    sizes = pixels.shape[:dims][::-1]
    fixed = np.floor(coords.astype(np.float64) * 256 + 0.5).astype(np.int64) - 128
    if addressing == "clamp_to_edge":
        fixed = np.clip(fixed, 0, 256 * (np.array(sizes) - 1))
    first, fraction = fixed >> 8, fixed & 255
    total = np.zeros((len(coords), pixels.shape[-1]))
    for corner, weight in _weights(fraction).items():
        index = [texel(BOUNDARIES[addressing], sizes[axis], first[:, axis] + corner[axis]) for axis in range(dims)]
        inside = np.logical_and.reduce([place >= 0 for place in index])
        total += np.where(inside[:, None], pixels[tuple(reversed(index))].astype(np.float64), 0) * weight[:, None]
    return total / 256


def nearest(pixels: Array, coords: Array, addressing: str = "clamp_to_edge") -> Array:
    """The texels at unnormalized coordinates; see ``linear``."""
    values: Array = sample_pixels(pixels, coords, addressing, "nearest", fold=False)
    return values.astype(pixels.dtype)


def _weights(fraction: Array) -> dict[tuple[int, ...], Array]:
    """Weight of each corner (x, y, z), from fractions in 1/256."""
    dims = fraction.shape[1]
    a = fraction[:, 0]
    b = fraction[:, 1] if dims > 1 else np.zeros_like(a)
    slices = [256 - fraction[:, 2], fraction[:, 2]] if dims > 2 else [np.full_like(a, 256)]
    weights: dict[tuple[int, ...], Array] = {}
    for z, share in enumerate(slices):
        right = (a * share + 128) >> 8
        left = share - right
        top_left = (left * (256 - b) + 128) >> 8
        low_right = (right * b + 128) >> 8
        quad = {(0, 0): top_left, (1, 0): right - low_right, (0, 1): left - top_left, (1, 1): low_right}
        weights.update({(*corner, z)[:dims]: weight for corner, weight in quad.items() if dims > 1 or not corner[1]})
    return weights
