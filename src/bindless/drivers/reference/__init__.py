"""The reference driver's API as in bindless/reference.h: ``lib``, ``ffi``, enums, loading of the package's library."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..common.lazy_attributes import lazy_attributes
from ..common.loader import Driver, system_names
from ..common.result_check import Checker
from . import _bindings, _error_table
from ._bindings import ffi, lib

if TYPE_CHECKING:
    from ._enums import *  # noqa: F403 - at run time __getattr__ gives them, which keeps the import quick

__all__ = [
    "attempts",
    "available",
    "check",
    "error",
    "ffi",
    "has",
    "lib",
    "load",
    "missing_functions",
    "path",
    "version",
]

_REQUIRED = (
    "blrGetVersion",
    "blrGetLastError",
    "blrDeviceGetCount",
    "blrDeviceGet",
    "blrContextCreate",
    "blrQueueCreate",
    "blrImageCreate",
    "blrEnqueueCopyImage",
    "blrEnqueueImageCall",
)

# The library is installed in the folder of the compiled bindings.
_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(_bindings.__file__)))

_driver = Driver(
    backend="reference",
    title="reference driver library",
    variable="BINDLESS_LIBREFERENCE",
    names=tuple(
        os.path.join(_FOLDER, name)
        for name in system_names(
            {
                "linux": ("libbindless_reference.so",),
                "darwin": ("libbindless_reference.dylib",),
                "win32": ("bindless_reference.dll",),
            }
        )
    ),
    required=_REQUIRED,
    advice="It is part of the bindless package: reinstall that.",
    lib=lib,
    ffi=ffi,
)

load = _driver.load
available = _driver.available
has = _driver.has
missing_functions = _driver.missing_functions
path = _driver.path
attempts = _driver.attempts


def version() -> tuple[int, int, int]:
    """Return the version of the library. Opens it.

    Raises
    ------
    PlatformError
        The library could not be opened.
    """
    load()
    parts = [ffi.new("uint32_t *") for _ in range(3)]
    check(lib.blrGetVersion(*parts), "blrGetVersion")
    return parts[0][0], parts[1][0], parts[2][0]


def _last_message(result: int) -> str:
    """Return the error text of this thread's last failure, if it belongs to this result."""
    code = ffi.new("blr_result_t *")
    message = ffi.new("char const **")
    if lib.blrGetLastError(code, message) or code[0] != result or message[0] == ffi.NULL:
        return ""
    return ffi.string(message[0]).decode("utf-8", "replace")


_ABSENT = ("BLR_RESULT_UNSUPPORTED", "BLR_RESULT_UNKNOWN")
_checker = Checker(_driver, _error_table.EXPLANATIONS, version, _ABSENT, _last_message)
check = _checker.check
error = _checker.error

__getattr__ = lazy_attributes(__name__, "._enums")
