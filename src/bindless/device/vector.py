"""Vectors of a few numbers, such as colours, in plain Python: tuples with arithmetic and names of components."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from .values import Operand

__all__ = ["Vector"]

_SETS = ("xyzw", "rgba")


class Vector(tuple[Any, ...]):
    """Numbers of one numpy type.

    Parameters
    ----------
    values
        The numbers.
    dtype
        numpy's type of each.
    """

    def __new__(cls, values: Iterable[Any], dtype: npt.DTypeLike = np.float32) -> Vector:
        kind = np.dtype(dtype).type
        return super().__new__(cls, (kind(value) for value in values))

    def __getattr__(self, name: str) -> Any:
        for letters in _SETS:
            if 0 < len(name) <= 4 and all(letter in letters[: len(self)] for letter in name):
                parts = [self[letters.index(letter)] for letter in name]
                return parts[0] if len(parts) == 1 else Vector(parts, type(self[0]))
        raise AttributeError(f"a vector of {len(self)} has no component {name!r}")

    def _with(self, function: Callable[[Any, Any], Any], other: Operand, swapped: bool = False) -> Vector:
        if isinstance(other, tuple):
            if len(other) != len(self):
                raise TypeError(f"vectors of {len(self)} and {len(other)} components have no arithmetic")
            others: tuple[Any, ...] = other
        else:
            others = (other,) * len(self)
        pairs = zip(others, self) if swapped else zip(self, others)
        values = [function(one, two) for one, two in pairs]
        return Vector(values, np.result_type(*values))

    def __add__(self, other: Any) -> Vector:
        return self._with(operator.add, other)

    def __radd__(self, other: Operand) -> Vector:
        return self._with(operator.add, other, True)

    def __sub__(self, other: Operand) -> Vector:
        return self._with(operator.sub, other)

    def __rsub__(self, other: Operand) -> Vector:
        return self._with(operator.sub, other, True)

    def __mul__(self, other: Operand) -> Vector:
        return self._with(operator.mul, other)

    def __rmul__(self, other: Operand) -> Vector:
        return self._with(operator.mul, other, True)

    def __truediv__(self, other: Operand) -> Vector:
        return self._with(operator.truediv, other)

    def __rtruediv__(self, other: Operand) -> Vector:
        return self._with(operator.truediv, other, True)

    def __neg__(self) -> Vector:
        return Vector((-value for value in self), type(self[0]))
