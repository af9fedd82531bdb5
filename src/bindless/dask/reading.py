"""``read``: the part of an array that a block needs, its boundaries included."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..model.arrays import DType

__all__ = ["covers", "read"]

Indices = npt.NDArray[np.int64]
Reader = Callable[[tuple[slice, ...]], Any]


def covers(indices: Indices) -> list[tuple[int, int]]:
    """The ranges (start, stop) that hold all of some indices, but for negative ones, and no others."""
    if indices.size and indices[0] >= 0 and indices[-1] - indices[0] == indices.size - 1 and _ascends(indices):
        return [(int(indices[0]), int(indices[-1]) + 1)]
    texels = np.unique(indices[indices >= 0])
    if not texels.size:
        return []
    breaks = np.flatnonzero(np.diff(texels) != 1) + 1
    return [(int(part[0]), int(part[-1]) + 1) for part in np.split(texels, breaks)]


def _ascends(indices: Indices) -> bool:
    return bool((np.diff(indices) == 1).all())


def read(reader: Reader, batch: Sequence[slice], indices: Sequence[Indices], dtype: DType, fill: float) -> Any:
    """Elements at indices along the last axes.

    Parameters
    ----------
    reader : Reader
        Gives a part of the array, which is at least one element.
    batch : Sequence[slice]
        Along the axes before.
    indices : Sequence[Indices]
        For each of the last axes; -1 for the fill value.
    dtype : np.dtype
        Of the array.
    fill : float
        The value at indices of -1.

    Returns
    -------
    Any
        An array of the library of the reader's, or of numpy where nothing is read.
    """
    ranges = [covers(axis) for axis in indices]
    shape = [part.stop - part.start for part in batch]
    if not all(ranges):
        return np.full([*shape, *(len(axis) for axis in indices)], fill, dtype)
    sizes = [sum(stop - start for start, stop in parts) for parts in ranges]
    if math.prod(len(parts) for parts in ranges) == 1:
        array = reader((*batch, *(slice(*parts[0]) for parts in ranges)))
    else:
        array = _join(reader, batch, ranges, [*shape, *sizes])
    for axis, target in enumerate(indices, len(shape)):
        array = _take(array, axis, target, ranges[axis - len(shape)], fill)
    return array


def _join(reader: Reader, batch: Sequence[slice], ranges: Sequence[list[tuple[int, int]]], shape: Sequence[int]) -> Any:
    """The product of several ranges along each axis as one array."""
    result = None
    for parts in itertools.product(*ranges):
        piece = reader((*batch, *(slice(*part) for part in parts)))
        if result is None:
            result = np.empty_like(piece, shape=tuple(shape))
        starts = [sum(stop - start for start, stop in along[: along.index(part)]) for along, part in zip(ranges, parts)]
        inside = [slice(first, first + stop - start) for first, (start, stop) in zip(starts, parts)]
        place = (Ellipsis, *inside)
        result[place] = piece
    return result


def _take(array: Any, axis: int, target: Indices, ranges: list[tuple[int, int]], fill: float) -> Any:
    """The array at indices of an axis, of which it has the ranges."""
    own = np.concatenate([np.arange(*part) for part in ranges])
    if np.array_equal(own, target):
        return array
    places = np.searchsorted(own, np.maximum(target, own[0]))
    result = np.take(array, np.asarray(places, like=array), axis=axis)
    if (target < 0).any():
        result[(slice(None),) * axis + (np.asarray(np.flatnonzero(target < 0), like=array),)] = fill
    return result
