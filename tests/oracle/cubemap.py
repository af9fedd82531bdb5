"""Samples of cubemaps: the face of a direction, and the texels that lie next to one another across edges."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.oracle.samples import sample

__all__ = ["FACES", "cubemap"]

Array = npt.NDArray[Any]

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


def cubemap(
    values: Array, direction: Array, *, linear: bool, seamless: bool, boundary: tuple[str, ...] = ("edge", "edge")
) -> Array:
    """Samples of one level of a cubemap.

    Parameters
    ----------
    values : Array
        (6, width, width, channels).
    direction : Array
        (N, 3) directions of any length.
    seamless : bool
        Whether linear filtering continues on the neighbouring face; else ``boundary`` says what lies outside.
    """
    width = values.shape[1]
    face, flat = _face(direction.astype(np.float64))
    place = (flat + 1) / 2 * width - 0.5
    if not (seamless and linear):
        kind = "linear" if linear else "nearest"
        modes = ("edge", "edge") if seamless else boundary
        return np.asarray(sample(values, place, interpolation=kind, boundary=modes, layer=face, fold=False))
    table, texels = _surroundings(width), values.reshape(-1, values.shape[-1])
    first = np.floor(place).astype(int)
    share = place - first
    index, weight = [], []
    for j, i in itertools.product((0, 1), repeat=2):
        index.append(table[face, first[:, 1] + j + 1, first[:, 0] + i + 1])
        weight.append(np.abs(1 - i - share[:, 0]) * np.abs(1 - j - share[:, 1]))
    numbers, weights = np.stack(index, 1), np.stack(weight, 1)
    # At a corner, the weight of the missing texel is split evenly among the three existing ones.
    lacking = np.where(numbers < 0, weights, 0).sum(1, keepdims=True)
    weights = np.where(numbers < 0, 0, weights + lacking / 3)
    return np.asarray((texels[numbers] * weights[..., None]).sum(1))


def _face(direction: Array) -> tuple[Array, Array]:
    """The face of each direction, (N,), and (s, t) in -1..1, (N, 2). Of equal components z wins, then y."""
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
