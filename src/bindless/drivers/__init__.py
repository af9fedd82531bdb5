"""Generated bindings of the driver APIs: CUDA, Level Zero, OpenCL and the reference driver.

Each module has ``lib`` (every function and integer constant of the API, called as in C), ``ffi`` (cffi's functions to
create and read C values), the API's enums, and

- ``load(path=None)`` opens the driver library, which is closed until then,
- ``available()`` returns whether the library is open or can be opened,
- ``version()`` returns its version as a tuple,
- ``has(function)`` returns whether it exports a function: old libraries lack some,
- ``check(result, call)`` raises the package's error for a result code that is not success.

A function that the loaded library lacks returns the API's "not supported" code, which ``check`` explains.

Modules are imported on first use: ``import bindless.drivers`` opens no library and imports no compiled code.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import cuda, level_zero, opencl, reference

__all__ = ["cuda", "level_zero", "opencl", "reference"]


def __getattr__(name: str) -> ModuleType:
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
