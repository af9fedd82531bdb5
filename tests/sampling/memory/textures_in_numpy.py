"""Samples of textures by definition, in float64: one texel after the other."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from bindless.sampling.memory import Lookup

Array = np.ndarray[Any, Any]


def texel_index(index: int, n: int, boundary: str) -> int | None:
    """The texel with the value at an index; None outside."""
    if boundary == "border":
        return index if 0 <= index < n else None
    if boundary == "edge":
        return min(max(index, 0), n - 1)
    if boundary == "repeat":
        return index % n
    line = (
        list(range(n)) + list(range(n))[::-1]
        if boundary in ("mirrored_repeat", "extent")
        else list(range(n)) + list(range(n))[-2:0:-1]
    )
    return line[index % len(line)]


def kernel(filtering: str, distance: float) -> float:
    """The weight of a texel at a distance."""
    x = abs(distance)
    if filtering == "linear":
        return max(0.0, 1.0 - x)
    if filtering == "cubic":
        return 2 / 3 - x**2 + x**3 / 2 if x < 1 else max(0.0, 2 - x) ** 3 / 6
    a = -0.5 if filtering == "catmull_rom" else -0.75
    if x < 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    return a * (x**3 - 5 * x**2 + 8 * x - 4) if x < 2 else 0.0


def taps(filtering: str, position: float, *, ties_to_even: bool) -> list[tuple[int, float]]:
    if filtering == "nearest":
        return [(round(position) if ties_to_even else math.floor(position + 0.5), 1.0)]
    low = math.floor(position)
    return [(k, kernel(filtering, position - k)) for k in range(low - 1, low + 3)]


def sample_level(lookup: Lookup, texels: Array, position: list[float]) -> Array:
    """The value at a position, x first, in one level (D, H, W, C)."""
    total = np.zeros(texels.shape[-1])
    for p, n, boundary in zip(position, texels.shape[-2::-1], lookup.filter.boundary):
        if boundary.value == "extent" and not -0.5 <= p <= n - 0.5:
            return total + lookup.filter.fill
    axes = [taps(lookup.filter.interpolation.value, p, ties_to_even=lookup.filter.ties_to_even) for p in position]
    for combination in itertools.product(*axes):
        indices = [
            texel_index(index, n, boundary.value)
            for (index, _), n, boundary in zip(combination, texels.shape[-2::-1], lookup.filter.boundary)
        ]
        weight = math.prod(weight for _, weight in combination)
        total += weight * (lookup.filter.fill if None in indices else texels[tuple(reversed(indices))])
    return total


def blended(lookup: Lookup, count: int, level: float, sample: Any) -> Array:
    """Levels mixed."""
    level = min(max(level, 0.0), count - 1.0)
    if lookup.filter.levels == "none":
        return sample(0)
    if lookup.filter.levels == "nearest":
        return sample(math.floor(level + 0.5))
    low = min(math.floor(level), max(count - 2, 0))
    rest = level - low
    return sample(low) if rest == 0 else (1 - rest) * sample(low) + rest * sample(low + 1)


def forward(lookup: Lookup, levels: list[Array], coords: Array, level: Array | None) -> Array:
    """(N, S, C) values."""
    textures, samples = coords.shape[:2]
    out = np.zeros((textures, samples, levels[0].shape[-1]))
    for n, s in np.ndindex(textures, samples):

        def value(number: int, n: int = n, s: int = s) -> Array:
            texels = levels[number][n % levels[number].shape[0]].astype(np.float64)
            position = []
            for d in range(lookup.dims):
                at = (coords[n, s, d] + lookup.map.shift) * lookup.map.scale[d] + lookup.map.offset[d]
                ratio = texels.shape[lookup.dims - 1 - d] / levels[0].shape[lookup.dims - d]
                position.append((at + 0.5) * ratio - 0.5)
            return sample_level(lookup, texels, position)

        out[n, s] = blended(lookup, len(levels), 0.0 if level is None else float(level[n, s]), value)
    return out
