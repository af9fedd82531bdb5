"""nvdiffrast's ``texture`` in numpy, in float64, one sample at a time: values by its documented and observed rules.

A face of a cubemap that a texel lies beyond the edge of is found by folding the texel's centre over that edge.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["construct_mip", "texture"]

Array = Any


def texture(
    tex: Array,
    uv: Array,
    uv_da: Array | None,
    bias: Array | None,
    mip: Sequence[Array] | None,
    filter_mode: str,
    boundary_mode: str,
    max_mip_level: int | None,
) -> Array:
    """Values (n, height, width, C)."""
    cube = boundary_mode == "cube"
    if filter_mode == "auto":
        filter_mode = "linear" if uv_da is None and bias is None else "linear-mipmap-linear"
    levels = [tex]
    if "mipmap" in filter_mode and max_mip_level != 0:
        levels += construct_mip(tex, max_mip_level) if mip is None else mip
    out = np.zeros((*uv.shape[:-1], tex.shape[-1]))
    for place in np.ndindex(*uv.shape[:-1]):
        part = [level[place[0] if len(tex) > 1 else 0] for level in levels]
        if filter_mode == "nearest":
            out[place] = _nearest(part[0], uv[place], boundary_mode)
            continue
        depth = 0.0
        if "mipmap" in filter_mode:
            if uv_da is not None:
                depth = _depth(uv[place], uv_da[place], tex.shape[-2], tex.shape[-3], cube)
            depth = min(max(depth + (0.0 if bias is None else bias[place]), 0.0), len(part) - 1.0)
        low = math.floor(depth)
        out[place] = _linear(part[low], uv[place], boundary_mode)
        if filter_mode == "linear-mipmap-linear" and depth > low:
            deeper = _linear(part[low + 1], uv[place], boundary_mode)
            out[place] += (depth - low) * (deeper - out[place])
    return out


def construct_mip(tex: Array, most: int | None) -> list[Array]:
    """Levels 1, 2, ... of sizes that are powers of two."""
    levels = [tex]
    while max(levels[-1].shape[-3:-1]) > 1 and (most is None or len(levels) <= most):
        part = levels[-1]
        if part.shape[-3] > 1:
            part = (part[..., 0::2, :, :] + part[..., 1::2, :, :]) / 2
        if part.shape[-2] > 1:
            part = (part[..., 0::2, :] + part[..., 1::2, :]) / 2
        levels.append(part)
    return levels[1:]


def _depth(uv: Array, uv_da: Array, width: int, height: int, cube: bool) -> float:
    steps = uv_da.reshape(-1, 2)
    if cube:
        major = _major(uv)
        others = [axis for axis in range(3) if axis != major]
        steps = np.array([(steps[n] * uv[major] - uv[n] * steps[major]) / uv[major] ** 2 / 2 for n in others])
    return math.log2(np.linalg.svd(steps * (width if cube else np.array([[width], [height]])), compute_uv=False)[0])


def _major(direction: Array) -> int:
    x, y, z = np.abs(direction)
    return 2 if z > max(x, y) else 1 if y > x else 0


def _face(direction: Array) -> tuple[int, float, float]:
    x, y, z = direction
    major = _major(direction)
    size = abs(direction[major])
    s, t = {0: (-z if x > 0 else z, -y), 1: (x, z if y > 0 else -z), 2: (x if z > 0 else -x, -y)}[major]
    return 2 * major + int(direction[major] < 0), s / size / 2 + 0.5, t / size / 2 + 0.5


_FRAMES = [  # of each face: its normal, and the directions in which s and t grow
    ((1, 0, 0), (0, 0, -1), (0, -1, 0)),
    ((-1, 0, 0), (0, 0, 1), (0, -1, 0)),
    ((0, 1, 0), (1, 0, 0), (0, 0, 1)),
    ((0, -1, 0), (1, 0, 0), (0, 0, -1)),
    ((0, 0, 1), (1, 0, 0), (0, -1, 0)),
    ((0, 0, -1), (-1, 0, 0), (0, -1, 0)),
]


def _cube_texel(tex: Array, face: int, column: int, row: int) -> Array | None:
    size = len(tex[0])
    a, b = (2 * (column + 0.5) / size - 1, 2 * (row + 0.5) / size - 1)
    if max(abs(a), abs(b)) > 1:
        if min(abs(a), abs(b)) > 1:
            return None  # a corner of the cube, where three texels meet
        normal, along, down = (np.array(part, float) for part in _FRAMES[face])
        beyond = max(abs(a), abs(b)) - 1
        folded = normal * (1 - beyond) + along * np.clip(a, -1, 1) + down * np.clip(b, -1, 1)
        face, s, t = _face(folded)
        column, row = int(s * size), int(t * size)
    return tex[face, row, column]


def _blend(quad: list[Array], a: float, b: float) -> Array:
    return (quad[0] * (1 - a) + quad[1] * a) * (1 - b) + (quad[2] * (1 - a) + quad[3] * a) * b


def _linear(tex: Array, uv: Array, boundary: str) -> Array:
    if boundary == "cube":
        if not (np.isfinite(uv).all() and uv.any()):
            return np.zeros(tex.shape[-1])
        face, s, t = _face(uv)
        x, y = s * len(tex[0]) - 0.5, t * len(tex[0]) - 0.5
        i, j = math.floor(x), math.floor(y)
        found = [_cube_texel(tex, face, i + m, j + n) for n in (0, 1) for m in (0, 1)]
        three = [part for part in found if part is not None]
        return _blend([np.mean(three, 0) if part is None else part for part in found], x - i, y - j)
    height, width = tex.shape[:2]
    u, v = uv % 1 if boundary == "wrap" else uv
    x, y = u * width - 0.5, v * height - 0.5
    if boundary == "clamp":
        x, y = np.clip(x, 0, width - 1), np.clip(y, 0, height - 1)
    i, j = math.floor(x), math.floor(y)

    def texel(column: int, row: int) -> Array:
        if boundary == "zero" and not (0 <= column < width and 0 <= row < height):
            return np.zeros(tex.shape[-1])
        if boundary == "wrap":
            return tex[row % height, column % width]
        return tex[min(max(row, 0), height - 1), min(max(column, 0), width - 1)]

    return _blend([texel(i + m, j + n) for n in (0, 1) for m in (0, 1)], x - i, y - j)


def _nearest(tex: Array, uv: Array, boundary: str) -> Array:
    if boundary == "cube":
        face, s, t = _face(uv)
        size = len(tex[0])
        return tex[face, min(int(t * size), size - 1), min(int(s * size), size - 1)]
    height, width = tex.shape[:2]
    u, v = uv % 1 if boundary == "wrap" else uv
    column, row = math.floor(u * width), math.floor(v * height)
    if boundary == "zero" and not (0 <= column < width and 0 <= row < height):
        return np.zeros(tex.shape[-1])
    return tex[min(max(row, 0), height - 1), min(max(column, 0), width - 1)]
