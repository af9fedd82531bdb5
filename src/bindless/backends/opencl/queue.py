"""Queues: a cl_command_queue, and the events of recent commands."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from ...drivers import opencl as driver
from ...model.errors import ExceptionList, InvalidError
from .context import Context
from .device import Device
from .errors import SUCCESS, fail, made, release
from .event import Event, Launches, array_of, handles_of
from .fork_guard import in_fork, refuse_in_fork
from .polling import status_of, statuses_of, wait_for

__all__ = ["Command", "Queue"]

lib, ffi = driver.lib, driver.ffi

_NULL = ffi.NULL
_COMPLETE = lib.CL_COMPLETE
_flush = lib.clFlush

_new_event = functools.partial(ffi.new, ffi.typeof("cl_event *"))

# The most events before completed ones are released, and those of an idle queue. Events of rusticl hold the memory of
# their commands, and those of Intel's runtime the code of their kernels, megabytes each.
_KEPT, _KEPT_OF_RUSTICL, _KEPT_IDLE = 256, 4, 16

# A function that enqueues one command: it takes the cl_command_queue, count and array of the events to wait for, and
# the slot of its own event; it returns the result code.
Command = Callable[[Any, int, Any, Any], int]


class Queue:
    """A queue of one device; in order if the device has in-order queues only.

    Attributes
    ----------
    context
        context of the queue.
    device
        device of the queue.
    handle
        cl_command_queue; None after its release.
    in_order
        whether each of its commands starts after the one before it.
    profiling
        whether its events have timestamps.
    owned
        whether ``close`` releases its reference.
    recent
        events whose failure may not be reported yet.
    launches
        events of launches that C repeats.
    """

    def __init__(
        self, context: Context, device: Device, in_order: bool, profiling: bool, native: Any = None, owned: bool = True
    ) -> None:
        """Create a queue, or adopt a ``native`` one."""
        self.context = context
        self.device = context.device(device)
        self.in_order = in_order
        self.profiling = profiling
        self.owned = owned
        self.recent: list[Event] = []  # The list object never changes: threads append without the lock.
        self._lock = threading.RLock()  # A garbage collection under the lock may run a finalizer that uses this queue.
        self._round = 0  # The number of sifts of ``recent``.
        self.launches = Launches()
        self._kept = self._most_kept = _KEPT_OF_RUSTICL if self.device.is_rusticl else _KEPT
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

    def run(
        self,
        command: Command,
        call: str,
        waits: Sequence[Event] = (),
        details: object = "",
        *,
        uses_memory: bool = True,
    ) -> Event:
        """Submit a command.

        Parameters
        ----------
        call
            driver function, for errors.
        details
            values for errors.
        uses_memory
            whether it may use external memory.
        """
        handle = self.handle
        if handle is None:
            self.refuse()
        refuse_in_fork()
        shared = self.context.handover
        if shared is not None and shared.away and uses_memory:
            shared.take(self, waits)
        slot = _new_event()
        try:
            result = command(handle, len(waits), array_of(waits) if waits else _NULL, slot)
            if result != SUCCESS:
                fail(result, call, details)
            _flush(handle)
            return self.note(Event(slot[0], call, self.profiling))
        except BaseException:
            self.end_unknown(slot)
            raise

    def end_unknown(self, slot: Any) -> None:
        """Wait for a command whose submission was interrupted, if there is one: nobody receives its event, and its
        memory may be freed as soon as the interrupt is raised.
        """
        if slot[0] != _NULL:
            lib.clFinish(self.handle)

    def refuse(self) -> NoReturn:
        """Raise the error of a released queue."""
        raise InvalidError("this queue was released; its commands can go to another one", backend="opencl")

    def note(self, event: Event) -> Event:
        """Keep the event of a new command until its end is known."""
        recent = self.recent
        recent.append(event)
        if len(recent) > self._most_kept:
            self._prune()
        return event

    def run_all(
        self, commands: Sequence[Command], call: str, waits: Sequence[Event] = (), details: object = ""
    ) -> Event:
        """Submit commands that may run in any order, with one event for all. Without commands, submit a barrier for
        ``waits``.
        """
        if not commands:
            return self._mark(waits)
        events = [self.run(command, call, waits, details) for command in commands]
        if len(events) == 1 or self.in_order:
            return events[-1]
        return self._mark(events)

    def _mark(self, waits: Sequence[Event] = ()) -> Event:
        return self.run(_marker, "clEnqueueMarkerWithWaitList", waits, uses_memory=False)

    def run_in_sequence(
        self, commands: Sequence[Command], call: str, waits: Sequence[Event] = (), details: object = ""
    ) -> Event:
        """Submit commands in sequence; the event is that of the last one."""
        event = self.run(commands[0], call, waits, details)
        for command in commands[1:]:
            event = self.run(command, call, () if self.in_order else (event,), details)
        return event

    def barrier(self, waits: Sequence[Event] = ()) -> Event:
        """An event after everything before it; on an out-of-order queue everything later comes after it too."""
        stop, name = lib.clEnqueueBarrierWithWaitList, "clEnqueueBarrierWithWaitList"
        if waits:
            self.run(stop, name, waits, uses_memory=False)
        return self.run(stop, name, uses_memory=False)

    def ends(self) -> Sequence[Event]:
        """no garbage collection runs between comparison and assignment"""
        return (self._mark(),)

    # ------------------------------------------------------------------ the end of commands

    def _sift(self, keeps: Callable[[Event, int], bool]) -> list[tuple[Event, int]]:
        """Release the events that need not be kept; return all events with a cl_event, and their status.

        A garbage collection in between may run a finalizer that sifts on this thread: then this call starts again.
        """
        with self._lock:
            while True:
                this_round, kept = self._round, self.recent[:]
                events = [event for event in kept if event.handle is not None]
                rows = list(zip(events, statuses_of(handles_of(events))))
                rest = [event for event, status in rows if keeps(event, status)]
                place = slice(len(kept))  # made here: no collection starts between the comparison and the assignment
                if this_round == self._round:
                    self._round = this_round + 1
                    self.recent[place] = rest
                    return rows

    def _prune(self) -> None:
        """Release completed events; the next limit is twice the remaining number, so that queries stay rare."""
        self._sift(lambda event, status: status > _COMPLETE or (status < _COMPLETE and not event.told))
        self._most_kept = max(self._kept, 2 * len(self.recent))

    def wait(self) -> None:
        """Wait until all work submitted so far is complete; raises unreported failures. Interruptible."""
        refuse_in_fork()
        if self.handle is not None:
            shared = self.context.handover
            if shared is not None and shared.holder is self:
                shared.give(self)
            self._settle()
            lib.clFinish(self.handle)  # Work of other owners of the same cl_command_queue.
            self._raise_failures()

    def _last(self) -> list[Event]:
        """Events whose completion is that of all work. They keep their cl_events alive, whatever other threads release.

        For an in-order queue these are also all events: another thread, or a finalizer, may submit a command and note
        its event between the submission of a command here and its note.
        """
        return [event for event in tuple(self.recent) if event.handle is not None]

    def _settle(self) -> None:
        """Wait until the work submitted here is complete."""
        events, launches = self._last(), self.launches.unfinished(self.in_order)
        wait_for([*handles_of(events), *launches])

    def _raise_failures(self) -> None:
        rows = self._sift(lambda event, status: status > _COMPLETE)  # The remaining events belong to other threads.
        failures = [event.failure() for event, status in rows if status < _COMPLETE]
        told = [*self.launches.failures(), *(failure for failure in failures if failure is not None)]
        if len(told) == 1:
            raise told[0]
        if told:
            raise ExceptionList(told)

    def is_idle(self) -> bool:
        """Whether all work is complete."""
        if self.handle is None:
            return True
        refuse_in_fork()
        if not self.launches.is_idle(self.in_order):
            return False
        events = self._last()
        handles = handles_of(events)
        # Newest events first: they are most likely to be unfinished.
        idle = not handles or (status_of(handles[-1]) <= _COMPLETE and max(statuses_of(handles)) <= _COMPLETE)
        if idle and len(self.recent) > _KEPT_IDLE:
            self._prune()
        return idle

    def close(self) -> None:
        """Wait for the work and release the driver's queue."""
        handle = self.handle
        if handle is None or in_fork():
            self.handle = None
            return
        self._settle()
        self.handle = None
        self.recent.clear()
        lib.clFinish(handle)
        self.launches.close()
        if self.owned:
            release(lib.clReleaseCommandQueue(handle), "clReleaseCommandQueue")


def _marker(queue: Any, count: int, waits: Any, event: Any) -> int:
    return int(lib.clEnqueueMarkerWithWaitList(queue, count, waits, event))
