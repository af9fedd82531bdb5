"""Calls of device functions: typed by their rules, lowered to calls in LLVM IR."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.errors import TypingError
from numba.core.extending import register_model
from numba.core.imputils import Registry as LoweringRegistry
from numba.core.typing.templates import Registry as TypingRegistry
from numba.core.typing.templates import signature

from ...device.declaration import Call, KernelTypeError, Lower, Type, is_composed, rule_of
from ...device.number_types import OPENCL_TYPES
from ..function_source import Unknown
from . import numpy_scalars
from .c_types import described, llvm_type, numba_type
from .image_types import HandleType, ImageType, handle_of
from .numba_names import (
    Builder,
    Context,
    KeywordTypes,
    NumbaType,
    Operand,
    PythonFunction,
    Signature,
    Types,
    TypingContext,
    Value,
)
from .vectors import VectorType, from_llvm_vector, to_llvm_vector

__all__ = ["LOWERING", "TYPING", "DeviceFunctionType", "call_function", "convert", "type_of_value"]

TYPING, LOWERING = TypingRegistry(), LoweringRegistry("bindless.device")

_HANDLES = {"sampled_image_handle": True, "unsampled_image_handle": False}


class DeviceFunctionType(types.Callable, types.Opaque):
    """Type of a device function, which is its own value.

    Parameters
    ----------
    function
        The function of ``bindless.device``.
    """

    def __init__(self, function: PythonFunction) -> None:
        self.function = function
        super().__init__(f"bindless.device.{function.__name__}")

    @property
    def key(self) -> PythonFunction:
        return self.function

    def get_call_type(self, context: TypingContext, args: Types, kws: KeywordTypes) -> Signature:
        call, order = _resolve(context, self.function, args, kws)
        result = _result_type(call.result)
        sig = signature(result, *order)
        _define(context, self, sig, call, args, kws, order)
        return sig.replace(pysig=_signature_of(self.function, args, kws)) if kws else sig

    def get_call_signatures(self) -> tuple[list[Signature], bool]:
        return [], True

    def get_impl_key(self, sig: Signature) -> tuple[PythonFunction, Types]:
        return (self.function, sig.args)


@register_model(DeviceFunctionType)
class _FunctionModel(models.OpaqueModel):
    pass


def type_of_value(value: object) -> NumbaType | None:
    """Return the type of a device function or a helper of a kernel among the globals; None for other values."""
    if callable(value) and rule_of(value) is not None:
        return DeviceFunctionType(value)
    if callable(value) and is_composed(value):
        from . import active

        return active.target().type_of_composed(value)
    function = numpy_scalars.function_of(value)
    if function is not None:
        return DeviceFunctionType(function)
    if isinstance(value, Unknown):
        raise TypingError(f"it is {value.description}: kernels use constants, device functions, math and numpy")
    return getattr(value, "_numba_type_", None)


def _result_type(result: str | Type) -> NumbaType:
    """Return Numba's type of the result of a call."""
    if isinstance(result, str):
        return numba_type(result)
    return types.Array(numba_type(OPENCL_TYPES[result.name]), result.dimensions, "C")


def _signature_of(function: PythonFunction, args: Types, kws: KeywordTypes) -> inspect.Signature:
    """Return a signature with a parameter for each given argument, by which Numba sorts the values of a call."""
    bound = inspect.signature(function).bind(*args, **dict(kws))
    names: list[str] = []
    for name, value in _in_order(function, bound.arguments):
        names += [f"{name}_{number}" for number in range(len(value))] if type(value) is tuple else [name]
    return inspect.Signature([inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names])


def _resolve(
    context: TypingContext, function: PythonFunction, args: Types, kws: KeywordTypes
) -> tuple[Call | Lower, Types]:
    """Return the rule's answer, and the arguments' types in the order of the parameters."""
    rule = rule_of(function)
    assert rule is not None
    try:
        bound = inspect.signature(function).bind(*args, **dict(kws))
    except TypeError as error:
        parameters = ", ".join(inspect.signature(function).parameters)
        raise TypingError(f"{function.__name__}: {error}; it is {function.__name__}({parameters})") from None
    order: list[NumbaType] = []
    for _, value in _in_order(function, bound.arguments):
        order += value if type(value) is tuple else [value]
    places = iter(range(len(order)))

    def describe(value: NumbaType) -> Type:
        return replace(described(value), place=next(places))

    words = {
        name: tuple(map(describe, value)) if type(value) is tuple else describe(value)
        for name, value in _in_order(function, bound.arguments)
    }
    words = {name: value for name, value in words.items() if not isinstance(value, Type) or value.kind != "none"}
    try:
        call = inspect.signature(function).bind_partial()
        call.arguments.update(words)
        lowering: Call | Lower = rule(context.launch, *call.args, **call.kwargs)
    except KernelTypeError as error:
        raise TypingError(str(error)) from None
    if isinstance(lowering, Call):
        _require_fit(function.__name__, lowering)
    if lowering.of_group:
        context.group_function = function.__name__
    return lowering, tuple(order)


