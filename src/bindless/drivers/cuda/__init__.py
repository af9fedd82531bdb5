"""The CUDA driver API as in cuda.h: ``lib``, ``ffi``, enums, and loading of libcuda.

``lib.cuMemAlloc`` and similar names follow cuda.h's macros (the symbol ``cuMemAlloc_v2``). Exported symbols also have
their own names; a function that a newer version has replaced is ``NAME_v1``. The variants for per-thread
default streams end in ``_ptsz`` and ``_ptds``. Handles that the header defines as numbers, such as
``CU_STREAM_LEGACY``, are integers in ``lib``: ``ffi.cast("CUstream", lib.CU_STREAM_LEGACY)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    "has",
    "lib",
    "load",
    "missing_functions",
    "path",
    "version",
]

_REQUIRED = (
    "cuInit",
    "cuDriverGetVersion",
    "cuDeviceGetCount",
    "cuDeviceGet",
    "cuDeviceGetName",
    "cuDeviceGetAttribute",
    "cuDeviceTotalMem_v2",
    "cuDevicePrimaryCtxRetain",
    "cuCtxPushCurrent_v2",
    "cuCtxPopCurrent_v2",
    "cuMemAlloc_v2",
    "cuMemFree_v2",
    "cuStreamCreate",
    "cuEventCreate",
    "cuModuleLoadDataEx",
    "cuModuleGetFunction",
    "cuLaunchKernel",
    "cuArray3DCreate_v2",
    "cuTexObjectCreate",
    "cuSurfObjectCreate",
)

_driver = Driver(
    backend="cuda",
    title="CUDA driver library",
    variable="BINDLESS_LIBCUDA",
    names=system_names({"linux": ("libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"), "win32": ("nvcuda.dll",)}),
    required=_REQUIRED,
    advice="Install the NVIDIA driver (the CUDA toolkit is not needed).",
    lib=lib,
    ffi=ffi,
)

load = _driver.load
available = _driver.available
has = _driver.has
missing_functions = _driver.missing_functions
path = _driver.path
attempts = _driver.attempts


def version() -> tuple[int, int]:
    """Return the newest CUDA version that the driver supports, such as (13, 0). Opens the library.

    Raises
    ------
    PlatformError
        The library could not be opened.
    """
    load()
    number = ffi.new("int *")
    check(lib.cuDriverGetVersion(number), "cuDriverGetVersion")
    return number[0] // 1000, number[0] % 1000 // 10


_ABSENT = ("CUDA_ERROR_NOT_SUPPORTED", "CUDA_ERROR_NOT_INITIALIZED")
_checker = Checker(_driver, _error_table.EXPLANATIONS, version, _ABSENT)
check = _checker.check
error = _checker.error

__getattr__ = lazy_attributes(__name__, "._enums")
