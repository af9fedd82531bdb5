"""``Warp``: a map of an array and the filter that reads it, the same for all blocks of the result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..model.arrays import Array, DType
from ..model.enums import Boundary, Precision
from ..model.filter import CoordinateMap, Filter
from ..ndimage.places import Places
from .spans import REACH, Span, span_of

__all__ = ["Block", "Warp"]

Block = tuple[slice, ...]


@dataclass(frozen=True)
class Warp:
    """A map of an array, from indices of the result to positions in the input, and the filter that reads it.

    Attributes
    ----------
    map : CoordinateMap
        Of the mapped axes, the last ones, in (x, y, z) order.
    filter : Filter
        The filter, with one boundary for all axes.
    dims : int
        Number of the mapped axes.
    input_shape, output_shape : tuple[int, ...]
        With the axes before the mapped ones, which stay as they are.
    dtype : str
        Of the input and the result.
    """

    map: CoordinateMap
    filter: Filter
    dims: int
    input_shape: tuple[int, ...]
    output_shape: tuple[int, ...]
    dtype: str

    @property
    def matrix(self) -> tuple[tuple[float, ...], ...]:
        """Rows for the mapped axes of the input, columns for those of the result, in their order."""
        axes = range(self.dims)[::-1]
        return tuple(tuple(self.map.matrix[4 * row + column] for column in axes) for row in axes)

    @property
    def offset(self) -> tuple[float, ...]:
        """One number for each mapped axis, in their order."""
        return self.map.offset[: self.dims][::-1]

    @cached_property
    def kind(self) -> str:
        """Text that differs where plans of blocks do: all but the numbers of the map."""
        return repr((self.filter, self.dims, self.dtype, self.whole))  # 0.0 and -0.0 are equal, their texts are not

    @cached_property
    def batch(self) -> int:
        """Number of the axes before the mapped ones."""
        return len(self.input_shape) - self.dims

    @cached_property
    def element(self) -> DType:
        """``dtype`` as numpy's."""
        return np.dtype(self.dtype)

    @cached_property
    def boundary(self) -> Boundary:
        """Values outside, the same along all axes."""
        return self.filter.boundary[0]

    @cached_property
    def taps(self) -> int:
        """Texels that the filter reads along an axis."""
        return self.filter.spline_order + 1

    @cached_property
    def uses_unit(self) -> bool:
        """Whether a texture unit, or its recorded arithmetic, computes the values."""
        return self.filter.precision is not Precision.exact

    @cached_property
    def is_spline(self) -> bool:
        """Whether the values are those of B-splines."""
        return self.filter.is_spline

    @cached_property
    def margin(self) -> int:
        """Texels by which the input is extended at each end of its mapped axes."""
        return self.filter.spline_margin[0] if self.is_spline else 0

    @cached_property
    def whole(self) -> tuple[int, ...]:
        """Texels along the mapped axes of the input, extended."""
        return tuple(size + 2 * self.margin for size in self.input_shape[self.batch :])

    @cached_property
    def whole_xyz(self) -> tuple[int, int, int]:
        """The same in the order x, y, z; 1 for axes that it lacks."""
        x, y, z = (*reversed(self.whole), 1, 1)[:3]
        return x, y, z

    @cached_property
    def extended_map(self) -> CoordinateMap:
        """The map to positions in the extended input."""
        return Places((), self.map).shift(self.margin).map

    def bounds(self, block: Block) -> tuple[list[float], list[float]]:
        """The smallest and the largest position along each mapped axis, computed and rounded as devices do.

        Rounded sums are monotonous: the extremes are at corners of the block.
        """
        return self.extremes([(float(part.start), float(part.stop - 1)) for part in block[self.batch :]])

    def extremes(self, ends: Sequence[tuple[Any, Any]]) -> tuple[list[Any], list[Any]]:
        """``bounds`` of a block, or of many, from its first and its last index along each axis: numbers or arrays."""
        dims, ends = self.dims, ends[::-1]
        sides = []
        for take in (False, True):  # the corner of the smallest position, then of the largest
            corners: list[Any] = []
            for row in self._rows:
                at: Any = row[dims]
                for axis in reversed(range(dims)):
                    at = row[axis] * ends[axis][(row[axis] < 0) is not take] + at
                corners.append(at)
            sides.append(corners[::-1])
        return sides[0], sides[1]

    @cached_property
    def _rows(self) -> list[list[float]]:
        """Coefficients of the indices, x first, and the constant, for each axis of the input, x first."""
        numbers, dims = self.extended_map.matrix, self.dims
        return [[*numbers[4 * row : 4 * row + dims], numbers[4 * row + 3]] for row in range(dims)]

    def spans(self, block: Block, field: Array | None = None) -> list[Span] | None:
        """The texels of the extended input that a block needs, for each mapped axis.

        Parameters
        ----------
        block : Block
            Of the result.
        field : NDArray, optional
            Displacements of the block, (axes, ...).

        Returns
        -------
        list[Span] | None
            None where all values are the fill value.
        """
        lows, highs = self.extremes([(float(part.start), float(part.stop - 1)) for part in block[self.batch :]])
        if field is not None:
            _widen(lows, highs, field)
        spans, taps, pads = [], self.taps, self.uses_unit
        before, after = REACH[taps]
        half = 0.5 if taps % 2 else 0.0
        for low, high, n in zip(lows, highs, self.whole):
            if 0.0 <= low <= high <= n - 1.0:
                first, last = math.floor(low + half) - before - pads, math.floor(high + half) + after + pads
                if first > 0 and last < n - 1:  # nothing outside has a part in them
                    spans.append(Span(first, last - first + 1))
                    continue
            span = span_of(low, high, n, self.boundary, taps, pads=pads)
            if span is None:
                return None
            spans.append(span)
        return spans


def _widen(lows: list[float], highs: list[float], field: Array) -> None:
    """Add the extremes of displacements, of those that are finite."""
    for axis, parts in enumerate(field):
        least, most = float(parts.min()), float(parts.max())
        if not (math.isfinite(least) and math.isfinite(most)):
            finite = parts[np.isfinite(parts)]
            least, most = (float(finite.min()), float(finite.max())) if finite.size else (math.inf, -math.inf)
        lows[axis] += least
        highs[axis] += most