def _require_fit(name: str, call: Call) -> None:
    """Raise the error of an argument that a parameter does not take."""
    for argument, parameter in zip(call.arguments, call.parameters):
        if not isinstance(argument, Type) or parameter.endswith("*"):
            continue
        if parameter in _HANDLES:
            other = argument.name and argument.name != parameter.partition("_")[0]
            if argument.kind not in ("image", "int") or (argument.kind == "image" and other):
                raise TypingError(
                    f"{name} takes {'a sampled' if _HANDLES[parameter] else 'an unsampled'} image, not {argument}"
                )
        elif isinstance(numba_type(parameter), VectorType):
            if not argument.is_number and argument.kind not in ("vector", "tuple"):
                raise TypingError(f"{name} takes a vector or a tuple of numbers, not {argument}")
        elif not argument.is_number and not (argument.kind == "image" and parameter == "ulong"):
            raise TypingError(f"{name} takes a number, not {argument}")


def _in_order(function: PythonFunction, arguments: Mapping[str, NumbaType]) -> list[tuple[str, NumbaType | Types]]:
    """Return the arguments in the order of the parameters; those of ``*rest`` as a tuple."""
    return [(name, arguments[name]) for name in inspect.signature(function).parameters if name in arguments]


def _define(
    context: TypingContext,
    function: DeviceFunctionType,
    sig: Signature,
    call: Call | Lower,
    args: Types,
    kws: KeywordTypes,
    order: Types,
) -> None:
    """Give the lowering context an implementation for the signature."""
    from . import active

    def implementation(lowering: Context, builder: Builder, call_type: Signature, values: Sequence[Value]) -> Value:
        listed = [_operand(lowering, builder, argument, order, values) for argument in call.arguments]
        if isinstance(call, Call):
            return call_function(lowering, builder, call, listed)
        module, _, name = call.function.partition(":")
        lower = getattr(importlib.import_module(f"bindless.python_kernels.worker.{module}"), name)
        operands = [value for _, value in listed]
        return lower(lowering, builder, call_type.return_type, [type_ for type_, _ in listed], operands, call.options)

    active.target().target_context.insert_func_defn([(implementation, function.get_impl_key(sig), sig.args)])


def _operand(
    lowering: Context, builder: Builder, argument: Type | float, order: Types, values: Sequence[Value]
) -> Operand:
    """Return Numba's type and LLVM's value of an argument of a call."""
    if isinstance(argument, Type):
        if argument.place >= 0:
            type_ = order[argument.place]
            if isinstance(type_, types.Omitted):
                return _constant(lowering, builder, type_.value)
            return type_, values[argument.place]
        return _constant(lowering, builder, argument.value)
    return _constant(lowering, builder, argument)


def _constant(lowering: Context, builder: Builder, value: float) -> Operand:
    type_ = types.boolean if isinstance(value, bool) else types.int64 if isinstance(value, int) else types.float64
    return type_, lowering.get_constant(type_, value)


def call_function(lowering: Context, builder: Builder, call: Call, operands: Sequence[Operand]) -> Value:
    """Call a function of OpenCL C or of the prelude; return the result as Numba represents it."""
    parameters = [llvm_type(name) for name in call.parameters]
    function_type = ir.FunctionType(llvm_type(call.result), parameters)
    function = cgutils.get_or_insert_function(builder.module, function_type, call.symbol)
    convention = "" if call.symbol.startswith("llvm.") else lowering.calling_convention
    function.calling_convention = convention
    if call.of_group:
        function.attributes.add("convergent")
    inputs = [convert(lowering, builder, type_, value, name) for (type_, value), name in zip(operands, call.parameters)]
    result = builder.call(function, inputs, cconv=convention)
    if call.source:
        lowering.sources[call.symbol] = call.source
    type_ = numba_type(call.result)
    if call.result == "void":
        return lowering.get_dummy_value()
    if isinstance(type_, VectorType):
        return from_llvm_vector(lowering, builder, type_, result)
    return result


def convert(lowering: Context, builder: Builder, type_: NumbaType, value: Value, name: str) -> Value:
    """Convert an argument to a parameter's type."""
    if name in _HANDLES and isinstance(type_, ImageType):
        return handle_of(builder, value, sampled=_HANDLES[name])
    if isinstance(type_, HandleType):
        return value
    if name.endswith("*"):
        return value
    target = numba_type(name)
    if isinstance(target, VectorType):
        return to_llvm_vector(lowering, builder, target, type_, value)
    return lowering.cast(builder, value, type_, target)
