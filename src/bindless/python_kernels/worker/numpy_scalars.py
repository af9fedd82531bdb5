"""numpy's functions of numbers in kernels, as functions of OpenCL C and of LLVM."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import NoReturn

import numpy as np
from llvmlite import ir
from numba.core import types

from ...device.declaration import Call, KernelTypeError, LaunchFacts, Lower, Type, device_intrinsic, mangled
from ...device.number_types import OPENCL_TYPES
from .numba_names import Builder, Context, NumbaType, PythonFunction, Value

__all__ = ["function_of", "same_function"]

_C_FLOATS = {"float16": "half", "float32": "float", "float64": "double"}
_INTRINSICS = {
    "sqrt": "sqrt", "fabs": "fabs", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "rint",
    "copysign": "copysign",
}  # fmt: skip
_SUFFIX = {"half": "f16", "float": "f32", "double": "f64"}
_FLOATS = {
    np.sin: "sin", np.cos: "cos", np.tan: "tan", np.arcsin: "asin", np.arccos: "acos", np.arctan: "atan",
    np.sinh: "sinh", np.cosh: "cosh", np.tanh: "tanh", np.arcsinh: "asinh", np.arccosh: "acosh", np.arctanh: "atanh",
    np.exp: "exp", np.exp2: "exp2", np.expm1: "expm1", np.log: "log", np.log2: "log2", np.log10: "log10",
    np.log1p: "log1p", np.sqrt: "sqrt", np.cbrt: "cbrt", np.fabs: "fabs", np.rint: "rint", np.floor: "floor",
    np.ceil: "ceil", np.trunc: "trunc",
}  # fmt: skip
_PAIRS = {
    np.arctan2: "atan2", np.hypot: "hypot", np.fmod: "fmod", np.copysign: "copysign", np.nextafter: "nextafter",
    np.float_power: "pow",
}  # fmt: skip
_LOGICAL = {np.logical_and: "and_", np.logical_or: "or_", np.logical_xor: "xor"}
_CHOICES = {np.minimum: "minimum", np.maximum: "maximum", np.fmin: "fmin", np.fmax: "fmax"}


def common_name(launch: LaunchFacts, *given: Type) -> str:
    """Return numpy's name of the type of an operation on numbers: the widest float, or the widest integer."""
    for one in given:
        if not one.is_number:
            raise KernelTypeError(f"a function of numbers was given {one}")
    floats = [one.name for one in given if one.kind == "float"]
    if floats:
        return max(floats, key=lambda name: int(name[5:]))
    return str(np.result_type(*(np.dtype(one.name) for one in given)))


def _float_name(launch: LaunchFacts, *given: Type) -> str:
    name = common_name(launch, *given)
    return _C_FLOATS[name if name in _C_FLOATS else launch.default_float]


def _call(name: str, type_: str, given: tuple[Type, ...]) -> Call:
    wide = "float" if type_ == "half" else type_
    symbol = f"llvm.{_INTRINSICS[name]}.{_SUFFIX[wide]}" if name in _INTRINSICS else mangled(name, *[wide] * len(given))
    return Call(wide, symbol, (wide,) * len(given), given)


def _one(name: str) -> PythonFunction:
    def rule(launch: LaunchFacts, x: Type) -> Call:
        return _call(name, _float_name(launch, x), (x,))

    def function(x: float) -> NoReturn:
        raise NotImplementedError

    function.__name__ = name
    return device_intrinsic(rule)(function)


def _two(name: str) -> PythonFunction:
    def rule(launch: LaunchFacts, x: Type, y: Type) -> Call:
        return _call(name, _float_name(launch, x, y), (x, y))

    def function(x: float, y: float) -> NoReturn:
        raise NotImplementedError

    function.__name__ = name
    return device_intrinsic(rule)(function)


