"""Type of an argument of a kernel in Python, as the compiler receives it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["ArgumentType"]


@dataclass(frozen=True)
class ArgumentType:
    """Type of one argument.

    Attributes
    ----------
    kind
        ``number``, ``image``, ``handle``, ``array``, ``local`` (an array in local memory), ``record``, ``tuple``,
        ``reduction`` or ``none``.
    name
        numpy's name of a number; ``sampled`` or ``unsampled`` for a handle; ``accessor`` for an array that is one; the
        operation of a reduction.
    dtype
        Of the elements of an array or a reduction, or of a record.
    dimensions
        Of an array.
    layout
        ``C`` for contiguous arrays, ``A`` for arrays with strides.
    elements
        Of a tuple.
    count
        Numbers of a reduction.
    """

    kind: str
    name: str = ""
    dtype: Any = None
    dimensions: int = 0
    layout: str = "C"
    elements: tuple[ArgumentType, ...] = ()
    count: int = 1

    @property
    def size(self) -> int:
        """Return the number of values: 1, and those of a tuple's elements."""
        return 1 + sum(element.size for element in self.elements)
