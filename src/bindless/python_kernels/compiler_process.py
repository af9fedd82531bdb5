"""The process that compiles kernels: started by the first kernel that is not cached, kept for the next ones.

A fault of LLVM ends the process, not the program. There is one for each language: options of LLVM and what Numba
remembers of its library functions belong to one.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import weakref
from typing import IO, Any

from ..model.errors import BuildError, FeatureNotSupportedError

__all__ = ["INSTALL", "compile_in_process", "missing_packages"]

INSTALL = "pip install 'bindless[kernels]'"
_PACKAGES = ("numba", "llvmlite")
_START = "from bindless.python_kernels.worker.main import main; main()"
_LENGTH = 8

_lock = threading.Lock()
_processes: dict[tuple[int, str], _Process] = {}


def missing_packages() -> str:
    """Return the packages that are not installed, or an empty text."""
    missing = [name for name in _PACKAGES if importlib.util.find_spec(name) is None]
    return f"{' and '.join(missing)} not installed" if missing else ""


def compile_in_process(language: str, request: dict[str, Any]) -> dict[str, Any]:
    """Send a request to the process of a language, and return its answer.

    Raises
    ------
    FeatureNotSupportedError
        Numba or llvmlite is missing.
    BuildError
        The process ended.
    """
    missing = missing_packages()
    if missing:
        raise FeatureNotSupportedError(f"kernels in Python are compiled with numba: {missing}: `{INSTALL}`")
    with _lock:
        key = os.getpid(), language  # a forked process has its own
        process = _processes.get(key)
        if process is not None and process.has_ended:  # since its last answer: memory ran out, or a user ended it
            process.close()
            process = None
        if process is None:
            process = _processes[key] = _Process()
        try:
            return process.ask(request)
        except BuildError:
            _processes.pop(key).close()
            raise


class _Process:
    """A process that compiles."""

    def __init__(self) -> None:
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "LLVMLITE_ENABLE_IR_LAYER_TYPED_POINTERS": "0",
            "NUMBA_DISABLE_JIT": "0",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env=environment,
        )
        self._end = weakref.finalize(self, _end, self._process, self._said)

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request and wait for the answer.

        Raises
        ------
        BuildError
            The process ended; ``log`` holds its output.
        """
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        answer = b""
        data = pickle.dumps(request)
        try:
            process.stdin.write(len(data).to_bytes(_LENGTH, "little") + data)
            process.stdin.flush()
            length = process.stdout.read(_LENGTH)
            answer = process.stdout.read(int.from_bytes(length, "little")) if len(length) == _LENGTH else b""
        except BrokenPipeError:
            pass
        if not answer:
            status = process.wait()
            self._said.seek(0)
            said = self._said.read().decode(errors="replace").strip()
            raise BuildError(f"the compiler of kernels in Python ended with status {status}:\n{said[-2000:]}", log=said)
        found: dict[str, Any] = pickle.loads(answer)
        return found

    def close(self) -> None:
        self._end()


def _end(process: subprocess.Popen[bytes], said: IO[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
    process.wait()
    said.close()
