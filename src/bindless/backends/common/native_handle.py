"""Native handles of the objects of a back end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...drivers.common.cffi_types import FFI, CData
from ...model.errors import BackendMismatchError, InvalidError
from ...model.native_handle import NativeHandle

__all__ = ["HandleTable", "native_handle"]

HandleTable = Mapping[type, tuple[str | None, Callable[[Any], CData | None]]]
"""C type and handle of each class of objects. The handle is None after the object's release; without a C type the
handle's own type counts.
"""


def native_handle(table: HandleTable, native: object, ffi: FFI, driver: str, backend: str) -> NativeHandle:
    """The handle of an object as a number, with its C type.

    Raises
    ------
    BackendMismatchError
        the table has no class of the object.
    InvalidError
        the object was released.
    """
    kind = next((kind for kind in type(native).__mro__ if kind in table), None)
    if kind is None:
        raise BackendMismatchError(f"{native!r} is no object of the {driver} backend", backend=backend)
    c_type, handle_of = table[kind]
    handle = handle_of(native)
    if handle is None:
        raise InvalidError(f"this {kind.__name__.lower()} was released: it has no native handle", backend=backend)
    if c_type is None:  # struct _ze_command_list_handle_t *
        c_type = ffi.typeof(handle).cname.removeprefix("struct _").removesuffix(" *")
    return NativeHandle(handle if isinstance(handle, int) else int(ffi.cast("uintptr_t", handle)), c_type)
