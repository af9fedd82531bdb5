"""The compiler's process: reads requests from its standard input, and answers on its standard output.

A request and an answer are pickled dictionaries after their length in 8 bytes. What LLVM and Numba print goes to the
standard error.
"""

from __future__ import annotations

import gc
import os
import pickle
import sys
from typing import Any, BinaryIO

from ...model.errors import BuildError, FeatureNotSupportedError
from ..function_source import FunctionSource

__all__ = ["main"]

_LENGTH = 8
_UNUSED = ("cffi", "scipy")  # Numba imports them, if they are there, for functions that kernels do not have


def main() -> None:
    """Answer requests until the input ends."""
    gc.disable()
    sys.modules.update(dict.fromkeys(_UNUSED))  # type: ignore[arg-type]
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    requests = sys.stdin.buffer
    _prepare()
    gc.freeze()
    gc.enable()
    while True:
        length = requests.read(_LENGTH)
        if len(length) < _LENGTH:
            return
        request = pickle.loads(requests.read(int.from_bytes(length, "little")))
        _write(answers, _answer(request))


def _prepare() -> None:
    """Import the compiler before the first request: that takes longer than most kernels."""
    import llvmlite.binding as llvm

    from ...compiler.llvm.toolchain import KEEP_LOOPS
    from . import compile, errors, functions  # noqa: F401

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    llvm.set_option("bindless", KEEP_LOOPS)


def _write(answers: BinaryIO, answer: dict[str, Any]) -> None:
    data = pickle.dumps(answer)
    answers.write(len(data).to_bytes(_LENGTH, "little") + data)
    answers.flush()


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    from . import compile as compilation
    from .errors import explain, require_supported, versions
    from .functions import rebuild

    source: FunctionSource = request["source"]
    launch = request["launch"]
    try:
        require_supported(source)
        function = rebuild(source, launch.language)
        made = compilation.compile_kernel(function, request["arguments"], launch, request["architecture"], versions())
    except BuildError as error:
        return {"error": str(error), "log": error.log}
    except FeatureNotSupportedError as error:  # of the device, or clang is missing
        return {"missing": str(error)}
    except Exception as error:
        return explain(error, source)
    return {"file": made.file, "paths": made.paths, "versions": versions()}
