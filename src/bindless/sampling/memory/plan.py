"""The shapes, strides and types of a call, checked: the same for all calls with such arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from ...model.enums import LevelFilter
from ...model.errors import InvalidError
from .arrays import MemoryArray
from .lookup import Lookup

__all__ = ["LEVEL_NAMES", "NAMES", "Level", "MemoryPlan", "Operation", "Strided", "check"]

_MOST_LEVELS = 18

NAMES = (
    "coords",
    "level",
    "out",
    "grad_out",
    "cot_coords",
    "cot_level",
    "grad_grad_out",
    "grad_coords",
    "grad_level",
)
"""Arrays over samples, in the order of a plan."""

LEVEL_NAMES = ("levels", "cot_levels", "grad_levels")
"""Arrays of texels, which follow: each has as many as there are levels."""


class Operation(IntEnum):
    """Values or derivatives that a call computes; the numbers are the driver's."""

    forward = 0
    backward = 1
    backward_backward = 2


@dataclass(frozen=True)
class Strided:
    """An array without its address.

    Attributes
    ----------
    slot : int
        Number of its address in the list that a call gives.
    strides : tuple[int, ...]
        In numbers: the last axis of the shape first, and 0 for axes that repeat. Textures are the last of five of an
        array of texels.
    """

    slot: int
    strides: tuple[int, ...]


@dataclass(frozen=True)
class Level:
    """One level: texels along x, y, z (1 for axes that it lacks), and its arrays."""

    size: tuple[int, int, int]
    texels: Strided
    cotangents: Strided | None
    gradients: Strided | None


@dataclass
class MemoryPlan:
    """A checked call without addresses.

    ``picture`` has the samples of a row and the rows of a picture, or of each slice of a volume; zeros if they are not
    known. Neighbours there are near one another in the texture, which makes sums of gradients faster. ``prepared`` is
    for what an executor keeps with it.
    """

    operation: Operation
    lookup: Lookup
    texel_type: str
    value_type: str
    textures: int
    samples: int
    channels: int
    levels: tuple[Level, ...]
    arrays: tuple[Strided | None, ...]
    picture: tuple[int, int] = (0, 0)
    prepared: dict[Any, Any] = field(default_factory=dict)

    @property
    def real(self) -> str:
        """Type of numbers of coordinates, levels and their gradients, and of gradients of texels."""
        return "d" if self.texel_type == "d" else "f"


def check(
    operation: Operation,
    lookup: Lookup,
    counts: tuple[int, ...],
    views: Sequence[MemoryArray | None],
    picture: tuple[int, int] = (0, 0),
) -> MemoryPlan:
    """The plan of a call.

    Parameters
    ----------
    counts : tuple[int, ...]
        Number of levels, cotangents of levels, and gradients of levels.
    views : sequence of MemoryArray or None
        The arrays over samples in the order of ``NAMES``, the levels, their cotangents, their gradients.
    picture : tuple[int, int], default (0, 0)
        Of the plan.

    Raises
    ------
    InvalidError
        Shapes or types do not fit.
    """
    texels = _levels_of(lookup, counts, views)
    texel_type = texels[0].dtype
    real = "d" if texel_type == "d" else "f"
    coords = _needed(views, "coords")
    values = _needed(views, "out" if operation is Operation.forward else "grad_out")
    if len(values.shape) != 3:
        raise InvalidError(f"{values.shape} of values: (textures, samples, channels) is needed")
    textures, samples, channels = values.shape
    if channels < 1:
        raise InvalidError("0 channels: a texture has at least one")
    shapes = {
        "coords": (textures, samples, lookup.components),
        "level": (textures, samples),
        "out": tuple(values.shape),
    }
    arrays = tuple(_samples(number, one, shapes, coords, (real, values.dtype)) for number, one in enumerate(views[:9]))
    levels = tuple(_all_levels(lookup, counts, views, textures, channels))
    if lookup.filter.levels is LevelFilter.none and len(levels) > 1:
        raise InvalidError(
            f'{len(levels)} levels: the filter has levels="none", which samples one; take "nearest" or "linear"'
        )
    return MemoryPlan(operation, lookup, texel_type, values.dtype, textures, samples, channels, levels, arrays, picture)


