"""Shapes and strides of views, as numpy's basic indexing, reshaping and transposing make them."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ...model.errors import InvalidError
from ...model.message_values import shown

__all__ = ["Boxes", "boxes", "indexed", "packed_strides", "permuted", "reach", "reshaped_strides", "same_layout"]

Ints = tuple[int, ...]

_LARGEST_PITCH = 2**31 - 1  # bytes between rows that every driver takes


def packed_strides(shape: Ints, itemsize: int) -> Ints:
    """Bytes between elements that lie one after the other, the last dimension varying fastest."""
    strides = []
    for size in reversed(shape):
        strides.append(itemsize)
        itemsize *= size
    return tuple(reversed(strides))


def same_layout(shape: Ints, strides: Ints, packed: Ints) -> bool:
    """Whether the strides differ only where the size is 1, or there are no elements."""
    return 0 in shape or all(size == 1 or a == b for size, a, b in zip(shape, strides, packed))


def reach(shape: Ints, strides: Ints, itemsize: int) -> tuple[int, int]:
    """First byte and the one after the last of all elements, from the first element; (0, 0) without elements."""
    if 0 in shape:
        return 0, 0
    first, last = 0, itemsize
    for size, stride in zip(shape, strides):
        if stride < 0:
            first += stride * (size - 1)
        else:
            last += stride * (size - 1)
    return first, last


class Boxes(NamedTuple):
    """A copy of elements between two layouts, as equal boxes of rows.

    Attributes
    ----------
    row : int
        Contiguous bytes of a row.
    rows : int
        Rows of a box.
    pitches : tuple[int, int]
        Bytes from a row to the next, in the target and in the source.
    counters : list[tuple[int, int, int]]
        Dimensions over the boxes, outermost first: size, and bytes between neighbours in the target and in the source.
    """

    row: int
    rows: int
    pitches: tuple[int, int]
    counters: list[tuple[int, int, int]]

    @property
    def number(self) -> int:
        """Number of boxes."""
        return math.prod(counter[0] for counter in self.counters)

    def single_rows(self) -> Boxes:
        """Return boxes of one row each, with the same rows."""
        if self.rows == 1:
            return self
        return Boxes(self.row, 1, (self.row, self.row), [*self.counters, (self.rows, *self.pitches)])

    def offsets(self) -> Iterator[tuple[int, int]]:
        """Byte offset of each box from the first element, in the target and in the source."""
        for place in product(*(range(size) for size, _, _ in self.counters)):
            yield (
                sum(index * counter[1] for index, counter in zip(place, self.counters)),
                sum(index * counter[2] for index, counter in zip(place, self.counters)),
            )


def boxes(shape: Ints, target: Ints, source: Ints, itemsize: int) -> Boxes:
    """The boxes of rows that copy every element of ``shape`` from one layout to another; ``shape`` has no 0."""
    merged: list[tuple[int, int, int]] = []
    for size, to, of in zip(shape, target, source):
        if size == 1:
            continue
        if merged and merged[-1][1] == size * to and merged[-1][2] == size * of:
            merged[-1] = (merged[-1][0] * size, to, of)
        else:
            merged.append((size, to, of))
    row = itemsize
    if merged and merged[-1][1:] == (itemsize, itemsize):
        row *= merged.pop()[0]
    if merged and min(merged[-1][1:]) >= row and max(merged[-1][1:]) <= _LARGEST_PITCH:
        rows, *pitches = merged.pop()
        return Boxes(row, rows, (pitches[0], pitches[1]), merged)
    return Boxes(row, 1, (row, row), merged)


def permuted(shape: Ints, strides: Ints, axes: Sequence[Any]) -> tuple[Ints, Ints]:
    """Shape and strides with the dimensions in another order; without ``axes`` the reverse.

    Raises
    ------
    InvalidError
        Not every dimension once.
    """
    ndim = len(shape)
    order = tuple(reversed(range(ndim))) if not axes else tuple(axes)
    try:
        places = [operator.index(axis) for axis in order]
    except TypeError:
        raise InvalidError(f"axes={shown(order)}: they are integers") from None
    if len(places) != ndim or sorted(axis % ndim if -ndim <= axis < ndim else -1 for axis in places) != [*range(ndim)]:
        raise InvalidError(f"axes={shown(tuple(places))}: an array of shape {shape} has each of 0 to {ndim - 1} once")
    return tuple(shape[axis] for axis in places), tuple(strides[axis] for axis in places)


def reshaped_strides(shape: Ints, strides: Ints, new_shape: Ints, itemsize: int) -> Ints | None:
    """Strides with which the same elements have another shape of equal size; None if no strides do that.

    Old and new dimensions are taken in groups of equal size; the old ones of a group must lie like one dimension.
    """
    if 0 in new_shape:
        return packed_strides(new_shape, itemsize)
    old = [(size, stride) for size, stride in zip(shape, strides) if size != 1]
    result: list[int] = []
    place = 0
    first = 0  # of the old dimensions not yet used
    while place < len(new_shape):
        if first == len(old):  # only sizes of 1 are left
            result.append(itemsize)
            place += 1
            continue
        last, end = first + 1, place + 1
        have, want = old[first][0], new_shape[place]
        while have != want:
            if want < have:
                want *= new_shape[end]
                end += 1
            else:
                have *= old[last][0]
                last += 1
        if any(old[i][1] != old[i + 1][0] * old[i + 1][1] for i in range(first, last - 1)):
            return None
        stride = old[last - 1][1]
        result += [stride * math.prod(new_shape[i + 1 : end]) for i in range(place, end)]
        first, place = last, end
    return tuple(result)


def indexed(shape: Ints, strides: Ints, key: Any) -> tuple[Ints, Ints, int]:
    """Shape, strides and byte offset of a view.

    Raises
    ------
    InvalidError
        An index that is no integer, slice, ``...`` or None, or too many of them.
    IndexError
        An integer out of range.
    """
    keys = list(key) if isinstance(key, tuple) else [key]
    used = sum(item is not None and item is not Ellipsis for item in keys)
    dots = sum(item is Ellipsis for item in keys)
    if used > len(shape) or dots > 1:
        raise InvalidError(f"index {shown(key)} does not fit an array of shape {shape}")
    rest = [slice(None)] * (len(shape) - used)
    if dots:
        place = next(i for i, item in enumerate(keys) if item is Ellipsis)
        keys[place : place + 1] = rest
    else:
        keys += rest
    new_shape: list[int] = []
    new_strides: list[int] = []
    offset, axis = 0, 0
    for item in keys:
        if item is None:
            new_shape.append(1)
            new_strides.append(0)
            continue
        size, stride = shape[axis], strides[axis]
        axis += 1
        if isinstance(item, slice):
            try:
                start, stop, step = item.indices(size)
            except (TypeError, ValueError) as error:  # no integers, or a step of 0
                raise InvalidError(f"index {shown(item)}: {error}") from None
            count = len(range(start, stop, step))
            offset += start * stride if count else 0
            new_shape.append(count)
            new_strides.append(stride * step)
            continue
        try:
            if isinstance(item, (bool, np.bool_)):  # numpy's mask, not a number
                raise TypeError
            index = operator.index(item)
        except TypeError:
            raise InvalidError(
                f"index {shown(item)}: views are made by integers, slices, '...' and None; copy with numpy() for more"
            ) from None
        if not -size <= index < size:
            raise IndexError(f"index {shown(index)} is out of range for dimension {axis - 1} of size {size}")
        offset += (index % size) * stride
    return tuple(new_shape), tuple(new_strides), offset
