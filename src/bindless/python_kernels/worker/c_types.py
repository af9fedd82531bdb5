"""Types of OpenCL C, as Numba's and as LLVM's."""

from __future__ import annotations

import re
from functools import cache

from llvmlite import ir
from numba.core import types

from ...device.declaration import KernelTypeError, Type
from .image_types import HandleType, ImageType
from .numba_names import LlvmType, NumbaType
from .vectors import VectorType

__all__ = ["described", "llvm_type", "numba_type"]

_NUMBERS = {
    "bool": types.boolean, "char": types.int8, "uchar": types.uint8, "short": types.int16, "ushort": types.uint16,
    "int": types.int32, "uint": types.uint32, "long": types.int64, "ulong": types.uint64, "size_t": types.uint64,
    "half": types.float16, "float": types.float32, "double": types.float64, "void": types.none,
    "sampled_image_handle": types.uint64, "unsampled_image_handle": types.uint64,
}  # fmt: skip
_SPACES = {"global": 1, "constant": 2, "local": 3, "generic": 0, "private": 0}
_VECTOR = re.compile(r"(\w*?[a-z])(2|3|4|8|16)")


@cache
def numba_type(name: str) -> NumbaType:
    """Return Numba's type of a number or a vector."""
    if name in _NUMBERS:
        return _NUMBERS[name]
    match = _VECTOR.fullmatch(name)
    if match is None or match[1] not in _NUMBERS:
        raise KernelTypeError(f"{name!r} is no type of OpenCL C that kernels in Python know")
    return VectorType(_NUMBERS[match[1]], int(match[2]))


def llvm_type(name: str) -> LlvmType:
    """Return LLVM's type of a parameter or a result; a vector is one of LLVM."""
    if name.endswith("*"):
        return ir.PointerType(ir.IntType(8), _SPACES.get(name.split()[0], 0))
    type_ = numba_type(name)
    if isinstance(type_, VectorType):
        return ir.VectorType(_number(type_.dtype), type_.count)
    return ir.VoidType() if name == "void" else _number(type_)


def _number(type_: NumbaType) -> LlvmType:
    if type_ == types.boolean:
        return ir.IntType(1)
    if isinstance(type_, types.Float):
        return {16: ir.HalfType(), 32: ir.FloatType(), 64: ir.DoubleType()}[type_.bitwidth]
    return ir.IntType(type_.bitwidth)


def described(type_: NumbaType) -> Type:
    """Return the description of Numba's type for the rules of device functions."""
    value = getattr(type_, "literal_value", None)
    if isinstance(type_, types.Omitted):
        return described_constant(type_.value)
    if isinstance(type_, types.StringLiteral):
        return Type("text", value=value, native=type_)
    plain = types.unliteral(type_)
    if isinstance(plain, types.Boolean):
        return Type("bool", "bool", value=value, native=type_)
    if isinstance(plain, types.Integer):
        return Type("int", plain.name, value=value, native=type_)
    if isinstance(plain, types.Float):
        return Type("float", plain.name, value=value, native=type_)
    if isinstance(plain, (ImageType, HandleType)):
        return Type("image", getattr(plain, "form", ""), native=type_)
    if isinstance(plain, VectorType):
        return Type("vector", plain.dtype.name, plain.count, native=type_)
    if isinstance(plain, types.BaseTuple):
        elements = tuple(map(described, type_.types))
        values = tuple(element.value for element in elements)
        return Type(
            "tuple", count=len(elements), elements=elements, value=None if None in values else values, native=type_
        )
    if isinstance(plain, types.Array):
        return Type("array", str(plain.dtype), dimensions=plain.ndim, native=type_)
    if isinstance(plain, types.NoneType):
        return Type("none", native=type_)
    if isinstance(plain, (types.DTypeSpec, types.NumberClass)):
        return Type("dtype", str(plain.dtype), native=type_)
    return Type("other", str(plain), native=type_)


def described_constant(value: object) -> Type:
    """Return the description of a default value of a parameter."""
    if value is None:
        return Type("none", native=types.none)
    if isinstance(value, bool):
        return Type("bool", "bool", value=value, native=types.boolean)
    if isinstance(value, int):
        return Type("int", "int64", value=value, native=types.int64)
    if isinstance(value, float):
        return Type("float", "float32", value=value, native=types.float32)
    return Type("text" if isinstance(value, str) else "other", value=value, native=types.Omitted(value))
