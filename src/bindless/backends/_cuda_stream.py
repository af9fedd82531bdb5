"""Streams: what runs in order on the device, with the events of its commands."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from ..drivers import cuda as driver
from ._cuda_clock import clock_of
from ._cuda_device import PrimaryContext
from ._cuda_errors import NOT_READY, SUCCESS, check, fail, release
from ._cuda_event import Event, TimedEvent, new_native
from ._cuda_wait import wait_until_ready

__all__ = ["Stream"]

lib, ffi = driver.lib, driver.ffi


class Stream:
    """A CUstream that does not wait for the default stream.

    Attributes:
        context: where it lives.
        handle: CUstream.
        lock: held around a command and the bookkeeping of its event.
        pending: weak reference to the event of the last command, as long as it is not recorded.
        used: whether there were commands since the last barrier of an out-of-order queue.
        profiling: whether events carry times.
    """

    def __init__(self, context: PrimaryContext, profiling: bool) -> None:
        self.context = context
        self.profiling = profiling
        self.lock = threading.Lock()
        self.pending: weakref.ref[Event] | None = None
        self.used = False
        self.closed = False
        slot = ffi.new("CUstream *")
        check(lib.cuStreamCreate(slot, lib.CU_STREAM_NON_BLOCKING), "cuStreamCreate")
        self.handle = slot[0]

    # ------------------------------------------------------------------ commands

    def run(
        self,
        command: Callable[[Any], int],
        call: str,
        waits: Sequence[Event] = (),
        details: str = "",
    ) -> Event:
        """Submits a command and gives its event.

        Args:
            command: makes the driver's call with the CUstream and returns its result.
            call: the driver's function, for errors.
            waits: events to wait for first, of any queue and device.
            details: for errors.
        """
        self.context.activate()
        for event in waits:
            event.record()
        if self.profiling:
            return self._run_timed(command, call, waits, details)
        with self.lock:
            self.before(waits)
            result = command(self.handle)
            if result != SUCCESS:
                fail(result, call, details)
            return self.after()

    def before(self, waits: Sequence[Event]) -> None:
        """What precedes every command; the lock is held, and the events to wait for are recorded."""
        if self.pending is not None:
            last = self.pending()
            if last is not None:
                self._record(last)
            self.pending = None
        for event in waits:
            if event.stream is not self and not event.complete:
                check(lib.cuStreamWaitEvent(self.handle, event.native, 0), "cuStreamWaitEvent")

    def after(self) -> Event:
        """The event of the command just submitted; the lock is held."""
        event = Event(self)
        self.pending = weakref.ref(event)
        self.used = True
        return event

    def _run_timed(self, command: Callable[[Any], int], call: str, waits: Sequence[Event], details: str) -> TimedEvent:
        clock = clock_of(self.context)
        submitted = time.monotonic_ns()
        with self.lock:
            self.before(waits)
            event = TimedEvent(self, clock, new_native(self.context, timed=True), submitted)
            check(lib.cuEventRecord(event.start, self.handle), "cuEventRecord")
            result = command(self.handle)
            if result != SUCCESS:
                fail(result, call, details)
            self._record(event)
            self.used = True
        return event

    # ------------------------------------------------------------------ events

    def record(self, event: Event) -> None:
        """Records an event of this stream if that was not done yet."""
        with self.lock:
            if event.native is None and not event.complete:
                self._record(event)
                self.pending = None

    def _record(self, event: Event) -> None:
        if self.closed:
            event.complete = True
            return
        native = new_native(self.context, event.timed)
        result = lib.cuEventRecord(native, self.handle)
        if result != SUCCESS:
            self.context.events[event.timed].append(native)
            fail(result, "cuEventRecord")
        event.native = native

    def is_last(self, event: Event) -> bool:
        """Whether no command has followed the event's, as far as is known without asking the driver."""
        return self.pending is not None and self.pending() is event

    # ------------------------------------------------------------------ the whole stream

    def wait(self) -> None:
        """Returns when all its work is done; raises the error of failed work. Interruptible."""
        check(wait_until_ready(lib.cuStreamQuery, self.handle), "cuStreamQuery")

    def is_idle(self) -> bool:
        """Whether all its work is done; raises the error of failed work."""
        result = lib.cuStreamQuery(self.handle)
        if result not in (SUCCESS, NOT_READY):
            fail(result, "cuStreamQuery")
        return result == SUCCESS

    def close(self) -> None:
        """Destroys it; its work is done."""
        with self.lock:
            if self.closed:
                return
            self.closed = True
            last = self.pending() if self.pending is not None else None
            if last is not None:
                last.complete = True
            self.pending = None
            release(lib.cuStreamDestroy(self.handle), "cuStreamDestroy")
