"""``SplineFilter``: the filter from samples to B-spline coefficients, as a back end computes it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from .enums import Boundary

__all__ = ["POLES", "SPLINE_BOUNDARIES", "SplineFilter"]

Extent = tuple[int, int, int]

SPLINE_BOUNDARIES: dict[Boundary, int] = {Boundary.mirror: 0, Boundary.mirrored_repeat: 1, Boundary.repeat: 2}
"""Continuations of lines beyond their ends, with their numbers in the reference driver and in kernels."""

POLES: dict[int, tuple[float, ...]] = {
    2: (math.sqrt(8) - 3,),
    3: (math.sqrt(3) - 2,),
    4: tuple([math.sqrt(664 + sign * math.sqrt(438976)) - sign * math.sqrt(304) - 19 for sign in (-1, 1)]),
    5: tuple([math.sqrt(67.5 + sign * math.sqrt(4436.25)) - sign * math.sqrt(26.25) - 6.5 for sign in (-1, 1)]),
}
"""Poles of the filter of B-splines of each order: of z and 1/z, the roots of their weights at integers that are inside
the unit circle. The largest ones are first."""


class SplineFilter(NamedTuple):
    """Coefficients c of the B-spline through samples s: for cubic ones, along each axis,
    s[i] = (c[i-1] + 4 c[i] + c[i+1]) / 6.

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
    order
        2, 3, 4 or 5.
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
    order: int = 3

    @property
    def size(self) -> Extent:
        """(width, height, depth) of the target."""
        width, height, depth = (n + 2 * margin for n, margin in zip(self.extent, self.margin))
        return width, height, depth

    @property
    def poles(self) -> tuple[float, ...]:
        """Of the filter along each axis."""
        return POLES[self.order]

    @property
    def fields(self) -> dict[str, Any]:
        """Those of the reference driver's ``blr_spline_filter_t``, without addresses."""
        poles = POLES[self.order]
        return {
            "extent": self.extent, "margin": self.margin, "count": self.arrays, "channels": self.channels,
            "dimensions": self.dimensions, "boundary": [SPLINE_BOUNDARIES[boundary] for boundary in self.boundary],
            "fills_margin": self.fill is not None, "fill": self.fill or 0.0, "num_poles": len(poles),
            "poles": poles,
        }  # fmt: skip
