"""``CommandStream``: one native queue and its unfinished commands.

Submitted work must find its memory alive, also when everyone has dropped the queue and the event. What a command uses
is held here until it is known to be complete, and a stream with unfinished commands stays in ``active``. Finding out
costs a driver call, and a backend may save itself the marking of a command whose event nobody keeps. So events are held
only where nothing else marks the end of a command: an in-order queue holds the event at the end of each batch of
commands; an out-of-order queue holds that of each command that uses memory, but for repeated launches: events at the
ends of the driver's own queues end a batch of these. Completion is queried every ``REAP_EVERY`` submissions, in waits,
and before memory is allocated.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from ..backends.contract import BackendProtocol, NativeEvent, NativeQueue
from ..core import ownership
from ..core._submission import REAP_EVERY, Commands, Mark, know_types
from ..core.lock import Lock
from ..core.ownership import FORKED
from ..model.dlpack import DLDeviceType
from ..model.errors import DeviceLostError, Error, InvalidError, SyclRuntimeError
from .active_streams import active, begin, birth, events_of_users, streams, sweep, uses, wait_for_all, wait_for_users
from .async_errors import AsyncHandler, ErrorLog, retire
from .event import Event, OwnedEvent
from .host_start import defer, let_go, run_on_host
from .pending_semaphores import OutsideWaits
from .wait_list import comes_later, waits_of

if TYPE_CHECKING:
    from .owners import StreamContext, StreamDevice

__all__ = [
    "AsyncHandler",
    "CommandStream",
    "Operation",
    "events_of_users",
    "sweep",
    "wait_for_all",
    "wait_for_users",
]

Operation = Callable[[Sequence[NativeEvent]], NativeEvent]

_MOST_ERRORS = 100_000

know_types(np.ndarray, np.number, np.bool_)

_new_event = Event.__new__


def _nothing(_: NativeEvent) -> None:
    """In place of a driver's release in the child of a fork."""