def _needed(views: Sequence[MemoryArray | None], name: str) -> MemoryArray:
    array = views[NAMES.index(name)]
    if array is None:
        raise InvalidError(f"{name} is None: an array is needed")
    return array


def _levels_of(lookup: Lookup, counts: tuple[int, ...], views: Sequence[MemoryArray | None]) -> list[MemoryArray]:
    if not 1 <= counts[0] <= _MOST_LEVELS:
        raise InvalidError(f"{counts[0]} levels: 1 to {_MOST_LEVELS} are possible")
    for name, count in zip(LEVEL_NAMES[1:], counts[1:], strict=True):
        if count not in (0, counts[0]):
            raise InvalidError(f"{count} arrays in {name}: one for each of {counts[0]} levels is needed")
    levels = [one for one in views[len(NAMES) : len(NAMES) + counts[0]] if one is not None]
    for one in levels:
        if len(one.shape) != lookup.axes:
            raise InvalidError(
                f"level of shape {tuple(one.shape)}: {lookup.axes} axes are needed, textures first, channels last"
            )
    return levels


def _samples(
    number: int,
    one: MemoryArray | None,
    shapes: dict[str, tuple[int, ...]],
    coords: MemoryArray,
    types: tuple[str, str],
) -> Strided | None:
    """Check one array over samples."""
    if one is None:
        return None
    name = NAMES[number]
    kind = "coords" if name.endswith("coords") else "level" if name.endswith("level") else "out"
    shape, dtype = shapes[kind], types[1] if kind == "out" else types[0]
    repeats = not name.startswith("grad") and kind != "out"
    fits = one.shape == shape or (repeats and tuple(one.shape) == (1, *shape[1:]))
    if not fits or one.dtype != dtype:
        raise InvalidError(
            f"{name} of shape {tuple(one.shape)} and type {one.dtype!r}: {shape} and {dtype!r} are needed"
        )
    strides = (*((0,) if one.shape[0] == 1 else one.strides[:1]), *one.strides[1:])
    return Strided(number, tuple(reversed(strides)))


def _all_levels(
    lookup: Lookup, counts: tuple[int, ...], views: Sequence[MemoryArray | None], textures: int, channels: int
) -> Iterator[Level]:
    first, cotangents = len(NAMES), len(NAMES) + counts[0]
    gradients = cotangents + counts[1]
    texel_type = views[first].dtype  # type: ignore[union-attr]
    for number in range(counts[0]):
        one = views[first + number]
        assert one is not None
        shape = one.shape
        if shape[0] not in (1, textures) or shape[-1] != channels or 0 in shape:
            raise InvalidError(
                f"level of shape {tuple(shape)}: 1 or {textures} textures of {channels} channels are needed"
            )
        if one.dtype != texel_type:
            raise InvalidError(f"levels of types {texel_type!r} and {one.dtype!r}: they have one type")
        if lookup.cube and (shape[1] != 6 or shape[2] != shape[3]):
            raise InvalidError(f"level of shape {tuple(shape)}: a cubemap has 6 faces, as many texels high as wide")
        sizes = (*shape[-2 : -2 - lookup.dims : -1], 1, 1)
        size = (sizes[0], sizes[1], sizes[2])
        real = "d" if texel_type == "d" else "f"
        arrays: list[Strided | None] = [_texels(one, first + number)]
        for start, count, dtype, name in (
            (cotangents, counts[1], texel_type, "cot_levels"),
            (gradients, counts[2], real, "grad_levels"),
        ):
            other = views[start + number] if count else None
            if other is None:
                arrays.append(None)
                continue
            if other.shape[1:] != shape[1:] or other.shape[0] not in (1, textures) or other.dtype != dtype:
                array = f"{name} of shape {tuple(other.shape)} and type {other.dtype!r}"
                raise InvalidError(f"{array}: {tuple(shape)} and {dtype!r} are needed")
            arrays.append(_texels(other, start + number))
        texels = arrays[0]
        assert texels is not None
        yield Level(size, texels, arrays[1], arrays[2])


def _texels(one: MemoryArray, slot: int) -> Strided:
    """Strides of channels, x, y, z or faces, and textures."""
    inner = tuple(reversed(one.strides[1:]))
    outer = 0 if one.shape[0] == 1 else one.strides[0]
    return Strided(slot, (*inner, *(0,) * (4 - len(inner)), outer))
