"""Completes the types of a cffi module while one thread alone has it.

cffi makes a type at its first use, and two threads that use it first at once end the process: the collector may run in
the midst of it, and with it another thread (cffi 2.1).
"""

from __future__ import annotations

from .cffi_types import FFI, CData, DriverLibrary

__all__ = ["complete_types"]


def complete_types(ffi: FFI, lib: DriverLibrary) -> None:
    """Makes every type, with its members, and every function of a module."""
    for name in dir(lib):
        getattr(lib, name)
    typedefs, structs, unions = ffi.list_types()
    types = {
        ffi.typeof(f"{name} *")
        for name in (*typedefs, *(f"struct {name}" for name in structs), *(f"union {name}" for name in unions))
    }
    complete: set[CData] = set()
    while types:
        kind = types.pop()
        if kind in complete:
            continue
        complete.add(kind)
        if kind.kind in {"pointer", "array"}:
            types.add(kind.item)
        elif kind.kind in {"struct", "union"} and _has_members(ffi, kind):
            types.update(member.type for _, member in kind.fields)


def _has_members(ffi: FFI, kind: CData) -> bool:
    try:
        ffi.sizeof(kind)
    except ffi.error:  # an opaque type
        return False
    return True
