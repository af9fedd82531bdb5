"""Discs and balls, drawn with smooth edges, and their exact integrals along lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bindless.tomography import Geometry

__all__ = ["ball", "chords", "rays_of"]

Array = npt.NDArray[Any]


def ball(shape: Sequence[int], centre: Sequence[float], radius: float, parts: int = 4) -> Array:
    """Shares within a ball of the texels (..., y, x), of edge 1 around the origin; the centre is (x, y, ...)."""
    axes = [(np.arange(size * parts) + 0.5) / parts - size / 2 for size in shape]
    distance = sum(((axis - at) ** 2 for axis, at in zip(np.ix_(*axes), reversed(centre))), np.float64(0))
    inside = (distance < radius * radius).astype(np.float32)
    for number, size in enumerate(shape):
        inside = inside.reshape(*shape[:number], size, parts, *inside.shape[number + 1 :]).mean(number + 1)
    return inside


def rays_of(geometry: Geometry) -> tuple[Array, Array]:
    """A point and the unit direction of each ray, (views, rows, columns, 3), by the vectors of the views."""
    rows, columns = geometry.detector_shape
    source, first, column, row = (geometry.frames[:, None, None, number] for number in range(4))
    pixels = first + np.arange(columns)[:, None] * column + np.arange(rows)[:, None, None] * row
    if geometry.column_angle:
        pixels = _pixels_on_an_arc(geometry, source)
    direction = np.broadcast_to(source, pixels.shape) if geometry.is_parallel else pixels - source
    return pixels, direction / np.linalg.norm(direction, axis=-1, keepdims=True)


def _pixels_on_an_arc(geometry: Geometry, source: Array) -> Array:
    """By the angle of each column about the source, from the view's own."""
    assert geometry.angles is not None
    radius = geometry.source_distance + geometry.detector_distance
    along, up = ((np.arange(n) - (n - 1) / 2) * step + offset for n, step, offset in zip(
        geometry.detector_shape[::-1], geometry.spacing, geometry.offset))  # fmt: skip
    turn = geometry.angles[:, None, None] - along / radius
    turn, height = np.broadcast_arrays(turn, up[:, None])
    return source + np.stack([-radius * np.sin(turn), radius * np.cos(turn), height], -1)


def chords(geometry: Geometry, centre: Sequence[float], radius: float) -> Array:
    """Lengths of rays within a ball, (views, rows, columns)."""
    points, directions = rays_of(geometry)
    ahead = np.asarray(centre) - points
    nearest = (ahead**2).sum(-1) - (ahead * directions).sum(-1) ** 2
    return 2 * np.sqrt(np.maximum(radius * radius - nearest, 0))
