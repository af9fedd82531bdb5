"""``sample_bricks``: a sample of a picture or volume of which bricks are in image memory.

``bindless.bricks.BrickStore`` writes the table that these functions read. It is a tuple of arrays:

| number | array | contents |
|---|---|---|
| 0 | int64 (size,) | keys of bricks at the places of a hash table; 0 where there is none |
| 1 | uint64 (size,) | the handle of the brick's image; 0 where all its texels are equal |
| 2 | float32 (size, 8) | least and largest number of each channel |
| 3 | int32 (size,) | the frame in which a kernel last used the brick |
| 4 | int64 (places,) | keys of bricks that a kernel lacked |
| 5 | int32 (levels, 3) | texels of each level along x, y and z |
| 6 | float32 (levels, 6) | factors from texels of level 0 to those of a level, then shifts |
| 7 | int32 (6,) | texels of a brick along x, y, z without the next brick's; levels; the frame |
| 8 | float32 (8,) | for each channel, factor from the image's values to numbers, then shift |
| 9 | int32 (size,) | the number of the brick's image |
| 10 | float32 (images x cells, 2 x channels) | least and greatest number of each channel in the cells of an image |

A brick at (i, j, k) of a level has the texels from (i, j, k) times its size on, and one more along each axis, the first
of the next brick: a linear filter needs no other brick. The image of a volume has cells of 8 x 8 x 8 texels; their
least and greatest numbers include the first texels of the next cells.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

from .declaration import composed
from .pixels import fetch_sampled_image
from .vector import Vector
from .vector_functions import float4

__all__ = ["CELL", "BrickTable", "find_brick", "sample_bricks"]

BrickTable: TypeAlias = tuple[Any, ...]
"""Arrays on a device in the order above."""

CELL = 8
"""Texels of a cell along each axis."""

LEVEL_BITS, AXIS_BITS = 6, 19
"""Bits of a key: the level and one, then the place of the brick along z, y and x."""


@composed
def brick_key(level: int, i: int, j: int, k: int) -> int:
    """Key of a brick; never 0."""
    return (((level + 1) << 57) | (k << 38)) | ((j << 19) | i)


@composed
def brick_place(level: int, i: int, j: int, k: int, size: int) -> int:
    """The first place of a brick in a table of so many, a power of two."""
    mixed = (i * 73856093) ^ (j * 19349663) ^ (k * 83492791) ^ (level * 49979687)
    return (mixed ^ (mixed >> 15)) & (size - 1)


@composed
def place_in(x: float, factor: float, shift: float, size: int) -> float:
    """Position in a level along an axis, from the centre of its first texel, at most four texels outside, where
    not-a-number is, too: as ``csrc/reference/resample/boundary.h`` bounds positions."""
    at = x * factor + shift - 0.5
    return min(max(at, -4.0), size + 3.0) if at == at else -4.0


@composed
def texel_of(at: float, size: int) -> int:
    """The texel before a position, one of so many."""
    return min(max(math.floor(at), 0), size - 1)


@composed
def find_brick(table: BrickTable, x: float, y: float, z: float, level: int) -> tuple[int, int]:
    """Find the brick of a position: that of the level, or of the next coarser one that is there.

    Records the use, and a miss if the brick of the level is not there.

    Returns
    -------
    tuple[int, int]
        Its place in the table, or -1, and its level.
    """
    keys, sizes, maps, facts = table[0], table[5], table[6], table[7]
    levels = facts[3]
    first_level = min(max(level, 0), levels - 1)
    at = first_level
    while at < levels:
        i = texel_of(place_in(x, maps[at, 0], maps[at, 3], sizes[at, 0]), sizes[at, 0]) // facts[0]
        j = texel_of(place_in(y, maps[at, 1], maps[at, 4], sizes[at, 1]), sizes[at, 1]) // facts[1]
        k = texel_of(place_in(z, maps[at, 2], maps[at, 5], sizes[at, 2]), sizes[at, 2]) // facts[2]
        key = brick_key(at, i, j, k)
        place = brick_place(at, i, j, k, len(keys))
        while keys[place] != 0 and keys[place] != key:
            place = (place + 1) & (len(keys) - 1)
        if keys[place] == key:
            table[3][place] = facts[4]
            return place, at
        if at == first_level:
            table[4][brick_place(at, i, j, k, len(table[4]))] = key
        at += 1
    return -1, levels - 1


@composed
def _mix(a: float, b: float, follows: float) -> float:
    value: float = (np.float32(1) - follows) * a + follows * b
    return value


@composed
def _number(value: float, factor: float, shift: float) -> float:
    """The number of a texel: of integers, exactly."""
    number: float = np.float32(math.floor(value * factor + 0.5)) + shift
    return value if factor == 1 else number


@composed
def _channel(table: BrickTable, texels: tuple[Vector, ...], channel: int, fx: float, fy: float, fz: float) -> float:
    factor, shift = table[8][channel], table[8][4 + channel]
    if factor == 0:
        return 0.0
    a, b, c, d, e, f, g, h = texels
    near = _mix(_number(a[channel], factor, shift), _number(c[channel], factor, shift), fy)
    far = _mix(_number(e[channel], factor, shift), _number(g[channel], factor, shift), fy)
    left = _mix(near, far, fz)
    near = _mix(_number(b[channel], factor, shift), _number(d[channel], factor, shift), fy)
    far = _mix(_number(f[channel], factor, shift), _number(h[channel], factor, shift), fy)
    return _mix(left, _mix(near, far, fz), fx)


@composed
def sample_bricks(table: BrickTable, x: float, y: float, z: float, level: int = 0) -> Vector:
    """Sample a picture or volume of any size, of which bricks are in image memory.

    The filter is linear, in float32, with the bits of ``Image.warp`` of the whole with ``precision="exact"`` on the
    reference device. A brick of the level that is not in memory is replaced by that of the next coarser level that is,
    and noted: ``BrickStore.update`` loads it. Costs eight texture instructions and the search of the brick, about
    twenty operations.

    Parameters
    ----------
    table : tuple
        ``BrickStore.table``.
    x, y, z : float
        Position in texels of level 0, whatever ``level`` is: the centre of texel i is i + 0.5. The outermost texels
        continue outside. In pictures ``z`` is 0.5. float64 positions are kept to their last bit.
    level : int
        0 is the full resolution.

    Returns
    -------
    vector of 4
        A number for each channel, as the source has them: those of uint16 are 0 to 65535. Channels that the source
        lacks are 0, and all are not-a-number where no level has the brick.
    """
    place, at = find_brick(table, x, y, z, level)
    if place < 0:
        return float4(np.float32(math.nan))
    handle, bounds = table[1][place], table[2]
    if handle == 0:
        return float4(bounds[place, 0], bounds[place, 2], bounds[place, 4], bounds[place, 6])
    sizes, maps, facts = table[5], table[6], table[7]
    px = place_in(x, maps[at, 0], maps[at, 3], sizes[at, 0])
    py = place_in(y, maps[at, 1], maps[at, 4], sizes[at, 1])
    pz = place_in(z, maps[at, 2], maps[at, 5], sizes[at, 2])
    i, j, k = texel_of(px, sizes[at, 0]), texel_of(py, sizes[at, 1]), texel_of(pz, sizes[at, 2])
    right, below, behind = (
        texel_of(px + 1, sizes[at, 0]) - i,
        texel_of(py + 1, sizes[at, 1]) - j,
        texel_of(pz + 1, sizes[at, 2]) - k,
    )
    fx, fy, fz = np.float32(px - math.floor(px)), np.float32(py - math.floor(py)), np.float32(pz - math.floor(pz))
    i, j, k = i % facts[0], j % facts[1], k % facts[2]
    right, below, behind = i + right, j + below, k + behind
    texels = (
        fetch_sampled_image(handle, i, j, k),
        fetch_sampled_image(handle, right, j, k),
        fetch_sampled_image(handle, i, below, k),
        fetch_sampled_image(handle, right, below, k),
        fetch_sampled_image(handle, i, j, behind),
        fetch_sampled_image(handle, right, j, behind),
        fetch_sampled_image(handle, i, below, behind),
        fetch_sampled_image(handle, right, below, behind),
    )
    return float4(
        _channel(table, texels, 0, fx, fy, fz),
        _channel(table, texels, 1, fx, fy, fz),
        _channel(table, texels, 2, fx, fy, fz),
        _channel(table, texels, 3, fx, fy, fz),
    )
