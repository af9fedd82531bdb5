"""The Python functions of the package that run during a call; finalizers of the garbage collector do not count."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from types import FrameType

import bindless as bl

__all__ = ["LAYERS_OF_WAITS", "front_calls", "python_calls"]

LAYERS_OF_WAITS = ("submission/", "backends/", "drivers/")
PACKAGE = os.path.dirname(bl.__file__) + os.sep
ENTRY = "core/lock.py:__enter__"  # from Python 3.14 on a lock is entered by a function; before, by C code


def python_calls(function: Callable[[], object]) -> list[str]:
    """The functions of the package that run during a call."""
    found: list[str] = []

    def see(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE):
            name = f"{code.co_filename[len(PACKAGE) :]}:{code.co_name}"
            if name != ENTRY:
                found.append(name)

    before, collects = sys.getprofile(), gc.isenabled()
    gc.disable()
    sys.setprofile(see)
    try:
        function()
    finally:
        sys.setprofile(before)
        if collects:
            gc.enable()
    return found


def front_calls(function: Callable[[], object]) -> list[str]:
    """The same without comprehensions, and without layers that C code calls for a wait that is not short."""
    return [name for name in python_calls(function) if not name.endswith(">") and not name.startswith(LAYERS_OF_WAITS)]
