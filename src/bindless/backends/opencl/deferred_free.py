"""Deferred free of unified and shared virtual memory whose cl_mem another library still holds.

The end of the package's object does not end a native object that ``get_native`` has returned (CL, "Interoperability
with the OpenCL API"), and a cl_mem over memory does not keep the memory itself. So the memory waits here, with its
context, until nobody else holds the cl_mem. Each release of a memory handle, each allocation and each free checks for
that.
"""

from __future__ import annotations

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


_waiting: list[tuple[CData, Callable[[], object]]] = []


def is_held(buffer: CData) -> bool:
    """Whether another owner has a reference to a cl_mem with one reference here."""
    slot = ffi.new("cl_uint *")
    result = lib.clGetMemObjectInfo(buffer, lib.CL_MEM_REFERENCE_COUNT, 4, slot, ffi.NULL)
    return bool(result == SUCCESS and slot[0] > 1)


def free_after(buffer: CData, free: Callable[[], object]) -> None:
    """Free memory once nobody else holds its cl_mem; takes over the reference to the cl_mem."""
    _waiting.append((buffer, free))


def sweep() -> None:
    """Free the memory that nobody holds any more."""
    for item in tuple(_waiting):
        buffer, free = item
        if in_fork() or is_held(buffer):
            continue
        try:
            _waiting.remove(item)
        except ValueError:  # Another thread was faster.
            continue
        lib.clReleaseMemObject(buffer)
        free()
