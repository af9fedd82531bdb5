"""float16: loaded and stored as half; operations compute in float32 and round, as numpy's do."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir
from numba.core import datamodel, types
from numba.core.datamodel import models
from numba.core.typing.templates import AbstractTemplate, signature

from .numba_names import (
    Builder,
    Context,
    KeywordTypes,
    ModelManager,
    NumbaType,
    PythonFunction,
    Resolve,
    Signature,
    Types,
    Value,
)

__all__ = ["MODELS", "signature_of", "with_half"]

MODELS = datamodel.DataModelManager()

_operators: dict[object, NumbaType] = {}  # a process has one target


class _FloatModel(models.PrimitiveModel):
    def __init__(self, manager: ModelManager, fe_type: NumbaType) -> None:
        type_ = {16: ir.HalfType(), 32: ir.FloatType(), 64: ir.DoubleType()}[fe_type.bitwidth]
        super().__init__(manager, fe_type, type_)


MODELS.register(types.Float, _FloatModel)


def with_half(function: NumbaType) -> NumbaType:
    """Return the type of an operator, which then takes float16 too; Numba's lowering asks it for the types again."""
    key = getattr(function, "typing_key", None)
    if type(function) is not types.Function or getattr(key, "__module__", "") != "_operator":
        return function
    if key not in _operators:

        class Half(AbstractTemplate):
            def generic(self, args: Types, kws: KeywordTypes) -> Signature | None:
                if kws or not args or any(type_ != types.float16 for type_ in args):
                    return None
                resolve = lambda _, kinds, kws: function.get_call_type(self.context, kinds, kws)  # noqa: E731
                return signature_of(function, self.key, len(args), resolve)

        Half.key = key
        _operators[key] = types.Function((Half, *function.templates))
    return _operators[key]


def signature_of(
    function: NumbaType | PythonFunction, key: PythonFunction, count: int, resolve: Resolve
) -> Signature | None:
    """Return the signature of an operation on float16, and define it by the one on float32.

    Parameters
    ----------
    function, key
        Numba's type of the operation, and the Python function.
    count
        Operands; integers among them become float16.
    resolve
        Numba's resolution.
    """
    from . import active

    single = resolve(function, (types.float32,) * count, {})
    if single is None:
        return None
    result = types.float16 if single.return_type == types.float32 else single.return_type
    sig = signature(result, *[types.float16] * count)

    def implementation(context: Context, builder: Builder, call_type: Signature, values: Sequence[Value]) -> Value:
        if key in (min, max):
            return _choice(builder, values, "<" if key is min else ">")
        wide = [context.cast(builder, value, type_, types.float32) for type_, value in zip(call_type.args, values)]
        value = context.get_function(function, single)(builder, wide)
        return context.cast(builder, value, single.return_type, result)

    active.target().target_context.insert_func_defn([(implementation, key, sig.args)])
    if isinstance(function, types.BaseFunction):
        function._impl_keys[sig.args] = key  # as Numba's own resolution does
    return sig


def _choice(builder: Builder, values: Sequence[Value], comparison: str) -> Value:
    """The first of the smallest or largest numbers, as Python chooses."""
    choice = values[0]
    for value in values[1:]:
        choice = builder.select(builder.fcmp_ordered(comparison, value, choice), value, choice)
    return choice
