"""Attributes of a module that live in another one, which is imported when the first is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

__all__ = ["lazy_attributes"]


def lazy_attributes(module: str, source: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of ``module`` that gives the names of ``source``, a module beside it."""

    def get(name: str) -> Any:
        try:
            return getattr(importlib.import_module(source, __package__), name)
        except AttributeError:
            raise AttributeError(f"module {module!r} has no attribute {name!r}") from None

    return get
