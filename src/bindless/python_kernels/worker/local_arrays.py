"""Arrays in local memory: variables of the module, in the address space of work-groups."""

from __future__ import annotations

import math
from typing import TypedDict

import numpy as np
from llvmlite import ir
from numba.core import types

from .numba_names import Builder, Context, NumbaType, Value

__all__ = ["make"]

_LOCAL = 3


class _ArrayOptions(TypedDict):
    shape: tuple[int, ...]
    dtype: str


def make(
    context: Context,
    builder: Builder,
    result: NumbaType,
    kinds: list[NumbaType],
    values: list[Value],
    options: _ArrayOptions,
) -> Value:
    """An array over a variable of this call."""
    shape, dtype = options["shape"], np.dtype(options["dtype"])
    size = math.prod(shape) * dtype.itemsize
    module = builder.module
    kind = ir.ArrayType(ir.IntType(8), size)
    variable = ir.GlobalVariable(module, kind, module.get_unique_name("bindless_local"), addrspace=_LOCAL)
    variable.linkage, variable.align = "internal", 16
    variable.initializer = ir.Constant(kind, ir.Undefined)
    pointer = builder.addrspacecast(variable, ir.PointerType(ir.IntType(8)))
    array = context.make_array(result)(context, builder)
    strides = [math.prod(shape[axis + 1 :]) * dtype.itemsize for axis in range(len(shape))]
    context.populate_array(
        array,
        data=builder.bitcast(pointer, array.data.type),
        shape=[context.get_constant(types.intp, one) for one in shape],
        strides=[context.get_constant(types.intp, one) for one in strides],
        itemsize=context.get_constant(types.intp, dtype.itemsize),
        meminfo=None,
    )
    return array._getvalue()
