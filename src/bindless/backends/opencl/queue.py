"""Queues: a cl_command_queue, and the events of recent commands."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import NoReturn

from ...drivers import opencl as driver
from ...drivers.common.cffi_types import CData
from ...model.errors import Error, ExceptionList, InvalidError
from .context import Context, new_lock
from .device import Device
from .errors import SUCCESS, create, fail, release
from .event import QUERY, RELEASE, Event, EventQueue, address_of, array_of, failure_of
from .fork_guard import in_fork, refuse_in_fork
from .polling import new_events, status_of, wait_for

__all__ = ["Command", "Queue"]

lib, ffi = driver.lib, driver.ffi

_NULL = ffi.NULL
_WAIT = address_of(ffi.addressof(lib, "bindless_queue_wait"))
_note = lib.bindless_note

_new_event = functools.partial(ffi.new, ffi.typeof("cl_event *"))

# The most events before completed ones are released. Events of rusticl hold the memory of their commands.
_KEPT, _KEPT_OF_RUSTICL = 256, 4
_MOST_FAILURES = 64

# A function that enqueues one command: it takes the cl_command_queue, count and array of the events to wait for, and
# the slot of its own event; it returns the result code.
Command = Callable[[CData, int, CData, CData], int]


class Queue(EventQueue):
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
    state
        bindless_queue_t: the events whose failure may not be reported yet, and those of prepared commands.
    """

    __slots__ = ("_lock", "context", "device", "handle", "in_order", "owned", "profiling", "state")

    def __init__(
        self,
        context: Context,
        device: Device,
        in_order: bool,
        profiling: bool,
        native: CData = None,
        owned: bool = True,
    ) -> None:
        """Create a queue, or adopt a ``native`` one."""
        self.context = context
        self.device = context.device(device)
        self.in_order = in_order
        self.profiling = profiling
        self.owned = owned
        self.state = ffi.new("bindless_queue_t *")
        self._lock = self.state.lock = new_lock()
        self.state.lowest_limit = _KEPT_OF_RUSTICL if self.device.is_rusticl else _KEPT
        self.waits, self.last_event = (
            address_of(ffi.addressof(self.state, name)) for name in ("wait_count", "last_event")
        )
        self.query, self.let_go = QUERY, RELEASE
        self.wait_for, self.driver_stream = _WAIT, address_of(self.state)
        self.handle = self._create() if native is None else native
        self.state.handle = self.handle

    def _create(self) -> CData:
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
            return create("clCreateCommandQueueWithProperties", context, device, properties)
        return create("clCreateCommandQueue", context, device, flags)

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
            return self.note(slot[0])
        except BaseException:
            self.end_unknown(slot)
            raise

    def end_unknown(self, slot: CData) -> None:
        """Wait for a command whose submission was interrupted, if there is one: nobody receives its event, and its
        memory may be freed as soon as the interrupt is raised.
        """
        if slot[0] != _NULL:
            lib.clFinish(self.handle)

    def refuse(self) -> NoReturn:
        """Raise the error of a released queue."""
        raise InvalidError("this queue was released; its commands can go to another one", backend="opencl")

    def note(self, handle: CData) -> Event:
        """The event of a new command, which is kept until its end is known. The driver starts the command."""
        return Event(_note(self.state, handle), self)

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
        """Events after all commands."""
        return (self._mark(),)

    # ------------------------------------------------------------------ the end of commands

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

    def _settle(self) -> None:
        """Wait until the work submitted here is complete."""
        most = self.state.count
        events = new_events(most)
        count = min(most, lib.bindless_events_pending(self.state, events, most))
        wait_for(ffi.unpack(events, count))

    def _raise_failures(self) -> None:
        errors: list[Error] = []
        while True:
            events = new_events(_MOST_FAILURES)
            count = lib.bindless_events_failed(self.state, events, _MOST_FAILURES)
            if not count:
                break
            errors += [failure_of(handle, status_of(handle)) for handle in ffi.unpack(events, count)]
        if len(errors) == 1:
            raise errors[0]
        if errors:
            raise ExceptionList(errors)

    def is_idle(self) -> bool:
        """Whether all work is complete."""
        if self.handle is None:
            return True
        refuse_in_fork()
        return not lib.bindless_queue_wait(self.state, 1)

    def close(self) -> None:
        """Wait for the work and release the driver's queue."""
        handle = self.handle
        if handle is None or in_fork():
            self.handle = None
            return
        self._settle()
        self.handle, self.state.handle, self.pending = None, _NULL, None
        lib.clFinish(handle)
        lib.bindless_events_clear(self.state)
        if self.owned:
            release(lib.clReleaseCommandQueue(handle), "clReleaseCommandQueue")


def _marker(queue: CData, count: int, waits: CData, event: CData) -> int:
    return int(lib.clEnqueueMarkerWithWaitList(queue, count, waits, event))
