"""``Arguments``: the arguments of the operators that are no tensors, and the lookup that they describe."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import torch

from ..model.filter import CoordinateMap, Filter
from ..sampling.memory import Lookup

__all__ = ["COORDINATES", "SCHEMA", "Arguments", "lookup_of", "values_shape"]

COORDINATES = ("unnormalized", "normalized", "grid", "aligned_grid", "direction")
"""Meanings of coordinates: pixels with centres at +0.5; 0 to 1; -1 to 1 between the edges of the image, and between the
centres of its outer pixels (``align_corners`` of torch); directions into a cubemap."""

SCHEMA = (
    "str filtering, str between, str[] boundary, str coordinate, float fill, bool channels_last, str precision, "
    "bool deterministic"
)
"""The fields of ``Arguments`` in the schemas of the operators."""


class Arguments(NamedTuple):
    """Arguments of an operator that are no tensors.

    Attributes
    ----------
    filtering : str
        Interpolation within a level: a member of ``Interpolation``.
    between : str
        Interpolation between levels: a member of ``LevelFilter``.
    boundary : tuple[str, ...]
        Members of ``Boundary``: one, or one for each axis, x first.
    coordinate : str
        One of ``COORDINATES``.
    fill : float
        Value outside of an image whose boundary is ``border``.
    channels_last : bool
        Whether channels are the last axis of images and values, else the second.
    precision : str
        A member of ``Precision``.
    deterministic : bool
        Whether gradients of texels have the same bits each time.
    """

    filtering: str
    between: str
    boundary: tuple[str, ...]
    coordinate: str
    fill: float
    channels_last: bool
    precision: str
    deterministic: bool

    @property
    def filter(self) -> Filter:
        """The filter."""
        return _filter_of(self)

    @property
    def is_deterministic(self) -> bool:
        """Whether gradients of texels have the same bits each time, by this option or by that of torch."""
        return self.deterministic or torch.are_deterministic_algorithms_enabled()

    @classmethod
    def of_filter(
        cls,
        filter_: Filter,
        axes: int,
        coordinate: str,
        *,
        channels_last: bool = True,
        deterministic: bool = False,
    ) -> Arguments:
        """The arguments of a filter.

        Parameters
        ----------
        filter_ : Filter
            Filter; a texture's rounding of halves follows from ``coordinate``.
        axes : int
            1, where all axes have one boundary, or the number of axes that have one of their own.
        """
        return cls(
            str(filter_.interpolation),
            str(filter_.levels),
            tuple(map(str, filter_.boundary[:axes])),
            coordinate,
            filter_.fill,
            channels_last,
            str(filter_.precision),
            deterministic,
        )

    @classmethod
    def of(cls, values: Sequence[object]) -> Arguments:
        """The options among the arguments of an operator, where ``boundary`` is a list."""
        filtering, between, boundary, *rest = values
        return cls(filtering, between, tuple(boundary), *rest)  # type: ignore[arg-type]


def values_shape(levels: Sequence[Any], coords: Any, options: Arguments) -> tuple[Any, ...]:
    """Shape of the values of levels at coordinates."""
    image = levels[0].shape
    count, leading = coords.shape[0] if image[0] == 1 else image[0], coords.shape[1:-1]
    return (count, *leading, image[-1]) if options.channels_last else (count, image[1], *leading)


@lru_cache(maxsize=256)
def _filter_of(options: Arguments) -> Filter:
    return Filter.of(
        options.filtering,
        options.boundary,
        options.fill,
        options.precision,
        levels=options.between,
        ties_to_even=options.coordinate in ("grid", "aligned_grid"),
    )


@lru_cache(maxsize=4096)
def lookup_of(options: Arguments, sizes: tuple[int, ...]) -> Lookup:
    """The texture of an image.

    Parameters
    ----------
    options : Arguments
        Of the operator.
    sizes : tuple[int, ...]
        Texels along the axes, x first.
    """
    cube = options.coordinate == "direction"
    scale, offset = zip(*(_map(options.coordinate, size) for size in sizes))
    is_grid = options.coordinate in ("grid", "aligned_grid")
    # torch adds 1 first, which decides the side of a pixel's centre
    map_ = CoordinateMap() if cube else CoordinateMap.scaled(scale, offset, 1.0 if is_grid else 0.0)
    return Lookup(len(sizes), options.filter, map_, cube)


def _map(coordinate: str, size: int) -> tuple[float, float]:
    """Scale and offset from a coordinate, shifted by 1 in a grid, to a position; the first texel's centre is at 0."""
    if coordinate == "normalized":
        return float(size), -0.5
    if coordinate == "grid":
        return size / 2, -0.5
    if coordinate == "aligned_grid":
        return (size - 1) / 2, 0.0
    return 1.0, -0.5
