"""The OpenCL 3.0 API as in cl.h and cl_ext.h: ``lib``, ``ffi``, enums, loading of the ICD loader, and helpers.

OpenCL declares its constants as macros; enums group them by their type (``cl_device_info``, ...), ``cl_result`` groups
the error codes. Extension functions are looked up in the platform that owns the call's first argument; a function that
the platform lacks returns ``CL_INVALID_OPERATION``, or NULL if it creates an object.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..common.array_elements import elements
from ..common.cffi_types import CData
from ..common.lazy_attributes import lazy_attributes
from ..common.loader import Driver, system_names
from ..common.result_check import Checker
from . import _error_table
from ._bindings import ffi, lib

if TYPE_CHECKING:
    from ._enums import *  # noqa: F403 - at run time __getattr__ gives them, which keeps the import quick

__all__ = [
    "attempts",
    "available",
    "check",
    "error",
    "ffi",
    "get_all",
    "get_info",
    "get_text",
    "has",
    "has_for",
    "lib",
    "load",
    "missing_functions",
    "path",
    "platforms",
    "version",
]

_REQUIRED = (
    "clGetPlatformIDs",
    "clGetPlatformInfo",
    "clGetDeviceIDs",
    "clGetDeviceInfo",
    "clCreateContext",
    "clCreateBuffer",
    "clCreateImage",
    "clEnqueueReadImage",
    "clEnqueueWriteImage",
    "clEnqueueNDRangeKernel",
    "clGetExtensionFunctionAddressForPlatform",
)

_driver = Driver(
    backend="opencl",
    title="OpenCL library",
    variable="BINDLESS_LIBOPENCL",
    names=system_names(
        {
            "linux": ("libOpenCL.so.1",),
            "win32": ("OpenCL.dll",),
            "darwin": ("/System/Library/Frameworks/OpenCL.framework/OpenCL",),
        }
    ),
    required=_REQUIRED,
    advice="Install an ICD loader (Debian and Ubuntu: apt install ocl-icd-libopencl1) and an OpenCL driver.",
    lib=lib,
    ffi=ffi,
    missing_advice="no platform offers it either; CL_DEVICE_EXTENSIONS and CL_DEVICE_VERSION tell what a device has",
)

load = _driver.load
available = _driver.available
has = _driver.has
has_for = _driver.has_for
missing_functions = _driver.missing_functions
path = _driver.path
attempts = _driver.attempts


def version() -> tuple[int, ...]:
    """Return the OpenCL version of the loader if known, else the highest of the platforms; () without any.

    Raises
    ------
    PlatformError
        The library could not be opened.
    """
    load()
    if has("clGetICDLoaderInfoOCLICD"):
        return _parse_version(get_text("clGetICDLoaderInfoOCLICD", lib.CL_ICDL_OCL_VERSION))
    texts = [get_text("clGetPlatformInfo", item, lib.CL_PLATFORM_VERSION) for item in platforms()]
    return max(map(_parse_version, texts), default=())


def platforms() -> list[CData]:
    """Return all platforms; an empty list without any."""
    return get_all("cl_platform_id", "clGetPlatformIDs")


def get_all(element: str, function: str, *arguments: object) -> list[CData]:
    """Return all elements of a count-then-fill function; an empty list is not an error.

    Parameters
    ----------
    element
        C type of the elements, such as ``"cl_device_id"``; structs keep their array alive.
    function
        Name of the function, such as ``"clGetDeviceIDs"``.
    arguments
        Those before the number of entries.

    Raises
    ------
    Error
        As for ``check``.
    """
    call = getattr(lib, function)
    count = ffi.new("cl_uint *")
    result = call(*arguments, 0, ffi.NULL, count)
    if result in (lib.CL_DEVICE_NOT_FOUND, lib.CL_PLATFORM_NOT_FOUND_KHR) and _driver.path() is not None:
        return []
    check(result, function)
    if not count[0]:
        return []
    array = ffi.new(f"{element}[]", count[0])
    check(call(*arguments, count[0], array, count), function)
    return elements(ffi, array, count[0])


def get_info(function: str, *arguments: object) -> bytes:
    """Return the bytes from an info function: ``get_info("clGetDeviceInfo", device, lib.CL_DEVICE_TYPE)``.

    Raises
    ------
    Error
        As for ``check``.
    """
    call = getattr(lib, function)
    size = ffi.new("size_t *")
    check(call(*arguments, 0, ffi.NULL, size), function)
    content = ffi.new("char[]", max(size[0], 1))
    check(call(*arguments, size[0], content, size), function)
    return bytes(ffi.buffer(content, size[0]))


def get_text(function: str, *arguments: object) -> str:
    """Return the text from an info function, without the terminating zero."""
    return get_info(function, *arguments).split(b"\0", 1)[0].decode("utf-8", "replace").strip()


def _parse_version(text: str) -> tuple[int, ...]:
    match = re.match(r"OpenCL (\d+)\.(\d+)", text)
    return (int(match[1]), int(match[2])) if match else ()


_ABSENT = ("CL_INVALID_OPERATION", "CL_PLATFORM_NOT_FOUND_KHR")
_checker = Checker(_driver, _error_table.EXPLANATIONS, version, _ABSENT)
check = _checker.check
error = _checker.error

__getattr__ = lazy_attributes(__name__, "._enums")
