"""Functions of SYCL's OpenCL backend (CL, "Programming interface"): extensions, reference counts, error codes, kernel
bundles of native programs and kernels, and the scalar types of OpenCL C.

``get_native`` and ``make_*`` of ``bindless`` exchange the objects; see docs/guide/interop.md. Importing this opens no
driver.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .error_code import get_error_code
    from .extensions import has_extension
    from .kernel_bundles import create_bundle
    from .reference_count import get_reference_count
    from .scalar_types import (
        cl_bool,
        cl_char,
        cl_double,
        cl_float,
        cl_half,
        cl_int,
        cl_long,
        cl_short,
        cl_size_t,
        cl_uchar,
        cl_uint,
        cl_ulong,
        cl_ushort,
    )

_MODULES = {
    "kernel_bundles": ("create_bundle",),
    "error_code": ("get_error_code",),
    "extensions": ("has_extension",),
    "reference_count": ("get_reference_count",),
    "scalar_types": (
        "cl_bool",
        "cl_char",
        "cl_double",
        "cl_float",
        "cl_half",
        "cl_int",
        "cl_long",
        "cl_short",
        "cl_size_t",
        "cl_uchar",
        "cl_uint",
        "cl_ulong",
        "cl_ushort",
    ),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}

SYCL_BACKEND_OPENCL = 1
"""Says that there is an OpenCL backend (CL, "Preprocessor directives and macros"); whether there are devices,
``get_platforms()`` tells."""

__all__ = [
    "SYCL_BACKEND_OPENCL",
    "cl_bool",
    "cl_char",
    "cl_double",
    "cl_float",
    "cl_half",
    "cl_int",
    "cl_long",
    "cl_short",
    "cl_size_t",
    "cl_uchar",
    "cl_uint",
    "cl_ulong",
    "cl_ushort",
    "create_bundle",
    "get_error_code",
    "get_reference_count",
    "has_extension",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
