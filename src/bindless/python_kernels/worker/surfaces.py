"""Pixels of unsampled images: SPIR-V converts them to registers, and PTX moves their bytes."""

from __future__ import annotations

from typing import TypedDict

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types

from ...device.number_types import OPENCL_TYPES
from ...model.arrays import DType
from .c_types import numba_type
from .numba_names import Builder, Context, LlvmType, NumbaType, Value
from .vectors import VectorType

__all__ = ["read", "write"]

_BLOBS = {1: "b8", 2: "b16", 4: "b32", 8: "b64", 16: "b128"}
_WORD = ir.IntType(32)
_WORDS = ir.VectorType(_WORD, 4)


class PixelOptions(TypedDict):
    """Facts of an access: the image's geometry, numpy's name of a channel, their number, and the target's language."""

    geometry: str
    dtype: str
    channels: int
    language: str


def read(
    context: Context,
    builder: Builder,
    result: NumbaType,
    kinds: list[NumbaType],
    values: list[Value],
    options: PixelOptions,
) -> Value:
    """The pixel, a vector or a number."""
    place = _place(context, builder, kinds, values, options)
    dtype, count = np.dtype(options["dtype"]), options["channels"]
    kind = numba_type(OPENCL_TYPES[options["dtype"]])
    if options["language"] == "ptx":
        name = f"__bindless_read_{options['geometry']}_{_BLOBS[dtype.itemsize * count]}"
        words = _call(context, builder, _WORDS, name, place)
        parts = [_unpacked(context, builder, words, number, dtype, kind) for number in range(count)]
    else:
        letter, register, vector = _class_of(dtype)
        name = f"__bindless_read_{options['geometry']}_{letter}"
        pixel = _call(context, builder, vector, name, place)
        parts = [
            context.cast(builder, builder.extract_element(pixel, _number(place)), register, kind)
            for place in range(count)
        ]
    return parts[0] if count == 1 else cgutils.pack_array(builder, parts)


def write(
    context: Context,
    builder: Builder,
    result: NumbaType,
    kinds: list[NumbaType],
    values: list[Value],
    options: PixelOptions,
) -> Value:
    """Store the last argument."""
    place = _place(context, builder, kinds[:-1], values[:-1], options)
    dtype, count = np.dtype(options["dtype"]), options["channels"]
    kind = numba_type(OPENCL_TYPES[options["dtype"]])
    type_, value = kinds[-1], values[-1]
    if isinstance(type_, (types.BaseTuple, VectorType)):
        listed = [(part, builder.extract_value(value, number)) for number, part in enumerate(type_.types)]
    else:
        listed = [(type_, value)]
    parts = [context.cast(builder, one, part, kind) for part, one in listed]
    if options["language"] == "ptx":
        name = f"__bindless_write_{options['geometry']}_{_BLOBS[dtype.itemsize * count]}"
        texel = _packed(builder, parts, dtype)
    else:
        letter, register, vector = _class_of(dtype)
        name = f"__bindless_write_{options['geometry']}_{letter}"
        texel = ir.Constant(vector, [0] * 4)
        for number, part in enumerate(parts):
            texel = builder.insert_element(texel, context.cast(builder, part, kind, register), _number(number))
    _call(context, builder, ir.VoidType(), name, [*place, texel])
    return context.get_dummy_value()


def _place(
    context: Context, builder: Builder, kinds: list[NumbaType], values: list[Value], options: PixelOptions
) -> list[Value]:
    """The handle, the layer of an array, and the coordinates, of which PTX counts bytes along x."""
    from .device_calls import convert

    layered = options["geometry"].endswith("array")
    names = ["unsampled_image_handle", *(["uint"] if layered else []), *["int"] * (len(kinds) - 1 - layered)]
    place = [convert(context, builder, *pair) for pair in zip(kinds, values, names)]
    if options["language"] == "ptx":
        size = np.dtype(options["dtype"]).itemsize * options["channels"]
        place[1 + layered] = builder.mul(place[1 + layered], ir.Constant(_WORD, size))
    return place


def _class_of(dtype: DType) -> tuple[str, NumbaType, LlvmType]:
    """Letter of the primitive, Numba's type of a register, and LLVM's of the pixel."""
    if dtype.kind == "f":
        return "f", types.float32, ir.VectorType(ir.FloatType(), 4)
    return ("i", types.int32, _WORDS) if dtype.kind == "i" else ("u", types.uint32, _WORDS)


def _call(context: Context, builder: Builder, result: LlvmType, name: str, arguments: list[Value]) -> Value:
    function_type = ir.FunctionType(result, [argument.type for argument in arguments])
    function = cgutils.get_or_insert_function(builder.module, function_type, name)
    function.calling_convention = context.calling_convention
    return builder.call(function, arguments, cconv=context.calling_convention)


def _unpacked(context: Context, builder: Builder, words: Value, number: int, dtype: DType, kind: NumbaType) -> Value:
    """One channel of the bytes of a pixel."""
    place = number * dtype.itemsize
    word = builder.extract_element(words, _number(place // 4))
    target = context.get_value_type(kind)
    if dtype.itemsize == 4:
        return word if target == _WORD else builder.bitcast(word, target)
    bits = ir.IntType(8 * dtype.itemsize)
    part = builder.trunc(builder.lshr(word, ir.Constant(_WORD, 8 * (place % 4))), bits)
    return part if target == bits else builder.bitcast(part, target)


def _packed(builder: Builder, parts: list[Value], dtype: DType) -> Value:
    """The bytes of a pixel."""
    bits = ir.IntType(8 * dtype.itemsize)
    words = [ir.Constant(_WORD, 0)] * 4
    for number, part in enumerate(parts):
        place = number * dtype.itemsize
        whole = part if part.type == bits else builder.bitcast(part, bits)
        if dtype.itemsize < 4:
            whole = builder.shl(builder.zext(whole, _WORD), ir.Constant(_WORD, 8 * (place % 4)))
        words[place // 4] = builder.or_(words[place // 4], whole)
    texel = ir.Constant(_WORDS, [0] * 4)
    for number, word in enumerate(words):
        texel = builder.insert_element(texel, word, _number(number))
    return texel


def _number(value: int) -> Value:
    return ir.Constant(_WORD, value)
