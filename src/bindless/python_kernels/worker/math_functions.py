"""Functions of ``math`` and numpy's scalar functions, as calls of OpenCL C's."""

from __future__ import annotations

import math
from collections.abc import Sequence

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import Registry

from ...device.declaration import mangled
from .numba_names import Builder, Context, NumbaType, PythonFunction, Signature, Value

__all__ = ["LOWERING", "call_math", "fma"]

LOWERING = Registry("bindless.math")

_ONE = {
    "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin", "acos": "acos", "atan": "atan", "sinh": "sinh",
    "cosh": "cosh", "tanh": "tanh", "asinh": "asinh", "acosh": "acosh", "atanh": "atanh", "exp": "exp", "exp2": "exp2",
    "expm1": "expm1", "log": "log", "log2": "log2", "log10": "log10", "log1p": "log1p", "sqrt": "sqrt",
    "fabs": "fabs", "erf": "erf", "erfc": "erfc", "gamma": "tgamma", "lgamma": "lgamma", "cbrt": "cbrt",
}  # fmt: skip
_TWO = {"atan2": "atan2", "hypot": "hypot", "pow": "pow", "fmod": "fmod", "copysign": "copysign"}
_INTRINSICS = {"sqrt": "llvm.sqrt", "fabs": "llvm.fabs", "copysign": "llvm.copysign"}
_ROUND = {"floor": "llvm.floor", "ceil": "llvm.ceil", "trunc": "llvm.trunc"}
_NAMES = {16: "half", 32: "float", 64: "double"}


def call_math(context: Context, builder: Builder, name: str, values: Sequence[Value], bits: int) -> Value:
    """Call a function of OpenCL C for floats of one size."""
    type_ = values[0].type
    if name in _INTRINSICS:
        function_type = ir.FunctionType(type_, [type_] * len(values))
        intrinsic = builder.module.declare_intrinsic(_INTRINSICS[name], [type_], function_type)
        return builder.call(intrinsic, values)
    function_type = ir.FunctionType(type_, [type_] * len(values))
    symbol = mangled(name, *[_NAMES[bits]] * len(values))
    function = cgutils.get_or_insert_function(builder.module, function_type, symbol)
    function.calling_convention = context.calling_convention
    return builder.call(function, values, cconv=context.calling_convention)


def fma(
    context: Context, builder: Builder, result: NumbaType, kinds: list[NumbaType], values: list[Value], options: object
) -> Value:
    """A product and a sum, rounded once."""
    parts = [context.cast(builder, value, type_, result) for type_, value in zip(kinds, values)]
    return builder.fma(*parts)


def _define(function: PythonFunction, name: str, count: int) -> None:
    for type_ in (types.float16, types.float32, types.float64):

        def lower(
            context: Context, builder: Builder, sig: Signature, args: Sequence[Value], bits: int = type_.bitwidth
        ) -> Value:
            return call_math(context, builder, name, args, bits)

        LOWERING.lower(function, *[type_] * count)(lower)

    def integers(context: Context, builder: Builder, sig: Signature, args: Sequence[Value]) -> Value:
        kind = sig.return_type
        values = [context.cast(builder, value, type_, kind) for type_, value in zip(sig.args, args)]
        return call_math(context, builder, name, values, kind.bitwidth)

    LOWERING.lower(function, *[types.Integer] * count)(integers)


for _python, _opencl in _ONE.items():
    if hasattr(math, _python):
        _define(getattr(math, _python), _opencl, 1)
for _python, _opencl in _TWO.items():
    _define(getattr(math, _python), _opencl, 2)


def _rounding(function: PythonFunction, intrinsic: str) -> None:
    def lower(context: Context, builder: Builder, sig: Signature, args: Sequence[Value]) -> Value:
        (value,) = args
        rounded = builder.call(builder.module.declare_intrinsic(intrinsic, [value.type]), [value])
        return context.cast(builder, rounded, sig.args[0], sig.return_type)

    def integer(context: Context, builder: Builder, sig: Signature, args: Sequence[Value]) -> Value:
        return context.cast(builder, args[0], sig.args[0], sig.return_type)

    LOWERING.lower(function, types.Float)(lower)
    LOWERING.lower(function, types.Integer)(integer)


for _python, _intrinsic in _ROUND.items():
    _rounding(getattr(math, _python), _intrinsic)


@LOWERING.lower(math.isnan, types.Float)
def _isnan(context: Context, builder: Builder, sig: Signature, args: Sequence[Value]) -> Value:
    return builder.fcmp_unordered("uno", args[0], args[0])


@LOWERING.lower(math.isinf, types.Float)
def _isinf(context: Context, builder: Builder, sig: Signature, args: Sequence[Value]) -> Value:
    size = builder.call(builder.module.declare_intrinsic("llvm.fabs", [args[0].type]), args)
    return builder.fcmp_ordered("==", size, ir.Constant(size.type, float("inf")))


@LOWERING.lower(math.isfinite, types.Float)
def _isfinite(context: Context, builder: Builder, sig: Signature, args: Sequence[Value]) -> Value:
    size = builder.call(builder.module.declare_intrinsic("llvm.fabs", [args[0].type]), args)
    return builder.fcmp_ordered("<", size, ir.Constant(size.type, float("inf")))


@LOWERING.lower(math.isnan, types.Integer)
@LOWERING.lower(math.isinf, types.Integer)
def _never(context: Context, builder: Builder, sig: Signature, args: Sequence[Value]) -> Value:
    return cgutils.false_bit


@LOWERING.lower(math.isfinite, types.Integer)
def _always(context: Context, builder: Builder, sig: Signature, args: Sequence[Value]) -> Value:
    return cgutils.true_bit


def _angle(function: PythonFunction, factor: float) -> None:
    @LOWERING.lower(function, types.Float)
    def lower(context: Context, builder: Builder, sig: Signature, args: Sequence[Value]) -> Value:
        return builder.fmul(args[0], ir.Constant(args[0].type, factor))


_angle(math.radians, math.pi / 180)
_angle(math.degrees, 180 / math.pi)
