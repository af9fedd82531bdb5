"""References to native objects (CL, "Reference counting")."""

from __future__ import annotations

from ..interop.native.backend_lookup import backend_for, counted_of
from ..model.enums import Backend
from ..model.errors import InvalidError
from ..model.message_values import shown
from ..model.native_handle import as_handle

__all__ = ["get_reference_count"]

_TYPES = (
    "cl_device_id", "cl_context", "cl_command_queue", "cl_event", "cl_mem", "cl_program", "cl_kernel", "cl_sampler",
)  # fmt: skip


def get_reference_count(obj: object) -> int:
    """References to a native object by the driver's own count, which is for finding leaks alone: others change it.

    Parameters
    ----------
    obj : object
        What ``get_native`` gave, which holds a reference itself; a pointer of cffi; an object of PyOpenCL; or
        ``NativeHandle(number, "cl_mem")``.

    Returns
    -------
    int
        The reference count that the driver reports.

    Raises
    ------
    InvalidError
        No native object, one that was released, or a number alone, which does not tell its type.
    Error
        There is no OpenCL.
    """
    if isinstance(obj, int) and not getattr(obj, "type", ""):
        raise InvalidError(f"obj={shown(obj)}: a number does not tell its type; give NativeHandle(number, 'cl_mem')")
    handle = as_handle(obj, _TYPES, "obj")
    return counted_of(backend_for(Backend.opencl)).reference_count(handle)
