"""``ErrorLog``: the asynchronous errors of one queue, kept until a handler or a wait reports them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..core.lock import Lock
from ..model.errors import DeviceLostError, Error, ExceptionList

if TYPE_CHECKING:
    from ..backends.contract import BackendProtocol, NativeQueue
    from .owners import StreamContext

__all__ = ["AsyncHandler", "ErrorLog", "Unclaimed", "owing", "retire"]

AsyncHandler = Callable[[ExceptionList], object]

_SAME_ERRORS = 8  # a driver that cannot go on repeats one error for every question


def _same(left: Error, right: Error) -> bool:
    return type(left) is type(right) and left.native_code == right.native_code and str(left) == str(right)


def _is_loss(error: Error) -> bool:
    return isinstance(error, DeviceLostError)


owing: set[Unclaimed] = set()
"""Those with errors, which keep their place until the end of the interpreter, whatever becomes of their contexts."""


class Unclaimed:
    """Errors of a context's queues that ended before anyone asked for them.

    Parameters
    ----------
    handler : AsyncHandler | None
        The context's, for the errors of queues without one.
    """

    __slots__ = ("_rows", "handler")

    def __init__(self, handler: AsyncHandler | None) -> None:
        self.handler = handler
        self._rows: deque[tuple[AsyncHandler | None, list[Error]]] = deque()

    def append(self, handler: AsyncHandler | None, errors: list[Error]) -> None:
        """Keeps the errors of a queue with their handler, if it had one of its own."""
        self._rows.append((handler, errors))
        owing.add(self)

    def take(self) -> list[tuple[AsyncHandler | None, list[Error]]]:
        """Remove and return all errors."""
        owing.discard(self)
        rows = []
        while self._rows:
            try:
                rows.append(self._rows.popleft())
            except IndexError:  # another thread took the last one
                break
        return rows


def retire(backend: BackendProtocol, native: NativeQueue, unclaimed: Unclaimed, handler: AsyncHandler | None) -> None:
    """Releases a native queue, keeping the errors that nobody asked for."""
    try:
        backend.wait_queue(native)
    except Error as error:
        unclaimed.append(handler, [error])
    backend.release_queue(native)


class ErrorLog:
    """Unreported errors. Those left when the log ends go to the context, for its next report.

    Parameters
    ----------
    context : StreamContext
        Whose handler is used where the queue has none.
    handler : AsyncHandler | None
        The queue's own.

    Attributes
    ----------
    errors : list[Error]
        Found and not yet reported.
    told_loss
        Whether the loss of the device was reported.
    silent
        Whether the errors are reported by the commands that this queue works for, not by the queue.
    """

    __slots__ = ("_context", "_lock", "errors", "handler", "silent", "told_loss")

    def __init__(self, context: StreamContext, handler: AsyncHandler | None) -> None:
        self._context = context
        self._lock = Lock()
        self.handler = handler
        self.errors: list[Error] = []
        self.told_loss = False
        self.silent = False

    def record(self, error: Error) -> bool:
        """Keeps an asynchronous error until it is reported; False if it only repeats itself endlessly."""
        if self.silent:
            return False
        found = error.errors if isinstance(error, ExceptionList) else (error,)
        kept = False
        with self._lock:
            for item in found:
                if _is_loss(item) and any(map(_is_loss, self.errors)):
                    continue  # said once, it is clear
                tail = self.errors[-_SAME_ERRORS:]
                if len(tail) < _SAME_ERRORS or not all(_same(item, other) for other in tail):
                    self.errors.append(item)
                    kept = True
        return kept

    def owes(self, error: Error) -> bool:
        """Whether an error, or the one that caused it, has still to be reported."""
        return any(item is error or item is error.__cause__ for item in self.errors)

    def withdraw(self, error: Error) -> None:
        """Takes back an error that was reported through its event."""
        with self._lock:
            self.told_loss = self.told_loss or _is_loss(error)
            self.errors = [item for item in self.errors if item is not error]

    def take(self) -> list[Error]:
        """Remove and return the unreported errors."""
        if not self.errors:
            return []
        with self._lock:
            errors, self.errors = self.errors, []
        return errors

    @property
    def handled(self) -> bool:
        """Whether an ``async_handler`` of the queue or of its context takes the errors."""
        return self.handler is not None or self._context.async_handler is not None

    def report(self) -> None:
        """Gives the errors found so far to the handler, or raises them."""
        errors = self.take()
        self.told_loss = self.told_loss or any(map(_is_loss, errors))
        for handler, others in self._context._unclaimed.take():
            if handler is not None:
                handler(ExceptionList(others))
            else:
                errors = [*others, *errors]
        if not errors:
            return
        handler = self.handler or self._context.async_handler
        if handler is not None:
            handler(ExceptionList(errors))
        elif len(errors) == 1:
            raise errors[0]
        else:
            raise ExceptionList(errors)

    def forget(self) -> None:
        """In the child of a fork: another thread of the parent may have held the lock."""
        self._lock = Lock()

    def __del__(self) -> None:  # the errors of a queue that nobody waits for any more
        if getattr(self, "errors", None):  # its constructor may have been interrupted
            self._context._unclaimed.append(self.handler, self.errors)
