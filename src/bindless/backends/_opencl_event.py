"""Events: a cl_event with what its command was."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from ..drivers import opencl as driver
from ..model.enums import EventStatus
from ..model.errors import Error, InvalidError, ProfilingError
from ._opencl_errors import check, error
from ._opencl_fork import in_fork, refuse_in_fork
from ._opencl_wait import status_of, wait_for

__all__ = ["Event", "array_of", "handles_of"]

lib, ffi = driver.lib, driver.ffi

_STATUS = {
    lib.CL_QUEUED: EventStatus.submitted,
    lib.CL_SUBMITTED: EventStatus.submitted,
    lib.CL_RUNNING: EventStatus.running,
}
_TIMES = (lib.CL_PROFILING_COMMAND_SUBMIT, lib.CL_PROFILING_COMMAND_START, lib.CL_PROFILING_COMMAND_END)

_new_array = functools.partial(ffi.new, ffi.typeof("cl_event[]"))
_release = lib.clReleaseEvent


def handles_of(events: Sequence[Event]) -> list[Any]:
    """Their cl_events, which the events keep alive."""
    return [event.handle for event in events]


def array_of(events: Sequence[Event]) -> Any:
    """Their cl_events, as commands take those that they wait for."""
    return _new_array(handles_of(events))


class Event:
    """The end of a command; its cl_event goes with the last reference.

    Attributes:
        handle: cl_event; None once released.
        call: the function that made it, for errors.
        profiling: whether it has times.
        told: whether its failure was raised.
    """

    __slots__ = ("__weakref__", "call", "handle", "profiling", "told")

    def __init__(self, handle: Any, call: str, profiling: bool) -> None:
        """Takes a reference over."""
        self.handle = handle
        self.call = call
        self.profiling = profiling
        self.told = False

    def __del__(self) -> None:
        handle = self.handle
        if handle is not None and not in_fork():
            _release(handle)

    def failure(self) -> Error | None:
        """Why its command failed, once; None for one that did not, or is not complete."""
        status = status_of(self.handle)
        if status >= 0 or self.told:
            return None
        self.told = True
        return error(status, self.call)

    def wait(self) -> None:
        """Returns when it has happened; raises the error of its command. Interruptible."""
        self._require_alive()
        wait_for((self.handle,))
        status = status_of(self.handle)
        if status < 0:
            self.told = True
            raise error(status, self.call)

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
        handle, self.handle = self.handle, None
        if handle is not None and not in_fork():
            _release(handle)

    def _require_alive(self) -> None:
        refuse_in_fork()
        if self.handle is None:
            raise InvalidError("this event was released", backend="opencl")
