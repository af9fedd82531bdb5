"""The compiler's process: answers requests, which are pickled dictionaries, as the answers are."""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import sys
from typing import TYPE_CHECKING

from ...compiler.process.worker_loop import serve
from ...model.errors import BuildError, FeatureNotSupportedError
from ..function_digest import digest_of, digest_of_request
from ..function_source import FunctionSource

if TYPE_CHECKING:
    from ..compiler_process import Answer, Request

__all__ = ["main"]

_UNUSED = ("cffi", "scipy")  # Numba imports them, if they are there, for functions that kernels do not have


def main() -> None:
    """Answer requests until the input ends."""
    gc.disable()
    sys.modules.update(dict.fromkeys(_UNUSED))  # type: ignore[arg-type]
    _prepare()
    gc.freeze()
    gc.enable()
    serve(_answer_bytes)


def _prepare() -> None:
    """Import the compiler before the first request: that takes longer than most kernels."""
    import llvmlite.binding as llvm

    from ...compiler.llvm.toolchain import KEEP_LOOPS
    from . import compile, errors, functions  # noqa: F401

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    llvm.set_option("bindless", KEEP_LOOPS)


def _answer_bytes(data: bytes) -> bytes:
    """Answer in the current folder of the program, where relative names of files mean the same."""
    own = os.getcwd()
    request = pickle.loads(data)
    with contextlib.suppress(OSError):  # it is gone
        os.chdir(request["folder"])
    try:
        return pickle.dumps(_answer(request))
    finally:
        os.chdir(own)


def _answer(request: Request) -> Answer:
    from . import compile as compilation
    from .errors import explain, require_supported, versions
    from .functions import rebuild

    source: FunctionSource = request["source"]
    launch = request["launch"]
    try:
        require_supported(source)
        function = rebuild(source, launch.language)
        kernel = compilation.compile_kernel(function, request["arguments"], launch, request["architecture"], versions())
    except BuildError as error:
        return {"error": str(error), "log": error.log}
    except FeatureNotSupportedError as error:  # of the device, or clang is missing
        return {"missing": str(error)}
    except Exception as error:
        return explain(error, source)
    # Of what was compiled, not of what the program asked for: the program compares them.
    digest = digest_of_request(digest_of(source), launch, request["arguments"], request["architecture"])
    return {"file": kernel.file, "paths": kernel.paths, "versions": versions(), "digest": digest}
