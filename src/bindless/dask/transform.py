"""``Transform``: a map of an array and the filter that reads it, the same for all blocks of the result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..model.enums import Boundary, Precision
from ..model.filter import Filter
from ..ndimage.arguments import filter_of
from ..ndimage.errors import left_to_scipy
from ..ndimage.places import Places
from .spans import Span, span_of

__all__ = ["TAPS", "Block", "Transform"]

Block = tuple[slice, ...]

TAPS = {0: 1, 1: 2, 3: 4}


@dataclass(frozen=True)
class Transform:
    """A map of an array, from indices of the result to positions in the input.

    Attributes
    ----------
    matrix : tuple[tuple[float, ...], ...]
        Square: rows for the mapped axes of the input, columns for those of the result.
    offset : tuple[float, ...]
        One for each mapped axis.
    input_shape, output_shape : tuple[int, ...]
        With the axes before the mapped ones, which stay as they are.
    dtype : str
        Of the input and the result.
    order, mode, cval, precision : Any
        As of ``affine_transform``.
    """

    matrix: tuple[tuple[float, ...], ...]
    offset: tuple[float, ...]
    input_shape: tuple[int, ...]
    output_shape: tuple[int, ...]
    dtype: str
    order: int = 1
    mode: str = "constant"
    cval: float = 0.0
    precision: str = "hardware"

    @property
    def dims(self) -> int:
        """Number of the mapped axes, the last ones."""
        return len(self.offset)

    @property
    def kept(self) -> int:
        """Number of the axes before them."""
        return len(self.input_shape) - len(self.offset)

    @cached_property
    def filter(self) -> Filter:
        name = "affine_transform"
        found = filter_of(name, self.order, self.mode, self.cval, self.precision, in_window=True)
        if self.uses_unit and Boundary.border in found.boundary and self.cval != 0:
            raise left_to_scipy(name, f"precision={self.precision} with mode={self.mode} and cval={self.cval:g}")
        return found

    @property
    def boundary(self) -> Boundary:
        """Values outside, the same along all axes."""
        return self.filter.boundary[0]

    @cached_property
    def uses_unit(self) -> bool:
        """Whether a texture unit, or its recorded arithmetic, computes the values."""
        return Precision(self.precision) is not Precision.exact

    @cached_property
    def margin(self) -> int:
        """Texels by which the input is extended at each end of its mapped axes."""
        return self.filter.spline_margin[0] if self.order == 3 else 0

    @cached_property
    def whole(self) -> tuple[int, ...]:
        """Texels along the mapped axes of the input, extended."""
        return tuple(size + 2 * self.margin for size in self.input_shape[self.kept :])

    def places(self, shape: tuple[int, ...]) -> Places:
        """The positions of a result of a shape, in the extended input."""
        matrix, offset = np.array(self.matrix, np.float64), np.array(self.offset, np.float64)
        return Places.affine(matrix, offset, shape).moved(self.margin)

    def bounds(self, block: Block) -> tuple[list[float], list[float]]:
        """The smallest and the largest position along each mapped axis, computed and rounded as devices do.

        Rounded sums are monotonous: the extremes are at corners of the block.
        """
        return self.extremes([(float(part.start), float(part.stop - 1)) for part in block[self.kept :]])

    def extremes(self, ends: Sequence[tuple[Any, Any]]) -> tuple[list[Any], list[Any]]:
        """``bounds`` of a block, or of many, from its first and its last index along each axis: numbers or arrays."""
        dims, ends = self.dims, ends[::-1]
        found = []
        for take in (False, True):  # the corner of the smallest position, then of the largest
            corners: list[Any] = []
            for row in self._rows:
                at: Any = row[dims]
                for axis in reversed(range(dims)):
                    at = row[axis] * ends[axis][(row[axis] < 0) is not take] + at
                corners.append(at)
            found.append(corners[::-1])
        return found[0], found[1]

    @cached_property
    def _rows(self) -> list[list[float]]:
        """Coefficients of the indices, x first, and the constant, for each axis of the input, x first."""
        dims = self.dims
        found: list[list[float]] = self.places((1,) * dims).matrix[:dims, [*range(dims), 3]].tolist()
        return found

    def spans(self, block: Block, field: npt.NDArray[Any] | None = None) -> list[Span] | None:
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
        low, high = self.bounds(block)
        if field is not None:
            for axis, parts in enumerate(field):
                least, most = _extremes(parts)
                low[axis] += least
                high[axis] += most
        spans, taps, boundary, pads = [], TAPS[self.order], self.boundary, self.uses_unit
        for axis, n in enumerate(self.whole):
            span = span_of(low[axis], high[axis], n, boundary, taps, pads=pads)
            if span is None:
                return None
            spans.append(span)
        return spans


def _extremes(values: npt.NDArray[Any]) -> tuple[float, float]:
    """Of the finite values; infinity and minus infinity where there are none."""
    least, most = float(values.min()), float(values.max())
    if math.isfinite(least) and math.isfinite(most):
        return least, most
    known = values[np.isfinite(values)]
    return (float(known.min()), float(known.max())) if known.size else (math.inf, -math.inf)