class CommandStream(Commands):
    """The state that a ``Queue``, its events and its unfinished commands share.

    Attributes
    ----------
    native : NativeQueue | None
        The native queue, while it has work; None once it was released, or forked.
    closed
        Whether no more commands are taken: those submitted go on, and the native queue ends with them.
    log
        Its asynchronous errors.
    waiters
        Threads in ``ask``, which keep the native queue.
    ended
        Whether the interpreter is ending, or was forked: the driver is not asked any more.
    tasks : dict[Event, Sequence[object]]
        Events of commands that the host has still to start, or runs itself, and what these use.
    bundles : set[object]
        Kernel bundles that unfinished commands use.
    blocker : Event | None
        The last of them that later commands of this queue come after.
    outside
        The waits for external semaphores that may not be over.
    prepares
        Whether launches and copies are prepared for repetition.
    batch
        Number of the batch that memory in use is held in.
    is_alone
        Whether nobody else has the driver's queue, and may submit to it.
    """

    __slots__ = (
        "__weakref__",
        "_events_cross_contexts",
        "_reason",
        "backend",
        "is_alone",
        "log",
        "prepares",
        "profiling",
        "release_event",
        "resource",
    )

    _event: type[Event]

    def __init__(
        self,
        context: StreamContext,
        device: StreamDevice,
        *,
        in_order: bool,
        profiling: bool,
        handler: AsyncHandler | None,
        immediate: bool | None = None,
        adopted: NativeQueue | None = None,
    ) -> None:
        backend: BackendProtocol = context._backend
        self.context = context
        self.device = device
        self.backend = backend
        self.in_order, self._in_batches = in_order, in_order or backend.unordered_batches is not None
        self.profiling = profiling
        self.is_alone = adopted is None
        if backend.traits.orders_streams:
            self._dlpack_type, self._dlpack_id = DLDeviceType.cuda, device.index
            self._dlpack_alone = len(backend.devices()) == 1
        self.lock = Lock()
        self.log = ErrorLog(context, handler)
        self.tasks: dict[Event, Sequence[object]] = {}
        self.bundles: set[object] = set()
        self._last_bundle: object = None
        self.blocker: Event | None = None
        self.outside = OutsideWaits()
        self.release_event: Callable[[NativeEvent], None] = backend.release_event
        self._events_cross_contexts = backend.traits.events_cross_contexts
        self._event = Event if backend.traits.events_release_themselves else OwnedEvent
        # Events of a profiling queue have times of their own. Where devices do not reach each other's memory, every
        # argument is looked at.
        self.prepares = not profiling and not context._unreached
        self._handles = context._handles if len(context.devices) > 1 else None
        # Whether anything was submitted since the queue was last seen idle.
        self._dirty, self._active = False, active
        # (event, what its command uses), oldest first; in order: (event, what the commands up to it use).
        self._held: deque[tuple[Event, Sequence[object]]] = deque()
        self._batch: list[object] = []  # in order: what the commands after the last held event use
        self.batch = 0
        self._countdown = REAP_EVERY
        self._doubtful: list[Sequence[object]] = []  # what interrupted submissions may use, until the queue is idle
        self._reason = "was closed"
        hints = {} if immediate is None else {"immediate": immediate}
        with birth.lock:
            birth.require()
            native = adopted or backend.create_queue(
                context._native, device._record.native, in_order=in_order, profiling=profiling, **hints
            )
            self.native: NativeQueue | None = native
            self._lanes = backend.queue_lanes(native)
            self.resource = ownership.Resource(
                ownership.Rank.QUEUE, context._resource, retire, backend, native, context._unclaimed, handler
            )
            streams.add(self)
        context._streams.add(self)

    # ------------------------------------------------------------------ submission

    @property
    def live(self) -> NativeQueue:
        """The native queue; raises ``unusable`` after its release."""
        if self.native is None:
            raise self.unusable()
        return self.native

    @property
    def position(self) -> int | None:
        """The index of the last command, by which the driver's queue counts; None where it does not, or where others
        submit too, or the host has still to start a command."""
        lanes = self._lanes
        if not self.in_order or not self.is_alone or not lanes or lanes[0].last_event or self.blocker or self.tasks:
            return None
        return int(lanes[0].submitted)

    def position_of(self, event: Event) -> int | None:
        """The index of an event's command in this queue, as of ``position``."""
        native: object = event._native
        return native.index if self.position is not None and isinstance(native, Mark) else None

    def unusable(self) -> Error:
        """The error of a use after the end."""
        what = f"the queue on {self.device._label} {self._reason}"
        return SyclRuntimeError(what) if self._reason is FORKED else InvalidError(f"{what}: make a new Queue")

    def submit(
        self,
        operation: Operation,
        depends_on: Iterable[Event] | Event,
        keep: tuple[object, ...],
        barrier: bool = False,
    ) -> Event:
        """See ``Queue._enqueue``; ``barrier``: whatever is submitted later comes after it."""
        waits: tuple[Event, ...] = ()
        natives: Sequence[NativeEvent] = ()
        others: Sequence[Event] = ()
        if type(depends_on) is not tuple or depends_on:
            waits, natives, others = waits_of(self, depends_on)
        if others or self.blocker is not None:
            return self._defer(operation, waits, keep, barrier)
        with self.lock:
            if self.closed or self.native is None:
                raise self.unusable()
            begin(self, keep)
            event = _new_event(self._event)
            event._stream = self
            if waits:
                event._waits = tuple(map(weakref.ref, waits))
            self.run(operation, natives, event, keep)
        return event

    def run(self, operation: Operation, natives: Sequence[NativeEvent], event: Event, keep: tuple[object, ...]) -> None:
        """Submits a command that has begun, and gives the event its native one; the lock is held.

        Until the command is accounted for, what it uses is among the doubtful objects: for finalizers that run
        meanwhile, and for good where an exception such as KeyboardInterrupt leaves open whether the driver has it.
        """
        doubtful = self._doubtful
        at = len(doubtful)
        doubtful.append(keep)
        try:
            event._native = operation(natives)
            self.took(event, keep)
        except Error:
            del doubtful[at]
            raise
        except BaseException:
            self._countdown -= 1
            raise
        del doubtful[at]

    def _check(self, event: Event) -> None:
        """After every so many commands, of which ``event`` is the last: looks for completed ones; the lock is held."""
        if self.lock.depth == 1 and self._batch:
            self._end_batch(event)
        self._reap()

    def _end_batch(self, last: Event | None = None) -> None:
        """From now on the batch is held by an event, in order that of the last command; the lock is held."""
        if not self.in_order or last is None:
            calls = self.backend.unordered_batches
            assert calls is not None and self.native is not None  # else the queue has no batches
            last = Event._of_all(self, tuple(Event(self, native) for native in calls.queue_ends(self.native)))
        self._held.append((last, self._new_batch()))

    def _new_batch(self) -> list[object]:
        """Begins another; returns the one before."""
        batch, self._batch = self._batch, []
        self.batch += 1
        return batch

    # ------------------------------------------------------------------ what the host starts later

    _defer = defer
    run_on_host = run_on_host
    let_go = let_go

    def can_wait_for(self, event: Event) -> bool:
        """Whether the driver itself makes a command wait for this event, which has a native one."""
        home = event._home
        assert home is not None
        event._check_process()
        return home._backend is self.backend and (home is self.context or self._events_cross_contexts)

    # ------------------------------------------------------------------ completion

    @property
    def idle(self) -> bool:
        """Whether everything submitted so far is known to be complete."""
        return not self._dirty

    def reap(self) -> None:
        """Lets go of what completed commands used, without waiting."""
        if self._dirty or self._doubtful:
            with self.lock:
                if self.native is not None:
                    self._reap()

    def _reap(self) -> None:
        if self.lock.depth > 1:  # a finalizer, in the middle of a submission: what that uses is not noted yet
            return
        self.restart()
        held: deque[tuple[Event, Sequence[object]]] = deque()
        try:
            idle = self.native is None or self.backend.queue_is_idle(self.native)
        except Error as error:  # the device is lost: nothing runs any more
            self.log.record(error)
            idle = True
        if idle and self.release_all():
            pass
        elif self.in_order:
            pending = self._held
            while pending and pending[0][0]._poll():
                held.append(pending.popleft())
        else:
            pending = self._held
            for _ in range(min(len(pending), REAP_EVERY)):
                if pending[0][0]._poll():
                    held.append(pending.popleft())
                else:
                    pending.rotate(-1)
        # Only now, with everything in order again, may destructors run.
        del held
        if idle and self.closed and not self._dirty:
            self._release_native()

    def find_errors(self) -> None:
        """Asks completed commands for their errors, without waiting."""
        with self.lock:
            events = [event for event, _ in self._held if event._poll()]
            native = self.native
        for event in events:
            event._settle()
        self.reap()
        if self.idle and native is not None:
            self._ask_queue(native)

    def settle(self) -> None:
        """Waits for everything submitted so far and records its errors."""
        with self.lock:
            native = self.native
            if native is None:  # its work was complete, or another thread has just waited for it
                return
            tasks = list(self.tasks)  # at once: garbage may be collected within a call of tuple
        for task in tasks:
            task._settle()
        self._ask_queue(native)
        self.reap()

    def settle_driver(self) -> None:
        """``settle`` without what the host has still to start."""
        native = self.native
        if native is not None:
            self._ask_queue(native)
            self.reap()

    def _ask_queue(self, native: NativeQueue) -> None:
        """Waits for the native queue, and again as long as it has another error to tell."""
        if self.native is not None:
            self.ask(self._wait_native, native)

    def _wait_native(self, native: NativeQueue) -> None:
        if self.native is None:
            return  # closed by another thread, which has waited
        for _ in range(_MOST_ERRORS):
            try:
                self.backend.wait_queue(native)
                return
            except Error as error:
                if not self.log.record(error):
                    return

    def wait_for_users(self, owner: object) -> None:
        """Waits for the commands submitted so far that use memory of ``owner``."""
        with self.lock:
            if not self.in_order and self.native is not None and uses(self._batch, owner):
                self._end_batch()
            events = [event for event, keep in (*self._held, *self.tasks.copy().items()) if uses(keep, owner)]
            everything = owner in self.bundles or uses(chain(self._batch, *self._doubtful), owner)
        for event in events:
            event._settle()
        if everything and self.native is not None:
            self.settle()

    def events_of_users(self, owner: object) -> list[Event]:
        """Events after the commands submitted so far that use memory of ``owner`` and may not be complete."""
        with self.lock:
            if self.native is None or not self._dirty:
                return []
            self._reap()
            if not self.in_order and uses(self._batch, owner):
                self._end_batch()
            deferred = [
                event for event, keep in self.tasks.copy().items() if uses(keep, owner) and not comes_later(event)
            ]
            users = [event for event, keep in self._held.copy() if uses(keep, owner)]
            doubtful = uses(chain.from_iterable(self._doubtful), owner)
            if doubtful or (self.in_order and (users or uses(self._batch, owner))):
                users = [self._event(self, self.backend.barrier(self.native, ()), ())]
                self.took(users[0], ())
        return [*users, *deferred]

    # ------------------------------------------------------------------ end

    def close(self) -> None:
        """Takes no more commands, and reports the errors found so far. Does not wait: the native queue is released when
        its work is found complete, here or by a later reap."""
        with self.lock:
            if self.closed or self.native is None:
                return
            self.closed = True
            self._forget_prepared()
        self.find_errors()
        with self.lock:
            if not self._dirty:
                self._release_native()
        self.log.report()

    def _release_native(self) -> None:
        """Releases the native queue of a closed stream, whose work is complete; the lock is held."""
        native = self.native
        if native is None:
            return
        self._ask_queue(native)  # for errors alone
        self.native = self._lanes = None
        if not self.waiters:  # else the last of those threads does it
            self._close_native()
        self._drop()

    def _close_native(self) -> None:
        try:
            self.resource.close()
        except Error as error:
            self.log.record(error)

    def finish(self, reason: str) -> list[Error]:
        """Ends it for other threads too, and waits for what they had submitted; gives the errors found until then."""
        with self.lock:
            native = self.native
            self.end(reason)
        errors = self.log.take()
        if native is not None and not self.resource.closed:
            try:
                self.backend.wait_queue(native)
            except Error as error:
                if not any(isinstance(other, DeviceLostError) for other in errors):
                    errors.append(error)
        return errors

    def end(self, reason: str) -> None:
        """Ends its use, and the release of its events."""
        self._reason = reason
        self.ended = True
        self.native = self._lanes = None
        self.release_event = _nothing

    def forget(self) -> None:
        """In the child of a fork: nothing of this can be used or released."""
        self.lock = Lock()
        self.end(FORKED)
        self.log.forget()
        self.blocker = None
        self._dirty = False
        self._drop()

    def _forget_prepared(self) -> None:
        self.prepares = False
        self.forget_launches()
        self.copies = self.image_calls = None

    def _drop(self) -> None:
        self._forget_prepared()
        self.outside = OutsideWaits()
        held, self._held = self._held, deque()
        batch = self._new_batch()
        self.tasks, self.bundles, self._last_bundle, self._doubtful = {}, set(), None, []
        del held, batch
