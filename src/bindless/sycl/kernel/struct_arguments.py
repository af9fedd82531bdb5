"""Bytes of arguments that are passed by value and are more than a number: vectors, structures, arrays within them.

The rule is one of sizes: a numpy array fits a parameter of as many bytes, in the order of its elements. A vector of
three has the size of one of four, and takes three elements. Where the source's type is known to be a vector or a
number, the elements must be of its kind too, and plain sequences of numbers become them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...backends.contract import KernelArgument
from ...model.arrays import Array, DType
from ...model.message_values import shown

__all__ = ["FLOATS", "INTEGERS", "Unfit", "array_bytes", "element_of_type", "sequence_bytes"]

_ELEMENTS = {
    "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "long": "i8", "ulong": "u8",
    "half": "f2", "float": "f4", "double": "f8", "bool": "?", "size_t": "u8", "ptrdiff_t": "i8", "intptr_t": "i8",
    "uintptr_t": "u8",
    "unsigned char": "u1", "unsigned short": "u2", "unsigned int": "u4", "unsigned long": "u8",
}  # fmt: skip
FLOATS = frozenset(name for name, code in _ELEMENTS.items() if code[0] == "f")
INTEGERS = frozenset(_ELEMENTS) - FLOATS
"""Names of scalar types in the source."""
_TYPE = re.compile(r"(?:const |volatile )*([a-z_ ]+?)(2|3|4|8|16)?")


class Unfit(Exception):
    """Reason why a value does not fit; the caller adds the name of the parameter."""


def element_of_type(type_: str) -> DType | None:
    """The dtype of a number, or of a vector's elements, by what the source calls its type; None for other types."""
    match = _TYPE.fullmatch(type_)
    if match is None or match[1] not in _ELEMENTS:
        return None
    return np.dtype(f"<{_ELEMENTS[match[1]]}" if match[1] != "bool" else "?")


def _element_of(parameter: KernelArgument) -> tuple[DType, int] | None:
    """The dtype of a parameter's elements and how many there are, if the source calls it a number or vector."""
    match, dtype = _TYPE.fullmatch(parameter.type), element_of_type(parameter.type)
    if match is None or dtype is None:
        return None
    count = int(match[2] or 1)
    return (dtype, count) if dtype.itemsize * (4 if count == 3 else count) == parameter.size else None


def array_bytes(value: Array, parameter: KernelArgument) -> bytes:
    """An array's elements in their order, as the parameter has them.

    Raises
    ------
    Unfit
        Another size, elements of another kind, or Python objects.
    """
    if value.dtype.hasobject:
        raise Unfit("it holds Python objects")
    element = _element_of(parameter)
    if element is not None and value.ndim > 0:
        dtype, count = element
        if value.dtype.names is None and (_kind(value.dtype), value.dtype.itemsize) != (_kind(dtype), dtype.itemsize):
            raise Unfit(f"its elements are {value.dtype}, the parameter's {dtype}: convert it with astype")
        if value.dtype.names is None and count == 3 and value.size == 3:
            return value.tobytes() + bytes(dtype.itemsize)
    # A parameter of unknown type may be a vector of three.
    if element is None and not parameter.type and value.size == 3 and value.nbytes // 3 * 4 == parameter.size:
        return value.tobytes() + bytes(value.itemsize)
    if value.nbytes != parameter.size:
        raise Unfit(
            f"it has {value.nbytes} bytes ({value.dtype}{f' of shape {value.shape}' if value.ndim else ''}); an array "
            f"passed by value has as many as the parameter: {_requirement(parameter, element)}"
        )
    return value.tobytes()


def sequence_bytes(value: Sequence[object], parameter: KernelArgument) -> bytes:
    """A tuple or list of numbers for a vector.

    Raises
    ------
    Unfit
        The parameter is none, has another number of elements, or one of these is no number that fits.
    """
    vector = _element_of(parameter)
    if vector is None:
        raise Unfit(
            f"the elements of a {type(value).__name__} have no type of their own, and the parameter's "
            f"{f'is {parameter.type!r}' if parameter.type else 'is unknown'}, no vector: pass a numpy array or a "
            f"structured numpy scalar of {parameter.size} bytes"
        )
    dtype, count = vector
    if len(value) != count:
        raise Unfit(f"it has {len(value)} elements: {_requirement(parameter, vector)}")
    numbers = (int, np.integer, np.bool_) if dtype.kind != "f" else (int, float, np.number, np.bool_)
    for element in value:
        if not isinstance(element, numbers):
            raise Unfit(f"its element {shown(element)} is no {'number' if dtype.kind == 'f' else 'integer'}")
    try:
        with np.errstate(over="raise"):
            array = np.array([_wrap(element, dtype) for element in value], dtype)
    except (OverflowError, FloatingPointError):
        raise Unfit(f"an element does not fit {dtype}") from None
    return array_bytes(array, parameter)


def _kind(dtype: DType) -> str:
    """Integers of both signs are one kind, as for Python's numbers."""
    return "i" if dtype.kind in "iu" else dtype.kind


def _wrap(element: Any, dtype: DType) -> Any:
    """A Python integer of either sign as one of the dtype's own, as single numbers are taken."""
    if dtype.kind not in "iu":
        return element
    number, bits = int(element), 8 * dtype.itemsize
    if not -(1 << (bits - 1)) <= number < 1 << bits:
        raise OverflowError
    number &= (1 << bits) - 1
    return number - (1 << bits) if dtype.kind == "i" and number >> (bits - 1) else number


def _requirement(parameter: KernelArgument, element: tuple[DType, int] | None) -> str:
    if element is None:
        return f"{parameter.type or 'it'} has {parameter.size}"
    dtype, count = element
    padded = f", or 4, the last of which is not used ({parameter.size} bytes)" if count == 3 else ""
    return f"{parameter.type} takes {count} of {dtype}{padded}"
