"""CUDA events: recorded on demand (``deferred_events``), with timestamps on profiling queues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...drivers import cuda as driver
from ...drivers.common.cffi_types import CData
from ...model.enums import EventStatus
from ...model.errors import ProfilingError
from ..common.deferred_events import RecordedEvent
from .device import PrimaryContext
from .errors import NOT_READY, SUCCESS, check
from .polling import wait_until_ready
from .timestamps import Clock

if TYPE_CHECKING:
    from .stream import Stream

__all__ = ["Event", "MarkedEvent", "NativeEvent", "TimedEvent"]

lib, ffi = driver.lib, driver.ffi


class NativeEvent:
    """A CUevent that returns to the unused events of its context with the last reference.

    The return makes no driver call: commands that wait for a recorded event keep waiting for that record after a new
    one.

    Attributes
    ----------
    handle
        CUevent.
    """

    __slots__ = ("_at_rest", "handle")

    def __init__(self, context: PrimaryContext, timed: bool) -> None:
        """Take an unused event or create one; the context is current."""
        self._at_rest = context.events[timed]
        self.handle: CData = None
        try:
            self.handle = self._at_rest.pop()
        except IndexError:
            slot = ffi.new("CUevent *")
            flags = lib.CU_EVENT_DEFAULT if timed else lib.CU_EVENT_DISABLE_TIMING
            check(lib.cuEventCreate(slot, flags), "cuEventCreate")
            self.handle = slot[0]
            context.event_handles.add(int(ffi.cast("uintptr_t", self.handle)))

    def __del__(self) -> None:
        if getattr(self, "handle", None) is not None:  # an interrupt may have come before ``__init__``
            self._at_rest.append(self.handle)


class Event(RecordedEvent):
    """The completion of a command; a CUevent once it is recorded."""

    __slots__ = ()

    backend = "cuda"
    timed = False
    stream: Stream
    native: Any  # an object with a ``handle``, CUevent, or None

    def _ask(self, stream: Stream) -> int:
        """The driver's result of a query; the context is current.

        The event of the last command is complete when its stream is idle, and needs no record. A later command makes
        the stream record the event first if a thread waits for it.
        """
        if self.native is None and stream.is_last(self):
            return lib.cuStreamQuery(stream.handle)
        native = self.record()
        return SUCCESS if native is None else lib.cuEventQuery(native.handle)

    def query(self) -> bool:
        """Whether it is complete; raises the error of failed work."""
        if not self.is_known_complete:
            self.stream.context.activate()
            self._settle(self._ask(self.stream))
        return self.is_known_complete

    def wait(self) -> None:
        """Wait until it is complete; raises the error of failed work. Interruptible."""
        if not self.is_known_complete:
            self.stream.context.activate()
            self._settle(wait_until_ready(self._ask, self.stream))

    def _settle(self, result: int) -> None:
        if result == SUCCESS:
            self.stream.reached(self.index)
        elif result != NOT_READY:
            check(result, "cuEventQuery")


class MarkedEvent(Event):
    """The completion of a command of a stream that other libraries use too, recorded at once.

    Attributes
    ----------
    number
        address of its bindless_marker_t, released with this object.
    """

    __slots__ = ()

    @property
    def native(self) -> object:
        """Itself, with the ``handle`` of a recorded event."""
        return self if self.number else None

    @native.setter
    def native(self, value: object) -> None:
        """Keep the marker: it is released with this object."""

    @property
    def handle(self) -> CData:
        """CUevent."""
        return lib.bindless_marker_event(ffi.cast("bindless_marker_t *", self.number))


class TimedEvent(Event):
    """The completion of a command of a profiling queue, recorded at once, together with its start.

    Times are nanoseconds of ``time.monotonic_ns``. The device's clock is compared with the host's when the queue is
    created and every few seconds (see ``timestamps``), to an accuracy of some microseconds; the start of a command is
    never earlier than its submission.
    """

    __slots__ = ("clock", "start", "submitted")

    timed = True

    def __init__(self, stream: Stream, index: int, clock: Clock, submitted: int) -> None:
        super().__init__(stream, index)
        self.start: NativeEvent | None = NativeEvent(stream.context, timed=True)
        self.clock = clock
        self.submitted = submitted

    def status(self) -> EventStatus:
        """The command's status: submitted, running or complete."""
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
        """Return both native events early; their times are lost."""
        super().release()
        if self.native is None:
            self.start = None
