"""Events: the cl_event of a command."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from ...core._submission import Lane, Mark
from ...drivers import opencl as driver
from ...drivers.common.cffi_types import CData
from ...model.enums import EventStatus
from ...model.errors import Error, InvalidError, ProfilingError
from .errors import SUCCESS, check, error
from .fork_guard import refuse_in_fork
from .polling import status_of, wait_for

__all__ = ["QUERY", "RELEASE", "Event", "EventQueue", "address_of", "array_of", "failure_of"]

lib, ffi = driver.lib, driver.ffi

_STATUS = {
    lib.CL_QUEUED: EventStatus.submitted,
    lib.CL_SUBMITTED: EventStatus.submitted,
    lib.CL_RUNNING: EventStatus.running,
}
_TIMES = (lib.CL_PROFILING_COMMAND_SUBMIT, lib.CL_PROFILING_COMMAND_START, lib.CL_PROFILING_COMMAND_END)

# Calls of commands, for errors.
_CALLS = {
    lib.CL_COMMAND_NDRANGE_KERNEL: "clEnqueueNDRangeKernel",
    lib.CL_COMMAND_READ_BUFFER: "clEnqueueReadBuffer",
    lib.CL_COMMAND_WRITE_BUFFER: "clEnqueueWriteBuffer",
    lib.CL_COMMAND_COPY_BUFFER: "clEnqueueCopyBuffer",
    lib.CL_COMMAND_FILL_BUFFER: "clEnqueueFillBuffer",
    lib.CL_COMMAND_READ_IMAGE: "clEnqueueReadImage",
    lib.CL_COMMAND_WRITE_IMAGE: "clEnqueueWriteImage",
    lib.CL_COMMAND_COPY_IMAGE: "clEnqueueCopyImage",
    lib.CL_COMMAND_COPY_IMAGE_TO_BUFFER: "clEnqueueCopyImageToBuffer",
    lib.CL_COMMAND_COPY_BUFFER_TO_IMAGE: "clEnqueueCopyBufferToImage",
    lib.CL_COMMAND_MARKER: "clEnqueueMarkerWithWaitList",
    lib.CL_COMMAND_BARRIER: "clEnqueueBarrierWithWaitList",
    lib.CL_COMMAND_SVM_MEMCPY: "clEnqueueSVMMemcpy",
    lib.CL_COMMAND_SVM_MEMFILL: "clEnqueueSVMMemFill",
    lib.CL_COMMAND_SVM_MIGRATE_MEM: "clEnqueueSVMMigrateMem",
    lib.CL_COMMAND_MEMCPY_INTEL: "clEnqueueMemcpyINTEL",
    lib.CL_COMMAND_MEMFILL_INTEL: "clEnqueueMemFillINTEL",
    lib.CL_COMMAND_MIGRATEMEM_INTEL: "clEnqueueMigrateMemINTEL",
    lib.CL_COMMAND_SEMAPHORE_WAIT_KHR: "clEnqueueWaitSemaphoresKHR",
    lib.CL_COMMAND_SEMAPHORE_SIGNAL_KHR: "clEnqueueSignalSemaphoresKHR",
}

_new_array = functools.partial(ffi.new, ffi.typeof("cl_event[]"))
_handle = functools.partial(ffi.cast, ffi.typeof("cl_event"))


def address_of(of: CData) -> int:
    """The address of a C object."""
    return int(ffi.cast("uintptr_t", of))


QUERY, RELEASE = (address_of(ffi.addressof(lib, name)) for name in ("bindless_event_query", "bindless_event_release"))
"""Addresses of the functions of ``core/_submission`` for events."""


def array_of(events: Sequence[Event]) -> CData:
    """The cl_events of events, which keep them alive, in the form of a command's wait list."""
    return _new_array([_handle(event.number) for event in events])


def failure_of(handle: CData, status: int) -> Error:
    """The error of a failed command. PoCL returns a code outside a command's range for a command whose dependencies
    failed.
    """
    slot = ffi.new("cl_command_type *")
    result = lib.clGetEventInfo(handle, lib.CL_EVENT_COMMAND_TYPE, ffi.sizeof("cl_command_type"), slot, ffi.NULL)
    call = _CALLS.get(int(slot[0])) if result == SUCCESS else None
    waited = lib.CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
    return error(waited if status == lib.CL_DEVICE_NOT_FOUND else status, call or "a command of another program")


class EventQueue(Lane):
    """Base class of ``Queue``: what events ask of it."""

    __slots__ = ()

    state: CData
    profiling: bool


class Event(Mark):
    """The completion of a command; its cl_event is released with the last reference, or early by ``release``.

    Attributes
    ----------
    stream
        queue of the command; None for a command of another program.
    number
        address of the cl_event; 0 after its release.
    """

    __slots__ = ("__weakref__",)

    stream: EventQueue | None

    def __init__(self, number: int, queue: EventQueue | None = None) -> None:
        """Take over a reference."""
        self.number, self.let_go = number, RELEASE
        if queue is not None:
            self.stream = queue

    @property
    def handle(self) -> CData:
        """cl_event; None after its release."""
        return _handle(self.number) if self.number else None

    def wait(self) -> None:
        """Wait until it is complete; raises the error of its command. Interruptible."""
        handle = self._live()
        wait_for((handle,))
        status = status_of(handle)
        if status < 0:
            if self.stream is not None:
                lib.bindless_events_tell(self.stream.state, self.number)
            raise failure_of(handle, status)

    def status(self) -> EventStatus:
        """The status of its command; a failed command is complete."""
        return _STATUS.get(status_of(self._live()), EventStatus.complete)

    def times(self) -> tuple[int, int, int]:
        """Nanoseconds of submission, start and end, by the device's clock; waits for completion."""
        handle = self._live()
        if self.stream is None or not self.stream.profiling:
            raise ProfilingError(
                "the event has no times: its queue was made without profiling; Queue(enable_profiling=True) keeps them",
                backend="opencl",
            )
        wait_for((handle,))
        slot = ffi.new("cl_ulong *")
        times = []
        for name in _TIMES:
            check(lib.clGetEventProfilingInfo(handle, name, 8, slot, ffi.NULL), "clGetEventProfilingInfo")
            times.append(int(slot[0]))
        submitted, start, end = times
        return min(submitted, start), start, max(start, end)

    def release(self) -> None:
        """Release the cl_event early."""
        number, self.number = self.number, 0
        if number:
            lib.bindless_event_release(ffi.cast("void *", number))

    def _live(self) -> CData:
        """The cl_event.

        Raises
        ------
        InvalidError
            the event was released.
        """
        refuse_in_fork()
        if not self.number:
            raise InvalidError("this event was released", backend="opencl")
        return _handle(self.number)
