"""Samples with gradients, and of cubemaps: calls of primitives whose operands are computed first."""

from __future__ import annotations

from llvmlite import ir
from numba.core import types

from ...device.declaration import Call
from .device_calls import call_function
from .numba_names import Builder, Context, NumbaType, Value
from .vectors import VectorType

__all__ = ["cubemap", "gradients"]

_HANDLE = "sampled_image_handle"


def gradients(
    context: Context,
    builder: Builder,
    result: NumbaType,
    kinds: list[NumbaType],
    values: list[Value],
    options: tuple[str, str],
) -> Value:
    """The sample of an image; the last two arguments are differences of the coordinate."""
    operands = list(zip(kinds[:-2], values[:-2]))
    for type_, value in zip(kinds[-2:], values[-2:]):
        if isinstance(type_, (types.BaseTuple, VectorType)):
            operands += [(part, builder.extract_value(value, at)) for at, part in enumerate(type_.types)]
        else:
            operands.append((type_, value))
    symbol, kind = options
    numbers = ["float"] * (len(operands) - 1)
    return call_function(context, builder, Call(kind, symbol, (_HANDLE, *numbers)), operands)


def cubemap(
    context: Context,
    builder: Builder,
    result: NumbaType,
    kinds: list[NumbaType],
    values: list[Value],
    options: tuple[str, str],
) -> Value:
    """The sample of a cubemap along a direction, which is divided by its largest component as ``bindless/device.h``
    does it: the division is IEEE's, and NaNs become 0.
    """
    image, *direction = zip(kinds, values)
    parts = [context.cast(builder, value, type_, types.float32) for type_, value in direction]
    sizes = [_call(builder, "llvm.fabs", part) for part in parts]
    largest = _call(builder, "llvm.maxnum", _call(builder, "llvm.maxnum", *sizes[:2]), sizes[2])
    zero = ir.Constant(parts[0].type, 0.0)
    operands = [image]
    for part in parts:
        scaled = builder.fdiv(part, largest)
        operands.append((types.float32, builder.select(builder.fcmp_ordered("ord", scaled, scaled), scaled, zero)))
    symbol, kind = options
    return call_function(context, builder, Call(kind, symbol, (_HANDLE, *["float"] * 3)), operands)


def _call(builder: Builder, name: str, *values: Value) -> Value:
    type_ = values[0].type
    function_type = ir.FunctionType(type_, [type_] * len(values))
    return builder.call(builder.module.declare_intrinsic(name, [type_], function_type), values)
