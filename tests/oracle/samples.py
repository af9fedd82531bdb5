"""Samples of images: sums of texels times weights."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import prod
from typing import Any

from tests.oracle.boundary import BOUNDARIES
from tests.oracle.namespace import namespace
from tests.oracle.weights import axis_taps

__all__ = ["between_levels", "sample", "sample_pixels", "sample_textures"]

Array = Any


def sample(
    texels: Array,
    places: Array,
    *,
    interpolation: str = "linear",
    boundary: str | Sequence[str] = "edge",
    fill: float = 0.0,
    ignore_nan: bool = False,
    ties_to_even: bool = False,
    fold: bool = True,
    layer: Array | None = None,
) -> Array:
    """The values at places.

    A place with a coordinate that is not finite has the fill value. A texel that is NaN makes the sum NaN even where
    its weight is zero, as long as the filter touches it.

    Parameters
    ----------
    texels : Array
        ([layers,] [depth, [height,]] width, channels) values, those of normalized formats as fractions of the largest
        code; coefficients of B-splines for ``cubic``. Numbers of numpy are computed with in float64.
    places : Array
        (..., dims) in texels, (x, y, z), where the centre of texel (i, j, k) is at (i, j, k). Components that the image
        lacks are ignored.
    boundary : str | Sequence[str]
        One, or one for each of (x, y, z), in the names of ``Boundary``.
    ignore_nan : bool
        Whether texels that are NaN have no weight, and the others' weights are divided by their sum.
    ties_to_even, fold : bool
        Of ``axis_taps``.
    layer : Array | None
        (...) the layer of each place, if there are layers.

    Returns
    -------
    Array
        (..., channels).
    """
    xp = namespace(places)
    if xp.__name__ == "numpy":
        texels, places = xp.asarray(texels, xp.float64), xp.asarray(places, xp.float64)
    dims = min(texels.ndim - (1 if layer is None else 2), places.shape[-1])
    sizes = list(reversed(texels.shape[-1 - dims : -1]))
    modes = [boundary] * dims if isinstance(boundary, str) else list(boundary)[:dims]
    finite = xp.isfinite(places[..., :dims]).all(-1)
    along = [xp.where(finite, places[..., axis], xp.zeros_like(places[..., axis])) for axis in range(dims)]
    taps = [
        axis_taps(interpolation, mode, size, place, ties_to_even=ties_to_even, fold=fold)
        for mode, size, place in zip(modes, sizes, along)
    ]
    total: Any = 0.0
    weights: Any = 0.0
    for chosen in itertools.product(*taps):
        product = prod((tap[1] for tap in chosen[1:]), start=chosen[0][1])[..., None]
        inside = prod((tap[0] >= 0 for tap in chosen[1:]), start=chosen[0][0] >= 0)
        index = [xp.where(inside, tap[0], 0) for tap in reversed(chosen)]
        values = texels[tuple(index if layer is None else [layer, *index])]
        values = xp.where(inside[..., None], values, fill)
        if ignore_nan:
            counted = ~xp.isnan(values)
            weights = weights + xp.where(counted, product, 0.0)
            values = xp.where(counted, values, 0.0)
        total = total + product * values
    if ignore_nan:
        total = xp.where(weights != 0, total / xp.where(weights != 0, weights, 1.0), float("nan"))
    beyond = ~finite
    for mode, size, place in zip(modes, sizes, along):
        if mode in ("constant", "extent"):
            reach = 0.5 if mode == "extent" else 0.0
            beyond = beyond | (place < -reach) | (place > size - 1 + reach)
    return xp.where(beyond[..., None], fill, total)


def sample_pixels(
    pixels: Array,
    coords: Array,
    addressing: str | Sequence[str] = "clamp_to_edge",
    filtering: str = "linear",
    **options: Any,
) -> Array:
    """``sample`` at coordinates in pixels, whose centres are at one half, with the names of samplers' modes."""
    modes = [addressing] * coords.shape[-1] if isinstance(addressing, str) else addressing
    boundary = [BOUNDARIES[mode] for mode in modes]
    if namespace(coords).__name__ == "numpy":
        coords = coords.astype(float)
    return sample(pixels, coords - 0.5, interpolation=filtering, boundary=boundary, **options)


def between_levels(values: Sequence[Array], level: Array, between: str = "linear") -> Array:
    """Values (..., channels) of all levels, mixed at levels of detail (...); ``between`` is none, nearest or linear."""
    if between == "none":
        return values[0]
    xp = namespace(level)
    level = xp.clip(level, 0, len(values) - 1)
    total: Any = 0.0
    for number, part in enumerate(values):
        if between == "nearest":
            share = xp.where(xp.floor(level + 0.5) == number, 1.0, 0.0)
        else:
            share = xp.clip(1 - abs(level - number), 0, 1)
        total = total + share[..., None] * part
    return total


def sample_textures(
    levels: Sequence[Array],
    coords: Array,
    level: Array | None = None,
    *,
    between: str = "none",
    scale: Sequence[float] = (),
    offset: Sequence[float] = (),
    shift: float = 0.0,
    **options: Any,
) -> Array:
    """Samples of N textures, or of one with N lists of coordinates.

    Parameters
    ----------
    levels : Sequence[Array]
        Of (N, [depth, [height,]] width, channels) texels, each a level of the mipmaps.
    coords : Array
        (N, samples, dims); the position in level 0 is (coord + shift) * scale + offset.
    level : Array | None
        (N, samples) levels of detail.
    options : Any
        Of ``sample``.

    Returns
    -------
    Array
        (N, samples, channels).
    """
    xp, dims = namespace(coords), coords.shape[-1]
    sizes = [tuple(reversed(part.shape[1:-1])) for part in levels]
    count = max(len(coords), *(len(part) for part in levels))
    steps = list(zip(scale or (1.0,) * dims, offset or (0.0,) * dims))
    axes = [(coords[..., axis] + shift) * steps[axis][0] + steps[axis][1] for axis in range(dims)]
    values = []
    for part, size in zip(levels[: 1 if between == "none" else None], sizes):
        ratios = [extent / first for extent, first in zip(size, sizes[0])]
        places = xp.stack([(axis + 0.5) * ratio - 0.5 for axis, ratio in zip(axes, ratios)], -1)
        rows = [sample(part[n % len(part)], places[n % len(places)], **options) for n in range(count)]
        values.append(xp.stack(rows))
    return values[0] if level is None else between_levels(values, level, between)
