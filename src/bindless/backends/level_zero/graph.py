"""Graphs: commands recorded into a regular command list, which is closed once and executed by every run."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence

from ...core.lock import Lock
from ...drivers import level_zero as driver
from ...drivers.common.cffi_types import CData
from ...model.errors import InvalidError
from .command_list import ClosedList, Lists, RegularLists
from .errors import check, release
from .event import Event
from .fork_guard import in_fork, refuse_in_fork
from .queue import Queue
from .stream import Stream

__all__ = ["Graph", "launch_graph", "record_graph", "records_graphs", "release_graph"]

lib, ffi = driver.lib, driver.ffi


class Graph:
    """A closed command list.

    Attributes
    ----------
    places
        slots of the ze_command_list_handle_t; None after its release.
    last
        event of the last run, if runs need it for their order.
    lock
        lock of the submission of a run.
    """

    def __init__(self, places: CData) -> None:
        self.places = places
        self.last: Event | None = None
        self.lock = Lock()


def _append_function(queue: Queue) -> CData:
    return queue.device.driver.function("zeCommandListImmediateAppendCommandListsExp")


def records_graphs(queue: Queue) -> bool:
    """Whether the queue executes lists: command queues do; immediate lists need a driver function."""
    return isinstance(queue.streams[0].lists, RegularLists) or _append_function(queue) is not None


def record_graph(queue: Queue, commands: Sequence[Callable[[Sequence[Event]], Event]]) -> Graph:
    """Record the submissions of the commands to an in-order queue that nobody else uses; none of them runs."""
    refuse_in_fork()
    (stream,) = queue.streams
    group = queue.device.compute_group
    assert group is not None  # The queue of the graph.
    in_order = queue.device.driver.keeps_order
    flags = lib.ZE_COMMAND_LIST_FLAG_IN_ORDER if in_order else 0
    desc = driver.make_struct("ze_command_list_desc_t", commandQueueGroupOrdinal=group.ordinal, flags=flags)
    places = ffi.new("ze_command_list_handle_t *")
    check(lib.zeCommandListCreate(queue.context.handle, queue.device.handle, desc, places), "zeCommandListCreate")
    try:
        # A barrier separates the first command from earlier executions.
        with _recording(stream, Lists(places[0], list=places[0], in_order=in_order, barrier=True)):
            for command in commands:
                command(())
        check(lib.zeCommandListClose(places[0]), "zeCommandListClose", f"{len(commands)} commands")
    except BaseException:
        release(lib.zeCommandListDestroy(places[0]), "zeCommandListDestroy")
        raise
    return Graph(places)


@contextlib.contextmanager
def _recording(stream: Stream, recording: Lists) -> Iterator[None]:
    """Record the commands of a stream during the block."""
    lists = stream.lists
    stream.lists, stream.native.lists = recording, recording.native
    try:
        yield
    finally:
        with stream.lock:
            stream.lists, stream.native.lists = lists, lists.native
            stream.pending = None  # nothing was submitted
            stream.done = stream.submitted


def launch_graph(queue: Queue, graph: Graph, waits: Sequence[Event] = ()) -> Event:
    """Execute a graph's list, in queue order; runs of one graph execute one after the other."""
    with graph.lock:
        if graph.places is None:
            raise InvalidError("this graph was released", backend="level_zero")
        if graph.last is not None:
            waits = [*waits, graph.last]
        append = _append_function(queue)
        call = "zeCommandQueueExecuteCommandLists" if append is None else "zeCommandListImmediateAppendCommandListsExp"
        event = queue.run(ClosedList(graph.places, append), call, waits)
        graph.last = None if queue.in_order else event
    return event


def release_graph(graph: Graph) -> None:
    """Destroy the list; its runs are complete."""
    with graph.lock:
        places, graph.places, graph.last = graph.places, None, None
    if places is not None and not in_fork():
        release(lib.zeCommandListDestroy(places[0]), "zeCommandListDestroy")
