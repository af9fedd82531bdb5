"""Chunks of an array: where they begin, and parts that are read across them."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..model.errors import InvalidError
from . import staging

__all__ = [
    "EmptyLike",
    "Number",
    "Starts",
    "chunks_between",
    "empty_like",
    "read_chunks",
    "require_count",
    "starts_in",
    "starts_of",
]

MOST_BLOCKS = 1 << 24

# Where the chunks along an axis begin, and where the last one ends.
Starts = Sequence[int]
Number = tuple[int, ...]


def starts_of(chunks: Sequence[Sequence[int]]) -> tuple[Starts, ...]:
    """Of dask's sizes of chunks."""
    return tuple((0, *itertools.accumulate(along)) for along in chunks)


@dataclass(frozen=True)
class EvenStarts(Sequence[int]):
    """Of chunks of one size, of which the last one may be cut: computed, so that their number costs nothing.

    Attributes
    ----------
    size : int
        Of the axis.
    part : int
        Of a chunk.
    """

    size: int
    part: int

    def __len__(self) -> int:
        return -(-self.size // self.part) + 1

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return tuple(self[n] for n in range(*number.indices(len(self))))
        index = number + len(self) if number < 0 else number
        if not 0 <= index < len(self):
            raise IndexError(number)
        return min(index * self.part, self.size)


def starts_in(shape: Sequence[int], chunk: Sequence[int]) -> tuple[Starts, ...]:
    """Of chunks of one shape, of which the last ones may be cut."""
    return tuple(EvenStarts(size, part) for size, part in zip(shape, chunk))


def require_count(counts: Sequence[int], what: str) -> None:
    """Refuses more blocks than a run can list.

    Raises
    ------
    InvalidError
        There are more.
    """
    if math.prod(counts) > MOST_BLOCKS:
        raise InvalidError(
            f"{what} has {' x '.join(map(str, counts))} blocks; at most {MOST_BLOCKS} are computed: make it smaller, "
            "or its chunks larger"
        )


def chunks_between(starts: Starts, first: int, stop: int) -> list[int]:
    """The numbers of the chunks along an axis that hold the indices from the first one to the last one before stop."""
    return list(range(bisect.bisect_right(starts, first) - 1, bisect.bisect_left(starts, stop)))


# An array without values, of the library and the dtype of another.
EmptyLike = Callable[[Any, tuple[int, ...]], Any]


def empty_like(array: Any, shape: tuple[int, ...]) -> Any:
    return np.empty_like(array, shape=shape)


class Chunks(Protocol):
    """Chunks by their numbers."""

    def __getitem__(self, number: Number, /) -> Any: ...


def read_chunks(starts_of_axes: Sequence[Starts], chunks: Chunks, empty_like: EmptyLike, part: Sequence[slice]) -> Any:
    """A part of an array of chunks.

    Parameters
    ----------
    starts_of_axes : Sequence[Starts]
        Of the chunks, along each axis.
    chunks : Chunks
        Those that the part needs.
    empty_like : EmptyLike
        Makes the array of a part that several chunks have, unless it is small and of numpy.
    """
    ranges, sizes, whole = [], [], None
    for starts, along in zip(starts_of_axes, part):
        ranges.append(range(bisect.bisect_right(starts, along.start) - 1, bisect.bisect_left(starts, along.stop)))
        sizes.append(along.stop - along.start)
    for number in itertools.product(*ranges):
        source, target, is_all = [], [], True
        for starts, n, along in zip(starts_of_axes, number, part):
            begin, first, last = starts[n], along.start, along.stop
            low, high = max(begin, first), min(starts[n + 1], last)
            source.append(slice(low - begin, high - begin))
            target.append(slice(low - first, high - first))
            is_all = is_all and low == first and high == last
        piece = chunks[number][tuple(source)]
        if is_all:
            return piece
        if whole is None:
            is_small = type(piece) is np.ndarray and math.prod(sizes) * piece.itemsize < staging.SMALLEST
            whole = np.empty(sizes, piece.dtype) if is_small else empty_like(piece, tuple(sizes))
        whole[tuple(target)] = piece
    return whole
