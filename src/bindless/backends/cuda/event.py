"""Events of CUDA: recorded late (``_recording``), and with times where the queue is profiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...drivers import cuda as driver
from ...model.enums import EventStatus
from ...model.errors import ProfilingError
from ..common.deferred_events import RecordedEvent
from .device import PrimaryContext
from .errors import NOT_READY, SUCCESS, check
from .polling import wait_until_ready
from .timestamps import Clock

if TYPE_CHECKING:
    from .stream import Stream

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
            context.made.add(int(ffi.cast("uintptr_t", self.handle)))

    def __del__(self) -> None:
        if self.handle is not None:
            self._at_rest.append(self.handle)


class Event(RecordedEvent):
    """The end of a command, which becomes a CUevent when it is recorded."""

    __slots__ = ()

    backend = "cuda"
    timed = False
    stream: Stream
    native: NativeEvent | None

    def _ask(self, stream: Stream) -> int:
        """The driver's answer whether it has happened; the context is current.

        The event of the last command has happened when its stream is idle, and needs no record for that. A command
        that follows while somebody waits makes the stream record it first.
        """
        if self.native is None and stream.is_last(self):
            return lib.cuStreamQuery(stream.handle)
        native = self.record()
        return SUCCESS if native is None else lib.cuEventQuery(native.handle)

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
        self.stream.context.activate()
        start = self.clock.time_of(self.start.handle, self.submitted)
        return self.submitted, start, self.clock.time_of(self.native.handle)

    def release(self) -> None:
        """Gives both native events back early; their times are lost."""
        super().release()
        if self.native is None:
            self.start = None
