"""``texture`` and ``resampling``: values of the model by the names of their parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bindless.model.enums import Boundary, Interpolation, Precision
from bindless.model.filter import CoordinateMap, Filter
from bindless.model.resampling import Resampling
from bindless.sampling.memory import Lookup
from tests.oracle.weights import DEGREES

__all__ = ["lookup", "resampling"]

IDENTITY = CoordinateMap().matrix


def lookup(
    dims: int,
    filtering: Interpolation | str = "linear",
    *,
    between: str = "none",
    boundary: Boundary | str | Sequence[Boundary | str] = "edge",
    fill: float = 0.0,
    scale: Sequence[float] = (),
    offset: Sequence[float] = (),
    shift: float = 0.0,
    ties_to_even: bool = False,
    cube: bool = False,
) -> Lookup:
    """The texture of these options."""
    filter_ = Filter.of(filtering, boundary, fill, levels=between, ties_to_even=ties_to_even)
    return Lookup(dims, filter_, CoordinateMap.scaled(scale, offset, shift), cube)


def resampling(
    *places: Any,
    matrix: Sequence[float] = IDENTITY,
    centre: float = 0.5,
    interpolation: Interpolation | str = "linear",
    precision: Precision | str = "hardware",
    boundary: Boundary | str | Sequence[Boundary | str] = "edge",
    fill: float = 0.0,
    ignore_nan: bool = False,
    **options: Any,
) -> Resampling:
    """The picture of these options, and of others of ``Resampling``."""
    is_other = interpolation in DEGREES  # which Filter.of leaves to bindless.ndimage
    filter_ = Filter.of("cubic" if is_other else interpolation, boundary, fill, precision, ignore_nan=ignore_nan)
    if is_other:
        filter_ = replace(filter_, interpolation=Interpolation(interpolation))
    return Resampling(*places, filter=filter_, map=CoordinateMap.pictures(tuple(matrix), centre), **options)
