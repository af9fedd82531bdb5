"""float16: loaded and stored as half; operations compute in float32 and round, as numpy's do."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import datamodel, types
from numba.core.datamodel import models
from numba.core.typing.templates import signature

__all__ = ["MODELS", "signature_of"]

MODELS = datamodel.DataModelManager()


class _FloatModel(models.PrimitiveModel):
    def __init__(self, manager: Any, fe_type: Any) -> None:
        type_ = {16: ir.HalfType(), 32: ir.FloatType(), 64: ir.DoubleType()}[fe_type.bitwidth]
        super().__init__(manager, fe_type, type_)


MODELS.register(types.Float, _FloatModel)


def signature_of(function: Any, key: Any, count: int, resolve: Any) -> Any:
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

    def implementation(context: Any, builder: Any, given: Any, values: Any) -> Any:
        wide = [context.cast(builder, value, type_, types.float32) for type_, value in zip(given.args, values)]
        made = context.get_function(function, single)(builder, wide)
        return context.cast(builder, made, single.return_type, result)

    active.target().target_context.insert_func_defn([(implementation, key, sig.args)])
    return sig
