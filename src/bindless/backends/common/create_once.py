"""Objects that threads create once and then share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, MutableMapping
from typing import TypeVar

__all__ = ["create_once"]

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


def create_once(
    table: MutableMapping[_Key, _Value], lock: threading.Lock, key: _Key, create: Callable[[], _Value]
) -> _Value:
    """The object of a table at a key; the first caller creates it, and holds the lock meanwhile."""
    found = table.get(key)
    if found is None:
        with lock:
            found = table.get(key)
            if found is None:
                found = table[key] = create()
    return found
