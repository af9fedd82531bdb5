"""Module attributes defined in another module, which is imported at the first access."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

__all__ = ["lazy_attributes"]


def lazy_attributes(module: str, source: str) -> Callable[[str], Any]:
    """Return a ``__getattr__`` for ``module`` that takes its names from ``source``, a module of the same package."""

    def get(name: str) -> Any:
        try:
            return getattr(importlib.import_module(source, module), name)
        except AttributeError:
            raise AttributeError(f"module {module!r} has no attribute {name!r}") from None

    return get
