"""Vectors: constructors, products, lengths."""

from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils, types

from .numba_names import Builder, Context, NumbaType, Value

__all__ = ["cross", "dot", "length", "make", "normalize"]


def make(
    context: Context, builder: Builder, result: NumbaType, kinds: list[NumbaType], values: list[Value], options: object
) -> Value:
    """A vector of the components of the arguments."""
    parts: list[Value] = []
    for type_, value in zip(kinds, values):
        if isinstance(type_, types.BaseTuple):
            for number, part in enumerate(type_.types):
                parts.append(context.cast(builder, builder.extract_value(value, number), part, result.dtype))
        else:
            parts.append(context.cast(builder, value, type_, result.dtype))
    return cgutils.pack_array(builder, parts * result.count if len(parts) == 1 else parts)


def dot(
    context: Context, builder: Builder, result: NumbaType, kinds: list[NumbaType], values: list[Value], options: object
) -> Value:
    """The sum of products, from the first component on."""
    a, b = values
    return _dot(builder, _parts(builder, kinds[0], a), _parts(builder, kinds[1], b))


def length(
    context: Context, builder: Builder, result: NumbaType, kinds: list[NumbaType], values: list[Value], options: object
) -> Value:
    """The root of the sum of squares."""
    parts = _parts(builder, kinds[0], values[0])
    return _root(builder, _dot(builder, parts, parts))


def normalize(
    context: Context, builder: Builder, result: NumbaType, kinds: list[NumbaType], values: list[Value], options: object
) -> Value:
    """The components divided by the length."""
    parts = _parts(builder, kinds[0], values[0])
    size = _root(builder, _dot(builder, parts, parts))
    return cgutils.pack_array(builder, [builder.fdiv(part, size) for part in parts])


def cross(
    context: Context, builder: Builder, result: NumbaType, kinds: list[NumbaType], values: list[Value], options: object
) -> Value:
    """The cross product."""
    a, b = (_parts(builder, type_, value) for type_, value in zip(kinds, values))
    pairs = ((1, 2), (2, 0), (0, 1))
    parts = [builder.fsub(builder.fmul(a[i], b[j]), builder.fmul(a[j], b[i])) for i, j in pairs]
    return cgutils.pack_array(builder, parts)


def _parts(builder: Builder, type_: NumbaType, value: Value) -> list[Value]:
    return [builder.extract_value(value, number) for number in range(type_.count)]


def _dot(builder: Builder, a: list[Value], b: list[Value]) -> Value:
    total = builder.fmul(a[0], b[0])
    for one, other in zip(a[1:], b[1:]):
        total = builder.fadd(total, builder.fmul(one, other))
    return total


def _root(builder: Builder, value: Value) -> Value:
    function_type = ir.FunctionType(value.type, [value.type])
    return builder.call(builder.module.declare_intrinsic("llvm.sqrt", [value.type], function_type), [value])
