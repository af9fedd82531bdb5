"""Deferred free of unified and shared virtual memory whose cl_mem another library still holds.

The end of the package's object does not end a native object that ``get_native`` has returned (CL, "Interoperability
with the OpenCL API"), and a cl_mem over memory does not keep the memory itself. So the memory waits here, with its
context, until nobody else holds the cl_mem. Each release of a memory handle, each allocation and each free checks for
that.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

from ...drivers import opencl as driver
from ...drivers.common.cffi_types import CData
from .context import Context
from .errors import SUCCESS
from .fork_guard import in_fork
from .reference_count import Reference

__all__ = ["Lender", "free_after", "is_held", "sweep"]

lib, ffi = driver.lib, driver.ffi


class Lender:
    """The state of a context that the release of memory needs.

    Attributes
    ----------
    handle
        cl_context.
    state
        bindless_context_t.
    """

    def __init__(self, context: Context) -> None:
        self._reference = Reference(context.handle, "cl_context", owned=False)
        self.handle = context.handle
        self.state, self._lock = context.state, context.launching


_waiting: dict[int, tuple[CData, Callable[[], object]]] = {}
_serial = itertools.count()


def is_held(buffer: CData) -> bool:
    """Whether another owner has a reference to a cl_mem with one reference here."""
    slot = ffi.new("cl_uint *")
    result = lib.clGetMemObjectInfo(buffer, lib.CL_MEM_REFERENCE_COUNT, 4, slot, ffi.NULL)
    return bool(result == SUCCESS and slot[0] > 1)


def free_after(buffer: CData, free: Callable[[], object]) -> None:
    """Free memory once nobody else holds its cl_mem; takes over the reference to the cl_mem."""
    _waiting[next(_serial)] = buffer, free


def sweep() -> None:
    """Free the memory that nobody holds any more."""
    for key, (buffer, free) in list(_waiting.items()):
        if in_fork() or is_held(buffer):
            continue
        if _waiting.pop(key, None) is None:  # another thread was faster
            continue
        lib.clReleaseMemObject(buffer)
        free()
