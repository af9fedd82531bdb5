"""``submit_copy``: ``Queue.ext_oneapi_copy``, where no prepared copy is repeated; a method of ``Queue``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ...submission.event import Event
from ..device.native_stream import order_libraries_after
from .image_copy import PLACES, copy_operation, plan_copy
from .prepared_copy import submit_prepared

if TYPE_CHECKING:
    from ..device.queue_base import QueueBase

__all__ = ["submit_copy"]


def submit_copy(
    queue: QueueBase, src: object, dst: object, *, depends_on: Iterable[Event] | Event = (), **places: Any
) -> Event:
    """Submit an image copy, prepared for repetition where possible; the signature of ``Queue.ext_oneapi_copy``."""
    if places and not places.keys() <= PLACES:
        unknown = min(places.keys() - PLACES)
        raise TypeError(f"Queue.ext_oneapi_copy() got an unexpected keyword argument {unknown!r}")
    regions, keep = plan_copy(queue, src, dst, **places)
    if queue._stream.prepares and len(regions) == 1:
        event = submit_prepared(queue, src, dst, regions[0], places, depends_on)
        if event is not None:
            return event
    operation, memory = copy_operation(queue, regions)
    event = queue._stream.submit(operation, depends_on, (*keep, *memory))
    order_libraries_after(queue, (src, dst), event)
    return event


submit_copy.__qualname__ = "Queue.ext_oneapi_copy"
