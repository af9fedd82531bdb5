"""``Event``: a submitted command, for waits and the order of later commands (SYCL 2020 section 4.6.6)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any
from weakref import ref

from ..backends.contract import NativeEvent
from ..core import _submission as _launch
from ..core import ownership
from ..core.ownership import FORKED
from ..model import info
from ..model.enums import EventStatus, coerce
from ..model.errors import Error, ProfilingError, SyclRuntimeError, WaitTimeoutError
from ..model.seconds import seconds
from ..model.single_owner import SingleOwner
from .active_streams import active
from .pending_semaphores import describe

if TYPE_CHECKING:
    from .command_stream import CommandStream
    from .host_dependency import Node
    from .owners import StreamContext

__all__ = ["Event", "OwnedEvent"]

# Between two looks at an event that is waited for with a timeout, in seconds.
_SHORTEST_PAUSE, _LONGEST_PAUSE = 2e-5, 5e-3


class Event(_launch.Event, SingleOwner):
    """A submitted command. ``Event()`` is one that is already complete.

    Dropping an event does not end its command, nor the life of the memory that it uses. An event that stands for
    several commands, or for none, is complete when those it waits for are.

    Notes
    -----
    SYCL 2020, 4.6.6, "Event class".

    Examples
    --------
    >>> queue = bindless.Queue("reference")
    >>> event = queue.ext_oneapi_submit_barrier()
    >>> event.wait()
    >>> print(event.get_info("command_execution_status"))
    complete
    """

    _instead = "wait for it here, and send the results"

    __slots__ = ("__weakref__", "_origin", "_parts", "_waits")

    _stream: CommandStream | None
    _native: NativeEvent | None
    # Weak: a chain of commands, each after the one before, shall not keep its whole past alive.
    _waits: tuple[ref[Event], ...]
    # What an event without a command of its own stands for.
    _parts: tuple[Event, ...]
    # What the base holds besides.
    _error: Error | None
    # What the host has still to do for it.
    _task: Node | None
    _done: bool
    # The queue that reports the error which kept the command from running.
    _origin: CommandStream | None

    def __init__(
        self,
        _stream: CommandStream | None = None,
        _native: NativeEvent | None = None,
        _waits: tuple[Event, ...] = (),
    ) -> None:
        self._stream = _stream
        self._native = _native
        if _waits:
            self._waits = tuple(map(ref, _waits))

    def __getattr__(self, name: str) -> Any:
        # Events are made by the million, and most are dropped unseen: what is seldom set is not stored, and what is
        # seldom asked of the shortest launches neither.
        try:
            return _UNSET[name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}") from None

    @classmethod
    def _of_all(cls, stream: CommandStream | None, events: tuple[Event, ...]) -> Event:
        """An event that is complete when all of these are."""
        event = cls(stream, None, events)
        leaves: list[Event] = []
        for part in events:
            leaves.extend(part._parts if part._native is None and part._task is None else (part,))
        event._parts = tuple(dict.fromkeys(leaves))
        return event

    # ------------------------------------------------------------------ waiting

    def _wait_any(self, timeout: float | None = None) -> None:
        """``wait``, which sees to a short one by itself, and calls this for all else."""
        if timeout is not None:
            self._wait_at_most(timeout)
        self._settle()
        stream = self._stream
        if stream is not None:
            stream.reap()
        error = self._first_error()
        if error is not None and (stream is None or not stream.log.handled):
            if stream is not None:
                stream.log.withdraw(error)
            raise error

    _wait_any.__qualname__ = "Event.wait"  # as errors of wrong arguments name it

    def _wait_at_most(self, timeout: float) -> None:
        limit = seconds(timeout)
        deadline, pause = time.monotonic() + limit, _SHORTEST_PAUSE
        while not self._poll():
            left = deadline - time.monotonic()
            if left <= 0:
                raise WaitTimeoutError(f"the command is not complete after {limit:g} s{self._told_waits()}")
            time.sleep(min(pause, left))
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _told_waits(self) -> str:
        return describe(self._stream, active.copy())

    def wait_and_throw(self) -> None:
        """Waits, then reports every asynchronous error of the queue so far to its handler, or raises them."""
        self._settle()
        stream = self._stream
        if stream is not None:
            stream.find_errors()
            stream.log.report()

    @property
    def status(self) -> EventStatus:
        """``submitted``, ``running`` or ``complete``; a failed command is complete."""
        if self._done:
            return EventStatus.complete
        task = self._task
        if task is not None and self._native is None:
            return task.status
        if self._native is not None:
            self._check_process()
            assert self._stream is not None
            return self._stream.ask(self._stream.backend.event_status, self._native)
        statuses = {event.status for event in self._parts}
        if statuses <= {EventStatus.complete}:
            return EventStatus.complete
        return EventStatus.submitted if statuses == {EventStatus.submitted} else EventStatus.running

    def get_info(self, descriptor: info.event | str) -> EventStatus:
        """The answer to a member of ``info.event``.

        Parameters
        ----------
        descriptor : info.event | str
            A member of the ``info`` enumeration of this class, or its name.

        Returns
        -------
        EventStatus
            The value.
        """
        coerce(info.event, descriptor, "descriptor")
        return self.status

    def get_profiling_info(self, descriptor: info.event_profiling | str) -> int:
        """Nanoseconds of ``command_submit``, ``command_start`` or ``command_end``; waits for the last two.

        Parameters
        ----------
        descriptor : info.event_profiling | str
            A member of the ``info`` enumeration of this class, or its name.

        Returns
        -------
        int
            Nanoseconds on the clock of the device.

        Raises
        ------
        ProfilingError
            The queue was made without ``enable_profiling=True``, or no device ran the command.
        """
        name = coerce(info.event_profiling, descriptor, "descriptor")
        times = self._times()
        if name is info.event_profiling.command_submit:
            return times[0]
        return times[1] if name is info.event_profiling.command_start else times[2]

    def _times(self) -> tuple[int, int, int]:
        stream, task = self._stream, self._task
        if task is not None:
            task.wait()
        if stream is None or (self._native is None and not self._parts):
            raise ProfilingError("no device ran this command: it has no times")
        if not stream.profiling:
            raise ProfilingError(
                f"the queue on {stream.device.name!r} records no times: make it with enable_profiling=True"
            )
        if self._native is not None:
            self._check_process()
            return stream.ask(stream.backend.event_times, self._native)
        parts = [event._times() for event in self._parts]
        return min(t[0] for t in parts), min(t[1] for t in parts), max(t[2] for t in parts)

    def get_wait_list(self) -> tuple[Event, ...]:
        """The events that the command waits for; those that nobody holds any more are left out.

        Returns
        -------
        tuple[Event, ...]
            The events that this command waits for.
        """
        return tuple(event for event in (weak() for weak in self._waits) if event is not None)

    # ------------------------------------------------------------------ for the layers of the package

    @property
    def _home(self) -> StreamContext | None:
        """The context of its native event."""
        return None if self._stream is None else self._stream.context

    def _check_process(self) -> None:
        stream = self._stream
        if stream is not None and stream.native is None and not self._done and stream._reason is FORKED:
            raise SyclRuntimeError(f"this event {FORKED}")

    def _settle(self) -> None:
        """Waits for completion; an error goes to the stream's errors, once."""
        if self._done:
            return
        task = self._task
        error = None if task is None else task.wait()
        stream, native = self._stream, self._native
        if native is not None and stream is not None:
            self._check_process()
            try:
                stream.ask(stream.backend.wait_event, native)
            except Error as caught:
                error = caught
        else:
            for event in self._parts:
                event._settle()
        self._conclude(error)

    def _conclude(self, error: Error | None) -> None:
        stream = self._stream
        if error is not None and stream is None:
            self._error = error
        elif error is not None and stream is not None:
            with stream.lock:
                if self._error is None:
                    self._error = error
                    if self._origin is not stream:
                        stream.log.record(error)
        self._done = True

    def _poll(self) -> bool:
        """Whether the command is complete, without waiting."""
        if self._done:
            return True
        try:
            return self.status is EventStatus.complete
        except Error as error:
            self._conclude(error)
            return True

    def _first_error(self) -> Error | None:
        if self._error is None and self._native is None:
            for event in self._parts:
                error = event._first_error()
                if error is not None:
                    return error
        return self._error

    def _collect(self, stream: CommandStream, natives: list[NativeEvent], others: list[Event]) -> None:
        """Adds what a command of ``stream`` has to wait for: by its driver, and what the host waits for."""
        if self._done and self._error is None:
            return
        task, native = self._task, self._native
        if native is not None:
            if self._stream is stream:
                if not stream.in_order or self._error is not None:
                    natives.append(native)
            elif stream.can_wait_for(self):
                natives.append(native)
            else:
                others.append(self)
        elif task is not None or self._error is not None:
            others.append(self)
        else:
            for event in self._parts:
                event._collect(stream, natives, others)

    def __repr__(self) -> str:
        try:
            return f"<Event {self.status}>"
        except Error as error:
            return f"<Event without status: {error}>"


class OwnedEvent(Event):
    """An event whose native event ends with it: for backends whose own objects do not see to that."""

    __slots__ = ()

    def __del__(self, ownership: Any = ownership) -> None:  # bound here: at exit the module's names are gone
        native, stream = self._native, self._stream
        if native is not None and stream is not None:
            if ownership.events_wait:
                ownership.forget_event(stream.release_event, native)
            else:
                stream.release_event(native)


_UNSET: dict[str, Any] = {
    "_waits": (),
    "_parts": (),
    "_origin": None,
}
