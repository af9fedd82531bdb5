"""What a case's results are in float64, by the definitions of its sampler: the oracle with levels and addressing."""

from __future__ import annotations

import numpy as np

from tests.goldens.configuration import Array
from tests.oracle.boundary import BOUNDARIES
from tests.oracle.cubemap import cubemap
from tests.oracle.samples import sample

from .cases import Case


def split_level(case: Case, level: Array) -> tuple[Array, Array]:
    """Return the finer of the two levels of each item, and the weight of the coarser."""
    last = case.levels - 1
    level = np.clip(np.nan_to_num(level, nan=0.0), case.min_level, max(min(case.max_level, last), 0))
    if case.mipmap_filtering == "nearest":
        return np.floor(level + 0.5).astype(int), np.zeros(level.shape)
    return np.floor(level).astype(int), level - np.floor(level)


def _one_level(case: Case, level: int, place: Array, layer: Array | None) -> Array:
    values, linear = case.values(level), case.filtering == "linear"
    modes = tuple(BOUNDARIES[mode] for mode in case.addressing)
    if case.type == "cubemap":
        return cubemap(values, place, linear=linear, seamless=case.seamless, boundary=modes)
    texels = place.astype(np.float64)
    if case.normalized:
        texels = texels * case.level_sizes(level)
    else:  # without normalized coordinates repetition clamps
        modes = tuple(mode if mode == "border" else "edge" for mode in modes)
    interpolation = "linear" if linear else "nearest"
    values = sample(values, texels - 0.5, interpolation=interpolation, boundary=modes, layer=layer, fold=False)
    return np.asarray(values)


def at_levels(case: Case, place: Array, level: Array, layer: Array | None = None) -> Array:
    """Sample at a level of detail per item."""
    finer, share = split_level(case, level)
    total = np.zeros((len(place), case.channels))
    for number in range(case.levels):
        weight = np.where(finer == number, 1 - share, 0) + np.where(finer + 1 == number, share, 0)
        used = weight != 0
        if used.any():
            part = _one_level(case, number, place[used], None if layer is None else layer[used])
            total[used] += part * weight[used, None]
    return total


def isotropic_level(case: Case) -> Array:
    """Return log2 of the longer gradient in texels."""
    lengths = [np.linalg.norm(case.point(name).astype(np.float64) * case.sizes, axis=1) for name in GRADIENTS]
    return np.asarray(np.log2(np.maximum(*lengths)))


GRADIENTS = ("gradient_x", "gradient_y")


def expected(case: Case) -> Array:
    """Return the expected result of a case, (points, channels) in double, before rounding to the result's type."""
    place = case.point("coordinates")
    layer = case.point("layers") if case.type == "array" else None
    if case.operation == "sample_gradient":
        level = isotropic_level(case)
    else:
        level = case.point("levels") if case.operation == "sample_lod" else np.full(len(place), -100.0)
    return at_levels(case, place, level, layer)
