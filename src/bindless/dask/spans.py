"""``Span``: the texels along one axis of an image that the values of a block need."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..model.enums import Boundary
from ..model.filter import fold

__all__ = ["REACH", "Span", "span_of", "texels_of"]

Indices = npt.NDArray[np.int64]

# Texels before and after the one at or before a position, by the number of texels of the filter; before and after the
# nearest one where the number is odd.
REACH = {1: (0, 0), 2: (0, 1), 3: (1, 1), 4: (1, 2), 5: (2, 2), 6: (2, 3)}
_SEAM = 1.0  # texels around the end of a period
_FAR = 2.0**30  # positions of which devices compute the place in a period only roughly


class Span(NamedTuple):
    """Texels ``origin`` to ``origin + size - 1``.

    Those outside of the image stand for the texels or the fill value that its boundary puts there.
    """

    origin: int
    size: int


def span_of(low: float, high: float, n: int, boundary: Boundary, taps: int, *, pads: bool) -> Span | None:
    """The texels that a filter reads.

    Parameters
    ----------
    low, high : float
        The smallest and the largest position, in texels; the first texel is at 0. Not ordered: there is none.
    n : int
        Texels of the image.
    boundary : Boundary
        What lies outside.
    taps : int
        Texels of the filter: 1 to 6.
    pads : bool
        Whether texels outside belong to the span, and one more at each end: for texture units, which round positions.

    Returns
    -------
    Span | None
        None where all values are the fill value.
    """
    around = (2 if taps == 4 else 1) if pads and boundary is not Boundary.edge else 0  # units clamp to the edge
    whole = Span(-around, n + 2 * around)
    if not low <= high:
        return None
    if boundary is Boundary.constant:
        low, high = max(low, 0.0), min(high, n - 1.0)
        if low > high:
            return None
    elif boundary is Boundary.edge:
        low, high = (min(max(end, 0.0), n - 1.0) for end in (low, high))
    elif boundary is Boundary.border:
        low, high = (min(max(end, -8.0), n + 7.0) for end in (low, high))
    outside = low < 0 or high > n - 1
    periodic = boundary not in (Boundary.constant, Boundary.edge, Boundary.border)
    if n == 1 or (periodic and outside and not (abs(low) < _FAR and abs(high) < _FAR)):
        return whole
    if boundary is Boundary.wrap and outside:
        repeats = math.floor(low / (n - 1.0)) * (n - 1.0)
        low, high = low - repeats, high - repeats
        if low < _SEAM or high > n - 1 - _SEAM:  # on both sides of the end, or so near that rounding decides
            return whole
    before, after = REACH[taps]
    spare = int(pads) + int(periodic and outside)  # a position inside is computed with rounding
    half = 0.5 if taps % 2 else 0.0
    first, last = math.floor(low + half) - before - spare, math.floor(high + half) + after + spare
    if boundary is Boundary.repeat:
        count = last - first + 1
        return whole if count >= n else Span(first % n, count)
    if boundary is Boundary.border and not pads and (last < 0 or first >= n):
        return None
    if boundary is Boundary.edge or boundary is Boundary.border:
        first, last = min(max(first, -around), n - 1), max(min(last, n - 1 + around), 0)
        return Span(first, last - first + 1)
    reaches_first, reaches_last = first < 0, last >= n
    first, last = _mirrored(first, last, n, boundary)
    first -= around if reaches_first or first == 0 else 0
    last += around if reaches_last or last == n - 1 else 0
    return Span(first, last - first + 1)


def _mirrored(first: int, last: int, n: int, boundary: Boundary) -> tuple[int, int]:
    """The smallest and the largest texel of an image that is continued by mirroring."""
    if first >= 0 and last < n:
        return first, last
    if last - first >= 2 * n:
        return 0, n - 1
    texels = _folded(np.arange(first, last + 1), n, boundary)
    return int(texels.min()), int(texels.max())


def _folded(indices: Indices, n: int, boundary: Boundary) -> Indices:
    """The texels at indices; ``wrap`` folds positions, and has the texels of ``constant`` next to them."""
    return np.asarray(fold(indices, n, Boundary.constant if boundary is Boundary.wrap else boundary), np.int64)


def texels_of(span: Span, n: int, boundary: Boundary) -> Indices:
    """The texels of the image that a span stands for; -1 for the fill value."""
    indices: Indices = np.arange(span.origin, span.origin + span.size)
    if span.origin >= 0 and span.origin + span.size <= n:
        return indices
    if boundary is Boundary.border:
        return np.where((indices >= 0) & (indices < n), indices, -1)
    return _folded(indices, n, boundary)
