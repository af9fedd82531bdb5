"""Optional: coefficients of B-splines, which a back end computes itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ...model.spline_filter import SplineFilter
from .native_objects import NativeEvent, NativeQueue

__all__ = ["SplineFiltersProtocol"]


class SplineFiltersProtocol(Protocol):
    """The filter of B-splines over memory that the processor reads."""

    def spline_filter(
        self, queue: NativeQueue, described: SplineFilter, waits: Sequence[NativeEvent] = ()
    ) -> NativeEvent:
        """Submit a filter. Its arrays are in memory that the queue's device can access."""
