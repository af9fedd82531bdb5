"""Events: a cl_event with what its command was."""

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
    """Their cl_events, which the events keep alive."""
    return [event.handle for event in events]


def array_of(events: Sequence[Event]) -> Any:
    """Their cl_events, as commands take those that they wait for."""
    return _new_array(handles_of(events))


class Launches(Lane):
    """The launches of a queue that C repeats, whose events lie there; ``pending`` is the event of the last one.

    Attributes:
        events: bindless_events_t.
    """

    def __init__(self) -> None:
        self.pending: Event | None = None
        self._lock = new_lock()
        self.events = ffi.new("bindless_events_t *")
        self.events.lock = self._lock

    def settle(self) -> None:
        """Gives the last launch's event its cl_event, for another launch follows, or none."""
        pending, self.pending = self.pending, None
        if pending is not None:
            pending.take()

    def unfinished(self, last: bool) -> Handles:
        """cl_events of what is not complete; with ``last`` of the last launch alone."""
        most = 1 if last else self.events.count
        found = ffi.new("cl_event[]", most)
        return Handles(found[0 : min(most, lib.bindless_events_pending(self.events, last, found, most))])

    def is_idle(self, last: bool) -> bool:
        """Whether nothing is unfinished; with ``last`` the last launch tells."""
        return not lib.bindless_events_pending(self.events, last, ffi.NULL, 0)

    def failures(self) -> list[Error]:
        """Why launches failed that nobody was told of."""
        told: list[Error] = []
        found = ffi.new("cl_event[]", _MOST_FAILURES)
        while count := lib.bindless_events_failed(self.events, found, _MOST_FAILURES):
            told += [failure_of(status_of(handle), LAUNCH) for handle in Handles(found[0:count])]
        return told

    def close(self) -> None:
        """Lets go of all; the queue's work is done."""
        self.settle()
        lib.bindless_events_clear(self.events)


def failure_of(status: int, call: str) -> Error:
    """The error of a command that failed. PoCL gives those whose dependencies have failed a code that is none of a
    command's."""
    waited = lib.CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
    return error(waited if status == lib.CL_DEVICE_NOT_FOUND else status, call)


class Event(Mark):
    """The end of a command; its cl_event goes with the last reference.

    Attributes:
        stream: the queue's launches, where C has submitted it; else None.
        native: cl_event; None once released, and for a launch of C's until it is asked for, or another follows.
        call: the function that made it, for errors.
        profiling: whether it has times.
        told: whether its failure was raised.
    """

    __slots__ = ("__weakref__", "call", "profiling", "told")

    call: str
    profiling: bool
    told: bool
    stream: Launches | None

    def __init__(self, handle: Any, call: str, profiling: bool) -> None:
        """Takes a reference over."""
        self.native = handle
        self.call = call
        self.profiling = profiling

    def __getattr__(self, name: str) -> Any:
        # What C makes is a launch of a queue without times; and hardly one fails.
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
        """cl_event; None once released."""
        native = self.native
        return self.take() if native is None and self.stream is not None else native

    def take(self) -> Any:
        """The cl_event of a launch of C's, which is the last one until it has it."""
        if self.native is None and self.stream is not None:
            found = lib.bindless_events_last(self.stream.events)
            if self.native is not None:  # another launch has come meanwhile, and seen to it
                _release(found)
            elif found != ffi.NULL:
                self.native = found
                if self.stream.pending is self:  # it serves no other launch
                    self.stream.pending = None
        return self.native

    def failure(self) -> Error | None:
        """Why its command failed, once; None for one that did not, or is not complete."""
        status = status_of(self.handle)
        if status >= 0 or self.told:
            return None
        self.told = True
        return failure_of(status, self.call)

    def wait(self) -> None:
        """Returns when it has happened; raises the error of its command. Interruptible."""
        self._require_alive()
        wait_for((self.handle,))
        status = status_of(self.handle)
        if status < 0:
            self.told = True
            if self.stream is not None:
                lib.bindless_events_tell(self.stream.events, self.handle)
            raise failure_of(status, self.call)

    def status(self) -> EventStatus:
        """How far its command is; one that failed is complete."""
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
        """Gives the cl_event back early."""
        handle = self.handle
        self.native = self.stream = None
        if handle is not None and not in_fork():
            _release(handle)

    def _require_alive(self) -> None:
        refuse_in_fork()
        if self.handle is None:
            raise InvalidError("this event was released", backend="opencl")
