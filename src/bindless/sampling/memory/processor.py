"""Execution by the reference driver's C code, on memory of the process."""

from __future__ import annotations

import struct

from ...drivers import reference
from .arrays import ITEM_SIZES
from .plan import MemoryPlan, Strided

__all__ = ["describe", "run"]

_CALL = struct.Struct("@9I8d4IQQ")
_ARRAY = struct.Struct("@P5q")
_POINTER = struct.Struct("@P")
_LEVEL = struct.Struct("@3I0P")

_NUMBERS = {name: number for number, name in enumerate(ITEM_SIZES)}


def run(plan: MemoryPlan, pointers: list[int]) -> None:
    """Compute at once."""
    description = plan.prepared.get("processor")
    if description is None:
        reference.load()
        description = plan.prepared["processor"] = describe(plan)
    template, places = description
    data = bytearray(template)
    for place, slot in places:
        _POINTER.pack_into(data, place, pointers[slot])
    call = reference.ffi.from_buffer("blr_gradients_t *", data)
    reference.check(reference.lib.blrSampleGradients(call), "blrSampleGradients")


def describe(plan: MemoryPlan) -> tuple[bytes, list[tuple[int, int]]]:
    """The argument of ``blrSampleGradients``: a ``blr_gradients_t`` with null addresses, and where addresses belong.

    Returns
    -------
    tuple[bytes, list[tuple[int, int]]]
        The struct, and (offset in it, number of the address).
    """
    lookup, filter_, map_ = plan.lookup, plan.lookup.filter, plan.lookup.map
    data = bytearray(
        _CALL.pack(
            plan.operation, lookup.dims, lookup.cube, filter_.interpolation.number,
            filter_.ties_to_even, filter_.levels.number, *(mode.number for mode in filter_.boundary),
            filter_.fill, map_.shift, *map_.scale, *map_.offset,
            _NUMBERS[plan.texel_type], _NUMBERS[plan.value_type], plan.channels, len(plan.levels),
            plan.textures, plan.samples,
        )
    )  # fmt: skip
    places: list[tuple[int, int]] = []

    def add(array: Strided | None) -> None:
        strides = () if array is None else array.strides
        if array is not None:
            places.append((len(data), array.slot))
        data.extend(_ARRAY.pack(0, *strides, *(0,) * (5 - len(strides))))

    for array in plan.arrays:
        add(array)
    for level in plan.levels:
        data.extend(_LEVEL.pack(*level.size))
        for texels in (level.texels, level.cotangents, level.gradients):
            add(texels)
    return bytes(data).ljust(reference.ffi.sizeof("blr_gradients_t"), b"\0"), places
