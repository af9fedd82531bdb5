"""Checks of array indices, for the reference driver: an index outside of its axis is a fault, also where the address
lies within the array.

Each index becomes the result of a function that the driver implements as one operation. It returns the index, counted
from the end where it is negative, which Numba's own code does otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from llvmlite import ir
from numba.core import cgutils, types
from numba.np import arrayobj

from .numba_names import Builder, Context, NumbaType, Value

__all__ = ["DRIVER_PREFIX", "install", "with_pure_checks"]

DRIVER_PREFIX = "__bindless_array_index_"
"""Of the names of functions that the reference driver defines."""
_DECLARATION = re.compile(rf"^declare spir_func i64 (@{DRIVER_PREFIX}\d\([^)]*\))[^\n]*$", re.MULTILINE)
_INDEX = ir.IntType(64)
_LARGEST = 2**63 - 1
_unchecked = arrayobj.basic_indexing


def install() -> None:
    """Make Numba's indexing of arrays check indices, in launches that ask for it."""
    arrayobj.basic_indexing = _basic_indexing


def with_pure_checks(text: str) -> str:
    """Return LLVM IR in which equal checks are one: a check depends on its numbers alone, and is never negative."""
    return _DECLARATION.sub(
        r"declare spir_func range(i64 0, -9223372036854775808) i64 \1 nounwind willreturn memory(none)", text
    )


def _basic_indexing(
    context: Context,
    builder: Builder,
    array: NumbaType,
    view: Value,
    kinds: Sequence[NumbaType],
    indices: Sequence[Value],
    boundscheck: bool | None = None,
) -> Value:
    """Numba's function of this name, with the same arguments."""
    if context.typing_context.launch.checks_indices and array.ndim:
        sizes = cgutils.unpack_tuple(builder, view.shape, array.ndim)
        checked = []
        for axis, kind, index in zip(_axes(array, kinds), kinds, indices):
            is_index = isinstance(kind, types.Integer)
            checked.append(
                (types.uintp, _checked(context, builder, kind, index, axis, sizes)) if is_index else (kind, index)
            )
        kinds, indices = zip(*checked)
    return _unchecked(context, builder, array, view, kinds, indices, boundscheck)


def _axes(array: NumbaType, kinds: Sequence[NumbaType]) -> list[int]:
    """Return the axis of each index."""
    axes, axis = [], 0
    whole = sum(kind is not types.ellipsis and kind is not types.none for kind in kinds)
    for kind in kinds:
        axes.append(axis)
        axis += array.ndim - whole if kind is types.ellipsis else kind is not types.none
    return axes


def _checked(context: Context, builder: Builder, kind: NumbaType, index: Value, axis: int, sizes: list[Value]) -> Value:
    value = context.cast(builder, index, kind, types.intp)
    if not kind.signed and kind.bitwidth == _INDEX.width:  # beyond every array, and not counted from the end
        value = builder.select(builder.icmp_signed("<", value, _INDEX(0)), _INDEX(_LARGEST), value)
    function_type = ir.FunctionType(_INDEX, [_INDEX] * (2 + len(sizes)))
    function = cgutils.get_or_insert_function(builder.module, function_type, f"{DRIVER_PREFIX}{len(sizes)}")
    function.calling_convention = context.calling_convention
    return builder.call(function, [value, _INDEX(axis), *sizes], cconv=context.calling_convention)
