"""The kernel's entry: an LLVM function with plain parameters that builds the arguments of the Python function.

A parameter is a number or a pointer. Arrays have a pointer, sizes and, unless they are contiguous, strides; images have
two handles; tuples their elements; records their bytes as integers. Parameters that the kernel does not use are
removed after optimisation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.np import numpy_support

from ..argument_type import ArgumentType
from ..expansion import ParameterPath
from . import reduction_results
from .image_types import IMAGE, HandleType
from .numba_names import Builder, CompileResult, Context, IrModule, LlvmType, NumbaType, Value
from .record_types import type_of_dtype

__all__ = ["EntryParameter", "numba_type", "write_entry"]

_GLOBAL, _LOCAL = 1, 3
_C_NAMES = {
    "bool": "uchar", "int8": "char", "uint8": "uchar", "int16": "short", "uint16": "ushort", "int32": "int",
    "uint32": "uint", "int64": "long", "uint64": "ulong", "float16": "half", "float32": "float", "float64": "double",
}  # fmt: skip


@dataclass(frozen=True)
class EntryParameter:
    """A parameter of the entry.

    Attributes
    ----------
    path
        Where its value comes from: the number of the argument, then steps such as ``shape`` and a number.
    name, c_type, kind, size
        As in the signature of a kernel.
    type
        LLVM's type.
    """

    path: ParameterPath
    name: str
    c_type: str
    kind: str
    size: int
    type: LlvmType


def numba_type(argument: ArgumentType) -> NumbaType:
    """Return Numba's type of an argument."""
    if argument.kind == "image":
        return IMAGE
    if argument.kind == "handle":
        return HandleType(argument.name)
    if argument.kind == "none":
        return types.none
    if argument.kind == "reduction":
        return reduction_results.reducer_type(argument)
    if argument.kind == "number":
        return types.boolean if argument.name == "bool" else numpy_support.from_dtype(np.dtype(argument.name))
    if argument.kind == "record":
        return type_of_dtype(argument.dtype)
    if argument.kind == "tuple":
        return types.BaseTuple.from_types(tuple(map(numba_type, argument.elements)))
    element = type_of_dtype(argument.dtype)
    return types.Array(element, argument.dimensions, argument.layout)


