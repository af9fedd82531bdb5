"""Text from kernels: printf of OpenCL C on SPIR-V, vprintf on PTX."""

from __future__ import annotations

import re
from typing import TypedDict

from llvmlite import ir
from numba.core import cgutils, types

from .numba_names import Builder, Context, IrModule, NumbaType, Value

__all__ = ["printf"]

_INT = ir.IntType(32)
_BYTE = ir.PointerType(ir.IntType(8))
_CONSTANT = 2


class _PrintOptions(TypedDict):
    format: str
    kinds: tuple[str, ...]
    language: str


def printf(
    context: Context,
    builder: Builder,
    result: NumbaType,
    kinds: list[NumbaType],
    values: list[Value],
    options: _PrintOptions,
) -> Value:
    """Print the values; integers are 64 bits wide, floats double."""
    numbers = []
    for kind, type_, value in zip(options["kinds"], kinds, values):
        if kind == "float":
            wide = types.float64 if options["language"] == "ptx" or type_ == types.float64 else types.float32
            numbers.append(context.cast(builder, value, type_, wide))
        else:
            numbers.append(context.cast(builder, value, type_, types.int64 if kind == "signed" else types.uint64))
    text = _with_lengths(options["format"], options["kinds"])
    if options["language"] == "ptx":
        return _vprintf(builder, text, numbers)
    function_type = ir.FunctionType(_INT, [ir.PointerType(ir.IntType(8), _CONSTANT)], var_arg=True)
    function = cgutils.get_or_insert_function(builder.module, function_type, "printf")
    function.calling_convention = context.calling_convention
    return builder.call(function, [_text(builder.module, text, _CONSTANT), *numbers], cconv=context.calling_convention)


def _vprintf(builder: Builder, text: str, numbers: list[Value]) -> Value:
    """NVIDIA's function, which takes the values in memory."""
    function_type = ir.FunctionType(_INT, [_BYTE, _BYTE])
    function = cgutils.get_or_insert_function(builder.module, function_type, "vprintf")
    address = ir.Constant(_BYTE, None)
    if numbers:
        kind = ir.LiteralStructType([number.type for number in numbers])
        with builder.goto_entry_block():
            memory = builder.alloca(kind)
        for place, number in enumerate(numbers):
            builder.store(number, builder.gep(memory, [_INT(0), _INT(place)]))
        address = builder.bitcast(memory, _BYTE)
    return builder.call(function, [builder.addrspacecast(_text(builder.module, text, 1), _BYTE), address])


def _text(module: IrModule, text: str, space: int) -> Value:
    """A pointer to a null-terminated text."""
    data = cgutils.make_bytearray(text.encode() + b"\0")
    variable = ir.GlobalVariable(module, data.type, module.get_unique_name("bindless_format"), addrspace=space)
    variable.linkage, variable.global_constant, variable.initializer = "internal", True, data
    return variable.bitcast(ir.PointerType(ir.IntType(8), space))


def _with_lengths(text: str, kinds: tuple[str, ...]) -> str:
    """The format with the length ``l`` at fields of integers."""
    from ...device.printing import FIELD

    rest = iter(kinds)

    def field(match: re.Match[str]) -> str:
        if match[1] is None or next(rest) == "float" or match[1] == "c":
            return str(match[0])
        return f"{match[0][:-1]}l{match[1]}"

    return FIELD.sub(field, text)
