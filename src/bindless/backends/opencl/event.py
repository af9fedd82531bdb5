"""Events: a cl_event with a description of its command."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from ...core._submission import Lane, Mark
from ...drivers import opencl as driver
from ...model.enums import EventStatus
from ...model.errors import Error, InvalidError, ProfilingError
from .context import new_lock
from .errors import check, error
from .fork_guard import in_fork, refuse_in_fork
from .polling import Handles, status_of, wait_for

__all__ = ["LAUNCH", "Event", "Launches", "array_of", "handles_of"]

lib, ffi = driver.lib, driver.ffi

_STATUS = {
    lib.CL_QUEUED: EventStatus.submitted,
    lib.CL_SUBMITTED: EventStatus.submitted,
    lib.CL_RUNNING: EventStatus.running,
}
_TIMES = (lib.CL_PROFILING_COMMAND_SUBMIT, lib.CL_PROFILING_COMMAND_START, lib.CL_PROFILING_COMMAND_END)

LAUNCH = "clEnqueueNDRangeKernel"
"""The call of a launch, for errors."""

_UNSET = {"call": LAUNCH, "profiling": False, "told": False}
_MOST_FAILURES = 64

_new_array = functools.partial(ffi.new, ffi.typeof("cl_event[]"))
_release = lib.clReleaseEvent


def handles_of(events: Sequence[Event]) -> list[Any]:
    """The cl_events of events, which keep them alive."""
    return [event.handle for event in events]


def array_of(events: Sequence[Event]) -> Any:
    """The cl_events of events, in the form of a command's wait list."""
    return _new_array(handles_of(events))


class Launches(Lane):
    """The launches of a queue that C repeats, with their events; ``pending`` is the event of the last launch.

    Attributes
    ----------
    events
        bindless_events_t.
    """

    def __init__(self) -> None:
        self.pending: Event | None = None
        self._lock = new_lock()
        self.events = ffi.new("bindless_events_t *")
        self.events.lock = self._lock

    def settle(self) -> None:
        """Give the last launch's event its cl_event, before another launch follows or the launches end."""
        pending, self.pending = self.pending, None
        if pending is not None:
            pending.take()

    def unfinished(self, last: bool) -> Handles:
        """cl_events of unfinished launches; with ``last``, of the last launch only."""
        most = 1 if last else self.events.count
        found = ffi.new("cl_event[]", most)
        return Handles(found[0 : min(most, lib.bindless_events_pending(self.events, last, found, most))])

    def is_idle(self, last: bool) -> bool:
        """Whether all launches are complete; with ``last``, whether the last one is."""
        return not lib.bindless_events_pending(self.events, last, ffi.NULL, 0)

    def failures(self) -> list[Error]:
        """The errors of failed launches that no caller has received."""
        told: list[Error] = []
        found = ffi.new("cl_event[]", _MOST_FAILURES)
        while count := lib.bindless_events_failed(self.events, found, _MOST_FAILURES):
            told += [failure_of(status_of(handle), LAUNCH) for handle in Handles(found[0:count])]
        return told

    def close(self) -> None:
        """Release all events; the queue's work is complete."""
        self.settle()
        lib.bindless_events_clear(self.events)


def failure_of(status: int, call: str) -> Error:
    """The error of a failed command. PoCL returns a code outside a command's range for a command whose dependencies
    failed.
    """
    waited = lib.CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
    return error(waited if status == lib.CL_DEVICE_NOT_FOUND else status, call)


class Event(Mark):
    """The completion of a command; its cl_event is released with the last reference.

    Attributes
    ----------
    stream
        launches of the queue, if C has submitted the command; otherwise None.
    native
        cl_event; None after its release, and for a launch by C until its first use or the next launch.
    call
        driver function of the command, for errors.
    profiling
        whether it has timestamps.
    told
        whether its failure has been raised.
    """

    __slots__ = ("__weakref__", "call", "profiling", "told")

    call: str
    profiling: bool
    told: bool
    stream: Launches | None

    def __init__(self, handle: Any, call: str, profiling: bool) -> None:
        """Take over a reference."""
        self.native = handle
        self.call = call
        self.profiling = profiling

    def __getattr__(self, name: str) -> Any:
        # Events from C belong to launches of a queue without timestamps; hardly one fails.
        try:
            return _UNSET[name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}") from None

    def __del__(self) -> None:
        handle = self.native
        if handle is not None and not in_fork():
            _release(handle)

    @property
    def handle(self) -> Any:
        """cl_event; None after its release."""
        native = self.native
        return self.take() if native is None and self.stream is not None else native

    def take(self) -> Any:
        """The cl_event of a launch by C, which is the last launch until then."""
        if self.native is None and self.stream is not None:
            found = lib.bindless_events_last(self.stream.events)
            if self.native is not None:  # Another launch has meanwhile set it.
                _release(found)
            elif found != ffi.NULL:
                self.native = found
                if self.stream.pending is self:  # It serves no other launch.
                    self.stream.pending = None
        return self.native

    def failure(self) -> Error | None:
        """The error of its command, once; None for an unfinished or successful command."""
        status = status_of(self.handle)
        if status >= 0 or self.told:
            return None
        self.told = True
        return failure_of(status, self.call)

    def wait(self) -> None:
        """Wait until it is complete; raises the error of its command. Interruptible."""
        self._require_alive()
        wait_for((self.handle,))
        status = status_of(self.handle)
        if status < 0:
            self.told = True
            if self.stream is not None:
                lib.bindless_events_tell(self.stream.events, self.handle)
            raise failure_of(status, self.call)

    def status(self) -> EventStatus:
        """The status of its command; a failed command is complete."""
        self._require_alive()
        return _STATUS.get(status_of(self.handle), EventStatus.complete)

    def times(self) -> tuple[int, int, int]:
        """Nanoseconds of submission, start and end, by the device's clock; waits for completion."""
        self._require_alive()
        if not self.profiling:
            raise ProfilingError(
                "the event has no times: its queue was made without profiling; Queue(enable_profiling=True) keeps them",
                backend="opencl",
            )
        wait_for((self.handle,))
        slot = ffi.new("cl_ulong *")
        found = []
        for name in _TIMES:
            check(lib.clGetEventProfilingInfo(self.handle, name, 8, slot, ffi.NULL), "clGetEventProfilingInfo")
            found.append(int(slot[0]))
        submitted, start, end = found
        return min(submitted, start), start, max(start, end)

    def release(self) -> None:
        """Release the cl_event early."""
        handle = self.handle
        self.native = self.stream = None
        if handle is not None and not in_fork():
            _release(handle)

    def _require_alive(self) -> None:
        refuse_in_fork()
        if self.handle is None:
            raise InvalidError("this event was released", backend="opencl")
