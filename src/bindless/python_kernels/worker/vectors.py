"""Vectors of 2, 3, 4, 8 or 16 numbers, such as colours: tuples with arithmetic and names of components."""

from __future__ import annotations

import operator
from collections.abc import Callable

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.extending import register_model
from numba.core.imputils import Registry as LoweringRegistry
from numba.core.typing.templates import AttributeTemplate
from numba.core.typing.templates import Registry as TypingRegistry

from .numba_names import Builder, Context, NumbaType, Signature, Types, TypingContext, Value

__all__ = ["LOWERING", "TYPING", "VectorType", "from_llvm_vector", "to_llvm_vector"]

TYPING, LOWERING = TypingRegistry(), LoweringRegistry("bindless.vectors")

_SETS = ("xyzw", "rgba")


class VectorType(types.UniTuple):
    """A tuple of numbers of one type.

    Parameters
    ----------
    dtype
        Numba's type of a component.
    count
        How many.
    """

    def __init__(self, dtype: NumbaType, count: int) -> None:
        super().__init__(dtype, count)
        self.name = f"{dtype}x{count}"

    @property
    def key(self) -> tuple[object, ...]:
        return ("vector", self.dtype, self.count)

    def unify(self, typingctx: TypingContext, other: NumbaType) -> VectorType | None:
        """A number of the same type, as in ``total = 0.0`` before a loop of sums, becomes no vector."""
        return self if self == other else None


@register_model(VectorType)
class _VectorModel(models.UniTupleModel):
    pass


def places(name: str, count: int) -> list[int] | None:
    """Return the components of a name such as ``xy`` or ``bgr``; None if it is none."""
    for letters in _SETS:
        if 0 < len(name) <= 4 and all(letter in letters[:count] for letter in name):
            return [letters.index(letter) for letter in name]
    return None


@TYPING.register_attr
class _Components(AttributeTemplate):
    key = VectorType

    def generic_resolve(self, vector: VectorType, name: str) -> NumbaType | None:
        numbers = places(name, vector.count)
        if numbers is None:
            return None
        return vector.dtype if len(numbers) == 1 else VectorType(vector.dtype, len(numbers))


@LOWERING.lower_getattr_generic(VectorType)
def _component(context: Context, builder: Builder, type_: NumbaType, value: Value, name: str) -> Value:
    numbers = places(name, type_.count)
    assert numbers is not None
    values = [builder.extract_value(value, place) for place in numbers]
    return values[0] if len(values) == 1 else cgutils.pack_array(builder, values)


def from_llvm_vector(context: Context, builder: Builder, type_: VectorType, value: Value) -> Value:
    """Return Numba's representation, an array, of a vector of LLVM."""
    elements = [builder.extract_element(value, ir.Constant(ir.IntType(32), place)) for place in range(type_.count)]
    return cgutils.pack_array(builder, elements)


def to_llvm_vector(context: Context, builder: Builder, target: VectorType, type_: NumbaType, value: Value) -> Value:
    """Return a vector of LLVM, from a vector, a tuple of numbers or one number for all components."""
    element = context.get_value_type(target.dtype)
    vector = ir.Constant(ir.VectorType(element, target.count), ir.Undefined)
    for place in range(target.count):
        if isinstance(type_, types.BaseTuple):
            part = type_.types[place]
            one = context.cast(builder, builder.extract_value(value, place), part, target.dtype)
        else:
            one = context.cast(builder, value, type_, target.dtype)
        vector = builder.insert_element(vector, one, ir.Constant(ir.IntType(32), place))
    return vector


OPERATORS = {
    operator.add, operator.sub, operator.mul, operator.truediv, operator.iadd, operator.isub, operator.imul,
    operator.itruediv,
}  # fmt: skip
"""Operators of two vectors, or of a vector and a number."""


def elementwise(
    function: object, operands: Types, scalar: Callable[..., Signature | None]
) -> tuple[int, Signature | None] | None:
    """Return the components and the signature for one of an operator of vectors; None where none is a vector.

    Parameters
    ----------
    scalar
        Returns the signature of the operator for two numbers.
    """
    left, right = operands
    if function not in OPERATORS or not (isinstance(left, VectorType) or isinstance(right, VectorType)):
        return None
    count = left.count if isinstance(left, VectorType) else right.count
    if isinstance(left, VectorType) and isinstance(right, VectorType) and left.count != right.count:
        return None
    parts = [type_.dtype if isinstance(type_, VectorType) else types.unliteral(type_) for type_ in (left, right)]
    if not all(isinstance(part, (types.Number, types.Boolean)) for part in parts):
        return None
    return count, scalar(*parts)
