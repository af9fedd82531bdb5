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

__all__ = ["Event", "NativeEvent", "TimedEvent"]

lib, ffi = driver.lib, driver.ffi


class NativeEvent:
    """A CUevent, which goes back to those at rest in its context with the last reference.

    Going back takes no driver call: what waits for a recorded event keeps waiting for that, when it is recorded anew.

    Attributes:
        handle: CUevent.
    """

    __slots__ = ("_at_rest", "handle")

    def __init__(self, context: PrimaryContext, timed: bool) -> None:
        """Takes one at rest or makes one; the context is current."""
        self._at_rest = context.events[timed]
        self.handle: Any = None
        try:
            self.handle = self._at_rest.pop()
        except IndexError:
            slot = ffi.new("CUevent *")
            flags = lib.CU_EVENT_DEFAULT if timed else lib.CU_EVENT_DISABLE_TIMING
            check(lib.cuEventCreate(slot, flags), "cuEventCreate")
            self.handle = slot[0]

    def __del__(self) -> None:
        if self.handle is not None:
            self._at_rest.append(self.handle)


class Event:
    """The end of a command.

    Attributes:
        stream: where the command runs.
        index: counts the commands of the stream; with one complete, all of lower index are (``Stream.done``).
        native: what the driver knows of it; None as long as it was not recorded.
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

    def record(self) -> Any:
        """The CUevent, recorded now if it was not yet; None where the event is known to have happened."""
        if self.native is None and not self.is_known_complete:
            self.stream.record(self)
        native = self.native
        return None if native is None else native.handle

    def native_handle(self) -> Any:
        """A CUevent that happens no earlier; of a command known to be complete it may be recorded only now."""
        if self.native is None:
            self.stream.context.activate()
            self.stream.record(self, always=True)
        native = self.native
        return None if native is None else native.handle

    def _ask(self, stream: Stream) -> int:
        """The driver's answer whether it has happened; the context is current.

        The event of the last command has happened when its stream is idle, and needs no record for that. A command
        that follows while somebody waits makes the stream record it first.
        """
        if self.native is None and stream.is_last(self):
            return lib.cuStreamQuery(stream.handle)
        handle = self.record()
        return SUCCESS if handle is None else lib.cuEventQuery(handle)

    def query(self) -> bool:
        """Whether it has happened; raises the error of failed work."""
        if not self.is_known_complete:
            self.stream.context.activate()
            self._settle(self._ask(self.stream))
        return self.is_known_complete

    def wait(self) -> None:
        """Returns when it has happened; raises the error of failed work. Interruptible."""
        if not self.is_known_complete:
            self.stream.context.activate()
            self._settle(wait_until_ready(self._ask, self.stream))

    def _settle(self, result: int) -> None:
        if result == SUCCESS:
            self.stream.reached(self.index)
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
        if self.is_known_complete:
            self.native = None


class TimedEvent(Event):
    """The end of a command of a profiling queue, recorded at once, with its start.

    Times are nanoseconds of ``time.monotonic_ns``. The device's clock is read against the host's when the
    queue is made and every few seconds (see ``_cuda_clock``), which is good to some microseconds; a command is
    never said to start before it was submitted.
    """

    __slots__ = ("clock", "start", "submitted")

    timed = True

    def __init__(self, stream: Stream, index: int, clock: Clock, submitted: int) -> None:
        super().__init__(stream, index)
        self.start: NativeEvent | None = NativeEvent(stream.context, timed=True)
        self.clock = clock
        self.submitted = submitted

    def status(self) -> EventStatus:
        """Submitted, running or complete."""
        if self.query():
            return EventStatus.complete
        started = self.start is not None and lib.cuEventQuery(self.start.handle) == SUCCESS
        return EventStatus.running if started else EventStatus.submitted

    def times(self) -> tuple[int, int, int]:
        """Nanoseconds of submission, start and end; waits for the end."""
        self.wait()
        if self.native is None or self.start is None:
            raise ProfilingError("this event was released, and its times with it", backend="cuda")
        start = self.clock.time_of(self.start.handle, self.submitted)
        return self.submitted, start, self.clock.time_of(self.native.handle)

    def release(self) -> None:
        """Gives both native events back early; their times are lost."""
        super().release()
        if self.native is None:
            self.start = None
