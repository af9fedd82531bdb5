"""The filter of B-splines on the reference back end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...drivers.common.cffi_types import CData
from ...model.spline_filter import SplineFilter
from .objects import Event, Queue

if TYPE_CHECKING:
    from .driver_access import DriverAccess

__all__ = ["spline_filter"]


def _struct(backend: DriverAccess, described: SplineFilter) -> CData:
    """A ``blr_spline_filter_t *``."""
    native = backend._ffi.new("blr_spline_filter_t *", described.fields)
    native.source, native.target = backend._pointer(described.source), backend._pointer(described.target)
    return native


def spline_filter(backend: DriverAccess, queue: Queue, described: SplineFilter, waits: Sequence[Event] = ()) -> Event:
    """Submit a filter."""
    event = backend._ffi.new("blr_event_t *")
    count, events = backend._waits(waits)
    result = backend._lib.blrEnqueueSplineFilter(queue.handle, _struct(backend, described), count, events, event)
    backend._check(result, "blrEnqueueSplineFilter")
    return Event(event[0], queue.profiling)
