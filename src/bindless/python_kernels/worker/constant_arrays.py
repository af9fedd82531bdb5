"""Constants of a module in the memory that kernels reach: tables among the globals of a kernel, and texts."""

from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils, types

from ...model.arrays import Array
from .numba_names import Builder, Context, IrModule, NumbaType, Value

__all__ = ["insert_text", "make_constant_array"]

_GLOBAL = 1


def make_constant_array(context: Context, builder: Builder, type_: NumbaType, array: Array) -> Value:
    """Return an array over the bytes of a numpy array."""
    module = builder.module
    data = array.tobytes(order="A")
    words = ir.Constant(ir.ArrayType(ir.IntType(8), len(data)), bytearray(data))
    name = module.get_unique_name("bindless_table")
    variable = ir.GlobalVariable(module, words.type, name, addrspace=_GLOBAL)
    variable.linkage, variable.global_constant, variable.initializer, variable.align = "internal", True, words, 16
    pointer = builder.addrspacecast(variable, ir.PointerType(ir.IntType(8)))
    value = context.make_array(type_)(context, builder)
    context.populate_array(
        value,
        data=builder.bitcast(pointer, value.data.type),
        shape=[context.get_constant(types.intp, size) for size in array.shape],
        strides=[context.get_constant(types.intp, stride) for stride in array.strides],
        itemsize=context.get_constant(types.intp, array.itemsize),
        meminfo=None,
    )
    return value._getvalue()


def insert_text(module: IrModule, text: str) -> Value:
    """Return a null-terminated text in the module."""
    data = cgutils.make_bytearray(text.encode() + b"\0")
    name = module.get_unique_name("bindless_text")
    variable = cgutils.add_global_variable(module, data.type, name)
    variable.linkage, variable.global_constant, variable.initializer = "internal", True, data
    return variable.bitcast(ir.PointerType(ir.IntType(8)))
