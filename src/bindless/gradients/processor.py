"""Execution by the reference driver's C code, on memory of the process."""

from __future__ import annotations

import struct

from ..drivers import reference
from ..model.enums import Boundary, Interpolation
from .arrays import ITEM_SIZES
from .plan import Plan, Strided
from .texture import BETWEEN

__all__ = ["describe", "run"]

_CALL = struct.Struct("@9I8d4IQQ")
_ARRAY = struct.Struct("@P5q")
_POINTER = struct.Struct("@P")
_LEVEL = struct.Struct("@3I0P")

# The driver's numbers of the model's names, in the order of the header.
_INTERPOLATIONS = {name: number for number, name in enumerate(Interpolation)}
_BOUNDARIES = {name: number for number, name in enumerate(Boundary)}
_NUMBERS = {name: number for number, name in enumerate(ITEM_SIZES)}


def run(plan: Plan, pointers: list[int]) -> None:
    """Compute at once."""
    made = plan.made.get("processor")
    if made is None:
        reference.load()
        made = plan.made["processor"] = describe(plan)
    template, places = made
    data = bytearray(template)
    for place, slot in places:
        _POINTER.pack_into(data, place, pointers[slot])
    call = reference.ffi.from_buffer("blr_gradients_t *", data)
    reference.check(reference.lib.blrSampleGradients(call), "blrSampleGradients")


def describe(plan: Plan) -> tuple[bytes, list[tuple[int, int]]]:
    """The argument of ``blrSampleGradients``: a ``blr_gradients_t`` with null addresses, and where addresses belong.

    Returns
    -------
    tuple[bytes, list[tuple[int, int]]]
        The struct, and (offset in it, number of the address).
    """
    texture = plan.texture
    axes = 3 - texture.dims
    boundary = [_BOUNDARIES[Boundary(name)] for name in texture.boundary] + [_BOUNDARIES[Boundary.edge]] * axes
    data = bytearray(
        _CALL.pack(
            plan.operation, texture.dims, texture.cube, _INTERPOLATIONS[Interpolation(texture.filtering)],
            texture.ties_to_even, BETWEEN.index(texture.between), *boundary,
            texture.fill, texture.shift, *texture.scale, *(1.0,) * axes, *texture.offset, *(0.0,) * axes,
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
