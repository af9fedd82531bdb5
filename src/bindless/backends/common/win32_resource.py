"""Windows handles, and names of them, in the structs of drivers."""

from __future__ import annotations

from ...drivers.common.cffi_types import FFI, CData
from ...model.external import ResourceWin32Handle, ResourceWin32Name

__all__ = ["fill_win32"]


def fill_win32(ffi: FFI, native: CData, resource: ResourceWin32Handle | ResourceWin32Name) -> object:
    """Put a handle, or its name in UTF-16, into the members ``handle`` and ``name`` of a driver's struct.

    Returns
    -------
    object
        memory of the name, to which the struct refers: the caller keeps it until the import; None for a handle.
    """
    if isinstance(resource, ResourceWin32Handle):
        native.handle = ffi.cast("void *", resource.handle)
        return None
    native.name = text = ffi.from_buffer((resource.name + "\0").encode("utf-16-le"))
    return text
