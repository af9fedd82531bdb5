"""``CommandStream``: one native queue and the commands on their way in it.

Work that has been submitted must find its memory alive, also when everyone has dropped the queue and the event. So each
command's event stays in ``pending`` with what it uses until the command is known to be complete, and a stream with
pending commands stays in ``_active``. Finding out costs a driver call: it is done for many commands at once, at every
so many submissions, at waits, and when memory is needed.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from ..backends.contract import BackendProtocol, NativeEvent, NativeQueue
from ..model.errors import Error, ExceptionList, InvalidError, SyclRuntimeError
from . import _lifetime
from .event import Event

if TYPE_CHECKING:
    from .context import Context
    from .device import Device

__all__ = ["AsyncHandler", "CommandStream", "Operation", "sweep", "wait_for_all", "wait_for_users"]

AsyncHandler = Callable[[ExceptionList], object]
Operation = Callable[[Sequence[NativeEvent]], NativeEvent]

_REAP_EVERY = 64  # submissions between two looks at what has completed
_SAME_ERRORS = 8  # a driver that has lost its device repeats one error for every command

_active: set[CommandStream] = set()
_streams: weakref.WeakSet[CommandStream] = weakref.WeakSet()

FORKED = (
    "was made before this process was forked, and a driver does not survive a fork: start processes with "
    "multiprocessing.get_context('spawn'), or make devices, contexts and queues after the fork"
)


def _same(left: Error, right: Error) -> bool:
    return type(left) is type(right) and left.native_code == right.native_code and str(left) == str(right)


def _nothing(_: NativeEvent) -> None:
    """In place of a driver's release in the child of a fork."""


class CommandStream:
    """What a ``Queue``, its events and its unfinished work share.

    Attributes:
        native: the native queue; None once closed or forked.
        pending: events of commands that may still run, in the order of submission.
        errors: asynchronous errors found and not yet reported.
        blocker: the host task that later commands of an in-order queue wait for.
    """

    __slots__ = (
        "__weakref__",
        "_countdown",
        "_reason",
        "backend",
        "blocker",
        "context",
        "device",
        "errors",
        "handler",
        "in_order",
        "lock",
        "native",
        "pending",
        "profiling",
        "release_event",
        "resource",
    )

    def __init__(
        self, context: Context, device: Device, *, in_order: bool, profiling: bool, handler: AsyncHandler | None
    ) -> None:
        backend: BackendProtocol = context._backend
        self.context = context
        self.device = device
        self.backend = backend
        self.in_order = in_order
        self.profiling = profiling
        self.handler = handler
        self.lock = threading.RLock()
        self.pending: deque[Event] = deque()
        self.errors: list[Error] = []
        self.blocker: Event | None = None
        self.release_event: Callable[[NativeEvent], None] = backend.release_event
        self._countdown = _REAP_EVERY
        self._reason = "was closed"
        native = backend.create_queue(context._native, device._record.native, in_order=in_order, profiling=profiling)
        self.native: NativeQueue | None = native
        self.resource = _lifetime.Resource(
            _lifetime.Rank.QUEUE, context._resource, _retire, backend, native, context._unclaimed, handler
        )
        _streams.add(self)
        context._streams.add(self)

    # ------------------------------------------------------------------ submission

    def unusable(self) -> Error:
        """The error of a use after the end."""
        what = f"the queue on {self.device.name!r} {self._reason}"
        return SyclRuntimeError(what) if self._reason is FORKED else InvalidError(f"{what}: make a new Queue")

    def submit(self, operation: Operation, depends_on: Iterable[Event] | Event, keep: tuple[object, ...]) -> Event:
        """See ``Queue._enqueue``."""
        events: tuple[Event, ...] = ()
        natives: Sequence[NativeEvent] = ()
        if depends_on != ():
            events, natives = self.resolve(depends_on)
        if self.blocker is not None:
            self._pass_blocker()
        with self.lock:
            if self.native is None:
                raise self.unusable()
            event = Event(self, operation(natives), keep, events)
            pending = self.pending
            if not pending:
                _active.add(self)
            pending.append(event)
            self._countdown -= 1
            if self._countdown < 0:
                self._reap()
        return event

    def adopt(self, event: Event) -> None:
        """Takes in an event whose command runs outside the native queue."""
        with self.lock:
            if not self.pending:
                _active.add(self)
            self.pending.append(event)

    def resolve(self, depends_on: Iterable[Event] | Event) -> tuple[tuple[Event, ...], list[NativeEvent]]:
        """The events to wait for and the native ones among them; waits here for those of other backends.

        Raises:
            InvalidError: something is not an event.
            SyclRuntimeError: a command of another backend that this one depends on has failed.
        """
        if isinstance(depends_on, Event):
            events: tuple[Event, ...] = (depends_on,)
        else:
            try:
                events = tuple(depends_on)
            except TypeError:
                raise InvalidError(f"depends_on={depends_on!r}: it takes an Event or several") from None
        natives: list[NativeEvent] = []
        for event in events:
            if not isinstance(event, Event):
                raise InvalidError(f"depends_on contains {event!r}: it takes an Event or several")
            event._collect(self, natives)
        return events, natives

    def _pass_blocker(self) -> None:
        blocker = self.blocker
        if blocker is not None:
            task = blocker._task
            if task is not None and task.thread is threading.current_thread():
                raise InvalidError(
                    "a host task submits to its own in-order queue, which waits for that task: submit to another queue"
                )
            blocker._settle()
            with self.lock:
                if self.blocker is blocker:
                    self.blocker = None

    # ------------------------------------------------------------------ completion

    def reap(self) -> None:
        """Lets go of what completed commands used, without waiting."""
        with self.lock:
            if self.native is not None:
                self._reap()

    def _reap(self) -> None:
        self._countdown = _REAP_EVERY
        pending = self.pending
        if not pending:
            return
        try:
            idle = self.backend.queue_is_idle(self.native)
        except Error as error:  # the device is lost: nothing runs any more
            self.record(error)
            idle = True
        finished: list[Event] = []
        if idle:
            rest: list[Event] = []
            for event in pending:
                (finished if event._native is not None or event._poll() else rest).append(event)
            pending.clear()
            pending.extend(rest)
        elif self.in_order:
            step = _REAP_EVERY // 2
            while step and pending:
                if len(pending) >= step and pending[step - 1]._poll():
                    finished.extend(pending.popleft() for _ in range(step))
                else:
                    step //= 2
        else:
            for _ in range(min(len(pending), _REAP_EVERY)):
                event = pending.popleft()
                if event._poll():
                    finished.append(event)
                else:
                    pending.append(event)
        for event in finished:
            event._let_go()
        if not pending:
            _active.discard(self)

    def pending_host_events(self) -> list[Event]:
        """Events of unfinished commands that run outside the native queue."""
        with self.lock:
            return [event for event in self.pending if event._task is not None]

    def find_errors(self) -> None:
        """Asks every completed command for its error, without waiting."""
        with self.lock:
            events = [event for event in self.pending if event._poll()]
        for event in events:
            event._settle()
        self.reap()

    def settle(self) -> None:
        """Waits for everything submitted so far and records its errors."""
        with self.lock:
            native = self.native
            if native is None:
                raise self.unusable()
            events = tuple(self.pending)
        for event in events:
            event._settle()
        last: Error | None = None
        for _ in range(_SAME_ERRORS * len(events) + _REAP_EVERY):
            try:
                self.backend.wait_queue(native)
                break
            except Error as error:
                if last is None or not _same(last, error):
                    self.record(error)
                last = error
        self.reap()

    # ------------------------------------------------------------------ errors

    def record(self, error: Error) -> None:
        """Keeps an asynchronous error until it is reported."""
        found = error.errors if isinstance(error, ExceptionList) else (error,)
        with self.lock:
            for item in found:
                tail = self.errors[-_SAME_ERRORS:]
                if len(tail) < _SAME_ERRORS or not all(_same(item, other) for other in tail):
                    self.errors.append(item)

    def withdraw(self, error: Error) -> None:
        """Takes back an error that was reported through its event."""
        with self.lock:
            self.errors = [item for item in self.errors if item is not error]

    @property
    def handled(self) -> bool:
        """Whether an ``async_handler`` of the queue or of its context takes the errors."""
        return self.handler is not None or self.context.async_handler is not None

    def report(self) -> None:
        """Gives the errors found so far to the handler, or raises them."""
        with self.lock:
            errors, self.errors = self.errors, []
        unclaimed = self.context._unclaimed
        while unclaimed:
            handler, others = unclaimed.popleft()
            if handler is not None:
                handler(ExceptionList(others))
            else:
                errors = [*others, *errors]
        if not errors:
            return
        handler = self.handler or self.context.async_handler
        if handler is not None:
            handler(ExceptionList(errors))
        elif len(errors) == 1:
            raise errors[0]
        else:
            raise ExceptionList(errors)

    # ------------------------------------------------------------------ end

    def close(self) -> None:
        """Waits, releases the native queue, then reports what was not reported."""
        with self.lock:
            if self.native is None:
                return
        self.settle()
        with self.lock:
            self.native = None
            pending, self.pending = self.pending, deque()
            _active.discard(self)
        for event in pending:
            event._settle()
            event._let_go()
        self.resource.close()
        self.report()

    def forget(self) -> None:
        """In the child of a fork: nothing of this can be used or released."""
        self.lock = threading.RLock()
        self.native, self._reason = None, FORKED
        self.release_event = _nothing
        self.blocker = None
        self.pending.clear()

    def __del__(self) -> None:
        errors = getattr(self, "errors", None)
        if errors:
            self.context._unclaimed.append((self.handler, errors))


