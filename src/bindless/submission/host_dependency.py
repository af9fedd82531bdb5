"""``Node``: a command that the host starts when what it waits for is there.

Most commands need none: they wait for events of their own driver, and the driver starts them. A node stands between
drivers that cannot wait for each other, for functions that the host runs, and for memory that the host holds.

A node is *over* when nothing of it is left for the host to do: its native command is submitted, its function has
returned, or its gate is open. What follows it looks again at that moment, and may then wait for the native event.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..backends.contract import NativeEvent
from ..core import ownership
from ..core.lock import Lock
from ..model.enums import EventStatus
from ..model.errors import AccessorError, Error, InvalidError, SyclRuntimeError
from .worker_threads import pool

if TYPE_CHECKING:
    from .event import Event

__all__ = ["Gate", "Node", "open_gates"]

_WAIT_SLICE = 0.05  # seconds

Submit = Callable[[Sequence[NativeEvent]], None]
Starter = Callable[[Callable[[], None]], None]

# Guards the links between nodes. Held for a few instructions, in which nothing else is locked.
_lock = Lock()


class _Turns(threading.local):
    """Ready nodes of this thread, and whether a caller is starting them: long chains do not recurse."""

    def __init__(self) -> None:
        self.ready: deque[Node] = deque()
        self.busy = False


_turns = _Turns()

# The node that a thread waits for, by thread: two host tasks may wait for each other.
_waiting: dict[int, Node] = {}


class Node:
    """One such command. Either ``launch`` submits it, or ``function`` runs on a thread of the pool.

    Attributes
    ----------
    event : Event
        What stands for the command.
    status
        As far as the host knows.
    error : Error | None
        Why it was not run, or what its function raised; final once it is over.
    over
        Whether the host has done its part.
    """

    __slots__ = (
        "_begun",
        "_bells",
        "_followers",
        "_function",
        "_launch",
        "_missing",
        "_needs",
        "_thread",
        "error",
        "event",
        "over",
        "status",
    )

    def __init__(
        self, event: Event, *, launch: Submit | None = None, function: Callable[[], object] | None = None
    ) -> None:
        self.event = event
        self._launch = launch
        self._function = function
        self._needs: tuple[Event, ...] = ()
        self._missing = 1
        self._followers: list[tuple[Node, Event, bool]] = []
        self._thread = 0
        self._begun = 0
        self._bells: list[threading.Lock] = []
        self.error: Error | None = None
        self.status = EventStatus.submitted
        self.over = False

    @property
    def function_runs(self) -> bool:
        """Whether its function has begun and not returned."""
        return self._function is not None and self._thread != 0 and not self.over

    @property
    def name(self) -> str:
        """Its function, for messages."""
        return repr(self._function)

    # ------------------------------------------------------------------ dependencies

    def start(self, needs: Iterable[Event], after: Iterable[Event] = ()) -> None:
        """Runs it once these events allow it: here and now if they already do.

        What is raised here, such as a KeyboardInterrupt, leaves it anywhere on its way: see ``withdraw``.

        Parameters
        ----------
        needs : Iterable[Event]
            What it cannot run without; if one failed, it fails too.
        after : Iterable[Event], default ()
            What it only comes after.
        """
        needs, after = tuple(needs), tuple(after)
        self._needs = needs + after
        for event in needs:
            self._await(event, True)
        for event in after:
            self._await(event, False)
        with _lock:
            self._missing -= 1
            if self._missing:
                return
        self._proceed(pool.later)

    def withdraw(self, after: Iterable[Event], submitter: int) -> None:
        """Ends it without an error where its submission was interrupted, unless another thread has begun with it.

        Runs on a thread of the pool, which no signal interrupts. Later commands of an in-order queue come after this
        one, so it waits for what it was to come after.

        Parameters
        ----------
        after : Iterable[Event]
            As of ``start``.
        submitter : int
            The thread of the submission.
        """
        while True:
            try:
                with _lock:
                    if self._begun not in (0, submitter):
                        return
                    self._begun = submitter
                for event in after:
                    for leaf in _leaves(event):
                        node = leaf._task
                        if node is not None:
                            node._wait_until_over()
                self._end()
                return
            except MemoryError:  # nobody else ends it
                time.sleep(_WAIT_SLICE)

    def _begin(self) -> bool:
        """Claims it for this thread; False if it was withdrawn or another has begun with it."""
        with _lock:
            if self._begun:
                return False
            self._begun = threading.get_ident()
            return True

    def _await(self, event: Event, needed: bool) -> None:
        """Counts what is missing of an event; what the driver can wait for is not."""
        stream = self.event._stream if self._launch is not None else None
        for leaf in _leaves(event):
            node = leaf._task
            if node is not None:
                follower = self, leaf, needed  # before the check: a finalizer that runs here may end the node
                with _lock:
                    if not node.over:
                        node._followers.append(follower)
                        self._missing += 1
                        continue
            if leaf._native is not None and not leaf._done:
                if stream is not None and stream.can_wait_for(leaf):
                    continue
                if not leaf._poll():
                    settling = _Settling(self, leaf, needed)  # first: without memory for it nothing is missing
                    with _lock:
                        self._missing += 1
                    pool.wait(settling)
                    continue
                leaf._settle()
            if needed and leaf._error is not None and self.error is None:
                self._blame(leaf)

    def _blame(self, cause: Event) -> None:
        """Takes over the failure of an event that it needs. It is reported with the cause if both are of one queue."""
        reason = cause._error if cause._origin is None or cause._error is None else cause._error.__cause__
        self.error = SyclRuntimeError(f"the command was not run, because one that it depends on failed: {reason}")
        self.error.__cause__ = reason
        own = self.event._stream
        self.event._origin = own if cause._stream is own else cause._origin or cause._stream

    def look_again(self, event: Event, needed: bool) -> None:
        """One of the missing events has made progress. What this raises is for ``give_up``."""
        self._await(event, needed)
        self._arrive()

    def _arrive(self) -> None:
        with _lock:
            self._missing -= 1
            if self._missing:
                return
        turns = _turns
        turns.ready.append(self)
        if turns.busy:
            return
        turns.busy = True
        try:
            while turns.ready:
                node = turns.ready.popleft()
                try:
                    node._proceed(_at_once)
                except BaseException as error:
                    node.give_up(error)
        finally:
            turns.busy = False

    # ------------------------------------------------------------------ running

    def _proceed(self, starter: Starter) -> None:
        """Everything is there.

        Parameters
        ----------
        starter : Starter
            Calls what starts those that follow it, here or on another thread.
        """
        function = self._function
        if function is None or self.error is not None:
            if not self._begin():
                return
            if self.error is None and self._launch is not None:
                self._submit(self._launch)
        self._needs = ()  # before it is over: whoever waits for that may ask whether they are gone
        if function is not None and self.error is None:
            try:
                pool.run(self._call)
                return
            except Error as error:
                if not self._begin():
                    return
                self.error = error
        self._end(starter)

    def give_up(self, cause: BaseException) -> None:
        """Ends it where a thread could not go on with it, because of a MemoryError or another error of the thread.

        Without an effect if another thread has begun with it. Waits for the memory that this takes.
        """
        while True:
            try:
                with _lock:
                    if self._begun not in (0, threading.get_ident()):
                        return
                    self._begun = threading.get_ident()
                if self.error is None and not self.over:
                    failure = SyclRuntimeError(
                        f"a thread could not go on with the command: {type(cause).__name__}: {cause}"
                    )
                    failure.__cause__ = cause
                    self.error = failure
                self._end()
                return
            except MemoryError:
                time.sleep(_WAIT_SLICE)

    def _submit(self, launch: Submit) -> None:
        natives: list[NativeEvent] = []
        stream = self.event._stream
        assert stream is not None
        try:
            for event in self._needs:
                event._collect(stream, natives, [])
            launch(natives)
        except Error as error:
            self.error = error
        except Exception as error:  # whatever it was, those that wait shall not wait for ever
            self.error = SyclRuntimeError(f"the command was not submitted: {type(error).__name__}: {error}")
            self.error.__cause__ = error

    def run_here(self, needs: tuple[Event, ...]) -> None:
        """Instead of ``start``: waits and runs the function on this thread. Interrupted, it is left to ``resume``."""
        self._needs = needs
        for event in needs:
            event._settle()
        for event in needs:
            for leaf in _leaves(event):
                if leaf._error is not None and self.error is None:
                    self._blame(leaf)
        if self.error is not None:
            self._end(pool.later)
            return
        self._call(pool.later)
        cause = self.error.__cause__ if self.error is not None else None
        if isinstance(cause, KeyboardInterrupt):
            raise cause

    def resume(self, needs: tuple[Event, ...]) -> None:
        """After ``run_here`` or ``start`` was interrupted, or was not reached: runs it, or ends it if it had begun.

        Runs on a thread of the pool.
        """
        try:
            if self.over:
                self._start_followers()
            elif self._begun:
                if self.error is None:
                    self.error = SyclRuntimeError("a command was interrupted while this thread made it")
                self._end()
            else:
                self.start(needs)
        except BaseException as error:
            self.give_up(error)

    def _call(self, starter: Starter | None = None) -> None:
        try:
            self._run(starter)
        except BaseException as error:  # not of the function: of what surrounds it
            self.give_up(error)

    def _run(self, starter: Starter | None) -> None:
        if not self._begin():
            return
        function = self._function
        assert function is not None
        self._thread, self.status = threading.get_ident(), EventStatus.running
        try:
            function()
        except Error as error:
            self.error = error
        except BaseException as error:
            self.error = SyclRuntimeError(f"a host task raised {type(error).__name__}: {error}")
            self.error.__cause__ = error
        self._end(starter or _at_once)  # before the function is dropped: what it holds may wait for this to be over

    def _end(self, starter: Starter | None = None) -> None:
        """It is over: those that wait go on. Interrupted, it can be called again.

        Parameters
        ----------
        starter : Starter, optional
            Calls what starts those that follow it; None for here and now.
        """
        event, stream = self.event, self.event._stream
        self.status = EventStatus.complete
        if stream is None:
            event._conclude(self.error)
        else:
            with stream.lock:  # at once: who sees that the event is complete finds the queue idle
                if event._native is None:
                    event._conclude(self.error)
                stream.let_go(event)
        with _lock:
            self.over = True
        event._task = self._launch = None
        while self._bells:
            self._bells.pop().release()
        if self._followers:
            (starter or _at_once)(self._start_followers)

    def _start_followers(self) -> None:
        while self._followers:
            with _lock:
                if not self._followers:  # another thread has begun with the last
                    return
                node, leaf, needed = self._followers.pop(0)
            try:
                node.look_again(leaf, needed)
            except BaseException as error:
                node.give_up(error)

    # ------------------------------------------------------------------ being waited for

    def wait(self) -> Error | None:
        """Returns once it is over, with its error.

        Raises
        ------
        AccessorError
            It waits for a host accessor of this very thread.
        InvalidError
            It waits for the host task that is asking.
        """
        if not self.over:
            me = threading.get_ident()
            outer = _waiting.get(me)  # a destructor may wait during another wait
            try:
                _waiting[me] = self  # before the look: of two threads that wait for each other one sees the other
                own = self.held_up_here()
                if own is not None:
                    raise own.own_wait()
                self._wait_until_over()
            finally:
                if outer is None:
                    _waiting.pop(me, None)
                else:
                    _waiting[me] = outer
        return self.error

    def _wait_until_over(self) -> None:
        """Returns once it is over. It rings a lock, not a ``threading.Event``, which a MemoryError can leave locked."""
        bell = threading.Lock()
        bell.acquire()
        self._bells.append(bell)
        # In slices: some libraries have signals restart what they interrupt, and Ctrl-C would wait with us.
        while not self.over:
            bell.acquire(timeout=_WAIT_SLICE)

    def held_up_here(self) -> Node | None:
        """The node that this very thread has to end before this one can end, if there is one.

        A node waits for the events that it needs. One that a thread runs or holds waits for the node that this thread
        waits for.
        """
        me = threading.get_ident()
        visits: set[Node] = set()
        stack: list[Node] = [self]
        while stack:
            node = stack.pop()
            if node in visits or node.over:
                continue
            visits.add(node)
            if node._thread == me:
                return node
            other = _waiting.get(node._thread)
            if other is not None:
                stack.append(other)
            for event in node._needs:
                stack.extend(leaf._task for leaf in _leaves(event) if leaf._task is not None)
        return None

    def own_wait(self) -> Error:
        """The error of a thread that would wait for itself."""
        return InvalidError(
            "a host task waits for itself: for its own event, its own queue, a command that comes after it, or a host "
            "task that waits for it"
        )


class Gate(Node):
    """Closed by a thread that holds memory; what follows it starts when it is opened."""

    __slots__ = ("__weakref__",)

    def __init__(self, event: Event) -> None:
        super().__init__(event)
        self._thread = threading.get_ident()
        self.status = EventStatus.running
        _gates.add(self)

    def disown(self) -> None:
        """Another thread will open it."""
        self._thread = 0

    def open(self) -> None:
        """Lets go on what waits for it; not from a destructor. Interrupted, it can be called again."""
        self._end(pool.later)
        _gates.discard(self)

    def own_wait(self) -> Error:
        return AccessorError(
            "this would wait for ever: the command waits for a host accessor that this thread holds; leave its with "
            "block or call its close() first"
        )


class _Settling:
    """A job that waits for a native event on behalf of a node, once."""

    __slots__ = ("_event", "_needed", "_node")

    def __init__(self, node: Node, event: Event, needed: bool) -> None:
        self._node, self._needed = node, needed
        self._event: Event | None = event

    def __call__(self) -> None:
        event, self._event = self._event, None
        if event is None:
            return
        try:
            event._settle()
            self._node._await(event, self._needed)
            del event  # what follows may be the last that was to keep it
            self._node._arrive()
        except BaseException as error:
            self._node.give_up(error)


_gates: weakref.WeakSet[Gate] = weakref.WeakSet()


def _at_once(job: Callable[[], None]) -> None:
    """A starter for threads that no signal interrupts."""
    job()


def _leaves(event: Event) -> Iterator[Event]:
    """The commands that an event stands for."""
    if event._native is None and event._task is None and event._parts:
        yield from event._parts
    else:
        yield event


def open_gates() -> None:
    """At interpreter exit: nobody will open what is still closed."""
    for gate in ownership.snapshot(_gates):
        gate.open()


def _after_fork() -> None:
    global _lock
    _lock = Lock()
    _gates.clear()
    _waiting.clear()


ownership.after_fork(_after_fork)
