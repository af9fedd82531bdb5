"""Moves of a view: as the page does them, for other surfaces."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from .view import View

__all__ = ["drag", "turn", "zoom"]

_RADIANS = 0.008  # for each pixel


def turn(view: View, axis: int, angle: float) -> View:
    """Turned about an axis of the picture: 0 right, 1 down, 2 ahead."""
    a, b, c, d = view.rotation
    e, turned = math.cos(angle / 2), [0.0, 0.0, 0.0]
    turned[axis] = math.sin(angle / 2)
    f, g, h = turned
    product = (
        a * e - b * f - c * g - d * h, a * f + b * e + c * h - d * g,
        a * g - b * h + c * e + d * f, a * h + b * g - c * f + d * e,
    )  # fmt: skip
    length = math.hypot(*product)
    w, x, y, z = (part / length for part in product)
    return replace(view, rotation=(w, x, y, z))


def drag(view: View, is_volume: bool, height: float, by: tuple[float, float], is_other: bool) -> View:
    """After a drag by pixels of a picture of that height: slices move and volumes turn, or the other with a key."""
    is_slice = not is_volume or view.mode == "slice"
    if is_volume and is_slice == is_other:
        return turn(turn(view, 1, by[0] * _RADIANS), 0, -by[1] * _RADIANS)
    right, down, _ = view.axes() * (view.extent / height)
    centre = np.array(view.centre) - right * by[0] - down * by[1]
    return replace(view, centre=tuple(centre.tolist()))


def zoom(view: View, factor: float) -> View:
    """With more of the world in the picture, for a factor above 1."""
    return replace(view, extent=min(max(view.extent * factor, 1e-12), 1e12))
