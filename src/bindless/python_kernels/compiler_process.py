"""The process that compiles kernels: started by the first kernel that is not cached, kept for the next ones.

A fault of LLVM ends the process, not the program. There is one for each language: options of LLVM and what Numba
remembers of its library functions belong to one.
"""

from __future__ import annotations

import importlib.util
import pickle
from collections.abc import Sequence
from typing import TypedDict

from ..compiler.process.python_command import current_folder
from ..compiler.process.time_limit import Deadline
from ..compiler.process.worker import Worker
from ..device.declaration import LaunchFacts
from ..model.errors import FeatureNotSupportedError
from .argument_type import ArgumentType
from .expansion import ParameterPath
from .function_source import FunctionSource

__all__ = ["INSTALL", "Answer", "Request", "compile_in_process", "missing_packages"]

INSTALL = "pip install 'bindless[kernels]'"
_PACKAGES = ("numba", "llvmlite")
_CODE = "from bindless.python_kernels.worker.main import main; main()"
_VARIABLES = {"LLVMLITE_ENABLE_IR_LAYER_TYPED_POINTERS": "0", "NUMBA_DISABLE_JIT": "0"}

_workers: dict[str, Worker] = {}


class Request(TypedDict):
    """A kernel to compile."""

    source: FunctionSource
    launch: LaunchFacts
    arguments: tuple[ArgumentType, ...]
    architecture: str


class Answer(TypedDict, total=False):
    """A compiled kernel: its file, the paths of its parameters, versions of the compiler, and the request's digest.

    Otherwise ``error`` and ``log``, or the packages that are ``missing``.
    """

    file: bytes
    paths: Sequence[ParameterPath]
    versions: dict[str, str]
    digest: bytes
    error: str
    log: str
    missing: str


def missing_packages() -> str:
    """Return the packages that are not installed, or an empty text."""
    missing = [name for name in _PACKAGES if importlib.util.find_spec(name) is None]
    return f"{' and '.join(missing)} not installed" if missing else ""


def compile_in_process(language: str, request: Request, name: str) -> Answer:
    """Send a request to the process of a language, and return its answer.

    Parameters
    ----------
    name
        Of the kernel, for messages.

    Raises
    ------
    FeatureNotSupportedError
        Numba or llvmlite is missing.
    BuildError
        The process ended, or the time limit passed.
    """
    missing = missing_packages()
    if missing:
        raise FeatureNotSupportedError(f"kernels in Python are compiled with numba: {missing}: `{INSTALL}`")
    worker = _workers.get(language)
    if worker is None:
        worker = _workers.setdefault(language, Worker(_CODE, "the compiler of kernels in Python", _VARIABLES))
    data = pickle.dumps({**request, "folder": current_folder()})
    answer: Answer = pickle.loads(worker.ask(data, Deadline(), f"compilation of kernel {name!r}"))
    return answer
