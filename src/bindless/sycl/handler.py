"""``Handler``: what a command group function tells the queue (SYCL 2020 section 4.9.4).

A command group names what it waits for and exactly one command. The handler collects both as a value; the queue submits
it when the function has returned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ..model.errors import InvalidError
from ..model.ranges import NdRange, RangeLike
from .event import Event

if TYPE_CHECKING:
    from .kernel import Kernel
    from .queue import Queue

__all__ = ["Handler"]

# Given the events to wait for, submits the command.
Submission = Callable[[tuple[Event, ...]], Event]


class Handler:
    """Given to the function of ``queue.submit``; of no use afterwards."""

    __slots__ = ("_command", "_depends_on", "_queue", "_submission")

    def __init__(self, _queue: Queue) -> None:
        self._queue: Queue | None = _queue
        self._depends_on: tuple[Event, ...] = ()
        self._command = ""
        self._submission: Submission | None = None

    def _open(self, command: str) -> Queue:
        if self._queue is None:
            raise InvalidError(f"{command.strip('_')}: this handler's command group has been submitted")
        if self._command:
            raise InvalidError(
                f"{command.strip('_')}: a command group has one command, "
                f"and this one has {self._command.strip('_')} already"
            )
        return self._queue

    def _set(self, command: str, *arguments: Any, **options: Any) -> None:
        """Takes the one command: a method of the queue and its arguments, called when the group is submitted."""
        queue = self._open(command)
        self._command = command
        method = getattr(queue, command)
        self._submission = lambda waits: method(*arguments, depends_on=waits, **options)

    def depends_on(self, events: Event | Iterable[Event]) -> None:
        """The command starts after these events.

        Raises:
            InvalidError: something is not an event.
        """
        if self._queue is None:
            raise InvalidError("depends_on: this handler's command group has been submitted")
        if isinstance(events, Event):
            events = (events,)
        try:
            more = tuple(events)
        except TypeError:
            raise InvalidError(f"depends_on({events!r}): it takes an Event or several") from None
        for event in more:
            if not isinstance(event, Event):
                raise InvalidError(f"depends_on contains {event!r}: it takes an Event or several")
        self._depends_on += more

    # ------------------------------------------------------------------ commands

    def parallel_for(self, index_space: RangeLike | NdRange, kernel: Kernel, *arguments: object) -> None:
        """Runs a kernel; see ``Queue.parallel_for``."""
        self._set("parallel_for", index_space, kernel, *arguments)

    def single_task(self, kernel: Kernel, *arguments: object) -> None:
        """Runs one work-item of a kernel."""
        self._set("single_task", kernel, *arguments)

    def memcpy(self, dst: object, src: object, nbytes: int | None = None) -> None:
        """Copies bytes; see ``Queue.memcpy``."""
        self._set("memcpy", dst, src, nbytes)

    def copy(self, src: object, dst: object, count: int | None = None) -> None:
        """Copies elements; see ``Queue.copy``."""
        self._set("copy", src, dst, count)

    def memset(self, pointer: object, value: int, nbytes: int | None = None) -> None:
        """Sets bytes; see ``Queue.memset``."""
        self._set("memset", pointer, value, nbytes)

    def fill(self, pointer: object, pattern: object, count: int | None = None) -> None:
        """Writes a pattern; see ``Queue.fill``."""
        self._set("fill", pointer, pattern, count)

    def prefetch(self, pointer: object, nbytes: int | None = None) -> None:
        """Moves shared memory to the device; see ``Queue.prefetch``."""
        self._set("prefetch", pointer, nbytes)

    def mem_advise(self, pointer: object, nbytes: int | None, advice: int) -> None:
        """Tells how memory will be used; see ``Queue.mem_advise``."""
        self._set("mem_advise", pointer, nbytes, advice)

    def ext_oneapi_copy(self, src: object, dst: object, **options: Any) -> None:
        """Copies image pixels; see ``Queue.ext_oneapi_copy``, whose ``depends_on`` is ``handler.depends_on`` here."""
        if "depends_on" in options:
            raise InvalidError("depends_on: in a command group it is handler.depends_on(events)")
        self._set("ext_oneapi_copy", src, dst, **options)

    def host_task(self, function: Callable[[], object]) -> None:
        """Calls a function of the host, on another thread, in the order of the queue.

        Later commands of an in-order queue, and those that depend on the task's event, are submitted once it has ended.

        Raises:
            InvalidError: it cannot be called.
        """
        if not callable(function):
            raise InvalidError(f"host_task({function!r}): it takes a function")
        self._set("_host_task", function)

    # ------------------------------------------------------------------ submission

    def _submit(self) -> Event:
        submission = self._submission
        if submission is None:
            self._queue = None
            raise InvalidError("the command group has no command: call one of the handler's methods, exactly one")
        try:
            return submission(self._depends_on)
        finally:
            self._queue, self._submission = None, None