def _retire(
    backend: BackendProtocol,
    native: NativeQueue,
    unclaimed: deque[tuple[AsyncHandler | None, list[Error]]],
    handler: AsyncHandler | None,
) -> None:
    """Releases a native queue, keeping the errors that nobody asked for."""
    try:
        backend.wait_queue(native)
    except Error as error:
        unclaimed.append((handler, [error]))
    backend.release_queue(native)


def sweep() -> None:
    """Lets go of what completed commands of any queue used."""
    for stream in tuple(_active):
        stream.reap()


def wait_for_all() -> None:
    """Waits for every queue's work, keeping the errors for whoever asks next."""
    for stream in tuple(_active):
        if stream.native is not None:
            stream.settle()


def wait_for_users(owner: object) -> None:
    """Waits for the commands submitted so far, on any queue, that use memory of ``owner``."""
    for stream in tuple(_active):
        with stream.lock:
            events = [event for event in stream.pending if event._uses(owner)]
        for event in events:
            event._settle()


def _finish() -> None:
    """At interpreter exit: lets the work end, and says what nobody was told."""
    for stream in tuple(_active):
        if stream.native is not None:
            try:
                stream.settle()
            except Error as error:
                stream.record(error)
    for stream in tuple(_streams):
        stream.native = None
        stream._reason = "ended with the interpreter"
        for item in (*stream.errors, *(item for _, errors in stream.context._unclaimed for item in errors)):
            sys.stderr.write(f"bindless: an asynchronous error was never asked for: {item}\n")
        stream.errors.clear()
        stream.context._unclaimed.clear()


def _after_fork() -> None:
    for stream in tuple(_streams):
        stream.forget()
    _active.clear()


_lifetime.at_exit(_finish)
_lifetime.after_fork(_after_fork)
