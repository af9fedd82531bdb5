"""``SplineFilter``: the filter from samples to B-spline coefficients, as a back end computes it."""

from __future__ import annotations

from typing import NamedTuple

from .enums import Boundary

__all__ = ["SPLINE_BOUNDARIES", "SplineFilter"]

Extent = tuple[int, int, int]

SPLINE_BOUNDARIES: dict[Boundary, int] = {Boundary.mirror: 0, Boundary.mirrored_repeat: 1, Boundary.repeat: 2}
"""Continuations of lines beyond their ends, with their numbers in the reference driver and in kernels."""


class SplineFilter(NamedTuple):
    """Coefficients c of the cubic B-spline through samples s: along each axis, s[i] = (c[i-1] + 4 c[i] + c[i+1]) / 6.

    Attributes
    ----------
    source
        Address of packed float32 samples, shape (arrays, depth, height, width, channels).
    target
        Address of as many packed coefficients, with two margins more along each axis; does not overlap the source.
    extent
        (width, height, depth) of the source.
    arrays
        Number of arrays, one after another.
    channels
        1 to 4.
    dimensions
        Axes that are filtered: x; x and y; x, y and z.
    margin
        Samples before and after those of the source along x, y and z; 0 for axes that are not filtered.
    fill
        Value of the margin; None: the outermost sample.
    boundary
        Continuation of the lines with their margins, along x, y and z: one of ``SPLINE_BOUNDARIES``.
    """

    source: int
    target: int
    extent: Extent
    arrays: int
    channels: int
    dimensions: int
    margin: Extent
    fill: float | None
    boundary: tuple[Boundary, Boundary, Boundary]

    @property
    def size(self) -> Extent:
        """(width, height, depth) of the target."""
        width, height, depth = (n + 2 * margin for n, margin in zip(self.extent, self.margin))
        return width, height, depth
