"""Unified and shared virtual memory of which another program holds a cl_mem: it is freed after that.

The package's own end does not end what was told of by ``get_native`` (CL, "Interoperability with the OpenCL API"), and
a cl_mem over memory does not keep the memory itself. So it waits here, with its context, until nobody else holds the
cl_mem; who drops a handle of memory, allocates or frees looks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...drivers import opencl as driver
from .context import Context
from .errors import SUCCESS
from .fork_guard import in_fork
from .reference_count import Reference

__all__ = ["Lender", "free_after", "is_held", "sweep"]

lib, ffi = driver.lib, driver.ffi


class Lender:
    """What is left of a context for freeing memory.

    Attributes:
        handle: cl_context.
        launching: as the context's.
    """

    def __init__(self, context: Context) -> None:
        self._reference = Reference(context.handle, "cl_context", owned=False)
        self.handle = context.handle
        self.launching = context.launching


_waiting: list[tuple[Any, Callable[[], object]]] = []


def is_held(buffer: Any) -> bool:
    """Whether somebody else has a reference to a cl_mem that has one here."""
    slot = ffi.new("cl_uint *")
    result = lib.clGetMemObjectInfo(buffer, lib.CL_MEM_REFERENCE_COUNT, 4, slot, ffi.NULL)
    return bool(result == SUCCESS and slot[0] > 1)


def free_after(buffer: Any, free: Callable[[], object]) -> None:
    """Has memory freed once nobody else holds the cl_mem over it; takes over the reference to that."""
    _waiting.append((buffer, free))


def sweep() -> None:
    """Frees what nobody holds any more."""
    for item in tuple(_waiting):
        buffer, free = item
        if in_fork() or is_held(buffer):
            continue
        try:
            _waiting.remove(item)
        except ValueError:  # another thread was quicker
            continue
        lib.clReleaseMemObject(buffer)
        free()
