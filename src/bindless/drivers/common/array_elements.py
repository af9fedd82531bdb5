"""Elements of an array that a driver filled; each element keeps the array alive."""

from __future__ import annotations

import weakref

from .cffi_types import FFI, CData

__all__ = ["elements"]

# A struct element is a view of its array, which cffi does not keep alive.
_arrays: weakref.WeakKeyDictionary[CData, CData] = weakref.WeakKeyDictionary()


def elements(ffi: FFI, array: CData, count: int) -> list[CData]:
    """Return the first ``count`` elements: handles and numbers as values, structs as views that keep it alive."""
    items = [array[index] for index in range(min(count, len(array)))]
    if ffi.typeof(array).item.kind == "struct":
        for item in items:
            _arrays[item] = array
    return items
