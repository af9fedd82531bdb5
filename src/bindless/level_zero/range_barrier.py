"""Barriers for ranges of memory (L0, "Memory Ranges Barriers")."""

from __future__ import annotations

from ..backends.contract import require_group
from ..model.errors import InvalidError
from ..submission.event import Event
from ..sycl.queue.queue import Events, Queue
from ..sycl.usm.array import UsmArray
from ..sycl.usm.pointer import UsmPointer
from .capability import memory_range, require_queue

__all__ = ["memory_ranges_barrier"]


def memory_ranges_barrier(queue: Queue, *memory: UsmArray | UsmPointer, depends_on: Events | Event = ()) -> Event:
    """Make earlier writes to these ranges of memory visible to later commands.

    Parameters
    ----------
    queue : Queue
        Queue between whose commands the barrier stands.
    memory : UsmArray | UsmPointer
        Contiguous arrays, or pointers, of the queue's context. A pointer stands for its allocation from
        that address on.
    depends_on : Events | Event, default ()
        Events to wait for.

    Returns
    -------
    Event
        The barrier's event.

    Raises
    ------
    InvalidError
        No memory, or of another context.
    FeatureNotSupportedError
        The driver has no such barriers; ``ext_oneapi_submit_barrier`` is for all memory.
    """
    require_queue(queue)
    if not memory:
        raise InvalidError("memory: name at least one array, or take queue.ext_oneapi_submit_barrier()")
    ranges = []
    for item in memory:
        owner, address, nbytes = memory_range(item, "memory")
        if owner.context is not queue.context:
            raise InvalidError(f"{item!r} is memory of another context than the queue's")
        ranges.append((address, nbytes))
    calls = require_group(queue._backend.range_barrier, "barriers for ranges of memory", queue.backend)
    native = queue._native
    return queue._enqueue(lambda waits: calls.barrier_of_ranges(native, ranges, waits), depends_on, memory)
