"""Events of Level Zero: signalled late (``_recording``), and with times where the queue is profiled."""

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

# A wait returns to the interpreter this often, so that signals such as Ctrl-C are served.
_WAIT_SLICE = 50_000_000  # nanoseconds


def wait_until_signalled(native: NativeEvent) -> int:
    """The driver's result once the event has happened. Interruptible."""
    wait, handle = lib.zeEventHostSynchronize, native.handle
    while (result := wait(handle, _WAIT_SLICE)) == NOT_READY:
        pass
    return int(result)


class Event(RecordedEvent):
    """The end of a command, which becomes an event of a pool, signalled behind the command, when it is recorded."""

    __slots__ = ()

    backend = "level_zero"
    stream: Stream
    native: NativeEvent | None

    def query(self) -> bool:
        """Whether it has happened; raises the error of failed work."""
        if not self.is_known_complete:
            refuse_in_fork()
            native = self.record()
            self._settle(SUCCESS if native is None else lib.zeEventQueryStatus(native.handle), "zeEventQueryStatus")
        return self.is_known_complete

    def wait(self) -> None:
        """Returns when it has happened; raises the error of failed work. Interruptible."""
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
    """The end of a command of a profiling queue, which the command itself signals with its times.

    Times are nanoseconds of ``time.monotonic_ns``: ticks of the device's clock told by ``_level_zero_clock``.

    Attributes:
        first: of a command of several parts, what the first one signals; else ``native``.
    """

    __slots__ = ("_clock", "_submitted", "first")

    timed = True

    def __init__(self, stream: Stream, index: int, clock: Clock, submitted: int) -> None:
        super().__init__(stream, index)
        self.native = NativeEvent(stream.context.native.pools[True])
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
        """Start and end of the part that signals an event, on the host's clock."""
        found = ffi.new("ze_kernel_timestamp_result_t *")
        check(lib.zeEventQueryKernelTimestamp(native.handle, found), "zeEventQueryKernelTimestamp")
        ticks = getattr(found, "global")
        return self._clock.time_of(int(ticks.kernelStart)), self._clock.time_of(int(ticks.kernelEnd))

    def release(self) -> None:
        """Gives the driver's events back early; their times are lost."""
        super().release()
        if self.native is None:
            self.first = None
