"""Queues: a cl_command_queue, and the events of what was submitted lately."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ..drivers import opencl as driver
from ..model.errors import Error, ExceptionList, InvalidError
from ._opencl_context import Context
from ._opencl_device import Device
from ._opencl_errors import SUCCESS, fail, made, release
from ._opencl_event import Event
from ._opencl_fork import in_fork, refuse_in_fork
from ._opencl_wait import status_of, wait_for

__all__ = ["Command", "Queue"]

lib, ffi = driver.lib, driver.ffi

_NULL = ffi.NULL
_COMPLETE = lib.CL_COMPLETE
_STATUS = lib.CL_EVENT_COMMAND_EXECUTION_STATUS
_ask = lib.clGetEventInfo
_flush = lib.clFlush

_new_event = functools.partial(ffi.new, ffi.typeof("cl_event *"))

# Events kept before those that are complete are let go.
_KEPT = 256

# Enqueues one command: takes the cl_command_queue, the events that it waits for as count and array, and where its own
# event goes; gives the result.
Command = Callable[[Any, int, Any, Any], int]


class Queue:
    """A queue of one device. Where the device has in-order queues alone it is one of those.

    Attributes:
        context: where it was made.
        device: whose work it does.
        handle: cl_command_queue; None once released.
        in_order: whether each of its commands starts after the one before it.
        profiling: whether its events have times.
        owned: whether its reference is given back at the end.
        recent: events whose failure nobody may have asked for yet.
    """

    def __init__(
        self, context: Context, device: Device, in_order: bool, profiling: bool, native: Any = None, owned: bool = True
    ) -> None:
        """Makes a queue, or takes a ``native`` one."""
        self.context = context
        self.device = context.device(device)
        self.in_order = in_order
        self.profiling = profiling
        self.owned = owned
        self.recent: list[Event] = []
        self._most_kept = _KEPT
        self.handle = self._create() if native is None else native

    def _create(self) -> Any:
        refuse_in_fork()
        offered = self.device.number(lib.CL_DEVICE_QUEUE_ON_HOST_PROPERTIES)
        flags = 0
        if not self.in_order:
            flags |= offered & lib.CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE
        if self.profiling:
            flags |= lib.CL_QUEUE_PROFILING_ENABLE
        context, device = self.context.handle, self.device.handle
        if self.device.platform.version >= (2, 0) and driver.has("clCreateCommandQueueWithProperties"):
            properties = ffi.new("cl_queue_properties[]", [lib.CL_QUEUE_PROPERTIES, flags, 0])
            return made("clCreateCommandQueueWithProperties", context, device, properties)
        return made("clCreateCommandQueue", context, device, flags)

    # ------------------------------------------------------------------ commands

    def run(self, command: Command, call: str, waits: Sequence[Event] = (), details: object = "") -> Event:
        """Submits a command.

        Args:
            call: the driver's function, for errors.
            details: the values concerned.
        """
        handle = self.handle
        if handle is None:
            raise InvalidError("this queue was released; its commands can go to another one", backend="opencl")
        refuse_in_fork()
        slot = _new_event()
        if waits:
            result = command(handle, len(waits), ffi.new("cl_event[]", [event.handle for event in waits]), slot)
        else:
            result = command(handle, 0, _NULL, slot)
        if result != SUCCESS:
            fail(result, call, details)
        return self.note(Event(slot[0], call, self.profiling))

    def note(self, event: Event) -> Event:
        """Keeps the event of a new command until its end is known, and has the driver begin with the command."""
        recent = self.recent
        recent.append(event)
        if len(recent) > self._most_kept:
            self._prune()
        _flush(self.handle)
        return event

    def run_all(
        self, commands: Sequence[Command], call: str, waits: Sequence[Event] = (), details: object = ""
    ) -> Event:
        """Submits commands that may run in any order; the event is of all of them. None are a barrier for ``waits``."""
        if not commands:
            return self.run(_marker, "clEnqueueMarkerWithWaitList", waits)
        events = [self.run(command, call, waits, details) for command in commands]
        if len(events) == 1 or self.in_order:
            return events[-1]
        return self.run(_marker, "clEnqueueMarkerWithWaitList", events)

    def run_in_sequence(
        self, commands: Sequence[Command], call: str, waits: Sequence[Event] = (), details: object = ""
    ) -> Event:
        """Submits commands one after the other; the event is of the last one."""
        event = self.run(commands[0], call, waits, details)
        for command in commands[1:]:
            event = self.run(command, call, () if self.in_order else (event,), details)
        return event

    def barrier(self, waits: Sequence[Event] = ()) -> Event:
        """An event after everything before it; of an out-of-order queue, everything later comes after it too."""
        if waits:
            self.run(lib.clEnqueueBarrierWithWaitList, "clEnqueueBarrierWithWaitList", waits)
        return self.run(lib.clEnqueueBarrierWithWaitList, "clEnqueueBarrierWithWaitList")

    # ------------------------------------------------------------------ the end of commands

    def _prune(self) -> None:
        """Lets go of what is over; twice as many as are left may be kept next time, so that asking stays rare."""
        slot, left = ffi.new("cl_int *"), []
        for event in self.recent:
            handle = event.handle
            if handle is None or (_ask(handle, _STATUS, 4, slot, _NULL) == SUCCESS and slot[0] == _COMPLETE):
                continue
            if slot[0] > 0 or not event.told:
                left.append(event)
        self.recent[:] = left
        self._most_kept = max(_KEPT, 2 * len(self.recent))

    def wait(self) -> None:
        """Returns when all work submitted so far is done; raises a failure that nobody has asked for. Interruptible."""
        refuse_in_fork()
        if self.handle is not None:
            wait_for(self._waited())
            lib.clFinish(self.handle)  # what others have submitted to the same cl_command_queue
            self._raise_failures()

    def _waited(self) -> list[Any]:
        """cl_events whose end is that of all work; of an in-order queue the last one's."""
        handles = [event.handle for event in tuple(self.recent) if event.handle is not None]
        return handles[-1:] if self.in_order else handles

    def _raise_failures(self) -> None:
        events, self.recent = self.recent, []
        failures: list[Error] = []
        later: list[Event] = []
        for event in events:
            if event.handle is None:
                continue
            if status_of(event.handle) > 0:
                later.append(event)  # of another thread
                continue
            failure = event.failure()
            if failure is not None:
                failures.append(failure)
        self.recent.extend(later)
        if len(failures) == 1:
            raise failures[0]
        if failures:
            raise ExceptionList(failures)

    def is_idle(self) -> bool:
        """Whether all work is done."""
        if self.handle is None:
            return True
        refuse_in_fork()
        # Last things first: what was submitted last is most often what is not done.
        return all(status_of(event.handle) <= 0 for event in reversed(self.recent) if event.handle is not None)

    def close(self) -> None:
        """Waits for its work and gives the driver's queue back."""
        handle = self.handle
        if handle is None or in_fork():
            self.handle = None
            return
        wait_for(self._waited())
        self.handle = None
        self.recent.clear()
        lib.clFinish(handle)
        if self.owned:
            release(lib.clReleaseCommandQueue(handle), "clReleaseCommandQueue")


def _marker(queue: Any, count: int, waits: Any, event: Any) -> int:
    return int(lib.clEnqueueMarkerWithWaitList(queue, count, waits, event))
