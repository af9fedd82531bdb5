"""Parts of a buffer of one to three dimensions, as bytes."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator, Sequence
from typing import NamedTuple, SupportsIndex, Union

from ...model.arrays import DType
from ...model.errors import InvalidError
from ...model.message_values import shown
from ...model.ranges import Range

__all__ = ["Region", "SizesLike", "buffer_shape", "region_of", "sizes_of"]

SizesLike = Union[SupportsIndex, Sequence[SupportsIndex], Range]


def sizes_of(value: SizesLike, name: str) -> tuple[int, ...]:
    """Sizes or offsets by dimension.

    Raises
    ------
    InvalidError
        Not integers, or a negative one.
    """
    if isinstance(value, Range):
        return tuple(value)
    items = tuple(value) if isinstance(value, Sequence) else (value,)
    try:
        sizes = tuple(operator.index(item) for item in items)
    except TypeError:
        raise InvalidError(f"{name}={shown(value)}: it is an integer, or one for each dimension") from None
    if any(size < 0 for size in sizes):
        raise InvalidError(f"{name}={shown(value)}: a size is negative; the least is 0")
    return sizes


def buffer_shape(value: SizesLike, name: str = "shape") -> tuple[int, ...]:
    """The shape of a buffer.

    Raises
    ------
    InvalidError
        No sizes, or not one to three dimensions.
    """
    shape = sizes_of(value, name)
    if not 1 <= len(shape) <= 3:
        raise InvalidError(f"{name}={shown(shape)}: a buffer has one to three dimensions")
    return shape


class Region(NamedTuple):
    """A box of elements in an array.

    Attributes
    ----------
    whole : tuple[int, ...]
        Shape of the array.
    offset, shape : tuple[int, ...]
        First element and sizes.
    itemsize : int
        Bytes of an element.
    """

    whole: tuple[int, ...]
    offset: tuple[int, ...]
    shape: tuple[int, ...]
    itemsize: int

    @property
    def begin(self) -> int:
        """First byte of the first element, counted from the array's."""
        position = 0
        for size, offset in zip(self.whole, self.offset):
            position = position * size + offset
        return position * self.itemsize

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.itemsize

    @property
    def end(self) -> int:
        """The byte after the last element; ``begin`` if there is none."""
        if 0 in self.shape:
            return self.begin
        last = self._replace(offset=tuple(o + s - 1 for o, s in zip(self.offset, self.shape)))
        return last.begin + self.itemsize

    @property
    def is_contiguous(self) -> bool:
        """Whether no other elements lie between its own."""
        return self.end - self.begin == self.nbytes

    @property
    def slices(self) -> tuple[slice, ...]:
        """For numpy."""
        return tuple(slice(offset, offset + size) for offset, size in zip(self.offset, self.shape))

    def runs(self) -> Iterator[tuple[int, int]]:
        """Its contiguous pieces in order: first byte and bytes of each."""
        if 0 in self.shape:
            return
        if self.is_contiguous:
            yield self.begin, self.nbytes
            return
        inner = len(self.shape) - 1  # the dimensions from here on lie in one piece
        while self.shape[inner] == self.whole[inner]:
            inner -= 1
        length = math.prod(self.shape[inner:]) * self.itemsize
        for index in itertools.product(*(range(size) for size in self.shape[:inner])):
            offset = (*(o + i for o, i in zip(self.offset, index)), *self.offset[inner:])
            yield self._replace(offset=offset).begin, length


def region_of(whole: tuple[int, ...], dtype: DType, range: SizesLike | None, offset: SizesLike | None) -> Region:
    """The region of an accessor: by default everything from an offset on.

    Raises
    ------
    InvalidError
        Other dimensions than the buffer's, or elements outside it.
    """
    first = (0,) * len(whole) if offset is None else sizes_of(offset, "offset")
    if range is None:
        shape = tuple(max(size - begin, 0) for size, begin in zip(whole, first))
    else:
        shape = sizes_of(range, "range")
    for name, sizes in (("offset", first), ("range", shape)):
        if len(sizes) != len(whole):
            raise InvalidError(f"{name}={sizes}: the buffer of shape {whole} has {len(whole)} dimensions")
    if any(begin + size > limit for begin, size, limit in zip(first, shape, whole)):
        raise InvalidError(f"offset={first} with range={shape} leaves the buffer of shape {whole}")
    return Region(whole, first, shape, dtype.itemsize)
