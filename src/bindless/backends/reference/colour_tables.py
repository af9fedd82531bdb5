"""Tables of colours on the reference back end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...model.colour_table import ColourTable
from .objects import Event, Queue

if TYPE_CHECKING:
    from .driver_access import DriverAccess

__all__ = ["map_colours"]


def map_colours(backend: DriverAccess, queue: Queue, described: ColourTable, waits: Sequence[Event] = ()) -> Event:
    """Submit the pixels of a picture."""
    event = backend._ffi.new("blr_event_t *")
    count, events = backend._waits(waits)
    native = backend._ffi.new("blr_colour_table_t *", described.fields)
    for name in ("pixels", "values", "table", "shaper"):
        setattr(native, name, backend._pointer(getattr(described, name)))
    result = backend._lib.blrEnqueueColourTable(queue.handle, native, count, events, event)
    backend._check(result, "blrEnqueueColourTable")
    return Event(event[0], queue.profiling)
