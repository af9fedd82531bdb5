"""``Pool``: threads that run host tasks and start dependent commands, created on demand."""

from __future__ import annotations

import queue
import sys
import threading
import time
from collections import deque
from collections.abc import Callable

from ..core import ownership
from ..core.lock import Lock
from ..model.errors import SyclRuntimeError

__all__ = ["Pool", "pool"]

Job = Callable[[], None]

_IDLE_SECONDS = 10.0
_MOST_WAITERS = 32
_PAUSE = 0.01  # seconds until there may be memory again
_SHUTDOWN = "interpreter shutdown"  # in the error of Python for a thread that starts too late


def _do(job: Job) -> None:
    """Runs a job, again where there is no memory to begin with it. What else it raises is printed."""
    while True:
        try:
            job()
            return
        except MemoryError:
            time.sleep(_PAUSE)
        except BaseException:
            sys.excepthook(*sys.exc_info())
            return


class Pool:
    """Runs jobs on threads of its own. Jobs see to their own errors, and can be called again after a ``MemoryError``.

    No error ends a thread: others count on it.

    ``run`` never lets a job wait for another, because host tasks may block each other, except while the interpreter
    ends: Python 3.12 and newer start no thread then, and the next thread that is free runs the job. ``wait`` is for
    jobs that only wait for a driver; at most 32 do so at a time, the others in the order in which they came.

    Attributes
    ----------
    later : Callable[[Job], None]
        Runs a job soon; ``prepare`` was called before. It takes no lock and is one call of C, which no signal
        interrupts: destructors and handlers of exceptions use it.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._workers = 0
        self._idle = 0
        self._waiting = 0
        self._waits: deque[Job] = deque()
        self._postponed: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self.later: Callable[[Job], None] = self._postponed.put
        self._has_clerk = False

    def run(self, job: Job) -> None:
        """Runs a job at once.

        Raises
        ------
        SyclRuntimeError
            The system has no more threads.
        """
        with self._lock:
            if self._idle > 0:
                self._jobs.put(job)
                self._idle -= 1
                return
            self._workers += 1
        first = [job]  # emptied by the thread: it shall not hold its first job for ever
        try:
            self._start(lambda: self._work(first), "bindless worker")
        except SyclRuntimeError as error:
            with self._lock:
                self._workers -= 1
                if not (self._workers and _SHUTDOWN in str(error)):
                    raise
                self._idle -= 1  # below zero: jobs that wait for a thread
                self._jobs.put(job)

    @staticmethod
    def _start(job: Job, name: str) -> None:
        try:
            threading.Thread(target=job, name=name, daemon=True).start()
        except (RuntimeError, MemoryError) as error:
            raise SyclRuntimeError(f"a thread was not started: {error}; end some, or submit less at once") from error

    def _work(self, first: list[Job]) -> None:
        is_idle = False  # as far as ``_idle`` counts
        while True:
            try:
                if first:
                    job: Job | None = first.pop()
                else:
                    if not is_idle:
                        with self._lock:
                            self._idle += 1
                            is_idle = True
                    job = self._next()
                    is_idle = False
                    if job is None:
                        return
            except MemoryError:
                time.sleep(_PAUSE)
                continue
            assert job is not None
            _do(job)
            job = None

    def _next(self) -> Job | None:
        while True:
            try:
                return self._jobs.get(timeout=_IDLE_SECONDS)
            except queue.Empty:
                with self._lock:
                    if self._idle > 0:  # else a job was promised to one of us
                        self._idle -= 1
                        self._workers -= 1
                        return None

    def wait(self, job: Job) -> None:
        """Runs a job that waits for a driver, soon."""
        self._waits.append(job)
        if self._waiting >= _MOST_WAITERS:
            return
        try:
            self.run(self._wait)
        except (SyclRuntimeError, MemoryError):  # no more threads: this one waits
            self._wait()

    def _wait(self) -> None:
        """Runs the jobs that wait for a driver until none is left, unless enough threads do so."""
        with self._lock:
            if self._waiting >= _MOST_WAITERS:
                return
            self._waiting += 1
        while True:
            try:
                with self._lock:
                    if not self._waits:
                        self._waiting -= 1
                        return
                    job: Job | None = self._waits.popleft()
            except MemoryError:
                time.sleep(_PAUSE)
                continue
            assert job is not None
            _do(job)
            job = None

    def prepare(self) -> None:
        """Makes sure that ``later`` is served."""
        with self._lock:
            if self._has_clerk:
                return
            self._start(self._serve, "bindless clerk")
            self._has_clerk = True

    def _serve(self) -> None:
        while True:
            try:
                job: Job | None = self._postponed.get()
            except MemoryError:
                time.sleep(_PAUSE)
                continue
            assert job is not None
            try:
                self.run(job)
            except (SyclRuntimeError, MemoryError):  # no more threads: this one does it
                _do(job)
            job = None


pool = Pool()


def _after_fork() -> None:
    pool.__init__()  # type: ignore[misc]


ownership.after_fork(_after_fork)
