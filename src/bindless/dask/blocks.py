"""``Blocks``: what all tasks of a result share, and ``compute_block``, which each task calls."""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..model.arrays import Array
from .block import compute, image_ranges
from .chunks import Number, Starts, chunks_between, read_chunks
from .errors import BlockError, part_text, read_part
from .queues import workspace_of_thread
from .spans import Span
from .stored_chunks import StoredChunks
from .warp import Block, Warp

__all__ = ["Blocks", "chunk_ranges", "compute_block", "needed_chunks"]


@dataclass(frozen=True)
class Blocks:
    """A result in blocks.

    Attributes
    ----------
    warp : Warp
        Of the whole.
    starts : tuple[Starts, ...]
        Of the blocks, along each axis.
    image : array
        The input where blocks read it themselves; None where they depend on its chunks.
    image_starts : tuple[Starts, ...]
        Of the input's chunks that blocks depend on; empty where they read.
    field : array
        Displacements that blocks read themselves, or None.
    field_is_chunk : bool
        Whether the first dependency of a block is its part of the displacements.
    like : Any
        An array of the library of the result, where that is not numpy; else None.
    """

    warp: Warp
    starts: tuple[Starts, ...]
    image: Any = None
    image_starts: tuple[Starts, ...] = ()
    field: Any = None
    field_is_chunk: bool = False
    like: Any = None

    @property
    def counts(self) -> Number:
        return tuple(len(along) - 1 for along in self.starts)

    def block(self, number: Number) -> Block:
        return tuple([slice(along[n], along[n + 1]) for along, n in zip(self.starts, number)])


def needed_chunks(warp: Warp, image_starts: Sequence[Starts], block: Block) -> list[Number]:
    """The numbers of the input's chunks that a block needs, without displacements."""
    ranges = chunk_ranges(warp, image_starts, block, warp.spans(block))
    return list(itertools.product(*ranges)) if ranges else []


def chunk_ranges(
    warp: Warp, image_starts: Sequence[Starts], block: Block, spans: Sequence[Span] | None
) -> list[Sequence[int]]:
    """The same for each axis; empty where the block needs none."""
    if spans is None:
        return []
    if not warp.is_spline:
        ranges: list[Sequence[int]] = []
        ends = [(part.start, part.stop) for part in block[: warp.batch]]
        ends += [(origin, origin + size) for origin, size in spans]
        for starts, (first, stop) in zip(image_starts, ends):
            if first < 0 or stop > starts[-1]:
                break
            ranges.append(range(bisect_right(starts, first) - 1, bisect_left(starts, stop)))
        else:
            return ranges
    parts_of_axes = [[(part.start, part.stop)] for part in block[: warp.batch]] + image_ranges(warp, spans)
    return [
        sorted({number for part in parts for number in chunks_between(starts, *part)})
        for starts, parts in zip(image_starts, parts_of_axes)
    ]


def compute_block(blocks: Blocks, number: Number, *chunks: Any) -> Any:
    """The values of a block.

    Parameters
    ----------
    blocks : Blocks
        What all blocks share.
    number : tuple[int, ...]
        Of the block, along each axis.
    *chunks : Any
        What the block depends on: its displacements, and the chunks of the input.

    Raises
    ------
    BlockError
        A part of the input cannot be read.
    """
    block, workspace, warp = blocks.block(number), workspace_of_thread(), blocks.warp
    first: Array | None = None
    spans = None
    if blocks.field_is_chunk:
        first, chunks = np.asarray(chunks[0]), chunks[1:]
    elif blocks.field is not None:
        whole = (slice(None), *block[warp.batch :])
        first = np.asarray(read_part(blocks.field.__getitem__, "displacement", blocks.field, whole))
    if blocks.image is None:
        spans = warp.spans(block)
        needed = itertools.product(*chunk_ranges(warp, blocks.image_starts, block, spans))
        reader = partial(read_chunks, blocks.image_starts, dict(zip(needed, chunks)), workspace.empty_like)
    elif isinstance(blocks.image, StoredChunks):
        stored = partial(blocks.image.read, empty_like=workspace.empty_like)
        reader = partial(read_part, stored, "image", blocks.image)
    else:
        reader = partial(read_part, blocks.image.__getitem__, "image", blocks.image)
    try:
        result = compute(warp, block, reader, first, workspace, spans=spans)
    except BlockError as error:
        raise BlockError(f"block {number} [{part_text(block)}]: {error}") from error
    if blocks.like is not None and isinstance(result, np.ndarray):
        result = np.asarray(result, like=blocks.like)
    return result
