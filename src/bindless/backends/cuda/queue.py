"""Queues: one stream in order, or a few streams between which only events make order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...model.errors import Error
from ..common.deferred_events import RecordingQueue
from .context import Context
from .device import Device
from .event import Event
from .fork_guard import in_fork
from .stream import Stream

__all__ = ["STREAMS_OF_AN_OUT_OF_ORDER_QUEUE", "Queue"]

STREAMS_OF_AN_OUT_OF_ORDER_QUEUE = 4


class Queue(RecordingQueue[Stream, Event]):
    """A queue of one device.

    Commands of an out-of-order queue go round its streams. One that depends on the last command of a stream follows it
    there, which orders the two without an event; other dependencies are events. Two commands that do not depend on
    each other may so still run one after the other, which the specification allows.

    Attributes:
        context: where it was made.
        device: whose work it does.
        primary: the device's primary context.
        capturing: whether its commands are recorded for a graph, and nothing may be asked of its streams.
    """

    backend = "cuda"

    def __init__(
        self, context: Context, device: Device, in_order: bool, profiling: bool, stream: Stream | None = None
    ) -> None:
        self.context = context
        self.device = device
        self.primary = context.primary(device)
        self.in_order = in_order
        self.profiling = profiling
        self.closed = self.capturing = False
        with self.primary:
            count = 1 if in_order else STREAMS_OF_AN_OUT_OF_ORDER_QUEUE
            streams = (stream,) if stream else tuple(Stream(self.primary, profiling) for _ in range(count))
        self._set_streams(streams, streams)
        # Streams of commands that wait for nothing; None where the short way of launches is not to be taken.
        self.untimed: Iterator[Stream] | None = None if profiling or stream else self.round

    @classmethod
    def around(cls, context: Context, device: Device, stream: Stream) -> Queue:
        """A queue in order over one stream."""
        return cls(context, device, True, False, stream)

    def run(self, command: Callable[[Any], int], call: str, waits: Sequence[Event] = (), details: object = "") -> Event:
        """Submits a command; see ``Stream.run``."""
        return self.stream(waits).run(command, call, waits, details)

    def ends(self) -> list[Event]:
        """Events that have happened once everything submitted so far to the streams that commands go round is done."""
        return [stream.pending or stream.barrier() for stream in self.ordered if stream.done < stream.submitted]

    def wait(self) -> None:
        """Returns when all work submitted so far is done. Interruptible.

        A queue that was dropped ends so, maybe amid another command on this thread, whose context stays current.
        """
        if self.closed:
            return
        if self.primary.is_current():
            self._wait()
        else:
            with self.primary:
                self._wait()

    def _wait(self) -> None:
        for stream in self.streams:
            stream.wait()

    def is_idle(self) -> bool:
        """Whether all work is done."""
        if self.closed:
            return True
        unknown = [stream for stream in self.streams if stream.done < stream.submitted]
        if not unknown:
            return True
        self.primary.activate()
        return all(stream.is_idle() for stream in unknown)

    def close(self) -> None:
        """Waits for its work and destroys its streams. What failed is said by the events that are still asked."""
        self.untimed = None
        if self.closed or in_fork():
            self.closed = True
            return
        failure: Error | None = None
        with self.primary:
            try:
                self.wait()
            except Error as error:
                failure = error
            self.closed = True
            for stream in self.streams:
                stream.close(failure)
