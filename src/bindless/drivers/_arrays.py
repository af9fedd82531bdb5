"""The elements of an array that a driver filled, each alive as long as anybody holds it."""

from __future__ import annotations

import weakref
from typing import Any

from ._types import FFI, CData

__all__ = ["elements"]

# A struct taken from an array is a view of it, and cffi does not keep the array alive for it.
_kept: weakref.WeakKeyDictionary[CData, CData] = weakref.WeakKeyDictionary()


def elements(ffi: FFI, array: Any, count: int) -> list[Any]:
    """The first ``count`` elements: handles and numbers as they are, structs with their array kept alive."""
    items = [array[index] for index in range(min(count, len(array)))]
    if ffi.typeof(array).item.kind == "struct":
        for item in items:
            _kept[item] = array
    return items
