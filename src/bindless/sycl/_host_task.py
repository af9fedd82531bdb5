"""``HostTask``: a Python function in the order of a queue's commands, on a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from ..model.enums import EventStatus
from ..model.errors import Error, SyclRuntimeError

__all__ = ["HostTask"]


class HostTask:
    """Runs ``function()`` once ``before()`` has returned.

    Args:
        before: waits for what the task depends on.
        function: the task; what it raises becomes an asynchronous error of the queue.
    """

    __slots__ = ("_before", "_ended", "_error", "_function", "status", "thread")

    def __init__(self, before: Sequence[Callable[[], None]], function: Callable[[], object]) -> None:
        self._before = before
        self._function: Callable[[], object] | None = function
        self._error: Error | None = None
        self._ended = threading.Event()
        self.status = EventStatus.submitted
        self.thread = threading.Thread(target=self._run, name="bindless host task", daemon=True)

    def start(self) -> None:
        """Raises ``SyclRuntimeError``, and is over, if the system has no more threads."""
        try:
            self.thread.start()
        except RuntimeError as error:
            self._end()
            raise SyclRuntimeError(f"the host task was not started: {error}") from error

    def _end(self) -> None:
        self.status = EventStatus.complete
        self._ended.set()

    def _run(self) -> None:
        function, self._function = self._function, None
        try:
            for wait in self._before:
                wait()
            self._before = ()
            self.status = EventStatus.running
            assert function is not None
            function()
        except Error as error:
            self._error = error
        except BaseException as error:
            self._error = SyclRuntimeError(f"a host task raised {type(error).__name__}: {error}")
            self._error.__cause__ = error
        self._end()

    def wait(self) -> Error | None:
        """Returns when the task has ended, with its error."""
        self._ended.wait()
        return self._error
