"""Functions of SYCL's OpenCL backend (CL, "Programming interface"): extensions, reference counts, error codes, kernel
bundles of native programs and kernels, and the scalar types of OpenCL C.

``get_native`` and ``make_*`` of ``bindless`` exchange the objects; see docs/guide/interop.md. Importing this opens no
driver.
"""

from __future__ import annotations

from ..model.lazy_names import homes_of, load

_MODULES = {
    "error_code": "get_error_code",
    "extensions": "has_extension",
    "kernel_bundles": "create_bundle",
    "reference_count": "get_reference_count",
    "scalar_types": """
        cl_bool cl_char cl_double cl_float cl_half cl_int cl_long cl_short cl_size_t cl_uchar cl_uint cl_ulong
        cl_ushort
    """,
}
_HOMES = homes_of(_MODULES)

SYCL_BACKEND_OPENCL = 1
"""Says that there is an OpenCL backend (CL, "Preprocessor directives and macros"); whether there are devices,
``get_platforms()`` tells."""

__all__ = sorted(("SYCL_BACKEND_OPENCL", *_HOMES))


def __getattr__(name: str) -> object:
    return load(__name__, _HOMES, name)


def __dir__() -> list[str]:
    return list(__all__)
