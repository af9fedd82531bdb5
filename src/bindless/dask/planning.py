"""``keys_of_chunks``: the chunks of a dask array that many blocks of a result depend on, worked out at once."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..model.arrays import Array
from ..model.enums import Boundary
from .blocks import Blocks, chunk_ranges
from .chunks import Number
from .spans import REACH
from .warp import Warp

__all__ = ["keys_of_chunks"]

Flags = npt.NDArray[np.bool_]


def keys_of_chunks(blocks: Blocks, name: str, numbers: Sequence[Number]) -> Iterator[Iterable[tuple[Any, ...]]]:
    """For each block the keys of the chunks that ``needed_chunks`` names, in its order.

    Parameters
    ----------
    blocks : Blocks
        Of the result.
    name : str
        Of the input.
    numbers : Sequence[Number]
        Of the blocks.
    """
    warp, batch = blocks.warp, blocks.warp.batch
    index = np.array(numbers, np.int64).reshape(len(numbers), len(blocks.starts))
    starts = [np.array(along)[index[:, axis]] for axis, along in enumerate(blocks.starts)]
    stops = [np.array(along)[index[:, axis] + 1] for axis, along in enumerate(blocks.starts)]
    inside, empty, firsts, lasts = _texels(warp, starts[batch:], stops[batch:])
    firsts, lasts = [*starts[:batch], *firsts], [*stops[:batch], *lasts]
    pairs = []
    for along, first, last in zip(blocks.image_starts, firsts, lasts):
        pairs.append((np.searchsorted(along, first, "right") - 1).tolist())
        pairs.append(np.searchsorted(along, last, "left").tolist())
    named = (name,)
    for simple, none, number, *ends in zip(inside.tolist(), empty.tolist(), numbers, *pairs):
        if none:
            yield ()
            continue
        if simple:
            ranges: Sequence[Sequence[int]] = [range(*pair) for pair in zip(ends[::2], ends[1::2])]
        else:
            block = blocks.block(number)
            ranges = chunk_ranges(warp, blocks.image_starts, block, warp.spans(block))
        yield itertools.product(named, *ranges) if ranges else ()


def _texels(
    warp: Warp, starts: Sequence[Array], stops: Sequence[Array]
) -> tuple[Flags, Flags, list[Array], list[Array]]:
    """Of blocks whose texels lie inside of the input: first texels, and those after the last ones, for each axis.

    Returns
    -------
    tuple
        For each block whether its texels lie inside, and whether it has the fill value alone; for each axis first
        texels and those after the last ones, which are right for blocks inside.
    """
    ends = [(start.astype(np.float64), stop - 1.0) for start, stop in zip(starts, stops)]
    lows, highs = warp.extremes(ends)
    boundary, (before, after) = warp.boundary, REACH[warp.taps]
    before, after = before + warp.uses_unit, after + warp.uses_unit
    half = 0.5 if warp.taps % 2 else 0.0
    inside = np.full(starts[0].shape, not warp.is_spline)
    empty = np.zeros(starts[0].shape, np.bool_)
    firsts, lasts = [], []
    for low, high, size in zip(lows, highs, warp.whole):
        if boundary is Boundary.constant:
            empty |= (high < 0) | (low > size - 1.0)
        if boundary is Boundary.edge:
            low, high = np.clip(low, 0.0, size - 1.0), np.clip(high, 0.0, size - 1.0)
        first, last = np.floor(low + half) - before, np.floor(high + half) + after
        if boundary is Boundary.edge:
            first, last = np.clip(first, 0, size - 1), np.clip(last, 0, size - 1)
        inside &= (first >= 0) & (last < size) & (low <= high) & (size > 1)
        firsts.append(np.clip(first, 0, size - 1).astype(np.int64))
        lasts.append(np.clip(last, 0, size - 1).astype(np.int64) + 1)
    return inside, empty, firsts, lasts
