"""Queues, streams and events of drivers whose events are recorded late: what is the same whatever the driver.

An event stands for the end of the last command of a stream when it is made. As long as no other command follows in
that stream, recording it later is the same; so the stream records it just before the next command if it is still
wanted, and most events never become one of the driver.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from sys import getrefcount
from typing import Any, Generic, TypeVar

from ...core._submission import Lane, Lock, Mark
from ...model.enums import EventStatus
from ...model.errors import Error, InvalidError, ProfilingError

__all__ = ["RecordedEvent", "RecordingQueue", "RecordingStream"]


class RecordedEvent(Mark):
    """The end of a command.

    Attributes:
        stream: where the command runs.
        index: counts the commands of the stream; with one complete, all of lower index are (``stream.done``).
        native: the driver's event, with its ``handle``; None as long as it was not recorded.
        backend: for errors.
    """

    __slots__ = ()

    backend: str

    def __init__(self, stream: Any, index: int) -> None:
        self.stream = stream
        self.index = index
        self.native: Any = None

    @property
    def is_known_complete(self) -> bool:
        """Whether it is known to have happened, without asking the driver."""
        return bool(self.index <= self.stream.done)

    def record(self) -> Any:
        """The driver's event, recorded now if it was not yet; None where it is known to have happened."""
        if self.native is None and not self.is_known_complete:
            self.stream.record(self)
        return self.native

    def native_handle(self) -> Any:
        """The handle of the driver's event, which happens no earlier; None once its queue was released.

        Of a command known to be complete it may be recorded only now.
        """
        if self.native is None:
            self.stream.record(self, always=True)
        native = self.native
        return None if native is None else native.handle

    def query(self) -> bool:
        """Whether it has happened; raises the error of failed work."""
        raise NotImplementedError

    def status(self) -> EventStatus:
        """Complete or submitted: without times the driver does not tell when a command starts."""
        return EventStatus.complete if self.query() else EventStatus.submitted

    def times(self) -> tuple[int, int, int]:
        """Raises: an event of a queue without profiling has no times."""
        raise ProfilingError(
            "this event has no times: its queue was made without profiling; make it with enable_profiling=True",
            backend=self.backend,
        )

    def release(self) -> None:
        """Gives the driver's event back early if it has happened; else it goes back with the last reference."""
        if self.is_known_complete:
            self.native = None


_Event = TypeVar("_Event", bound=RecordedEvent)


class RecordingStream(Lane, Generic[_Event]):
    """Commands one after the other.

    Attributes:
        lock: held around a command and the bookkeeping of its event. The thread that holds it can take it again: a
            garbage collection or a signal handler can run in between, and can use the stream. What Python code read
            before such a point may be out of date after it.
        pending: the event of the last command, as long as it is not recorded.
        submitted: commands so far; their events' indices.
        done: highest index of an event known to be complete.
        used: whether there were commands since the last barrier of an out-of-order queue.
        profiling: whether events carry times.
        failure: the error of its work, once it is closed.
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
        """Before another command: records the event of the last one if anybody may still ask; the lock is held."""
        if self.pending is not None:
            if self.is_kept() and not self.pending.is_known_complete:
                self._record(self.pending)
            self.pending = None

    def record(self, event: _Event, always: bool = False) -> None:
        """Records an event of this stream if that was not done yet; one known to be complete only if asked to."""
        with self.lock:
            if self.failure is not None:
                raise self.failure
            if event.native is None and (always or not event.is_known_complete) and not self.closed:
                self._record(event)
                if self.is_last(event):
                    self.pending = None

    def _record(self, event: _Event) -> None:
        """Has the driver record an event after all commands; the lock is held."""
        raise NotImplementedError

    def is_kept(self) -> bool:
        """Whether anybody but the stream refers to the pending event; the attribute and the argument make two."""
        return getrefcount(self.pending) > 2

    def is_last(self, event: _Event) -> bool:
        """Whether no command has followed the event's, as far as is known without asking the driver."""
        return self.pending is event

    def reached(self, index: int) -> None:
        """Notes that the command of this index, and all before it, are complete."""
        with self.lock:
            self._reached(index)

    def _reached(self, index: int) -> None:
        """``reached``; the lock is held."""
        if index > self.done:
            self.done = index

    def wait(self) -> None:
        """Returns when all its work is done; raises the error of failed work. Interruptible."""
        raise NotImplementedError

    def barrier(self, waits: Sequence[_Event] = ()) -> _Event:
        """An event after everything submitted to it, and after ``waits``."""
        raise NotImplementedError

    def close(self, failure: Error | None = None) -> None:
        """Destroys it; its work is done, or has failed."""
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
        """Gives the native objects back."""
        raise NotImplementedError


_Stream = TypeVar("_Stream", bound=RecordingStream[Any])


class RecordingQueue(Generic[_Stream, _Event]):
    """Streams with the order of a queue.

    Attributes:
        streams: one in order, several out of order.
        ordered: those of them that commands follow their dependencies to.
        round: these in turn.
        backend: for errors.
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
        """Refuses commands to a queue that was released."""
        if self.closed:
            raise InvalidError("this queue was released; its commands can go to another one", backend=self.backend)

    def stream(self, waits: Sequence[_Event] = ()) -> _Stream:
        """Where the next command goes."""
        if self.closed:
            self.require_open()
        if self.in_order:
            return self._first
        for event in waits:
            stream = event.stream
            if stream in self.ordered and stream.is_last(event):
                return stream  # type: ignore[no-any-return]
        return next(self.round)

    def barrier(self, waits: Sequence[_Event] = ()) -> _Event:
        """An event after everything before it; of an out-of-order queue, everything later comes after it too."""
        self.require_open()
        first, *others = self.streams
        ends = [stream.barrier() for stream in others if stream.used]
        event: _Event = first.barrier([*waits, *ends])
        for stream in others:
            stream.barrier([event])
            stream.used = False
        first.used = False
        return event
