"""Tuples of integers in a kernel's source, whose values are part of the type: shapes are constants."""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.core.datamodel import models
from numba.core.extending import register_model
from numba.core.typeconv import Conversion

__all__ = ["ConstantTuple", "constant_tuple"]


class ConstantTuple(types.UniTuple):
    """A tuple of known integers; where another one meets it, it is an ordinary tuple.

    Parameters
    ----------
    values
        The integers.
    """

    def __init__(self, values: tuple[int, ...]) -> None:
        self.constant_values = values
        super().__init__(types.int64, len(values))
        self.name = f"constant tuple {values}"

    @property
    def key(self) -> Any:
        return ("constant tuple", self.constant_values)

    def __unliteral__(self) -> Any:
        return types.UniTuple(types.int64, self.count)

    def can_convert_to(self, typingctx: Any, other: Any) -> Any:
        return Conversion.safe if other == types.UniTuple(types.int64, self.count) else None


@register_model(ConstantTuple)
class _ConstantTupleModel(models.UniTupleModel):
    pass


def constant_tuple(value: Any) -> ConstantTuple | None:
    """Return the type of a tuple of integers; None for other values."""
    if type(value) is tuple and value and all(type(one) is int and -(2**63) <= one < 2**63 for one in value):
        return ConstantTuple(value)
    return None
