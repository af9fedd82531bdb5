"""The streams of the process that have unfinished commands: handling at interpreter exit and after a fork."""

from __future__ import annotations

import sys
import time
import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from ..core import ownership
from ..core.lock import Lock
from ..core.ownership import ENDED, FORKED
from ..model.errors import DeviceLostError, Error, ExceptionList, SyclRuntimeError
from .async_errors import AsyncHandler, owing
from .host_access import end_accesses
from .host_dependency import Node, open_gates
from .pending_semaphores import describe

if TYPE_CHECKING:
    from .command_stream import CommandStream
    from .event import Event

__all__ = [
    "active", "begin", "birth", "events_of_users", "make_room", "spare", "streams", "sweep", "uses", "wait_for_all",
    "wait_for_users",
]  # fmt: skip

active: set[CommandStream] = set()
"""Those with work that is not known to be complete: it finds them alive.

To be copied before it is walked, which is one step: other threads and the collector change it at any time.
"""

streams: weakref.WeakSet[CommandStream] = weakref.WeakSet()
"""All of them."""

spare: list[Callable[[], object]] = []
"""What lets go of memory that nothing uses, which is kept for later work: when memory is short."""


# Seconds that the end of the interpreter waits for external semaphores, and for any host task to return; seconds
# between two looks.
_PATIENCE, _LOOK_AGAIN = 5.0, 0.01


class _Birth:
    """Gate for new streams. It closes at interpreter exit, because nothing would wait for their work.

    Attributes
    ----------
    lock
        Held by ``with``, which Ctrl-C cannot split; an ``__enter__`` written here could be left with it held.
    """

    def __init__(self) -> None:
        self.lock = Lock()
        self._over = False

    def require(self) -> None:
        """Refuses a stream once the interpreter ends; the lock is held."""
        if self._over:
            raise SyclRuntimeError("no queue can be made any more: the interpreter is ending")

    def end(self) -> None:
        """From now on it refuses; those that had entered before are done."""
        with self.lock:
            self._over = True

    def forget(self) -> None:
        """In the child of a fork: another thread may have held it."""
        self.lock = Lock()


birth = _Birth()


def begin(stream: CommandStream, keep: Iterable[object]) -> None:
    """Announces a command that uses ``keep`` before it is submitted or kept for later; the stream's lock is held.

    Whoever frees memory says so first and then waits for the streams that are active, with their locks. So another
    thread either waits for this command, or has freed before it, and then it is refused.

    Raises
    ------
    InvalidError
        Some of the memory was freed.
    """
    if not stream._dirty:
        stream._dirty = True
        active.add(stream)
    for item in keep:
        owner = getattr(item, "_owner", None)
        if owner is not None:
            owner.require_open()


def uses(keep: Iterable[object], owner: object) -> bool:
    """Whether memory of ``owner`` is among what a command keeps."""
    return any(item is owner or getattr(item, "_owner", None) is owner for item in keep)


def sweep() -> None:
    """Lets go of what completed commands of any queue used."""
    for stream in active.copy():
        stream.reap()


def wait_for_all() -> None:
    """Waits for what the drivers have of every queue's work, keeping the errors for whoever asks next."""
    for stream in active.copy():
        stream.settle_driver()


def make_room() -> None:
    """Waits for every queue's work, which frees what that used, and lets go of spare memory: for an allocation that
    failed and is tried again."""
    wait_for_all()
    for let_go in spare:
        let_go()


def wait_for_users(owner: object) -> None:
    """Waits for the commands submitted so far, on any queue, that use memory of ``owner``."""
    for stream in active.copy():
        stream.wait_for_users(owner)


def events_of_users(owner: object) -> list[Event]:
    """Events after the commands submitted so far, on any queue, that use memory of ``owner``."""
    return [event for stream in active.copy() for event in stream.events_of_users(owner)]


