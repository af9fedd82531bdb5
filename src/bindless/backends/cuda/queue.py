"""Queues: one stream in order, or a few streams ordered by events only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from ...drivers.common.cffi_types import CData
from ...model.errors import Error
from ..common.deferred_events import RecordingQueue
from .context import Context
from .device import Device
from .event import Event
from .fork_guard import in_fork
from .stream import Stream

__all__ = ["STREAMS_OF_AN_OUT_OF_ORDER_QUEUE", "Queue"]

STREAMS_OF_AN_OUT_OF_ORDER_QUEUE = 4
# Copies of a size that is staged only if it is repeated: the one that allocates the buffers.
_JUSTIFIES_BUFFERS = 3
_MOST_COUNTED = 256


class Queue(RecordingQueue[Stream, Event]):
    """A queue of one device.

    Commands of an out-of-order queue are distributed over its streams in turn. A command that depends on the last
    command of a stream follows it on that stream, which orders the two without an event; other dependencies are events.
    Two independent commands may still run one after the other, which the specification allows.

    Attributes
    ----------
    context
        context of the queue.
    device
        device of the queue.
    primary
        the device's primary context.
    copied
        how often copies of a kind were made, of sizes that are staged when repeated.
    prepares
        whether C code may submit prepared commands: the queue is open, and no command has timestamps.
    mapped, unmapped
        pinned memory of small host arrays (see ``mapped_image_call``), or None; and how often it was missing.
    capturing
        whether a graph records its commands; its streams must not be queried then.
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
        self.prepares = not profiling
        self.copied: Counter[tuple[object, ...]] = Counter()
        self.mapped: Any = None
        self.unmapped = 0

    @classmethod
    def around(cls, context: Context, device: Device, stream: Stream) -> Queue:
        """An in-order queue over one stream."""
        return cls(context, device, True, False, stream)

    def justifies_buffers(self, kind: tuple[object, ...]) -> bool:
        """Counts a copy of a kind, such as its extent, pixel size and direction; whether it has come often enough."""
        if len(self.copied) > _MOST_COUNTED:
            self.copied.clear()
        self.copied[kind] += 1
        return self.copied[kind] >= _JUSTIFIES_BUFFERS

    def run(
        self, command: Callable[[CData], int], call: str, waits: Sequence[Event] = (), details: object = ""
    ) -> Event:
        """Submit a command; see ``Stream.run``."""
        return self.stream(waits).run(command, call, waits, details)

    def wait(self) -> None:
        """Wait until all work submitted so far is complete. Interruptible.

        A dropped queue calls this too, possibly during another command on this thread, whose context stays current.
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
        """Whether all work is complete."""
        if self.closed:
            return True
        if self.capturing:
            return False
        unknown = [stream for stream in self.streams if stream.done < stream.submitted]
        if not unknown:
            return True
        self.primary.activate()
        return all(stream.is_idle() for stream in unknown)

    def close(self) -> None:
        """Wait for the work and destroy the streams. Events that are queried later report failures."""
        self.prepares = False
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
            if self.mapped is not None and failure is None:
                self.mapped.close()
            for stream in self.streams:
                stream.close(failure)
