"""Reducers: the parameters of a kernel in which its work-items combine values.

A reducer of one number is a variable of the work-item, whose values the group combines at the end. A reducer of several
is an array in the group's local memory, which work-items change by atomic operations.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

from llvmlite import ir
from numba.core import types
from numba.core.datamodel import models
from numba.core.errors import TypingError
from numba.core.extending import register_model
from numba.core.imputils import Registry as LoweringRegistry
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, bound_function, signature
from numba.core.typing.templates import Registry as TypingRegistry

from .atomic_combination import combine, combine_atomically
from .numba_names import (
    Builder,
    Context,
    KeywordTypes,
    ModelManager,
    NumbaType,
    PythonFunction,
    Signature,
    Types,
    Value,
)

__all__ = ["LOWERING", "TYPING", "ReducerType"]

TYPING, LOWERING = TypingRegistry(), LoweringRegistry("bindless.reducers")

_OPERATORS = {
    operator.iadd: "add", operator.imul: "mul", operator.iand: "and", operator.ior: "or", operator.ixor: "xor",
}  # fmt: skip
_OTHERS = (operator.isub, operator.itruediv, operator.ifloordiv, operator.imod, operator.ipow)
_WORDS = {"add": "+=", "mul": "*=", "and": "&=", "or": "|=", "xor": "^="}


class ReducerType(types.Type):
    """A reducer: the address of a number, or of the first of several.

    Parameters
    ----------
    dtype
        Numba's type of a number.
    combiner
        The operation.
    count
        How many numbers.
    shared
        Whether the work-items of a group share them.
    language
        Of the kernel.
    """

    mutable = True  # += changes it

    def __init__(self, dtype: NumbaType, combiner: str, count: int, shared: bool, language: str) -> None:
        self.dtype, self.combiner, self.count, self.shared, self.language = dtype, combiner, count, shared, language
        size = f"{count} " if count > 1 else ""
        super().__init__(
            f"reduction of {size}{dtype} with '{combiner}'{'' if count > 1 or not shared else ' (element)'}"
        )

    @property
    def key(self) -> tuple[object, ...]:
        return self.dtype, self.combiner, self.count, self.shared

    @property
    def element(self) -> ReducerType:
        """The type of the reducer of one number."""
        return ReducerType(self.dtype, self.combiner, 1, self.shared, self.language)


@register_model(ReducerType)
class _ReducerModel(models.PrimitiveModel):
    def __init__(self, manager: ModelManager, fe_type: NumbaType) -> None:
        super().__init__(manager, fe_type, ir.PointerType(ir.IntType(8)))


def _ways(type_: ReducerType) -> str:
    return " and ".join([*([_WORDS[type_.combiner]] if type_.combiner in _WORDS else []), "combine(value)"])


def _require(type_: ReducerType, value: NumbaType) -> None:
    if type_.count > 1:
        raise TypingError(f"a reduction of {type_.count} numbers combines by index: name[i].combine(value)")
    if not isinstance(types.unliteral(value), (types.Integer, types.Float, types.Boolean)):
        raise TypingError(f"a reduction combines numbers, not {value}")


def _register_operator(function: PythonFunction) -> None:
    @TYPING.register_global(function)
    class _Operator(AbstractTemplate):
        key = function

        def generic(self, args: Types, kws: KeywordTypes) -> Signature | None:
            type_, value = args
            if not isinstance(type_, ReducerType):
                return None
            if _OPERATORS.get(function) != type_.combiner:
                raise TypingError(f"a reduction with '{type_.combiner}' takes {_ways(type_)}")
            _require(type_, value)
            return signature(type_, type_, types.unliteral(value))


for _function in (*_OPERATORS, *_OTHERS):
    _register_operator(_function)


@TYPING.register_attr
class _Attributes(AttributeTemplate):
    key = ReducerType

    @bound_function("reducer.combine")
    def resolve_combine(self, type_: ReducerType, args: Types, kws: KeywordTypes) -> Signature:
        if kws or len(args) != 1:
            raise TypingError("combine takes one value")
        _require(type_, args[0])
        return signature(types.none, types.unliteral(args[0]))


@TYPING.register_global(operator.getitem)
class _Element(AbstractTemplate):
    key = operator.getitem

    def generic(self, args: Types, kws: KeywordTypes) -> Signature | None:
        type_, index = args
        if not isinstance(type_, ReducerType):
            return None
        if not isinstance(types.unliteral(index), types.Integer):
            raise TypingError("the index of a reduction is an integer")
        return signature(type_.element, type_, types.unliteral(index))


@TYPING.register_global(operator.setitem)
class _SetElement(AbstractTemplate):
    key = operator.setitem

    def generic(self, args: Types, kws: KeywordTypes) -> Signature | None:
        type_, index, value = args
        if not isinstance(type_, ReducerType):
            return None
        if not isinstance(value, ReducerType):
            raise TypingError(f"a reduction has no values to set: it takes {_ways(type_)}")
        return signature(types.none, type_, types.unliteral(index), value)


@LOWERING.lower(operator.setitem, ReducerType, types.Integer, ReducerType)
def _set(context: Context, builder: Builder, sig: Signature, args: Sequence[Value]) -> Value:
    """``counts[i] += 1`` ends with it; the addition has changed the element."""
    return context.get_dummy_value()


@LOWERING.lower(operator.getitem, ReducerType, types.Integer)
def _get(context: Context, builder: Builder, sig: Signature, args: Sequence[Value]) -> Value:
    type_, index_type = sig.args
    first, index = args
    place = context.cast(builder, index, index_type, types.intp)
    if index_type.signed:
        zero = place.type(0)
        wrapped = builder.add(place, place.type(type_.count))
        place = builder.select(builder.icmp_signed("<", place, zero), wrapped, place)
    element = context.get_value_type(type_.dtype)
    pointer = builder.bitcast(first, ir.PointerType(element))
    return builder.bitcast(builder.gep(pointer, [place]), first.type)


@LOWERING.lower("reducer.combine", ReducerType, types.Any)
def _combine(context: Context, builder: Builder, sig: Signature, args: Sequence[Value]) -> Value:
    _contribute(context, builder, *sig.args, *args)
    return context.get_dummy_value()


def _lower_operator(function: PythonFunction) -> None:
    @LOWERING.lower(function, ReducerType, types.Any)
    def lower(context: Context, builder: Builder, sig: Signature, args: Sequence[Value]) -> Value:
        _contribute(context, builder, *sig.args, *args)
        return args[0]


for _function in _OPERATORS:
    _lower_operator(_function)


def _contribute(
    context: Context, builder: Builder, type_: ReducerType, kind: NumbaType, reducer: Value, number: Value
) -> None:
    value = context.cast(builder, number, kind, type_.dtype)
    pointer = builder.bitcast(reducer, ir.PointerType(value.type))
    signed = getattr(type_.dtype, "signed", True)
    if type_.shared:
        combine_atomically(builder, type_.combiner, pointer, value, signed, type_.language, "work_group")
    else:
        builder.store(combine(builder, type_.combiner, builder.load(pointer), value, signed), pointer)
