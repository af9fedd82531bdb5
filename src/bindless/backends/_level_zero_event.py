"""Events: signalled by the driver only when somebody asks, at the place where they were made.

An event stands for the end of the last command of a stream when it is made. As long as no other command follows in
that stream, signalling it later is the same; so the stream does so just before the next command if the event is still
held by anybody, and its user does when it is first asked. An event that nobody keeps costs no driver call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..drivers import level_zero as driver
from ..model.enums import EventStatus
from ..model.errors import ProfilingError
from ._level_zero_clock import Clock
from ._level_zero_errors import NOT_READY, SUCCESS, check
from ._level_zero_fork import refuse_in_fork
from ._level_zero_pool import NativeEvent

if TYPE_CHECKING:
    from ._level_zero_stream import Stream

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


class Event:
    """The end of a command.

    Attributes:
        stream: where the command runs.
        index: counts the commands of the stream; with one complete, all of lower index are (``Stream.done``).
        native: what the driver knows of it; None as long as it was not asked for.
    """

    __slots__ = ("index", "native", "stream")

    timed = False

    def __init__(self, stream: Stream, index: int) -> None:
        self.stream = stream
        self.index = index
        self.native: NativeEvent | None = None

    @property
    def is_known_complete(self) -> bool:
        """Whether it is known to have happened, without asking the driver."""
        return self.index <= self.stream.done

    def record(self) -> NativeEvent | None:
        """The driver's event; None where it is known to have happened."""
        if self.native is None and not self.is_known_complete:
            self.stream.record(self)
        return self.native

    def native_handle(self) -> Any:
        """A ze_event_handle_t that is signalled no earlier; None once its queue was released."""
        if self.native is None:
            self.stream.record(self, always=True)
        return None if self.native is None else self.native.handle

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

    def status(self) -> EventStatus:
        """Complete or submitted: without timestamps the driver does not tell when a command starts."""
        return EventStatus.complete if self.query() else EventStatus.submitted

    def times(self) -> tuple[int, int, int]:
        """Raises: an event of a queue without profiling has no times."""
        raise ProfilingError(
            "this event has no times: its queue was made without profiling; make it with enable_profiling=True",
            backend="level_zero",
        )

    def release(self) -> None:
        """Gives the driver's event back early if it has happened; else it goes back with the last reference."""
        if self.is_known_complete:
            self.native = None


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
