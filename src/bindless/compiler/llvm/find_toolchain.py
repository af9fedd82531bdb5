"""Selection of the toolchain: ``BINDLESS_LLVM``, or the first available one in a fixed order."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

from ...model.errors import FeatureNotSupportedError, InvalidError
from .llvm_tools import MAJORS, LLVMTools
from .pip_tools import PipTools
from .toolchain import INSTALL, TESTED, VARIABLE, Toolchain

__all__ = ["find_toolchain", "kernels_available"]


def find_toolchain() -> Toolchain:
    """Return the toolchain that ``BINDLESS_LLVM`` selects: ``pip``, ``path``, or a folder with LLVM's tools.

    By default: LLVM's tools on PATH if they are of the tested version, the packages from pip, older tools on PATH.

    Raises
    ------
    FeatureNotSupportedError
        None is available; the message lists what is missing and how to install it.
    """
    choice = os.environ.get(VARIABLE, "")
    if choice == "pip":
        return PipTools()
    if choice not in ("", "path"):
        return LLVMTools.of_folder(Path(choice))
    tools = LLVMTools.on_path()
    if tools is not None and (choice or tools.major == TESTED):
        return tools
    if not choice and not PipTools.what_is_missing():
        return PipTools()
    if tools is not None:
        return tools
    missing = LLVMTools.what_is_missing()
    if not choice:
        missing = f"{PipTools.what_is_missing()}, and {missing}"
    raise FeatureNotSupportedError(
        f"kernels are compiled with clang and LLVM {MAJORS[0]} (or {MAJORS[1]}, {MAJORS[2]}): {missing}. {INSTALL}"
    )


def kernels_available(language: str = "opencl_c") -> bool:
    """Return whether kernels can be compiled: in OpenCL C with LLVM 20 or newer, or with the packages of
    ``bindless[kernels]``; in Python with the latter.

    Parameters
    ----------
    language
        ``opencl_c`` for `bindless.build`, ``python`` for `bindless.kernel`.

    Returns
    -------
    bool
        Whether the compiler is installed; `bindless doctor` shows the toolchain, or what is missing. Compiled kernels
        in the cache need none.

    Raises
    ------
    InvalidError
        Another language.

    Examples
    --------
    >>> import bindless as bl
    >>> if bl.kernels_available():
    ...     file = bl.build("kernel void one(global int *out) { out[get_global_id(0)] = 1; }")
    """
    if language == "python":
        return all(importlib.util.find_spec(name) is not None for name in ("numba", "llvmlite"))
    if language != "opencl_c":
        raise InvalidError(f"language={language!r}: kernels are written in opencl_c or python")
    try:
        find_toolchain()
    except FeatureNotSupportedError:
        return False
    return True
