"""A worker: a Python process of the package's own that answers requests.

An answer names its request by number and hash. A process whose exchange is interrupted, by Ctrl-C, by a time limit or
by any exception, is ended: no later request reads its answer. One that ended while it had nothing to do is started
again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Mapping
from typing import IO

from ...model.errors import BuildError
from .child_process import end, kill, start
from .python_command import python_command, python_environment
from .time_limit import Deadline
from .worker_loop import HEAD

__all__ = ["Worker"]

_MOST_OUTPUT = 1 << 20  # bytes of messages in an error
_PATIENCE = 10.0  # seconds
_workers: weakref.WeakSet[Worker] = weakref.WeakSet()
_running: weakref.WeakSet[_Running] = weakref.WeakSet()


class Worker:
    """A process that is started at the first request.

    Parameters
    ----------
    code
        The program, which calls ``serve``.
    name
        What it is, for messages.
    variables
        Environment variables of the process.
    """

    def __init__(self, code: str, name: str, variables: Mapping[str, str] | None = None) -> None:
        self._code = code
        self._name = name
        self._variables = dict(variables or {})
        self._idle: _Running | None = None
        self._lock = threading.Lock()
        _workers.add(self)

    def ask(self, request: bytes, deadline: Deadline, step: str) -> bytes:
        """Send a request and return its answer. Threads wait for each other.

        Parameters
        ----------
        step
            What is asked for, for messages.

        Raises
        ------
        BuildError
            The process ended, or the time limit passed; ``log`` has the output of the process.
        """
        with self._lock:
            # The process is nobody's while it works: after any exception none is there.
            process, self._idle = self._idle, None
            if process is not None and process.has_ended:
                process.end()
                process = None
            answer = None
            while answer is None:
                process = process or _Running(self._code, self._variables)
                try:
                    answer = process.exchange(request, deadline, self._name, step)
                finally:
                    if answer is None:
                        process.end()
                if answer is None:
                    process = None
            self._idle = process
            return answer

    def process_id(self) -> int | None:
        """Return the number of the process that waits for a request, if there is one."""
        return self._idle.process_id if self._idle is not None else None

    def messages(self) -> str:
        """Return what the process that waits for a request has printed."""
        return self._idle.messages() if self._idle is not None else ""

    def close(self) -> None:
        """End the process; the next request starts another one."""
        with self._lock:
            process, self._idle = self._idle, None
            if process is not None:
                process.end()

    def _forget(self) -> None:
        """In a fork: its process belongs to the other one, and the lock may be of a thread that is not here."""
        self._lock = threading.Lock()
        self._idle = None


class _Ended(Exception):
    """The process ended."""


class _Running:
    """One process."""

    def __init__(self, code: str, variables: Mapping[str, str]) -> None:
        with contextlib.ExitStack() as cleanup:  # undone where an exception interrupts the start
            folder = tempfile.mkdtemp(prefix="bindless-compiler-")
            cleanup.callback(shutil.rmtree, folder, ignore_errors=True)
            messages: IO[bytes] = cleanup.enter_context(tempfile.TemporaryFile())
            # The process starts in its own folder: libraries read settings in the current one.
            process = start(
                python_command(code, [folder]),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=messages,
                bufsize=0,  # a fork must find no half request to write
                cwd=folder,
                env=python_environment(**{**variables, "TMPDIR": folder, "TEMP": folder, "TMP": folder}),
            )
            cleanup.callback(end, process)
            self._process, self._messages = process, messages
            self._number = 0
            self._finalizer = weakref.finalize(self, _finish, process, messages, folder, os.getpid())
            cleanup.pop_all()
        _running.add(self)

    @property
    def process_id(self) -> int:
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def exchange(self, request: bytes, deadline: Deadline, name: str, step: str) -> bytes | None:
        """Return the answer to a request; None where the process had nothing to do and ended before it took this one.

        Raises
        ------
        BuildError
            The time limit passed, the process ended, or the answer is that of another request.
        """
        seconds = deadline.left(step)
        self._number += 1
        digest = hashlib.sha256(request).digest()
        expired = threading.Event()

        def expire() -> None:
            expired.set()
            kill(self._process)

        timer = threading.Timer(seconds, expire)
        timer.daemon = True
        timer.start()
        acknowledged = False
        try:
            self._write(HEAD.pack(len(request), self._number, seconds, digest) + request)
            self._answer(digest)
            acknowledged = True
            answer = self._answer(digest)
        except (OSError, _Ended):
            if expired.is_set():
                raise deadline.error(step) from None
            if acknowledged or self._number == 1:
                raise self._error(name, step) from None
            return None
        finally:
            timer.cancel()
        return answer

    def _write(self, data: bytes) -> None:
        assert self._process.stdin is not None
        view = memoryview(data)
        while view:
            view = view[self._process.stdin.write(view) :]

    def _answer(self, digest: bytes) -> bytes:
        """Read a frame, which must be for the last request."""
        length, number, _, own = HEAD.unpack(self._read(HEAD.size))
        if (number, own) != (self._number, digest):
            raise BuildError(f"request {self._number} of a compiler got the answer to request {number}: try again")
        return self._read(length)

    def _read(self, count: int) -> bytes:
        assert self._process.stdout is not None
        parts = []
        while count:
            part = self._process.stdout.read(min(count, 1 << 20))
            if not part:
                raise _Ended
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def _error(self, name: str, step: str) -> BuildError:
        try:
            status = self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:  # it closed its output, and goes on
            kill(self._process)
            status = self._process.wait()
        text = self.messages()
        return BuildError(f"{name} ended with status {status} in this step: {step}\n{text[-2000:]}", log=text)

    def messages(self) -> str:
        """Return the end of what the process and its libraries have printed."""
        size = self._messages.seek(0, os.SEEK_END)
        self._messages.seek(max(0, size - _MOST_OUTPUT))
        return self._messages.read().decode(errors="replace").strip()

    def end(self) -> None:
        self._finalizer()

    def forget(self) -> None:
        """In a fork: close this process's ends of the pipes, so that the other one's alone count."""
        self._finalizer.detach()
        for pipe in (self._process.stdin, self._process.stdout, self._messages):
            if pipe is not None:
                pipe.close()
        self._process.returncode = 0  # not a child of this process


def _finish(process: subprocess.Popen[bytes], messages: IO[bytes], folder: str, owner: int) -> None:
    if os.getpid() != owner:  # a fork
        return
    end(process)
    messages.close()
    shutil.rmtree(folder, ignore_errors=True)


def _forget_all() -> None:
    for worker in list(_workers):
        worker._forget()
    for process in list(_running):
        process.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