def _finish() -> None:
    """atexit hook: drain all queues, then print the errors that no handler received."""
    open_gates()
    if _is_stuck():
        return
    for stream in active.copy():
        if stream.native is not None:
            try:
                stream.settle()
            except Error as error:
                if stream.native is not None:  # else a thread has just closed it, and waited itself
                    stream.log.record(error)
    # Daemon threads may still submit. From here on they are refused without a report, and what they had
    # submitted is waited for too: memory that it uses goes next.
    birth.end()
    results = [(stream, stream.finish(ENDED)) for stream in ownership.snapshot(streams)]
    if not _are_left([stream for stream, _ in results]):
        ownership.abandon()
    end_accesses()
    lost = any(stream.log.told_loss for stream, _ in results)
    for stream, errors in results:
        stream.log.errors = []
        if lost:
            errors = [error for error in errors if not isinstance(error, DeviceLostError)]
        _report_at_exit(stream.log.handler or stream.context.async_handler, errors)
    for unclaimed in owing.copy():
        for handler, errors in unclaimed.take():
            _report_at_exit(handler or unclaimed.handler, errors)


def _are_left(ended: list[CommandStream]) -> bool:
    """Whether all threads leave their questions to the driver, which is to release what they ask about."""
    deadline = time.monotonic() + _PATIENCE
    while any(stream.waiters for stream in ended):
        if time.monotonic() >= deadline:
            return False
        time.sleep(_LOOK_AGAIN / 10)
    return True


def _is_stuck() -> bool:
    """Whether work waits for what will not happen any more: then nothing native is waited for, and it is said."""
    reasons = _waits_for_semaphores() or _endless_host_tasks()
    if not reasons:
        return False
    for reason in reasons:
        sys.stderr.write(f"bindless: work was not complete when the interpreter ended{reason}\n")
    birth.end()
    for stream in ownership.snapshot(streams):
        stream.end(ENDED)
    active.clear()
    ownership.abandon()
    return True


def _waits_for_semaphores() -> list[str]:
    """The external semaphores that nobody signals any more, as the ends of sentences."""
    deadline = time.monotonic() + _PATIENCE
    waiting = [stream for stream in active.copy() if stream.outside]
    while waiting and time.monotonic() < deadline:
        time.sleep(_LOOK_AGAIN)
        for stream in waiting:
            stream.reap()
        waiting = [stream for stream in waiting if stream.outside and stream in active]
    return [describe(stream, set()) for stream in waiting]


def _endless_host_tasks() -> list[str]:
    """Waits for all host tasks; if none returns for a while, those that run, as the ends of sentences."""
    before: set[Node] = set()
    deadline = 0.0
    while True:
        nodes = {event._task for stream in active.copy() for event in list(stream.tasks)} - {None}
        if not nodes:
            return []
        running = {node for node in nodes if node is not None and node.function_runs}
        if running != before:
            before, deadline = running, time.monotonic() + _PATIENCE
        elif running and time.monotonic() >= deadline:
            return [f": {node.name} has not returned" for node in sorted(running, key=lambda node: node.name)]
        time.sleep(_LOOK_AGAIN)


def _comes_of_the_end(error: BaseException | None) -> bool:
    """Whether a command, or one that it depends on, was refused because the interpreter ends or was forked."""
    while error is not None:
        if ENDED in str(error) or FORKED in str(error):
            return True
        error = error.__cause__
    return False


def _report_at_exit(handler: AsyncHandler | None, errors: list[Error]) -> None:
    errors = [error for error in errors if not _comes_of_the_end(error)]
    if not errors:
        return
    if handler is None:
        for error in errors:
            sys.stderr.write(f"bindless: an asynchronous error was never asked for: {error}\n")
        return
    try:
        handler(ExceptionList(errors))
    except Exception as failure:  # nobody is left to raise it to
        sys.stderr.write(f"bindless: the async_handler raised {type(failure).__name__}: {failure}\n")


def _after_fork() -> None:
    birth.forget()
    for stream in ownership.snapshot(streams):
        stream.forget()
    active.clear()
    owing.clear()


ownership.at_exit(_finish)
ownership.after_fork(_after_fork)
