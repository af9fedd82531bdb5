"""Expansion of a launch's arguments to the parameters of a compiled kernel, as a function made for the kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

__all__ = ["expansion"]

_WORDS = {8: "<u8", 4: "<u4", 2: "<u2", 1: "u1"}


def expansion(paths: Sequence[Sequence[Any]]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """Return a function from the arguments of a launch to the values of the parameters.

    Parameters
    ----------
    paths
        Of each parameter: the number of the argument, then elements of tuples, and the part that is passed.
    """
    parts = "".join(f"{_expression(path)}, " for path in paths)
    made: Callable[[tuple[Any, ...]], tuple[Any, ...]] = eval(f"lambda a: ({parts})", {"word": _word, "shape": _shape})
    return made


def _expression(path: Sequence[Any]) -> str:
    text, rest = f"a[{int(path[0])}]", list(path[1:])
    while rest and isinstance(rest[0], int):
        text += f"[{int(rest.pop(0))}]"
    if not rest or rest[0] in ("array", "sampled", "unsampled", "handle"):
        return text
    if rest[0] == "pointer":  # of an array with strides
        return f"{text}.pointer"
    if rest[0] == "word":
        return f"word({text}, {int(rest[1])}, {int(rest[2])})"
    if rest[0] == "extent":  # of an accessor, which may have a range of its own
        return f"{text}.buffer.shape[{int(rest[1])}]"
    if rest[0] not in ("shape", "strides"):
        raise ValueError(path)
    return f"{text}.{rest[0]}[{int(rest[1])}]"


def _word(value: Any, first: int, size: int) -> int:
    """Return bytes of a structured scalar as an integer."""
    return int.from_bytes(value.tobytes()[first : first + size], "little")


def _shape(value: Any, axis: int) -> int:
    return int(np.shape(value)[axis])
