"""Which texels a filter touches along one axis, and with what weights."""

from __future__ import annotations

from math import comb, factorial
from typing import Any

from tests.oracle.boundary import folded, texel
from tests.oracle.namespace import namespace

__all__ = ["axis_taps", "weight"]

Array = Any
CONVOLUTIONS = {"catmull_rom": -0.5, "bicubic": -0.75}
DEGREES = {"quadratic": 2, "quartic": 4, "quintic": 5}


def axis_taps(
    interpolation: str, boundary: str, size: int, place: Array, *, ties_to_even: bool = False, fold: bool = True
) -> list[tuple[Array, Array]]:
    """Of each texel that a filter touches, its index, -1 for the fill value, and its weight.

    Parameters
    ----------
    place : Array
        Positions in texels, whose centres are at integers.
    ties_to_even : bool
        Whether ``nearest`` rounds halves to even numbers; else it rounds them up.
    fold : bool
        Whether places outside are first moved inside. It matters where ``nearest`` rounds halves, and for ``wrap``.
    """
    xp = namespace(place)
    place = folded(boundary, size, place) if fold else place
    if interpolation == "nearest":
        whole = xp.round(place) if ties_to_even else xp.floor(place + 0.5)
        return [(texel(boundary, size, whole), xp.ones_like(place))]
    degree = DEGREES.get(interpolation, 3)
    first = xp.floor(place + 0.5) if degree % 2 == 0 else xp.floor(place)
    distance = place - first
    if interpolation == "linear":
        return [(texel(boundary, size, first), 1 - distance), (texel(boundary, size, first + 1), distance)]
    continuation = "mirror" if boundary == "extent" else boundary  # ITK's B-splines
    return [
        (texel(continuation, size, first + number), weight(interpolation, distance - number))
        for number in range(-(degree // 2), degree - degree // 2 + 1)
    ]


def weight(interpolation: str, distance: Array) -> Array:
    """The weight of a texel at a distance of at most half the width of the filter."""
    xp, x = namespace(distance), abs(distance)
    if interpolation in DEGREES:  # a sum of truncated powers
        degree = DEGREES[interpolation]
        edges = [(degree + 1) / 2 - number - x for number in range(degree + 2)]
        powers = [(-1) ** n * comb(degree + 1, n) * xp.where(t > 0, t, 0 * t) ** degree for n, t in enumerate(edges)]
        return sum(powers[1:], powers[0]) / factorial(degree)
    if interpolation == "cubic":
        return xp.where(x < 1, 2 / 3 - x**2 + x**3 / 2, (2 - x) ** 3 / 6)
    a = CONVOLUTIONS[interpolation]
    return xp.where(x < 1, (a + 2) * x**3 - (a + 3) * x**2 + 1, a * (x**3 - 5 * x**2 + 8 * x - 4))
