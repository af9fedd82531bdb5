"""Atomic operations on array elements, as instructions of LLVM."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir
from numba.core import types
from numba.np import arrayobj

from .numba_names import Builder, Context, LlvmType, NumbaType, Value

__all__ = ["bits_of", "compare_exchange", "compared", "instruction", "modify"]

_SCOPES = {
    "spirv": {"device": "device", "work_group": "workgroup", "sub_group": "subgroup", "system": "all_svm_devices"},
    "ptx": {"device": "device", "work_group": "block", "sub_group": "block", "system": ""},
}
_UNSIGNED = {"min": "umin", "max": "umax"}
_FLOATS = {"add": "fadd", "sub": "fsub", "min": "fmin", "max": "fmax"}


class _Scoped(ir.Instruction):
    """An atomic instruction with a scope; llvmlite's own have none.

    Parameters
    ----------
    head
        The instruction's name, and the operation.
    orders
        Its orders.
    """

    def __init__(
        self, parent: ir.Block, type_: LlvmType, head: str, operands: Sequence[Value], scope: str, orders: str
    ) -> None:
        super().__init__(parent, type_, head, operands)
        self._scope, self._orders = scope, orders

    def descr(self, buf: list[str]) -> None:
        operands = ", ".join(f"{operand.type} {operand.get_reference()}" for operand in self.operands)
        scope = f' syncscope("{self._scope}")' if self._scope else ""
        buf.append(f"{self.opname} {operands}{scope} {self._orders}\n")


def modify(
    context: Context,
    builder: Builder,
    result: NumbaType,
    kinds: list[NumbaType],
    values: list[Value],
    options: dict[str, str],
) -> Value:
    """An operation that returns the element before."""
    array, index, kind = kinds
    pointer, type_ = _element(context, builder, array, index, values[0], values[1])
    value = context.cast(builder, values[2], kind, array.dtype)
    operation = options["operation"]
    if isinstance(array.dtype, types.Float):
        if operation == "sub":  # no target has it
            operation, value = "add", builder.fneg(value)
        operation = _FLOATS.get(operation, operation)
    elif not array.dtype.signed:
        operation = _UNSIGNED.get(operation, operation)
    whole = bits_of(type_) if operation == "xchg" else type_
    old = instruction(
        builder, whole, f"atomicrmw {operation}", [pointer, _as(builder, value, whole)], options["language"],
        options["scope"], options["order"],
    )  # fmt: skip
    return _as(builder, old, type_)


def compare_exchange(
    context: Context,
    builder: Builder,
    result: NumbaType,
    kinds: list[NumbaType],
    values: list[Value],
    options: dict[str, str],
) -> Value:
    """An exchange where the element has a value."""
    array, index = kinds[:2]
    pointer, type_ = _element(context, builder, array, index, values[0], values[1])
    whole = bits_of(type_)
    operands = [
        _as(builder, context.cast(builder, value, kind, array.dtype), whole)
        for kind, value in zip(kinds[2:], values[2:])
    ]
    order = options["order"]
    failure = {"release": "monotonic", "acq_rel": "acquire"}.get(order, order)
    pair = compared(builder, whole, [pointer, *operands], options["language"], options["scope"], f"{order} {failure}")
    return _as(builder, builder.extract_value(pair, 0), type_)


def instruction(
    builder: Builder, type_: LlvmType, head: str, operands: list[Value], language: str, scope: str, orders: str
) -> Value:
    """Insert an atomic instruction, and return its result.

    Parameters
    ----------
    head
        The instruction's name, and the operation.
    scope
        As in ``bindless.device``.
    orders
        LLVM's.
    """
    access = _Scoped(builder.block, type_, head, operands, _SCOPES[language][scope], orders)
    builder._insert(access)
    return access


def compared(builder: Builder, bits: LlvmType, operands: list[Value], language: str, scope: str, orders: str) -> Value:
    """Insert an exchange where an element has a value; return the element before, and whether it had the value."""
    pair = ir.LiteralStructType([bits, ir.IntType(1)])
    return instruction(builder, pair, "cmpxchg", operands, language, scope, orders)


def _element(
    context: Context, builder: Builder, array: NumbaType, index: NumbaType, value: Value, place: Value
) -> tuple[Value, LlvmType]:
    """Pointer to an element, and its type."""
    if isinstance(index, types.BaseTuple):
        kinds = list(index.types)
        places = [builder.extract_value(place, number) for number in range(len(kinds))]
    else:
        kinds, places = [index], [place]
    whole = [context.cast(builder, one, kind, types.intp) for one, kind in zip(places, kinds)]
    view = arrayobj.make_array(array)(context, builder, value)
    pointer, _, _ = arrayobj.basic_indexing(context, builder, array, view, [types.intp] * len(whole), whole)
    return pointer, context.get_value_type(array.dtype)


def bits_of(type_: LlvmType) -> LlvmType:
    """Return the integer type with the size of a number."""
    if isinstance(type_, ir.IntType):
        return type_
    return ir.IntType(64 if isinstance(type_, ir.DoubleType) else 32)


def _as(builder: Builder, value: Value, type_: LlvmType) -> Value:
    return value if value.type == type_ else builder.bitcast(value, type_)
