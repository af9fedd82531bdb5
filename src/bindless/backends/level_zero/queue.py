"""Queues: one stream in order, or a few streams ordered by events only."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.errors import Error, FeatureNotSupportedError
from ..common.deferred_events import RecordingQueue
from .command_list import Command, ImmediateList, RegularLists
from .context import Context
from .device import Device
from .event import Event
from .fork_guard import in_fork
from .stream import Stream

__all__ = ["STREAMS_OF_AN_OUT_OF_ORDER_QUEUE", "Queue"]

STREAMS_OF_AN_OUT_OF_ORDER_QUEUE = 4


class Queue(RecordingQueue[Stream, Event]):
    """A queue of one device.

    Commands of an out-of-order queue are distributed over its streams in turn. A command that depends on the last
    command of a stream follows it on that stream, which orders the two without an event; other dependencies are events.
    Two independent commands may still run one after the other, which the specification allows. If the device has memory
    of its own and copy engines, large copies of an out-of-order queue run on a copy engine, concurrently with kernels.

    Attributes
    ----------
    context
        context of the queue.
    device
        device of the queue.
    copies
        stream of the copy engine, the last stream, or None.
    """

    backend = "level_zero"

    def __init__(
        self, context: Context, device: Device, in_order: bool, profiling: bool, immediate: bool | None = None
    ) -> None:
        self.context = context
        self.device = context.device(device)
        self.in_order = in_order
        self.profiling = profiling
        self.closed = False
        group = device.compute_group
        if group is None:
            raise FeatureNotSupportedError(f"{device.name} has no engine that runs kernels", backend="level_zero")
        way = RegularLists if immediate is False else ImmediateList
        places = [(group, engine) for engine in range(1 if in_order else STREAMS_OF_AN_OUT_OF_ORDER_QUEUE)]
        ordered = len(places)
        if not in_order and device.copy_group is not None:
            places.append((device.copy_group, 0))
        streams: tuple[Stream, ...] = ()
        try:
            for place, engine in places:
                streams += (Stream(context, device, way.create(context.handle, device, place, engine), profiling),)
        except Error:
            for stream in streams:
                stream.close()
            raise
        self._set_streams(streams, streams[:ordered])
        self.copies = streams[ordered] if len(streams) > ordered else None

    @classmethod
    def around(cls, context: Context, device: Device, lists: ImmediateList | RegularLists) -> Queue:
        """Adopt a native object as an in-order queue."""
        queue = cls.__new__(cls)
        queue.context, queue.device = context, context.device(device)
        queue.in_order, queue.profiling, queue.closed = True, False, False
        streams = (Stream(context, device, lists),)
        queue._set_streams(streams, streams)
        queue.copies = None
        return queue

    def run(
        self,
        command: Command,
        call: str,
        waits: Sequence[Event] = (),
        details: object = "",
        *,
        first: Command | None = None,
        copies: bool = False,
    ) -> Event:
        """Submit a command; see ``Stream.run``. ``copies`` allows the copy engine."""
        self.require_open()
        stream = self.copies if copies and self.copies is not None else self.stream(waits)
        return stream.run(command, call, waits, details, first)

    def wait(self) -> None:
        """Wait until all work submitted so far is complete. Interruptible."""
        if not self.closed:
            for stream in self.streams:
                stream.wait()

    def is_idle(self) -> bool:
        """Whether all work is complete."""
        return self.closed or all(stream.is_idle() for stream in self.streams)

    def close(self) -> None:
        """Wait for the work and destroy the streams. Events that are queried later report failures."""
        if self.closed or in_fork():
            self.closed = True
            return
        failure: Error | None = None
        for stream in self.streams:
            try:
                stream.wait()
            except Error as error:
                failure = failure or error
        self.closed = True
        for stream in self.streams:
            stream.close(failure)
