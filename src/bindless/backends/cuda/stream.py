"""Streams: in-order work of a device, with the events of its commands."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from ...drivers import cuda as driver
from ...drivers.common.cffi_types import CData
from ..common.deferred_events import RecordingStream
from .device import PrimaryContext
from .errors import NOT_READY, SUCCESS, check, fail, release
from .event import Event, MarkedEvent, NativeEvent, TimedEvent
from .polling import wait_until_ready
from .timestamps import clock_of

__all__ = ["AdoptedStream", "Stream", "nothing"]

lib, ffi = driver.lib, driver.ffi


_WAIT, _RECORDER_WAIT, _MARKER_WAIT, _MARKER_RELEASE, _ORDER_AFTER, _ORDER_BEFORE = (
    int(ffi.cast("uintptr_t", ffi.addressof(lib, f"bindless_{name}")))
    for name in ("stream_wait", "recorder_wait", "marker_wait", "marker_release", "order_after", "order_before")
)


def nothing(stream: CData) -> int:
    """The command of an event that only waits."""
    return SUCCESS


class Stream(RecordingStream[Event]):
    """A CUstream that does not synchronise with the default stream.

    Attributes
    ----------
    context
        context of the stream.
    handle
        CUstream.
    """

    def __init__(self, context: PrimaryContext, profiling: bool, handle: CData = None) -> None:
        super().__init__(profiling)
        self.context = context
        if handle is None:
            slot = ffi.new("CUstream *")
            check(lib.cuStreamCreate(slot, lib.CU_STREAM_NON_BLOCKING), "cuStreamCreate")
            handle = slot[0]
        self.handle = handle
        self._lane = ffi.new("bindless_lane_t *", (context.handle, handle))
        self.wait_for, self.driver_stream = _WAIT, int(ffi.cast("uintptr_t", self._lane))
        self._order = ffi.new("bindless_order_t *", (context.handle, handle))
        self.order = int(ffi.cast("uintptr_t", self._order))
        self.order_after, self.order_before = _ORDER_AFTER, _ORDER_BEFORE

    # ------------------------------------------------------------------ commands

    def run(
        self,
        command: Callable[[CData], int],
        call: str,
        waits: Sequence[Event] = (),
        details: object = "",
    ) -> Event:
        """Submit a command and return its event.

        Parameters
        ----------
        command
            calls the driver with the CUstream and returns its result.
        call
            the driver's function, for errors.
        waits
            events of any queue and device that come first.
        details
            for errors.
        """
        for event in waits:
            if event.stream is not self:
                event.record()  # This call may leave another device's context current.
        self.context.activate()
        if self.profiling:
            return self._run_timed(command, call, waits, details)
        with self.lock:
            self.before(waits)
            result = command(self.handle)
            if result != SUCCESS:
                fail(result, call, details)
            return self.after()

    def before(self, waits: Sequence[Event]) -> None:
        """Prepare for any command; the lock is held, and the events to wait for are recorded."""
        self.settle()
        for event in waits:
            native = event.native
            if native is not None and event.stream is not self and not event.is_known_complete:
                check(lib.cuStreamWaitEvent(self.handle, native.handle, 0), "cuStreamWaitEvent")

    def prepare(self) -> None:
        """Record the event of the last command, which is still referenced, before a prepared command."""
        self.context.activate()
        with self.lock:
            event = self.pending
            if event is not None and event.index > self.done:
                self._record(event)
            self.pending = None

    def after(self) -> Event:
        """The event of the command just submitted; the lock is held."""
        self.submitted += 1
        self.pending = event = Event(self, self.submitted)
        self.used = True
        return event

    def _run_timed(
        self, command: Callable[[CData], int], call: str, waits: Sequence[Event], details: object
    ) -> TimedEvent:
        clock = clock_of(self.context)
        submitted = time.monotonic_ns()
        with self.lock:
            self.before(waits)
            self.submitted += 1
            event = TimedEvent(self, self.submitted, clock, submitted)
            assert event.start is not None
            check(lib.cuEventRecord(event.start.handle, self.handle), "cuEventRecord")
            result = command(self.handle)
            if result != SUCCESS:
                fail(result, call, details)
            self._record(event)
            self.used = True
        return event

    # ------------------------------------------------------------------ events

    def record(self, event: Event, always: bool = False) -> None:
        """See ``record`` of every stream; events are created in the stream's context, which is current then."""
        self.context.activate()
        super().record(event, always)

    def _record(self, event: Event) -> None:
        native = NativeEvent(self.context, event.timed)
        check(lib.cuEventRecord(native.handle, self.handle), "cuEventRecord")
        event.native = native

    def barrier(self, waits: Sequence[Event] = ()) -> Event:
        return self.run(nothing, "barrier", waits)

    # ------------------------------------------------------------------ the whole stream

    def wait(self) -> None:
        """Wait until all its work is complete; raises the error of failed work. Interruptible."""
        submitted = self.submitted
        check(wait_until_ready(lib.cuStreamQuery, self.handle), "cuStreamQuery")
        self.reached(submitted)

    def is_idle(self) -> bool:
        """Whether all its work is complete; raises the error of failed work."""
        submitted = self.submitted
        result = lib.cuStreamQuery(self.handle)
        if result == NOT_READY:
            return False
        check(result, "cuStreamQuery")
        self.reached(submitted)
        return True

    def _destroy(self) -> None:
        lib.bindless_order_end(self._order)
        release(lib.cuStreamDestroy(self.handle), "cuStreamDestroy")


class AdoptedStream(Stream):
    """A CUstream of another owner, who may submit work between the commands submitted here.

    Therefore each event is recorded at once: a later record would include the owner's work.

    Parameters
    ----------
    owned
        whether this object destroys the stream.

    Attributes
    ----------
    recorder
        bindless_recorder_t.
    """

    def __init__(self, context: PrimaryContext, handle: CData, owned: bool) -> None:
        super().__init__(context, False, handle)
        self._owned = owned
        self.submitted = 1  # The work that the stream holds already.
        self.recorder = ffi.new("bindless_recorder_t *", (context.take_markers(), handle))
        self.wait_for, self.driver_stream = _RECORDER_WAIT, int(ffi.cast("uintptr_t", self.recorder))
        self.last_event = int(ffi.cast("uintptr_t", ffi.addressof(self.recorder, "last")))
        self.query, self.let_go = _MARKER_WAIT, _MARKER_RELEASE

    def after(self) -> Event:
        check(lib.bindless_recorder_mark(self.recorder), "cuEventRecord")
        self.submitted += 1
        self.used = True
        event = MarkedEvent(self, self.submitted)
        event.number, event.let_go = int(ffi.cast("uintptr_t", self.recorder.last)), _MARKER_RELEASE
        return event

    def settle(self) -> None:
        """Do nothing but forget the last event: each one is recorded."""
        self.pending = None

    def _destroy(self) -> None:
        lib.bindless_recorder_end(self.recorder)
        self.context.markers.append(self.recorder.markers)
        if self._owned:
            super()._destroy()
        else:
            lib.bindless_order_end(self._order)
