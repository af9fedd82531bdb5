"""The reducer of an interpreted kernel: the parameter that a ``Reduction`` among the arguments becomes."""

from __future__ import annotations

import numpy as np

from ..model.arrays import Array
from ..model.combiners import COMBINERS
from ..model.errors import InvalidError
from .values import Number

__all__ = ["Reducer"]

_OF_OPERATORS = {"add": "+=", "mul": "*=", "and": "&=", "or": "|=", "xor": "^="}


class Reducer:
    """Combines values in an element of an array, or in its elements by index.

    Parameters
    ----------
    array
        Of one dimension.
    combiner
        The operation.
    """

    def __init__(self, array: Array, combiner: str) -> None:
        self._array, self._combiner = array, combiner

    def combine(self, value: Number) -> None:
        """Combine a value, converted to the variable's type."""
        if self._array.size != 1:
            raise InvalidError(f"a reduction of {self._array.size} elements combines by index: name[i].combine(value)")
        with np.errstate(over="ignore"):
            part = self._array.dtype.type(value)
            self._array[0] = COMBINERS[self._combiner](self._array[0], part)

    def __getitem__(self, index: int) -> Reducer:
        place = range(self._array.size)[index]
        return Reducer(self._array[place : place + 1], self._combiner)

    def __setitem__(self, index: int, value: object) -> None:
        if not isinstance(value, Reducer):
            raise InvalidError(f"a reducer has no values to set: {_OF_OPERATORS.get(self._combiner, 'combine()')}")

    def _operator(self, combiner: str, value: Number) -> Reducer:
        if combiner != self._combiner:
            ways = [_OF_OPERATORS[self._combiner]] if self._combiner in _OF_OPERATORS else []
            raise InvalidError(
                f"a reduction with {self._combiner!r} takes {' and '.join([*ways, 'combine(value)'])}, not "
                f"{_OF_OPERATORS[combiner]}"
            )
        self.combine(value)
        return self

    def __iadd__(self, value: Number) -> Reducer:
        return self._operator("add", value)

    def __imul__(self, value: Number) -> Reducer:
        return self._operator("mul", value)

    def __iand__(self, value: Number) -> Reducer:
        return self._operator("and", value)

    def __ior__(self, value: Number) -> Reducer:
        return self._operator("or", value)

    def __ixor__(self, value: Number) -> Reducer:
        return self._operator("xor", value)
