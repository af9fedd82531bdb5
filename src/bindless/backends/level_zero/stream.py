"""Streams: in-order work of a device, with the events of its commands."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from ...drivers import level_zero as driver
from ...drivers.common.cffi_types import CData
from ...model.enums import Errc
from ...model.errors import Error, InvalidError
from ..common.deferred_events import RecordingStream
from .command_list import Command, Lists
from .context import Context
from .device import Device
from .errors import NOT_READY, SUCCESS, check, error, fail
from .event import Event, TimedEvent, wait_until_signalled
from .event_pool import NativeEvent
from .fork_guard import refuse_in_fork
from .timestamps import clock_of

__all__ = ["Stream", "nothing"]

lib, ffi = driver.lib, driver.ffi

_NULL = ffi.NULL
_RECORD = int(ffi.cast("uintptr_t", ffi.addressof(lib, "bindless_record_number")))
_RELEASE = int(ffi.cast("uintptr_t", ffi.addressof(lib, "bindless_event_release")))


def nothing(own: CData, signal: CData, count: int, waits: CData) -> int:
    """The command of an event that only waits."""
    return int(lib.zeCommandListAppendBarrier(own, signal, count, waits))


class Stream(RecordingStream[Event]):
    """In-order commands on one engine of a device.

    Attributes
    ----------
    context
        context of the stream.
    device
        device of the stream.
    lists
        submission of the commands; ``native`` refers to it too.
    native
        bindless_stream_t.
    """

    def __init__(self, context: Context, device: Device, lists: Lists, profiling: bool = False) -> None:
        super().__init__(profiling)
        self.context = context
        self.device = device
        self.native = ffi.new("bindless_stream_t *")
        self.native.pool = context.native.pools[False].native
        self.driver_stream, self.record_at, self.let_go = int(ffi.cast("uintptr_t", self.native)), _RECORD, _RELEASE
        self.waits = int(ffi.cast("uintptr_t", ffi.addressof(self.native, "waits")))
        self.lists, self.native.lists = lists, lists.native

    # ------------------------------------------------------------------ commands

    def run(
        self,
        command: Command,
        call: str,
        waits: Sequence[Event] = (),
        details: object = "",
        first: Command | None = None,
    ) -> Event:
        """Submit a command and return its event.

        Parameters
        ----------
        command
            see ``command_list``.
        call
            the driver's function, for errors.
        waits
            events of any queue of the same context that come first.
        details
            for errors.
        first
            part that precedes the command.
        """
        refuse_in_fork()
        for event in waits:
            if event.stream is not self:
                event.record()
        clock = clock_of(self.device) if self.profiling else None
        submitted = 0 if clock is None else time.monotonic_ns()
        with self.lock:
            natives = self.before(waits)
            count = len(natives)
            array = ffi.new("ze_event_handle_t[]", [native.handle for native in natives]) if count else _NULL
            timed = None if clock is None else TimedEvent(self, 0, clock, submitted)
            number = self.begin()
            if natives:
                self._keep(natives)
            if first is not None:
                self._begin(first, timed, number, count, array, call, details)
                count, array = 0, _NULL
            if timed is None or timed.native is None:
                signal = _NULL
            else:
                self._keep((timed.native,))
                signal = timed.native.handle
            try:
                result = self.lists.run(command, signal, count, array)
                if result != SUCCESS:
                    fail(result, call, details)
            except Error:
                if first is None:
                    self._refused(number)
                raise
            return self.after(number, timed, natives)

    def _begin(
        self,
        first: Command,
        event: TimedEvent | None,
        number: int,
        count: int,
        array: CData,
        call: str,
        details: object,
    ) -> None:
        """Submit the first part of a command; its events stay in use even if the rest is refused."""
        own = None if event is None else NativeEvent.take(self.context.native.pools[True])
        if own is not None:
            self._keep((own,))
        try:
            result = self.lists.run(first, _NULL if own is None else own.handle, count, array)
            if result != SUCCESS:
                fail(result, call, details)
        except Error:
            self._refused(number)
            raise
        if event is not None and own is not None:
            event.first = own  # signalled before the command is complete

    def begin(self) -> int:
        """Counts a command before the driver has it: whatever interrupts us then, the stream's waits include it.

        The lock is held. A finalizer or a signal handler can submit other commands before the driver has this one, or
        just after that: then ``submitted`` is no longer the number that this returns.
        """
        self.used = True
        self.submitted += 1
        return self.submitted

    def _refused(self, number: int) -> None:
        """Take back the count of a command that the driver refused, so that nothing waits for it."""
        if self.submitted != number:  # others were submitted meanwhile; theirs are higher
            return
        self.submitted -= 1

    def _keep(self, natives: Sequence[NativeEvent], index: int = 0) -> None:
        """Keep events of the command just counted until it is complete; called before the driver gets them.

        ``index``: the number of the command, once the driver signals one event at its end.
        """
        events = [native.held[0] for native in natives]
        check(lib.bindless_keep(self.native, len(events), events, index), "zeCommandListAppendBarrier")

    def before(self, waits: Sequence[Event]) -> list[NativeEvent]:
        """Prepare for any command; return the driver's events that it waits for. The lock is held."""
        if self.closed:
            raise self.failure or InvalidError(
                "this queue was released; its commands can go to another one", backend="level_zero"
            )
        self.settle()
        if not waits:
            return []
        return [
            event.native
            for event in waits
            if event.native is not None and event.stream is not self and not event.is_known_complete
        ]

    def after(self, number: int, timed: TimedEvent | None = None, natives: Sequence[NativeEvent] = ()) -> Event:
        """The event of the command just submitted and counted by ``begin``; the lock is held."""
        event = Event(self, number) if timed is None else timed
        if self.submitted != number:
            number = self._count_anew(timed, natives)
        event.index = number
        if timed is None:
            self.pending = event
        elif timed.native is not None:
            self._keep((timed.native,), number)
        return event

    def _count_anew(self, timed: TimedEvent | None, natives: Sequence[NativeEvent]) -> int:
        """A number for a command during whose submission others were submitted, before or after it; the lock is held.

        The number is higher than theirs, so the command's events are kept until all are complete. What the command
        signals itself says nothing about the others: a barrier behind all of them signals the end instead.
        """
        events = tuple(natives)
        while True:
            number = self.begin()
            self._keep(events)
            if timed is None:
                return number
            assert timed.first is not None and timed.native is not None
            end = NativeEvent.take(self.context.native.pools[True])
            events = (*events, timed.first, timed.native, end)
            self._keep(events)
            result = self.lists.run(nothing, end.handle)
            if result != SUCCESS:
                fail(result, "zeCommandListAppendBarrier")
            timed.native = end
            if self.submitted == number:
                return number

    # ------------------------------------------------------------------ events

    def record(self, event: Event, always: bool = False) -> None:
        refuse_in_fork()
        super().record(event, always)

    def _record(self, event: Event) -> None:
        if not event.number:
            native = self._mark(lib.bindless_record)[1]
            if event.native is None:
                event.native, event.number = native, int(ffi.cast("uintptr_t", native.held[0]))
        if event.native is None:
            event.native = NativeEvent.of(event.number)

    def _mark(self, record: Callable[..., int] = lib.bindless_record_end) -> tuple[int, NativeEvent]:
        """The number of a command, the last one as of now, and an event of the driver behind it; the lock is held."""
        held, index = NativeEvent.slot(), self.submitted
        result = record(self.native, index, held)
        if result != SUCCESS:
            fail(result, "zeCommandListAppendBarrier")
        return index, NativeEvent(held)

    def barrier(self, waits: Sequence[Event] = ()) -> Event:
        return self.run(nothing, "barrier", waits)

    def _reached(self, index: int) -> None:
        if index <= self.done:
            return
        self.done = index
        lib.bindless_sweep(self.native)

    def failed(self, result: int, call: str, index: int) -> Error:
        """The error of failed work, which is over then."""
        self.reached(index)
        words = self.context.driver.last_error()
        with self.lock:
            if not self.closed:
                self.lists.forgive()
        return error(result, call, code=Errc.kernel, words=words)

    # ------------------------------------------------------------------ the whole stream

    def wait(self) -> None:
        """Wait until all its work is complete; raises the error of failed work. Interruptible."""
        refuse_in_fork()
        with self.lock:
            if self.closed or self.done >= self.submitted:
                return
            index, native = self._mark()
        result = wait_until_signalled(native)
        if result != SUCCESS:
            raise self.failed(result, "zeEventHostSynchronize", index)
        with self.lock:
            self._reached(index)
            if not self.closed:
                self.lists.tidy()

    def is_idle(self) -> bool:
        """Whether all its work is complete; raises the error of failed work."""
        refuse_in_fork()
        with self.lock:
            if self.closed or self.done >= self.submitted:
                return True
            index, native = self._mark()
            result = lib.zeEventQueryStatus(native.handle)
        if result == NOT_READY:
            return False
        if result != SUCCESS:
            raise self.failed(result, "zeEventQueryStatus", index)
        self.reached(index)
        return self.done >= self.submitted  # a finalizer can have submitted more meanwhile

    def _destroy(self) -> None:
        self.record_at = 0
        lib.bindless_stream_clear(self.native)
        self.lists.close()
