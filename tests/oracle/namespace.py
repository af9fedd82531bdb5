"""The library of an array: numpy, torch or jax.numpy."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["integers", "namespace"]


def namespace(array: Any) -> Any:
    """The module with ``where``, ``floor`` and ``clip`` for an array, a tensor, or a tracer of jax."""
    library = type(array).__module__.partition(".")[0]
    return importlib.import_module({"torch": "torch", "jax": "jax.numpy", "jaxlib": "jax.numpy"}.get(library, "numpy"))


def integers(array: Any) -> Any:
    """Whole numbers as integers of 64 bits, or the most that jax has."""
    return array.long() if namespace(array).__name__ == "torch" else array.astype(int)
