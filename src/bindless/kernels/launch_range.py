"""Ranges of launches: how work-items divide the elements of a call. Kernels stride over what exceeds a range."""

from __future__ import annotations

import math
from functools import lru_cache

from ..model.ranges import NdRange

__all__ = [
    "GROUP",
    "ITEMS",
    "MAX_GROUPS",
    "groups_of",
    "picture_kind",
    "picture_range",
    "range_of",
    "rows_kind",
    "rows_range",
]

GROUP = 128
"""Work-items of a group."""

ITEMS = 4
"""Items that a work-item of a device function over arrays processes together."""

MAX_GROUPS = 1 << 20
"""Enough to fill any device many times."""

# Kinds of pictures, and the elements that a work-group processes together: see csrc/kernels/include/picture.h.
_LINE, _PLANE, _VOLUME, _SLAB = range(4)
_BLOCKS = {_LINE: (512, 1, 1), _PLANE: (32, 16, 1), _VOLUME: (8, 8, 8)}
_BLOCKS_OF_ROWS = {**_BLOCKS, _PLANE: (128, 4, 1), _VOLUME: (128, 4, 1), _SLAB: (128, 4, 4)}
_SMALLEST = 4  # rows of a plane, and planes of a volume
_SMALLEST_SLAB = 1 << 21  # elements, whose slabs fill large GPUs several times


def groups_of(items: int, maximum: int = MAX_GROUPS) -> int:
    """The number of groups that process items ``ITEMS`` at a time; 0 for no items."""
    return min(-(-items // (GROUP * ITEMS)), maximum)


@lru_cache(64)
def range_of(groups: int) -> NdRange:
    """The range of a number of groups: one object for launches that come again."""
    return NdRange(groups * GROUP, GROUP)


def picture_kind(shape: tuple[int, int, int]) -> int:
    """The order in which the elements of a picture of (width, height, depth) are processed."""
    _, height, depth = shape
    if height < _SMALLEST:
        return _LINE
    return _PLANE if depth < _SMALLEST else _VOLUME


def rows_kind(shape: tuple[int, int, int]) -> int:
    """The order in which the elements of a picture of an array in memory are processed."""
    kind = picture_kind(shape)
    return _SLAB if kind == _VOLUME and math.prod(shape) >= _SMALLEST_SLAB else kind


def picture_range(shape: tuple[int, int, int]) -> NdRange:
    """The range of a launch for a picture: a work-group for each block of it."""
    return range_of(_groups_of(shape, _BLOCKS[picture_kind(shape)]))


def rows_range(shape: tuple[int, int, int], layers: int) -> NdRange:
    """The range of a launch for pictures of an array in memory, one for each layer."""
    return NdRange((layers, _groups_of(shape, _BLOCKS_OF_ROWS[rows_kind(shape)]) * GROUP), (1, GROUP))


def _groups_of(shape: tuple[int, int, int], block: tuple[int, int, int]) -> int:
    return min(math.prod(-(-size // extent) for size, extent in zip(shape, block)), MAX_GROUPS)
