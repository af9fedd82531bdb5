"""Steps from a launch's arguments to the parameters of a compiled kernel, for ``core/_submission``."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, Union

__all__ = ["Step", "expansion"]

Step = tuple[tuple[int, ...], Union[str, Callable[[Any], object], None], int]

_VALUES = ("array", "sampled", "unsampled", "handle")
_VARIABLE = operator.attrgetter("variable")  # of a reduction
_POINTER = operator.attrgetter("pointer")  # of an array with strides


def expansion(paths: Sequence[Sequence[Any]]) -> tuple[Step, ...]:
    """Return the steps that compute the parameters.

    Parameters
    ----------
    paths
        Of each parameter: the number of the argument, then elements of tuples, and the part that is passed.
    """
    return tuple(map(_step, paths))


def _step(path: Sequence[Any]) -> Step:
    depth = next((at for at, part in enumerate(path) if not isinstance(part, int)), len(path))
    place, rest = tuple(path[:depth]), path[depth:]
    part = rest[0] if rest else "array"
    if part in _VALUES:
        return place, None, 0
    if part in ("shape", "strides"):
        return place, part, rest[1]
    if part == "variable":
        return place, _VARIABLE, 0
    if part == "pointer":
        return place, _POINTER, 0
    if part == "word":
        return place, functools.partial(_word, first=rest[1], size=rest[2]), 0
    raise ValueError(path)


def _word(value: Any, first: int, size: int) -> int:
    """Return bytes of a structured scalar as an integer."""
    return int.from_bytes(value.tobytes()[first : first + size], "little")
