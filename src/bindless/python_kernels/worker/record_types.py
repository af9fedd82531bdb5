"""Numba's types of structured dtypes, by the addresses of their fields.

Numba takes each structure as packed unless its dtype says otherwise, and arrays among its fields as aligned always.
GPUs need aligned addresses. Here a structure is aligned if the offsets of its fields are multiples of their sizes in
each element of an array. In others every access is one of bytes, and so are those to arrays among the fields.
"""

from __future__ import annotations

from numba.core import types
from numba.core.datamodel.models import NestedArrayModel
from numba.core.extending import register_model
from numba.np import numpy_support

from ...model.arrays import DType
from .numba_names import NumbaType

__all__ = ["type_of_dtype"]


class PackedArray(types.NestedArray):
    """An array among the fields of a packed structure."""

    def __init__(self, dtype: NumbaType, shape: tuple[int, ...]) -> None:
        super().__init__(dtype, shape)
        self.aligned = False
        self.name: str = f"packed nestedarray({dtype}, {shape})"

    @property
    def key(self) -> tuple[object, ...]:
        return "packed", *super().key


register_model(PackedArray)(NestedArrayModel)


def type_of_dtype(dtype: DType) -> NumbaType:
    """Return Numba's type of an element."""
    return _type_of(dtype, True)


def _type_of(dtype: DType, aligned: bool) -> NumbaType:
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        kind = types.NestedArray if aligned else PackedArray
        return kind(_type_of(base, aligned), shape)
    if dtype.names is None or dtype.fields is None:
        return numpy_support.from_dtype(dtype)
    aligned = aligned and _is_aligned(dtype)
    fields = [
        (name, {"type": _type_of(info[0], aligned), "offset": info[1], "title": None})
        for name, info in dtype.fields.items()
        if name in dtype.names
    ]
    return types.Record(fields, dtype.itemsize, aligned)


def _is_aligned(dtype: DType) -> bool:
    """Whether all fields of all elements of an array have addresses that are multiples of their alignment."""
    for kind, offset, *_ in (dtype.fields or {}).values():
        alignment = _alignment(kind)
        if offset % alignment or dtype.itemsize % alignment or not _is_aligned(kind.base):
            return False
    return True


def _alignment(dtype: DType) -> int:
    base = dtype.base
    if base.fields is not None:
        return max((_alignment(info[0]) for info in base.fields.values()), default=1)
    return base.alignment
