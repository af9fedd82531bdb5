"""Physical space in float64: positions through transforms, computed point by point from their definitions.

A transform is a list of parts: a matrix (d + 1, d + 1), or (vectors, index_matrix, degree).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def world_of(shape: Sequence[int], spacing: Any, origin: Any, direction: Any = None) -> Floats:
    """From indices (x first) to the world: origin + direction (spacing * index)."""
    dims = len(shape)
    matrix = np.eye(dims + 1)
    for axis in range(dims):
        step = np.broadcast_to(spacing, dims)[axis]
        matrix[:dims, axis] = step * (np.eye(dims) if direction is None else np.asarray(direction))[:, axis]
    matrix[:dims, dims] = np.broadcast_to(origin, dims)
    return matrix


def apply(matrix: Floats, points: Floats) -> Floats:
    """An affine map of points (..., d)."""
    return points @ matrix[:-1, :-1].T + matrix[:-1, -1]


def indices(shape: Sequence[int]) -> Floats:
    """Indices of all pixels, x first: (*shape, d)."""
    return np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij")[::-1], axis=-1).astype(np.float64)


def _spline(distance: Floats) -> Floats:
    """The cubic B-spline, of distances up to 2."""
    far = np.abs(distance)
    return np.where(far < 1, 2 / 3 - far**2 + far**3 / 2, np.where(far < 2, (2 - far) ** 3 / 6, 0.0))


def sums(values: npt.NDArray[Any], places: Floats, degree: int) -> Floats:
    """Linear interpolation (1) or a sum of B-splines (3) at index positions, x first; beyond the edge, the edge."""
    sizes = np.array(values.shape[: places.shape[-1]][::-1])
    low = np.floor(places).astype(int)
    taps = range(2) if degree == 1 else range(-1, 3)
    total: Any = 0.0
    for taken in product(taps, repeat=len(sizes)):
        texel = low + np.array(taken)
        distance = places - texel
        weights = np.maximum(1 - np.abs(distance), 0.0) if degree == 1 else _spline(distance)
        inside = np.clip(texel, 0, sizes - 1)
        found = values[tuple(inside[..., axis] for axis in reversed(range(len(sizes))))].astype(np.float64)
        weight = weights.prod(axis=-1)
        total = total + weight.reshape(weight.shape + (1,) * (found.ndim - weight.ndim)) * found
    return total


def move(points: Floats, parts: Sequence[Any]) -> Floats:
    """Points of the world through the parts of a transform."""
    for part in parts:
        if isinstance(part, np.ndarray):
            points = apply(part, points)
            continue
        vectors, matrix, degree = part
        places = apply(np.linalg.inv(matrix), points)
        sizes = np.array(vectors.shape[-2::-1])
        low, high = (-0.5, sizes - 0.5) if degree == 1 else (1.0, sizes - 2.0)
        inside = ((places >= low) & (places <= high)).all(axis=-1)
        points = points + np.where(inside[..., None], sums(vectors, places, degree), 0.0)
    return points


def resample(
    image: npt.NDArray[Any],
    source: Floats,
    shape: Sequence[int],
    target: Floats,
    parts: Sequence[Any] = (),
    *,
    nearest: bool = False,
    fill: float = 0.0,
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """The picture by the rule of the edge, and where it is steady: no rounding of positions changes it by much."""
    places = apply(np.linalg.inv(source), move(apply(target, indices(shape)), parts))
    sizes = np.array(image.shape[: places.shape[-1]][::-1])
    inside = ((places >= -0.5) & (places <= sizes - 0.5)).all(axis=-1)
    steady = (np.minimum(abs(places + 0.5), abs(places - sizes + 0.5)) > 1e-4).all(axis=-1)
    if nearest:
        steady &= (abs(places % 1 - 0.5) > 1e-4).all(axis=-1)
        texels = np.clip(np.floor(places + 0.5).astype(int), 0, sizes - 1)
        values = image[tuple(texels[..., axis] for axis in reversed(range(len(sizes))))].astype(np.float64)
    else:
        values = sums(image, np.clip(places, 0, sizes - 1), 1)
    lifted = inside.reshape(inside.shape + (1,) * (values.ndim - inside.ndim))
    return np.where(lifted, values, fill), steady
