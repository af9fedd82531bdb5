"""Which compiler kernels are built with: ``BINDLESS_LLVM``, or the first one of a fixed order that there is."""

from __future__ import annotations

import os
from pathlib import Path

from ..model.errors import FeatureNotSupportedError
from .llvm_tools import MAJORS, LLVMTools
from .pip_tools import PipTools
from .toolchain import INSTALL, TESTED, VARIABLE, Toolchain

__all__ = ["find_toolchain", "kernels_available"]


def find_toolchain() -> Toolchain:
    """The toolchain that ``BINDLESS_LLVM`` chooses: ``pip``, ``path``, or a folder with LLVM's tools.

    Without it: LLVM's tools on PATH if they are of the tested version, the packages from pip, older tools on PATH.

    Raises:
        FeatureNotSupportedError: there is none; the message says what is missing and how to install it.
    """
    chosen = os.environ.get(VARIABLE, "")
    if chosen == "pip":
        return PipTools()
    if chosen not in ("", "path"):
        return LLVMTools.of_folder(Path(chosen))
    tools = LLVMTools.on_path()
    if tools is not None and (chosen or tools.major == TESTED):
        return tools
    if not chosen and not PipTools.what_is_missing():
        return PipTools()
    if tools is not None:
        return tools
    missing = LLVMTools.what_is_missing()
    if not chosen:
        missing = f"{PipTools.what_is_missing()}, and {missing}"
    raise FeatureNotSupportedError(
        f"kernels are compiled with clang and LLVM {MAJORS[0]} (or {MAJORS[1]}, {MAJORS[2]}): {missing}. {INSTALL}"
    )


def kernels_available() -> bool:
    """Whether kernels can be built here: whether LLVM 20 or newer, or the packages of ``bindless[kernels]`` are there.

    Returns
    -------
    bool
        What ``find_toolchain`` finds; `bindless doctor` shows which toolchain it is, or what is missing.

    Examples
    --------
    >>> import bindless as bl
    >>> if bl.kernels_available():
    ...     file = bl.build("kernel void one(global int *out) { out[get_global_id(0)] = 1; }")
    """
    try:
        find_toolchain()
    except FeatureNotSupportedError:
        return False
    return True
