"""Events: recorded in their stream only when somebody asks, at the place where they were made.

An event stands for the end of the last command of a stream when it is made. As long as no other command follows
in that stream, recording it later is the same; so the stream records it just before the next command if it is still
held by anybody, and its user does when it is first asked. An event that nobody keeps costs no driver call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..drivers import cuda as driver
from ..model.enums import EventStatus
from ..model.errors import ProfilingError
from ._cuda_clock import Clock
from ._cuda_device import PrimaryContext
from ._cuda_errors import NOT_READY, SUCCESS, check
from ._cuda_wait import wait_until_ready

if TYPE_CHECKING:
    from ._cuda_stream import Stream

__all__ = ["Event", "TimedEvent", "new_native"]

lib, ffi = driver.lib, driver.ffi


def new_native(context: PrimaryContext, timed: bool = False) -> Any:
    """A CUevent, one at rest if there is any; the context is current."""
    try:
        return context.events[timed].pop()
    except IndexError:
        slot = ffi.new("CUevent *")
        flags = lib.CU_EVENT_DEFAULT if timed else lib.CU_EVENT_DISABLE_TIMING
        check(lib.cuEventCreate(slot, flags), "cuEventCreate")
        return slot[0]


class Event:
    """The end of a command.

    Attributes:
        stream: where the command runs.
        native: CUevent, or None as long as it was not recorded.
        complete: whether it is known to have happened.
    """

    __slots__ = ("__weakref__", "complete", "native", "stream")

    timed = False

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.native: Any = None
        self.complete = False

    def record(self) -> None:
        """Makes sure that the driver knows it."""
        if self.native is None and not self.complete:
            self.stream.record(self)

    def query(self) -> bool:
        """Whether it has happened; raises the error of failed work."""
        if not self.complete:
            self.stream.context.activate()
            self.record()
            if not self.complete:
                self._settle(lib.cuEventQuery(self.native))
        return self.complete

    def wait(self) -> None:
        """Returns when it has happened; raises the error of failed work. Interruptible."""
        if not self.complete:
            self.stream.context.activate()
            self.record()
            if not self.complete:
                self._settle(wait_until_ready(lib.cuEventQuery, self.native))

    def _settle(self, result: int) -> None:
        if result == SUCCESS:
            self.complete = True
        elif result != NOT_READY:
            check(result, "cuEventQuery")

    def status(self) -> EventStatus:
        """Complete or submitted: without timing the driver does not tell when a command starts."""
        return EventStatus.complete if self.query() else EventStatus.submitted

    def times(self) -> tuple[int, int, int]:
        """Raises: an event of a queue without profiling has no times."""
        raise ProfilingError(
            "this event has no times: its queue was made without profiling; make it with enable_profiling=True",
            backend="cuda",
        )

    def release(self) -> None:
        """Gives the native event back early if it has happened; else it goes back with the last reference."""
        if self.complete:
            native, self.native = self.native, None
            if native is not None:
                self.stream.context.events[self.timed].append(native)

    def __del__(self) -> None:
        # No driver call: what waits for a recorded event keeps what it waits for when the event is recorded anew.
        if self.native is not None:
            self.stream.context.events[self.timed].append(self.native)


class TimedEvent(Event):
    """The end of a command of a profiling queue, recorded at once, with its start.

    Times are nanoseconds of ``time.monotonic_ns``. The device's clock is read against the host's when the
    queue is made and every few seconds (see ``_cuda_clock``), which is good to some microseconds; a command is
    never said to start before it was submitted.
    """

    __slots__ = ("clock", "start", "submitted")

    timed = True

    def __init__(self, stream: Stream, clock: Clock, start: Any, submitted: int) -> None:
        super().__init__(stream)
        self.start: Any = start
        self.clock = clock
        self.submitted = submitted

    def status(self) -> EventStatus:
        """Submitted, running or complete."""
        if self.query():
            return EventStatus.complete
        started = self.start is not None and lib.cuEventQuery(self.start) == SUCCESS
        return EventStatus.running if started else EventStatus.submitted

    def times(self) -> tuple[int, int, int]:
        """Nanoseconds of submission, start and end; waits for the end."""
        self.wait()
        if self.native is None or self.start is None:
            raise ProfilingError("this event was released, and its times with it", backend="cuda")
        start = max(self.clock.time_of(self.start), self.submitted)
        return self.submitted, start, max(self.clock.time_of(self.native), start)

    def release(self) -> None:
        """Gives both native events back early; their times are lost."""
        super().release()
        if self.complete and self.start is not None:
            self.stream.context.events[True].append(self.start)
            self.start = None

    def __del__(self) -> None:
        super().__del__()
        if self.start is not None:
            self.stream.context.events[True].append(self.start)
