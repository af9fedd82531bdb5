"""Names of objects: a compiler of another library takes one for a constant."""

from __future__ import annotations

import itertools
import weakref
from typing import TypeVar

from .errors import InvalidError

__all__ = ["add_name", "named"]

_T = TypeVar("_T")

_count = itertools.count()
_named: weakref.WeakValueDictionary[str, object] = weakref.WeakValueDictionary()


def add_name(value: object) -> str:
    """A new name for an object."""
    name = f"{type(value).__name__.lower()} {next(_count)}"
    _named[name] = value
    return name


def named(kind: type[_T], name: str) -> _T:
    """The object of a class that has a name.

    Raises
    ------
    InvalidError
        It was collected.
    """
    value = _named.get(name)
    if not isinstance(value, kind):
        raise InvalidError(f"{name} was collected before it was used: keep it as long as what refers to it")
    return value
