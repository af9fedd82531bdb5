"""Queues: a cl_command_queue, and the events of what was submitted lately."""

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

# Events kept before those that are complete are let go, and of a queue that is idle. Those of rusticl hold the memory
# that their commands used, those of Intel's runtime the code of their kernels, megabytes each.
_KEPT, _KEPT_OF_RUSTICL, _KEPT_IDLE = 256, 4, 16

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
        launches: those of launches that C repeats.
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
        self.recent: list[Event] = []  # one list for good: threads add to it without the lock
        self._lock = threading.RLock()  # a collection while it is held may run a finalizer that uses this queue
        self._round = 0  # how often ``recent`` was sifted
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
        """Submits a command.

        Args:
            call: the driver's function, for errors.
            details: the values concerned.
            uses_memory: whether it may use memory that others use, too.
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
        """Waits for a command, if there is one, whose submission was interrupted: nobody will have its event, and what
        it uses may be freed as soon as the interrupt is told."""
        if slot[0] != _NULL:
            lib.clFinish(self.handle)

    def refuse(self) -> NoReturn:
        """Says that it was released."""
        raise InvalidError("this queue was released; its commands can go to another one", backend="opencl")

    def note(self, event: Event) -> Event:
        """Keeps the event of a new command until its end is known."""
        recent = self.recent
        recent.append(event)
        if len(recent) > self._most_kept:
            self._prune()
        return event

    def run_all(
        self, commands: Sequence[Command], call: str, waits: Sequence[Event] = (), details: object = ""
    ) -> Event:
        """Submits commands that may run in any order; the event is of all of them. None are a barrier for ``waits``."""
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
        """Submits commands one after the other; the event is of the last one."""
        event = self.run(commands[0], call, waits, details)
        for command in commands[1:]:
            event = self.run(command, call, () if self.in_order else (event,), details)
        return event

    def barrier(self, waits: Sequence[Event] = ()) -> Event:
        """An event after everything before it; of an out-of-order queue, everything later comes after it too."""
        stop, name = lib.clEnqueueBarrierWithWaitList, "clEnqueueBarrierWithWaitList"
        if waits:
            self.run(stop, name, waits, uses_memory=False)
        return self.run(stop, name, uses_memory=False)

    def ends(self) -> Sequence[Event]:
        """An event after everything before it, which nothing later waits for."""
        return (self._mark(),)

    # ------------------------------------------------------------------ the end of commands

    def _sift(self, keeps: Callable[[Event, int], bool]) -> list[tuple[Event, int]]:
        """Lets go of the events that are not to be kept; all of them that have a cl_event, and how far they are.

        A collection in between may run a finalizer that sifts on this thread: this call begins again then.
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
        """Lets go of what is over; twice as many as are left may be kept next time, so that asking stays rare."""
        self._sift(lambda event, status: status > _COMPLETE or (status < _COMPLETE and not event.told))
        self._most_kept = max(self._kept, 2 * len(self.recent))

    def wait(self) -> None:
        """Returns when all work submitted so far is done; raises a failure that nobody has asked for. Interruptible."""
        refuse_in_fork()
        if self.handle is not None:
            shared = self.context.handover
            if shared is not None and shared.holder is self:
                shared.give(self)
            self._settle()
            lib.clFinish(self.handle)  # what others have submitted to the same cl_command_queue
            self._raise_failures()

    def _last(self) -> list[Event]:
        """Events whose end is that of all work. They keep their cl_events alive, whatever other threads let go of.

        Of an in-order queue, too, these are all: another thread, or a finalizer, may submit a command and note its
        event between the submission of a command here and the note of that one.
        """
        return [event for event in tuple(self.recent) if event.handle is not None]

    def _settle(self) -> None:
        """Returns when what was submitted here is done."""
        events, launches = self._last(), self.launches.unfinished(self.in_order)
        wait_for([*handles_of(events), *launches])

    def _raise_failures(self) -> None:
        rows = self._sift(lambda event, status: status > _COMPLETE)  # what is left is of other threads
        failures = [event.failure() for event, status in rows if status < _COMPLETE]
        told = [*self.launches.failures(), *(failure for failure in failures if failure is not None)]
        if len(told) == 1:
            raise told[0]
        if told:
            raise ExceptionList(told)

    def is_idle(self) -> bool:
        """Whether all work is done."""
        if self.handle is None:
            return True
        refuse_in_fork()
        if not self.launches.is_idle(self.in_order):
            return False
        events = self._last()
        handles = handles_of(events)
        # Last things first: what was submitted last is most often what is not done.
        idle = not handles or (status_of(handles[-1]) <= _COMPLETE and max(statuses_of(handles)) <= _COMPLETE)
        if idle and len(self.recent) > _KEPT_IDLE:
            self._prune()
        return idle

    def close(self) -> None:
        """Waits for its work and gives the driver's queue back."""
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
