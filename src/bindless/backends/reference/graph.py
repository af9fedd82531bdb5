"""Graphs: commands that a queue records into a batch, which is enqueued as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...drivers.common.cffi_types import CData
from ...model.errors import InvalidError
from .objects import Event, Queue

if TYPE_CHECKING:
    from .driver_access import DriverAccess

__all__ = ["Graph", "launch_graph", "record_graph", "records_graphs", "release_graph"]


class Graph:
    """A blr_batch_t, or None after its release."""

    __slots__ = ("batch",)

    def __init__(self, batch: CData) -> None:
        self.batch = batch


def records_graphs(backend: DriverAccess, queue: Queue) -> bool:
    """Whether a queue records graphs: every queue does."""
    return True


def record_graph(backend: DriverAccess, queue: Queue, commands: Sequence[Callable[[Sequence[Event]], Event]]) -> Graph:
    """Record the submissions of the commands to an in-order queue that nobody else uses; none of them runs."""
    lib, check = backend._lib, backend._check
    batch = backend._ffi.new("blr_batch_t *")
    check(lib.blrQueueBeginRecording(queue.handle), "blrQueueBeginRecording")
    try:
        for command in commands:
            command(())  # The event is NULL, so nothing needs a release.
    except BaseException:
        lib.blrQueueEndRecording(queue.handle, backend._null)
        raise
    check(lib.blrQueueEndRecording(queue.handle, batch), "blrQueueEndRecording")
    return Graph(batch[0])


def launch_graph(backend: DriverAccess, queue: Queue, graph: Graph, waits: Sequence[Event] = ()) -> Event:
    """Submit all commands as one; the driver separates runs of one graph."""
    if graph.batch is None:
        raise InvalidError("this graph was released", backend="reference")
    event = backend._ffi.new("blr_event_t *")
    count, events = backend._waits(waits)
    result = backend._lib.blrEnqueueBatch(queue.handle, graph.batch, count, events, event)
    backend._check(result, "blrEnqueueBatch")
    return Event(event[0], queue.profiling)


def release_graph(backend: DriverAccess, graph: Graph) -> None:
    """Destroy the batch; unfinished runs continue."""
    batch, graph.batch = graph.batch, None
    if batch is not None:
        backend._lib.blrBatchDestroy(batch)
