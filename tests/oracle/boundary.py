"""Which texel has the value at an index, for indices outside the image."""

from __future__ import annotations

from typing import Any

from tests.oracle.namespace import integers, namespace

__all__ = ["BOUNDARIES", "folded", "texel"]

Array = Any

# The boundary of each addressing mode of samplers.
BOUNDARIES = {
    "clamp_to_edge": "edge",
    "clamp_to_border": "border",
    "ext_oneapi_clamp_to_border": "border",
    "clamp": "border",
    "repeat": "repeat",
    "mirrored_repeat": "mirrored_repeat",
    "mirror": "mirror",
    "extent": "extent",
}


def folded(boundary: str, size: int, place: Array) -> Array:
    """The place inside that stands for one outside, where the values continue periodically.

    ``wrap`` has two texels for one place at its seams: from below it is the last texel, from above the first.
    """
    xp, last = namespace(place), size - 1.0
    if boundary in ("edge", "extent"):
        return xp.clip(place, -2.0, size + 1.0)
    if boundary in ("border", "constant"):
        return xp.clip(place, -3.0, size + 2.0)
    if size == 1:
        return xp.zeros_like(place)
    if boundary == "repeat":
        inside = place % size
    elif boundary == "wrap":
        inside = xp.where(place < 0, last - (-place) % last, place % last)
    elif boundary == "mirror":
        inside = last - abs(place % (2 * last) - last)
    else:
        inside = size - 0.5 - abs((place + 0.5) % (2.0 * size) - size)
    return xp.where((place < 0) | (place > last), inside, place)


def texel(boundary: str, size: int, index: Array) -> Array:
    """The texel of a whole number, -1 for the fill value."""
    xp, whole = namespace(index), integers(index)
    if boundary == "border":
        return xp.where((whole >= 0) & (whole < size), whole, -1)
    if boundary == "edge":
        return xp.clip(whole, 0, size - 1)
    if boundary == "repeat":
        return whole % size
    if boundary in ("mirrored_repeat", "extent"):
        return xp.minimum(whole % (2 * size), (-1 - whole) % (2 * size))
    if size == 1:
        return xp.zeros_like(whole)
    period = 2 * (size - 1)  # constant, wrap, mirror
    return xp.minimum(whole % period, (-whole) % period)
