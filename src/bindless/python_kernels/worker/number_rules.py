"""Rules of numbers that differ from Numba's: single precision unless double precision is asked for.

Python's floats, its constants and its quotients of integers are float32 (``LaunchFacts.default_float``). An operation
of an integer and a float16 or float32 has the float's type, as in OpenCL C; Numba and numpy return float64.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence

from numba.core import types
from numba.core.errors import TypingError
from numba.core.typing.templates import AbstractTemplate, signature
from numba.core.typing.templates import Registry as TypingRegistry

from ...device.declaration import LaunchFacts
from . import float16
from .numba_names import (
    Builder,
    Context,
    KeywordTypes,
    NumbaType,
    PythonFunction,
    Resolve,
    Signature,
    Types,
    TypingContext,
    Value,
)
from .vectors import OPERATORS, VectorType, elementwise

__all__ = ["TYPING", "signature_of", "type_of_constant"]

TYPING = TypingRegistry()

_ARITHMETIC = {
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.imod, operator.ipow,
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge, operator.neg, operator.pos, min, max,
    abs, math.fmod, math.atan2, math.hypot, math.copysign, math.pow,
}  # fmt: skip
_POWERS = {operator.pow, operator.ipow}
_QUOTIENTS = {operator.truediv, operator.itruediv}
_SINGLE = types.float32


def type_of_constant(value: object, launch: LaunchFacts) -> NumbaType | None:
    """Return the type of a Python float in a kernel; None for other values and in double precision."""
    return _SINGLE if type(value) is float and launch.default_float == "float32" else None


def signature_of(
    context: TypingContext, function: NumbaType | PythonFunction, args: Types, kws: KeywordTypes, resolve: Resolve
) -> Signature | None:
    """Return the signature of a call by these rules, or None where Numba's own rules hold.

    Parameters
    ----------
    resolve
        Numba's resolution.
    """
    key = _key(function)
    if key is None or kws:
        return None
    if len(args) == 2 and key in OPERATORS:
        _require_lengths(*args)
        found = elementwise(key, args, lambda *parts: context.resolve_function_type(function, parts, {}))
        if found is not None and found[1] is not None:
            return _vector_signature(function, args, *found)
    plain = [types.unliteral(argument) for argument in args]
    if not plain or not all(isinstance(argument, (types.Integer, types.Float, types.Boolean)) for argument in plain):
        return None
    floats = [argument for argument in plain if isinstance(argument, types.Float)]
    if floats and all(argument == types.float16 for argument in floats) and (key in _ARITHMETIC or _is_math(key)):
        return float16.signature_of(function, key, len(plain), resolve)
    if key in _POWERS and isinstance(args[1], types.IntegerLiteral) and args[1].literal_value >= 0:
        # Products; Numba has float64 powers of integers, and this package calls pow for other exponents.
        base = plain[0] if floats else types.int64
        return resolve(function, (base, types.uint64), kws)
    if context.launch.default_float != "float32":
        return None
    if key in _ARITHMETIC and len(plain) >= 2:
        if not floats:
            return resolve(function, (_SINGLE,) * len(plain), kws) if key in _QUOTIENTS or _is_math(key) else None
        if len(floats) < len(plain):
            widest = max(floats, key=lambda type_: type_.bitwidth)
            return resolve(function, (widest,) * len(plain), kws)
    if _is_math(key) and len(plain) == 1 and not floats and key not in (math.floor, math.ceil, math.trunc):
        return resolve(function, (_SINGLE,), kws)
    return None


def _require_lengths(left: NumbaType, right: NumbaType) -> None:
    """Raise the error of vectors of two lengths, which as tuples would be joined."""
    if isinstance(left, VectorType) and isinstance(right, VectorType) and left.count != right.count:
        raise TypingError(f"an operation of vectors of {left.count} and of {right.count}: their lengths differ")


class _Operator(AbstractTemplate):
    """Typing of an operator of vectors, which lowering asks for again with the converted operands."""

    def generic(self, args: Types, kws: KeywordTypes) -> Signature | None:
        if kws or len(args) != 2 or not any(isinstance(type_, VectorType) for type_ in args):
            return None
        function = self.context.resolve_value_type(self.key)
        found = elementwise(self.key, args, lambda *parts: self.context.resolve_function_type(function, parts, {}))
        return _vector_signature(self.key, args, *found) if found is not None and found[1] is not None else None


for _operator in OPERATORS:
    TYPING.register_global(_operator)(type(f"_Operator_{_operator.__name__}", (_Operator,), {"key": _operator}))


def _key(function: NumbaType | PythonFunction) -> PythonFunction | None:
    """Return the Python function of a function's type."""
    if isinstance(function, types.Function):
        key = function.typing_key
        return key if callable(key) else None
    return function if callable(function) and not isinstance(function, types.Type) else None


def _is_math(key: object) -> bool:
    return getattr(key, "__module__", "") == "math"


def _vector_signature(function: NumbaType | PythonFunction, args: Types, count: int, scalar: Signature) -> Signature:
    """Define the operator for the vectors, and return its signature."""
    from . import active

    lowering = active.target().target_context
    wanted = [
        VectorType(part, count) if isinstance(type_, VectorType) else part for type_, part in zip(args, scalar.args)
    ]
    sig = signature(VectorType(scalar.return_type, count), *wanted)

    def implementation(context: Context, builder: Builder, given: Signature, values: Sequence[Value]) -> Value:
        one = context.get_function(_key(function), scalar)
        results = []
        for place in range(count):
            parts = [
                builder.extract_value(value, place) if isinstance(type_, VectorType) else value
                for type_, value in zip(given.args, values)
            ]
            results.append(one(builder, parts))
        from numba.core import cgutils

        return cgutils.pack_array(builder, results)

    lowering.insert_func_defn([(implementation, _key(function), tuple(wanted))])
    return sig


def vector_cast(context: Context, builder: Builder, fromty: NumbaType, toty: NumbaType, value: Value) -> Value:
    """Convert each component."""
    from numba.core import cgutils

    parts = [
        context.cast(builder, builder.extract_value(value, place), fromty.types[place], toty.dtype)
        for place in range(toty.count)
    ]
    return cgutils.pack_array(builder, parts)