def _choice(name: str) -> PythonFunction:
    def rule(launch: LaunchFacts, x: Type, y: Type) -> Lower:
        return Lower(OPENCL_TYPES[common_name(launch, x, y)], "numpy_scalars:lower_choice", (x, y), name)

    def function(x: float, y: float) -> NoReturn:
        raise NotImplementedError

    function.__name__ = name
    return device_intrinsic(rule)(function)


def lower_choice(
    context: Context,
    builder: Builder,
    result: NumbaType,
    types_: Sequence[NumbaType],
    values: Sequence[Value],
    name: str,
) -> Value:
    """numpy's smaller or larger of two numbers: ``minimum`` prefers not-a-number, ``fmin`` the number."""
    left, right = (context.cast(builder, value, type_, result) for type_, value in zip(types_, values))
    less = "<" if "min" in name else ">"
    if not isinstance(result, types.Float):
        compare = builder.icmp_signed if getattr(result, "signed", False) else builder.icmp_unsigned
        return builder.select(compare(less, left, right), left, right)
    first = builder.fcmp_ordered(less, left, right)
    other = left if name.startswith(("minimum", "maximum")) else right
    first = builder.or_(first, builder.fcmp_unordered("uno", other, other))
    return builder.select(first, left, right)


@device_intrinsic(lambda launch, x: Lower(_c_name(x), "numpy_scalars:lower_square", (x,)))
def _square(x: float) -> float:
    return x * x


def lower_square(
    context: Context,
    builder: Builder,
    result: NumbaType,
    types_: Sequence[NumbaType],
    values: Sequence[Value],
    _: object,
) -> Value:
    value = context.cast(builder, values[0], types_[0], result)
    return builder.fmul(value, value) if isinstance(result, types.Float) else builder.mul(value, value)


@device_intrinsic(lambda launch, x: Lower(_c_name(x), "numpy_scalars:lower_sign", (x,)))
def _sign(x: float) -> float:
    return (x > 0) - (x < 0)


def lower_sign(
    context: Context,
    builder: Builder,
    result: NumbaType,
    types_: Sequence[NumbaType],
    values: Sequence[Value],
    _: object,
) -> Value:
    """-1, 0 or 1; not-a-number stays."""
    value, zero = values[0], ir.Constant(values[0].type, 0)
    one, minus = ir.Constant(value.type, 1), ir.Constant(value.type, -1)
    if isinstance(result, types.Float):
        positive, negative = builder.fcmp_ordered(">", value, zero), builder.fcmp_ordered("<", value, zero)
    else:
        positive = builder.icmp_unsigned("!=", value, zero)
        negative = ir.Constant(ir.IntType(1), 0)
        if result.signed:
            positive, negative = builder.icmp_signed(">", value, zero), builder.icmp_signed("<", value, zero)
    return builder.select(positive, one, builder.select(negative, minus, value))


def _clip_rule(launch: LaunchFacts, x: Type, low: Type, high: Type) -> Lower:
    return Lower(OPENCL_TYPES[common_name(launch, x, low, high)], "numpy_scalars:lower_clip", (x, low, high))


@device_intrinsic(_clip_rule)
def _clip(x: float, low: float, high: float) -> float:
    return float(np.minimum(np.maximum(x, low), high))


def lower_clip(
    context: Context,
    builder: Builder,
    result: NumbaType,
    types_: Sequence[NumbaType],
    values: Sequence[Value],
    _: object,
) -> Value:
    raised = lower_choice(context, builder, result, types_[:2], values[:2], "maximum")
    return lower_choice(context, builder, result, (result, types_[2]), (raised, values[2]), "minimum")


def _where_rule(launch: LaunchFacts, condition: Type, x: Type, y: Type) -> Lower:
    if not condition.is_number:
        raise KernelTypeError(f"where takes a condition and two numbers, not {condition}")
    return Lower(OPENCL_TYPES[common_name(launch, x, y)], "numpy_scalars:lower_where", (condition, x, y))


@device_intrinsic(_where_rule)
def _where(condition: float, x: float, y: float) -> float:
    return x if condition else y


