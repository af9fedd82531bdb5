"""Sampling in float64 numpy, from the definitions, independent of the drivers' code."""

from __future__ import annotations

import itertools

import numpy as np

from tests.goldens.configuration import Array

from .cases import Case

# Face: its axis, then the directions of growing s and t; the table of cubemap faces common to graphics interfaces.
FACES = np.array(
    [
        [[1, 0, 0], [0, 0, -1], [0, -1, 0]],
        [[-1, 0, 0], [0, 0, 1], [0, -1, 0]],
        [[0, 1, 0], [1, 0, 0], [0, 0, 1]],
        [[0, -1, 0], [1, 0, 0], [0, 0, -1]],
        [[0, 0, 1], [1, 0, 0], [0, -1, 0]],
        [[0, 0, -1], [-1, 0, 0], [0, -1, 0]],
    ],
    dtype=float,
)


def addressed(index: Array, size: int, mode: str) -> tuple[Array, Array]:
    """Return the texel for an index, and whether it is a texel (not the border)."""
    line = np.arange(size)
    if mode == "repeat":
        return line[index % size], np.ones(index.shape, bool)
    if mode == "mirrored_repeat":
        return np.concatenate([line, line[::-1]])[index % (2 * size)], np.ones(index.shape, bool)
    inside = (index >= 0) & (index < size)
    return np.clip(index, 0, size - 1), inside | (mode == "clamp_to_edge")


def _taps(texels: Array, linear: bool) -> list[tuple[Array, Array]]:
    """Return indices along one axis, not yet addressed, and their weights."""
    if not linear:
        return [(np.floor(texels).astype(np.int64), np.ones(texels.shape))]
    first = np.floor(texels - 0.5)
    weight = texels - 0.5 - first
    return [(first.astype(np.int64), 1 - weight), (first.astype(np.int64) + 1, weight)]


def standard(values: Array, place: Array, modes: tuple[str, ...], linear: bool, layer: Array | None = None) -> Array:
    """Sample one level.

    Parameters
    ----------
    values
        ([layers,] [depth,] [height,] width, channels).
    place
        (N, dims), in texels, (x, y, z).
    modes
        One addressing mode per dimension.
    """
    dims = place.shape[1]
    sizes = values.shape[-2::-1][:dims]
    total = np.zeros((len(place), values.shape[-1]))
    for taps in itertools.product(*(_taps(place[:, d], linear) for d in range(dims))):
        weight, inside, where = np.ones(len(place)), np.ones(len(place), bool), []
        for (index, share), size, mode in zip(taps, sizes, modes):
            found, valid = addressed(index, size, mode)
            where.append(found)
            inside &= valid
            weight = weight * share
        key = (*(() if layer is None else (layer,)), *reversed(where))
        total += np.where(inside[:, None], values[key], 0.0) * weight[:, None]
    return total


# ---------------------------------------------------------------------- cubemaps


def _face(direction: Array) -> tuple[Array, Array]:
    """Return the face of each direction, (N,), and (s, t) in -1..1, (N, 2). Of equal components z wins, then y."""
    size = np.abs(direction)
    axis = np.where(
        (size[:, 2] >= size[:, 0]) & (size[:, 2] >= size[:, 1]), 2, np.where(size[:, 1] >= size[:, 0], 1, 0)
    )
    rows = np.arange(len(direction))
    face = 2 * axis + np.signbit(direction[rows, axis])
    flat = direction / size[rows, axis][:, None]
    return face, np.einsum("nkd,nd->nk", FACES[face][:, 1:], flat)


def _surroundings(width: int) -> Array:
    """For each face, (width + 2)² numbers of texels (face·width² + j·width + i): the face with a rim of the texels that
    lie next to it on the surface of the cube; -1 at the corners, where there is none.

    The rim is found by folding each place half a texel past the edge on to the cube and looking for the nearest centre
    of a texel, among those at the edges of faces.
    """
    centre = (np.arange(width) + 0.5) * 2 / width - 1
    t, s = np.meshgrid(centre, centre, indexing="ij")
    surface = np.concatenate([(major + s[..., None] * u + t[..., None] * v).reshape(-1, 3) for major, u, v in FACES])
    edge = np.flatnonzero(np.tile((np.maximum(np.abs(s), np.abs(t)) > 1 - 1.5 / width).reshape(-1), 6))
    surface = surface[edge]
    table = np.full((6, width + 2, width + 2), -1)
    table[:, 1:-1, 1:-1] = np.arange(6 * width * width).reshape(6, width, width)
    past = 1 / width
    for face, (major, u, v) in enumerate(FACES):
        for k in range(width):
            rim = {
                (k + 1, 0): centre[k] * v - u, (k + 1, width + 1): centre[k] * v + u,
                (0, k + 1): centre[k] * u - v, (width + 1, k + 1): centre[k] * u + v,
            }  # fmt: skip
            for place, folded in rim.items():
                distance = ((surface - (folded + (1 - past) * major)) ** 2).sum(1)
                j, i = place
                table[face, j, i] = edge[distance.argmin()]
    return table


def cubemap(values: Array, direction: Array, modes: tuple[str, ...], linear: bool, seamless: bool) -> Array:
    """Sample one level of a cubemap, values (6, width, width, channels)."""
    width = values.shape[1]
    face, flat = _face(direction.astype(np.float64))
    place = (flat + 1) / 2 * width
    if not (seamless and linear):
        return standard(values, place, ("clamp_to_edge",) * 2 if seamless else modes, linear, face)
    table, texels = _surroundings(width), values.reshape(-1, values.shape[-1])
    taps = list(itertools.product(_taps(place[:, 1], True), _taps(place[:, 0], True)))
    found = np.stack([table[face, j + 1, i + 1] for (j, _), (i, _) in taps], 1)
    weight = np.stack([wj * wi for (_, wj), (_, wi) in taps], 1)
    # At a corner, the weight of the missing texel is split evenly among the three existing ones.
    lacking = np.where(found < 0, weight, 0).sum(1, keepdims=True)
    weight = np.where(found < 0, 0, weight + lacking / 3)
    return np.asarray((texels[found] * weight[..., None]).sum(1))


# ---------------------------------------------------------------------- levels


def split_level(case: Case, level: Array) -> tuple[Array, Array]:
    """Return the finer of the two levels of each item, and the weight of the coarser."""
    last = case.levels - 1
    level = np.clip(np.nan_to_num(level, nan=0.0), case.min_level, max(min(case.max_level, last), 0))
    if case.mipmap_filtering == "nearest":
        return np.floor(level + 0.5).astype(int), np.zeros(level.shape)
    return np.floor(level).astype(int), level - np.floor(level)


def _one_level(case: Case, level: int, place: Array, layer: Array | None) -> Array:
    values, linear = case.values(level), case.filtering == "linear"
    if case.type == "cubemap":
        return cubemap(values, place, case.addressing, linear, case.seamless)
    texels = place.astype(np.float64)
    modes = case.addressing
    if case.normalized:
        texels = texels * case.level_sizes(level)
    else:  # without normalized coordinates repetition clamps
        modes = tuple(mode if mode == "clamp_to_border" else "clamp_to_edge" for mode in modes)
    return standard(values, texels, modes, linear, layer)


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
