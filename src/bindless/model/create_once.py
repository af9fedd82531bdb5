"""Objects that threads create once and then share."""

from __future__ import annotations

from collections.abc import Callable, Hashable, MutableMapping
from contextlib import AbstractContextManager
from typing import TypeVar

__all__ = ["create_once"]

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


def create_once(
    table: MutableMapping[_Key, _Value], lock: AbstractContextManager[object], key: _Key, create: Callable[[], _Value]
) -> _Value:
    """The object of a table at a key; the first caller creates it, and holds the lock meanwhile.

    The lock is re-entrant: a finalizer that runs inside ``create`` may come here for the same key; its object stays.
    """
    value = table.get(key)
    if value is None:
        with lock:
            value = table.get(key)
            if value is None:
                value = table.setdefault(key, create())
    return value
