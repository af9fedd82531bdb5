"""``submit_copy``: ``Queue.ext_oneapi_copy``, where no prepared copy is repeated; a method of ``Queue``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ...submission.command_stream import Operation
from ...submission.event import Event
from .image_copy import ORIGIN, PLACES, OneCopy, image_copy
from .whole_copy import whole_copy

if TYPE_CHECKING:
    from ..queue.queue import Queue

__all__ = ["submit_copy"]


def submit_copy(
    queue: Queue, src: object, dst: object, *, depends_on: Iterable[Event] | Event = (), **places: Any
) -> Event:
    """Submit an image copy for which nothing was prepared; the signature of ``Queue.ext_oneapi_copy``."""
    stream = queue._stream
    if places and not places.keys() <= PLACES:
        unknown = min(places.keys() - PLACES)
        raise TypeError(f"Queue.ext_oneapi_copy() got an unexpected keyword argument {unknown!r}")
    given = {name: value for name, value in places.items() if value is not None and value is not ORIGIN}
    whole = None if given else whole_copy(queue, src, dst)
    if whole is not None:
        operation: Operation = OneCopy(queue, whole[0])
        keep = whole[1]
    else:
        operation, keep = image_copy(queue, src, dst, **places)
    event = stream.submit(operation, depends_on, keep)
    if queue._repeated is not None and type(operation) is OneCopy:
        queue._repeated.note(stream, src, dst, operation.region, places)
    return event


submit_copy.__qualname__ = "Queue.ext_oneapi_copy"
