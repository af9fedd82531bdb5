"""Cameras in float64: rays to pixels by the formulas of OpenCV's documentation, and back by other iterations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["pixels_of", "places_in", "rays_of"]

Array = npt.NDArray[Any]

_STEPS = 400  # of a fixed point, and 60 of halving


def _padded(distortion: Sequence[float], count: int) -> Array:
    return np.concatenate([np.asarray(distortion, float), np.zeros(count - len(distortion))])


def _terms(k: Array, x: Array, y: Array) -> tuple[Array, Array, Array]:
    """The radial factor, and what is added to x and y."""
    k1, k2, p1, p2, k3, k4, k5, k6, s1, s2, s3, s4 = k[:12]
    r = np.sqrt(x**2 + y**2)
    factor = (1 + k1 * r**2 + k2 * r**4 + k3 * r**6) / (1 + k4 * r**2 + k5 * r**4 + k6 * r**6)
    add_x = 2 * p1 * x * y + p2 * (r**2 + 2 * x**2) + s1 * r**2 + s2 * r**4
    add_y = p1 * (r**2 + 2 * y**2) + 2 * p2 * x * y + s3 * r**2 + s4 * r**4
    return factor, add_x, add_y


def _tilt(k: Array) -> Array:
    x, y = k[12:14]
    turn = np.array(
        [
            [np.cos(y), np.sin(y) * np.sin(x), -np.sin(y) * np.cos(x)],
            [0, np.cos(x), np.sin(x)],
            [np.sin(y), -np.cos(y) * np.sin(x), np.cos(y) * np.cos(x)],
        ]
    )
    return np.array([[turn[2, 2], 0, -turn[0, 2]], [0, turn[2, 2], -turn[1, 2]], [0, 0, 1]]) @ turn


def _apply(matrix: Array, x: Array, y: Array) -> tuple[Array, Array]:
    ends = np.einsum("ij,j...->i...", np.asarray(matrix, float), np.stack([x, y, np.ones_like(x)]))
    return ends[0] / ends[2], ends[1] / ends[2]


def _bend(k: Array, angle: Array) -> Array:
    return angle + k[0] * angle**3 + k[1] * angle**5 + k[2] * angle**7 + k[3] * angle**9


def pixels_of(matrix: Any, distortion: Sequence[float], model: str, rays: Array) -> Array:
    """Pixels (..., 2) of rays (..., 3); NaN behind a pinhole. Polynomials are followed everywhere."""
    x, y, z = np.moveaxis(np.asarray(rays, float), -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        if model == "equirectangular":
            u, v = np.arctan2(x, z), np.arctan2(y, np.hypot(x, z))
        elif model == "fisheye":
            out = np.hypot(x, y)
            scale = np.where(out > 0, _bend(_padded(distortion, 4), np.arctan2(out, z)) / out, 1.0)
            u, v = x * scale, y * scale
        else:
            k = _padded(distortion, 14)
            at_x, at_y = np.where(z > 0, x / z, np.nan), y / z
            factor, add_x, add_y = _terms(k, at_x, at_y)
            u, v = _apply(_tilt(k), at_x * factor + add_x, at_y * factor + add_y)
    return np.stack(_apply(matrix, u, v), -1)


def rays_of(matrix: Any, distortion: Sequence[float], model: str, pixels: Array) -> Array:
    """Rays (..., 3) of pixels (..., 2) that the camera sees."""
    u, v = _apply(np.linalg.inv(np.asarray(matrix, float)), *np.moveaxis(np.asarray(pixels, float), -1, 0))
    if model == "equirectangular":
        return np.stack([np.cos(v) * np.sin(u), np.sin(v), np.cos(v) * np.cos(u)], -1)
    if model == "fisheye":
        k, out = _padded(distortion, 4), np.hypot(u, v)
        low, high = np.zeros_like(out), np.full_like(out, np.pi)
        for _ in range(60):
            middle = (low + high) / 2
            below = _bend(k, middle) < out
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        scale = np.sin(low) / np.where(out > 0, out, 1)
        return np.stack([u * scale, v * scale, np.cos(low)], -1)
    k = _padded(distortion, 14)
    u, v = _apply(np.linalg.inv(_tilt(k)), u, v)
    x, y = u, v
    for _ in range(_STEPS):
        factor, add_x, add_y = _terms(k, x, y)
        x, y = (u - add_x) / factor, (v - add_y) / factor
    return np.stack([x, y, np.ones_like(x)], -1)


def places_in(seen: tuple[Any, ...], drawn: tuple[Any, ...], rotation: Array, shape: tuple[int, int]) -> Array:
    """Pixels (height, width, 2) of one camera for a picture of another one, (K, distortion, model) each."""
    rows, columns = np.indices(shape)
    rays = rays_of(*drawn, np.stack([columns, rows], -1))
    return pixels_of(*seen, rays @ np.asarray(rotation, float).T)
