"""Selection of the toolchain: ``BINDLESS_LLVM``, or the first available one in a fixed order."""

from __future__ import annotations

import os
from pathlib import Path

from ...model.errors import FeatureNotSupportedError
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
    """Return whether kernels can be built: LLVM 20 or newer, or the packages of ``bindless[kernels]``, are installed.

    Returns
    -------
    bool
        Whether ``find_toolchain`` succeeds; `bindless doctor` shows the toolchain, or what is missing.

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
