"""Deferred events: queues, streams and events of drivers whose events are recorded on demand.

An event stands for the completion of the last command of a stream at the event's creation. While no other command
follows in that stream, a later record gives the same result. So the stream records the event just before the next
command if it is still referenced, and most events never become driver events.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from sys import getrefcount
from typing import Any, Generic, TypeVar

from ...core._submission import Lane, Mark
from ...core.lock import Lock
from ...drivers.common.cffi_types import CData
from ...model.enums import EventStatus
from ...model.errors import Error, InvalidError, ProfilingError

__all__ = ["RecordedEvent", "RecordingQueue", "RecordingStream"]


class RecordedEvent(Mark):
    """The completion of a command.

    Attributes
    ----------
    stream
        stream of the command.
    index
        number of the command in the stream; completion of one implies that of all lower ones (``stream.done``).
    native
        driver's event, with its ``handle``; None before it is recorded.
    backend
        back end, for errors.
    """

    __slots__ = ()

    backend: str

    def __init__(self, stream: Any, index: int) -> None:
        self.stream = stream
        self.index = index
        self.native: Any = None

    @property
    def is_known_complete(self) -> bool:
        """Whether its completion is known without a driver query."""
        return bool(self.index <= self.stream.done)

    def record(self) -> Any:
        """The driver's event, recorded now if necessary; None if the completion is known."""
        if self.native is None and not self.is_known_complete:
            self.stream.record(self)
        return self.native

    def native_handle(self) -> CData:
        """The handle of the driver's event, which completes no earlier; None after the release of its queue.

        The event of a command that is known to be complete may be recorded only now.
        """
        if self.native is None:
            self.stream.record(self, always=True)
        native = self.native
        return None if native is None else native.handle

    def query(self) -> bool:
        """Whether it is complete; raises the error of failed work."""
        raise NotImplementedError

    def status(self) -> EventStatus:
        """Complete or submitted: without timestamps the driver does not report the start of a command."""
        return EventStatus.complete if self.query() else EventStatus.submitted

    def times(self) -> tuple[int, int, int]:
        """Raise an error: an event of a queue without profiling has no timestamps."""
        raise ProfilingError(
            "this event has no times: its queue was made without profiling; make it with enable_profiling=True",
            backend=self.backend,
        )

    def release(self) -> None:
        """Release the driver's event early if it is complete; otherwise it is released with the last reference."""
        if self.is_known_complete:
            self.native = None


_Event = TypeVar("_Event", bound=RecordedEvent)


class RecordingStream(Lane, Generic[_Event]):
    """In-order commands.

    Attributes
    ----------
    lock
        Held around a command and the bookkeeping of its event. The thread that holds it can take it again: a garbage
        collection or a signal handler can run in between, and can use the stream. What Python code read before such a
        point may be out of date after it.
    pending : _Event | None
        The event of the last command, as long as it is not recorded.
    submitted
        Commands so far; their events' indices.
    done
        Highest index of an event known to be complete.
    used
        Whether there were commands since the last barrier of an out-of-order queue.
    profiling : bool
        Whether events carry times.
    failure : Error | None
        The error of its work, once it is closed.
    """

    def __init__(self, profiling: bool) -> None:
        self.profiling = profiling
        self.lock = Lock()
        self.pending: _Event | None = None
        self.submitted = 0
        self.done = 0
        self.used = False
        self.closed = False
        self.failure: Error | None = None

    def settle(self) -> None:
        """Record the event of the last command before another one, if it is still referenced; the lock is held."""
        if self.pending is not None:
            if self.is_kept() and not self.pending.is_known_complete:
                self._record(self.pending)
            self.pending = None

    def record(self, event: _Event, always: bool = False) -> None:
        """Record an event of this stream if it is not recorded; one known to be complete only with ``always``."""
        with self.lock:
            if self.failure is not None:
                raise self.failure
            if event.native is None and (always or not event.is_known_complete) and not self.closed:
                self._record(event)
                if self.is_last(event):
                    self.pending = None

    def _record(self, event: _Event) -> None:
        """Make the driver record an event after all commands; the lock is held."""
        raise NotImplementedError

    def is_kept(self) -> bool:
        """Whether anybody but the stream refers to the pending event; the attribute and the argument are two
        references.
        """
        return getrefcount(self.pending) > 2

    def is_last(self, event: _Event) -> bool:
        """Whether the event's command is the last one, as far as known without a driver query."""
        return self.pending is event

    def reached(self, index: int) -> None:
        """Mark the command of this index, and all before it, as complete."""
        with self.lock:
            self._reached(index)

    def _reached(self, index: int) -> None:
        """``reached``; the lock is held."""
        if index > self.done:
            self.done = index

    def wait(self) -> None:
        """Wait until all its work is complete; raises the error of failed work. Interruptible."""
        raise NotImplementedError

    def barrier(self, waits: Sequence[_Event] = ()) -> _Event:
        """An event after everything submitted to it, and after ``waits``."""
        raise NotImplementedError

    def close(self, failure: Error | None = None) -> None:
        """Destroy it; its work is complete, or has failed."""
        with self.lock:
            if self.closed:
                return
            self.closed = True
            self.failure = failure
            if failure is None:
                self.done = self.submitted
            self.pending = None
            self._destroy()

    def _destroy(self) -> None:
        """Release the native objects."""
        raise NotImplementedError


_Stream = TypeVar("_Stream", bound=RecordingStream[Any])


class RecordingQueue(Generic[_Stream, _Event]):
    """Streams with the order of a queue.

    Attributes
    ----------
    streams
        one stream in order, several out of order.
    ordered
        streams on which a command may follow its dependency.
    round
        iterator over these streams in turn.
    backend
        for errors.
    """

    backend: str
    in_order: bool
    closed: bool

    def _set_streams(self, streams: tuple[_Stream, ...], ordered: tuple[_Stream, ...]) -> None:
        self.streams = streams
        self.ordered = ordered
        self.round: Iterator[_Stream] = itertools.cycle(ordered)
        self._first = streams[0]

    def require_open(self) -> None:
        """Refuse commands to a released queue."""
        if self.closed:
            raise InvalidError("this queue was released; its commands can go to another one", backend=self.backend)

    def stream(self, waits: Sequence[_Event] = ()) -> _Stream:
        """The stream of the next command."""
        if self.closed:
            self.require_open()
        if self.in_order:
            return self._first
        for event in waits:
            stream = event.stream
            if stream in self.ordered and stream.is_last(event):
                return stream  # type: ignore[no-any-return]
        return next(self.round)

    def ends(self) -> list[_Event]:
        """Events that are complete once all work submitted so far is."""
        return [stream.pending or stream.barrier() for stream in self.streams if stream.done < stream.submitted]

    def barrier(self, waits: Sequence[_Event] = ()) -> _Event:
        """An event after everything before it; on an out-of-order queue everything later comes after it too."""
        self.require_open()
        first, *others = self.streams
        ends = [stream.barrier() for stream in others if stream.used]
        event: _Event = first.barrier([*waits, *ends])
        for stream in others:
            stream.barrier([event])
            stream.used = False
        first.used = False
        return event
