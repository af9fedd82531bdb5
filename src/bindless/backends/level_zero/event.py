"""Level Zero events: signalled on demand (``deferred_events``), with timestamps on profiling queues."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...drivers import level_zero as driver
from ...model.errors import ProfilingError
from ..common.deferred_events import RecordedEvent
from .errors import NOT_READY, SUCCESS, check
from .event_pool import NativeEvent
from .fork_guard import refuse_in_fork
from .timestamps import Clock

if TYPE_CHECKING:
    from .stream import Stream

__all__ = ["Event", "TimedEvent", "wait_until_signalled"]

lib, ffi = driver.lib, driver.ffi

# Interval of a wait's returns to the interpreter, which then handles signals such as Ctrl-C.
_WAIT_SLICE = 50_000_000  # nanoseconds


def wait_until_signalled(native: NativeEvent) -> int:
    """The driver's result once the event is complete. Interruptible."""
    wait, handle = lib.zeEventHostSynchronize, native.handle
    while (result := wait(handle, _WAIT_SLICE)) == NOT_READY:
        pass
    return int(result)


class Event(RecordedEvent):
    """The completion of a command; when it is recorded, a pool event signalled behind the command."""

    __slots__ = ()

    backend = "level_zero"
    stream: Stream
    native: NativeEvent | None

    def record(self) -> NativeEvent | None:
        if self.native is None and self.number:  # C code has recorded it
            self.native = NativeEvent.of(self.number)
        native: NativeEvent | None = super().record()
        return native

    def release(self) -> None:
        """Release the driver's event early if it is complete; otherwise it is released with the last reference."""
        if self.is_known_complete and not self.let_go:
            self.number = 0  # of ``native``
        super().release()

    def query(self) -> bool:
        """Whether it is complete; raises the error of failed work."""
        if not self.is_known_complete:
            refuse_in_fork()
            native = self.record()
            self._settle(SUCCESS if native is None else lib.zeEventQueryStatus(native.handle), "zeEventQueryStatus")
        return self.is_known_complete

    def wait(self) -> None:
        """Wait until it is complete; raises the error of failed work. Interruptible."""
        if not self.is_known_complete:
            refuse_in_fork()
            native = self.record()
            self._settle(SUCCESS if native is None else wait_until_signalled(native), "zeEventHostSynchronize")

    def _settle(self, result: int, call: str) -> None:
        if result == SUCCESS:
            self.stream.reached(self.index)
        elif result != NOT_READY:
            raise self.stream.failed(result, call, self.index)


class TimedEvent(Event):
    """The completion of a command of a profiling queue, whose command signals the event with timestamps.

    Times are nanoseconds of ``time.monotonic_ns``: ``timestamps`` converts ticks of the device's clock.

    Attributes
    ----------
    first
        event of the first part of a command of several parts; otherwise ``native``.
    """

    __slots__ = ("_clock", "_submitted", "first")

    timed = True

    def __init__(self, stream: Stream, index: int, clock: Clock, submitted: int) -> None:
        super().__init__(stream, index)
        self.native = NativeEvent.take(stream.context.native.pools[True])
        self.first: NativeEvent | None = self.native
        self._clock = clock
        self._submitted = submitted

    def times(self) -> tuple[int, int, int]:
        """Nanoseconds of submission, start and end; waits for the end."""
        self.wait()
        if self.native is None or self.first is None:
            raise ProfilingError("this event was released, and its times with it", backend="level_zero")
        start = max(self._ticks(self.first)[0], self._submitted)
        return self._submitted, start, max(self._ticks(self.native)[1], start)

    def _ticks(self, native: NativeEvent) -> tuple[int, int]:
        """Start and end of the part that signals an event, in host time."""
        result = ffi.new("ze_kernel_timestamp_result_t *")
        check(lib.zeEventQueryKernelTimestamp(native.handle, result), "zeEventQueryKernelTimestamp")
        ticks = getattr(result, "global")
        return self._clock.time_of(int(ticks.kernelStart)), self._clock.time_of(int(ticks.kernelEnd))

    def release(self) -> None:
        """Return the driver's events early; their times are lost."""
        super().release()
        if self.native is None:
            self.first = None