def lower_where(
    context: Context,
    builder: Builder,
    result: NumbaType,
    types_: Sequence[NumbaType],
    values: Sequence[Value],
    _: object,
) -> Value:
    condition, left, right = (
        context.cast(builder, value, type_, wanted)
        for value, type_, wanted in zip(values, types_, (types.boolean, result, result))
    )
    return builder.select(condition, left, right)


def _logical(name: str) -> PythonFunction:
    def rule(launch: LaunchFacts, x: Type, y: Type) -> Lower:
        common_name(launch, x, y)
        return Lower("bool", "numpy_scalars:lower_logical", (x, y), name)

    def function(x: float, y: float) -> NoReturn:
        raise NotImplementedError

    function.__name__ = f"logical_{name.rstrip('_')}"
    return device_intrinsic(rule)(function)


def lower_logical(
    context: Context,
    builder: Builder,
    result: NumbaType,
    types_: Sequence[NumbaType],
    values: Sequence[Value],
    name: str,
) -> Value:
    left, right = (context.cast(builder, value, type_, types.boolean) for type_, value in zip(types_, values))
    return getattr(builder, name)(left, right)


def _ldexp_rule(launch: LaunchFacts, x: Type, exponent: Type) -> Call:
    if exponent.kind != "int":
        raise KernelTypeError(f"ldexp takes an integer exponent, not {exponent}")
    name = _float_name(launch, x)
    wide = "float" if name == "half" else name
    return Call(wide, mangled("ldexp", wide, "int"), (wide, "int"), (x, exponent))


@device_intrinsic(_ldexp_rule)
def _ldexp(x: float, exponent: float) -> float:
    return x * 2**exponent


def _c_name(x: Type) -> str:
    if x.kind not in ("int", "float"):
        raise KernelTypeError(f"a function of numbers was given {x}")
    return OPENCL_TYPES[x.name]


_FUNCTIONS: dict[object, PythonFunction] = {
    **{function: _one(name) for function, name in _FLOATS.items()},
    **{function: _two(name) for function, name in _PAIRS.items()},
    **{function: _choice(name) for function, name in _CHOICES.items()},
    np.square: _square,
    np.sign: _sign,
    np.clip: _clip,
    np.where: _where,
    **{function: _logical(name) for function, name in _LOGICAL.items()},
    **{getattr(math, name): _two(name) for name in ("fmod", "remainder", "nextafter")},
    **{getattr(math, name): _one(name) for name in ("cbrt",) if hasattr(math, name)},
    math.ldexp: _ldexp,
    np.ldexp: _ldexp,
}


_SAME: dict[np.ufunc, PythonFunction] = {
    np.absolute: abs, np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul,
    np.divide: operator.truediv, np.floor_divide: operator.floordiv, np.remainder: operator.mod, np.power: operator.pow,
    np.negative: operator.neg, np.isnan: math.isnan, np.isinf: math.isinf, np.isfinite: math.isfinite,
    np.deg2rad: math.radians, np.rad2deg: math.degrees, np.logical_not: operator.not_, np.invert: operator.invert,
    np.bitwise_and: operator.and_, np.bitwise_or: operator.or_, np.bitwise_xor: operator.xor,
    np.left_shift: operator.lshift, np.right_shift: operator.rshift, np.equal: operator.eq, np.less: operator.lt,
    np.greater: operator.gt, np.less_equal: operator.le, np.greater_equal: operator.ge, np.not_equal: operator.ne,
}  # fmt: skip


def same_function(value: object) -> PythonFunction | None:
    """Return the function of Python that a function of numpy is for numbers; None for other values."""
    return _SAME.get(value) if isinstance(value, np.ufunc) else None


def function_of(value: object) -> PythonFunction | None:
    """Return the device function for a function of numpy or ``math``; None for other values."""
    known = callable(value) and getattr(value, "__module__", "") in ("math", "numpy")
    return _FUNCTIONS.get(value) if known or isinstance(value, np.ufunc) else None
