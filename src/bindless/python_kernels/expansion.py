"""Steps from a launch's arguments to the parameters of a compiled kernel, for ``core/_submission``."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, Union

import numpy as np

from ..model.arrays import Array

__all__ = ["ParameterPath", "Step", "expansion"]

ParameterPath: TypeAlias = Sequence[Union[int, str]]
"""Where a parameter's value comes from: the number of the argument, elements of tuples, the part, its numbers."""

Step = tuple[tuple[int, ...], Union[str, Callable[[Any], object], None], int]

_VALUES = ("array", "sampled", "unsampled", "handle")
_VARIABLE = operator.attrgetter("variable")  # of a reduction
_POINTER = operator.attrgetter("pointer")  # of an array with strides


def expansion(paths: Sequence[ParameterPath]) -> tuple[Step, ...]:
    """Return the steps that compute the parameters.

    Parameters
    ----------
    paths
        Of each parameter: the number of the argument, then elements of tuples, and the part that is passed.
    """
    return tuple(map(_step, paths))


def _step(path: ParameterPath) -> Step:
    part = next((part for part in path if isinstance(part, str)), "array")
    depth = path.index(part) if part in path else len(path)
    numbers = [number for number in path if isinstance(number, int)]
    place, rest = tuple(numbers[:depth]), numbers[depth:]
    if part in _VALUES:
        return place, None, 0
    if part in ("shape", "strides"):
        return place, part, rest[0]
    if part == "variable":
        return place, _VARIABLE, 0
    if part == "pointer":
        return place, _POINTER, 0
    if part == "word":
        return place, functools.partial(_word, first=rest[0], size=rest[1]), 0
    raise ValueError(path)


def _word(value: np.void | Array, first: int, size: int) -> int:
    """Return bytes of a structured scalar as an integer."""
    return int.from_bytes(value.tobytes()[first : first + size], "little")
