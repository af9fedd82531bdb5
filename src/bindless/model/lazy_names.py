"""Public names of a package, each imported at its first use.

A package lists the names of each of its modules once. Its stub, which type checkers read, is generated from that list:
``tests/structure/public_names.py``.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping

__all__ = ["homes_of", "load"]


def homes_of(modules: Mapping[str, str]) -> dict[str, str]:
    """The module of each name; ``modules`` has the names of each module with spaces between them."""
    return {name: module for module, names in modules.items() for name in names.split()}


def load(package: str, homes: Mapping[str, str], name: str) -> object:
    """Import a name for ``__getattr__`` of a package, which has it from then on.

    Raises
    ------
    AttributeError
        The package has no such name.
    """
    home = homes.get(name)
    if home is None:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    module = importlib.import_module(f"{package}.{home}")
    if not hasattr(module, name):  # the name is a module itself
        importlib.import_module(f"{module.__name__}.{name}")
    value: object = getattr(module, name)
    setattr(sys.modules[package], name, value)
    return value