class _Entry:
    """Collects parameters; a second pass builds values from them."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.parameters: list[EntryParameter] = []
        self._reductions: list[tuple[ArgumentType, Value, Value]] = []

    def add(self, path: ParameterPath, name: str, c_type: str, kind: str, type_: LlvmType, size: int) -> None:
        self.parameters.append(EntryParameter(path, name, c_type, kind, size, type_))

    def declare(self, argument: ArgumentType, path: ParameterPath, name: str) -> None:
        if argument.kind == "image":
            for part in ("sampled", "unsampled"):
                self.add((*path, part), name, f"{part}_image_handle", "value", ir.IntType(64), 8)
        elif argument.kind == "handle":
            self.add((*path, "handle"), name, f"{argument.name}_image_handle", "value", ir.IntType(64), 8)
        elif argument.kind == "none":
            pass
        elif argument.kind == "number":
            type_ = np.dtype(argument.name)
            self.add(path, name, _C_NAMES[argument.name], "value", _llvm_number(argument.name), type_.itemsize)
        elif argument.kind == "tuple":
            for number, element in enumerate(argument.elements):
                self.declare(element, (*path, number), f"{name}[{number}]")
        elif argument.kind == "record":
            first = 0
            for size in word_sizes(argument.dtype.itemsize):
                word = {1: "uchar", 2: "ushort", 4: "uint", 8: "ulong"}[size]
                self.add((*path, "word", first, size), f"{name}.{first}", word, "value", ir.IntType(8 * size), size)
                first += size
        elif argument.kind == "reduction":
            self.add((*path, "variable"), name, "global void*", "pointer", ir.PointerType(ir.IntType(8), _GLOBAL), 8)
        else:
            local = argument.kind == "local"
            pointer = ir.PointerType(ir.IntType(8), _LOCAL if local else _GLOBAL)
            space = "local" if local else "global"
            step = "pointer" if argument.layout == "A" and argument.name != "accessor" else "array"
            self.add((*path, step), name, f"{space} void*", "local" if local else "pointer", pointer, 8)
            for axis in range(argument.dimensions):
                self.add((*path, "shape", axis), f"{name}.shape[{axis}]", "long", "value", ir.IntType(64), 8)
            for axis in range(argument.dimensions if argument.layout == "A" else 0):
                self.add((*path, "strides", axis), f"{name}.strides[{axis}]", "long", "value", ir.IntType(64), 8)

    def build(self, builder: Builder, argument: ArgumentType, words: Iterator[Value]) -> Value:
        """Return Numba's value of an argument; `words` yields LLVM's parameters."""
        context = self.context
        if argument.kind == "image":
            return cgutils.pack_struct(builder, [next(words), next(words)])
        if argument.kind == "number":
            value = next(words)
            return builder.icmp_unsigned("!=", value, value.type(0)) if argument.name == "bool" else value
        if argument.kind == "handle":
            return next(words)
        if argument.kind == "none":
            return self.context.get_dummy_value()
        if argument.kind == "tuple":
            elements = [self.build(builder, element, words) for element in argument.elements]
            return context.make_tuple(builder, numba_type(argument), elements)
        if argument.kind == "record":
            return self._record(builder, argument, words)
        if argument.kind == "reduction":
            reducer = reduction_results.start(context, builder, argument)
            self._reductions.append((argument, reducer, next(words)))
            return reducer
        return self._array(builder, argument, words)

    def finish(self, builder: Builder) -> None:
        """Write the results of reductions."""
        for reduction in self._reductions:
            reduction_results.finish(self.context, builder, *reduction)

    def _record(self, builder: Builder, argument: ArgumentType, words: Iterator[Value]) -> Value:
        place = cgutils.alloca_once(builder, ir.ArrayType(ir.IntType(8), argument.dtype.itemsize))
        place.align = 8
        first = builder.bitcast(place, ir.PointerType(ir.IntType(8)))
        offset = 0
        for size in word_sizes(argument.dtype.itemsize):
            word = next(words)
            target = cgutils.pointer_add(builder, first, offset)
            builder.store(word, builder.bitcast(target, ir.PointerType(word.type)), align=size)
            offset += size
        return builder.bitcast(place, self.context.get_value_type(numba_type(argument)))

    def _array(self, builder: Builder, argument: ArgumentType, words: Iterator[Value]) -> Value:
        context, type_ = self.context, numba_type(argument)
        array = context.make_array(type_)(context, builder)
        pointer = builder.addrspacecast(next(words), ir.PointerType(ir.IntType(8)))
        shape = [next(words) for _ in range(argument.dimensions)]
        itemsize = context.get_constant(types.intp, argument.dtype.itemsize)
        if argument.layout == "A":
            strides = [next(words) for _ in range(argument.dimensions)]
        else:
            strides = [itemsize]
            for size in reversed(shape[1:]):
                strides.insert(0, builder.mul(strides[0], size, flags=["nsw"]))
            strides = strides[-argument.dimensions :] if argument.dimensions else []
        data = builder.bitcast(pointer, array.data.type)
        context.populate_array(array, data=data, shape=shape, strides=strides, itemsize=itemsize, meminfo=None)
        return array._getvalue()


def write_entry(
    context: Context,
    result: CompileResult,
    name: str,
    arguments: tuple[ArgumentType, ...],
    names: tuple[str, ...],
    convention: str,
) -> tuple[IrModule, list[EntryParameter]]:
    """Write the entry's module; return it and the parameters.

    Parameters
    ----------
    result
        Numba's result for the Python function.
    names
        Of its parameters.
    convention
        Calling convention of kernels.
    """
    entry = _Entry(context)
    for number, (argument, word) in enumerate(zip(arguments, names)):
        entry.declare(argument, (number,), word)
    module = context.create_module("entry")
    function_type = ir.FunctionType(ir.VoidType(), [parameter.type for parameter in entry.parameters])
    function = ir.Function(module, function_type, name)
    function.calling_convention = convention
    for number, value in enumerate(function.args):
        value.name = f"p{number}"
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    words = iter(function.args)
    values = [entry.build(builder, argument, words) for argument in arguments]
    inner = context.declare_function(module, result.fndesc)
    context.call_conv.call_function(builder, inner, types.none, result.signature.args, values)
    entry.finish(builder)
    builder.ret_void()
    return module, entry.parameters


def word_sizes(count: int) -> list[int]:
    """Return the sizes of integers that hold this many bytes."""
    sizes = [8] * (count // 8)
    rest = count % 8
    for size in (4, 2, 1):
        if rest & size:
            sizes.append(size)
    return sizes


def _llvm_number(name: str) -> LlvmType:
    if name == "bool":
        return ir.IntType(8)
    dtype = np.dtype(name)
    if dtype.kind == "f":
        return {2: ir.HalfType(), 4: ir.FloatType(), 8: ir.DoubleType()}[dtype.itemsize]
    return ir.IntType(8 * dtype.itemsize)
