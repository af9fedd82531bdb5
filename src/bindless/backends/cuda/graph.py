"""Graphs: commands captured from a stream once, and launched as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...drivers import cuda as driver
from ...drivers.common.cffi_types import CData
from ...model.errors import InvalidError
from .device import PrimaryContext
from .errors import SUCCESS, check, release
from .event import Event
from .fork_guard import in_fork
from .queue import Queue

__all__ = ["Graph", "launch_graph", "record_graph", "records_graphs", "release_graph"]

lib, ffi = driver.lib, driver.ffi


class Graph:
    """A CUgraphExec, or None after its release."""

    def __init__(self, primary: PrimaryContext, native: CData) -> None:
        self.primary, self.native = primary, native


def records_graphs(queue: Queue) -> bool:
    """Whether a queue records graphs: every queue does."""
    return True


def record_graph(queue: Queue, commands: Sequence[Callable[[Sequence[Event]], Event]]) -> Graph:
    """Record the submissions of the commands to an in-order queue that nobody else uses; none of them runs.

    The capture ends whatever interrupts it, before any Python function begins: a question about a stream that is
    captured fails, and ends the capture without a graph.
    """
    (stream,) = queue.streams
    graph, executable = ffi.new("CUgraph *"), ffi.new("CUgraphExec *")
    with queue.primary:
        try:
            try:
                queue.capturing = True
                # Relaxed: this thread and other threads may load kernels during the capture.
                result = lib.cuStreamBeginCapture(stream.handle, lib.CU_STREAM_CAPTURE_MODE_RELAXED)
                check(result, "cuStreamBeginCapture")
                for command in commands:
                    command(())
            finally:
                queue.capturing = False
                result = lib.cuStreamEndCapture(stream.handle, graph)
                with stream.lock:  # nothing was submitted
                    stream.pending = None
                    stream.done = stream.submitted
            check(result, "cuStreamEndCapture")
            check(lib.cuGraphInstantiate(executable, graph[0], 0), "cuGraphInstantiate", f"{len(commands)} commands")
        finally:
            if graph[0] != ffi.NULL:
                release(lib.cuGraphDestroy(graph[0]), "cuGraphDestroy")
    return Graph(queue.primary, executable[0])


def launch_graph(queue: Queue, graph: Graph, waits: Sequence[Event] = ()) -> Event:
    """Submit all commands of a graph, in order."""
    if graph.native is None:
        raise InvalidError("this graph was released", backend="cuda")
    return queue.run(lambda stream: lib.cuGraphLaunch(graph.native, stream), "cuGraphLaunch", waits)


def release_graph(graph: Graph) -> None:
    native, graph.native = graph.native, None
    if native is not None and not in_fork():
        with graph.primary:
            result = lib.cuGraphExecDestroy(native)
            if result != SUCCESS:
                release(result, "cuGraphExecDestroy")
