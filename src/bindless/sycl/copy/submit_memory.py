"""``submit_memory``: commands on memory of a queue; copies of bytes that come again are prepared for C code."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...submission.command_stream import Operation
from ...submission.event import Event
from ..usm.array_import import foreign_array
from .memory_commands import ByteCopy, Command
from .prepared_copy import add_copy, comes_again

if TYPE_CHECKING:
    from ..device.queue_base import QueueBase

__all__ = ["submit_memory"]


def submit_memory(
    queue: QueueBase, command: Command, depends_on: Iterable[Event] | Event, copied: tuple[Any, ...] = ()
) -> Event:
    """Submit a command; ``copied``: the source and the destination of a copy of bytes."""
    operation, keep = command
    event = _submit_bytes(queue, copied[0], copied[1], operation, depends_on) if copied else None
    return queue._stream.submit(operation, depends_on, keep) if event is None else event


def _submit_bytes(
    queue: QueueBase, src: Any, dst: Any, copy: Operation, depends_on: Iterable[Event] | Event
) -> Event | None:
    """Prepare a copy of bytes, and submit it; None where Python has to submit it."""
    stream, group = queue._stream, queue._backend.byte_copies
    native, copies = stream.native, stream.copies
    if type(copy) is not ByteCopy or group is None or native is None or not stream.prepares:
        return None
    if copies is not None and copies.declined:  # it is prepared
        return None
    host = isinstance(foreign_array(src, queue), np.ndarray), isinstance(foreign_array(dst, queue), np.ndarray)
    if not all(map(comes_again, (src, dst), host)):
        return None
    with stream.lock:
        prepared = group.prepare_bytes(native, copy.to, copy.from_, copy.nbytes, host)
    return None if prepared is None else add_copy(queue, src, dst, prepared, None, {}, depends_on, size=copy.nbytes)
