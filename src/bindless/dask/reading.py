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
    known = np.unique(indices[indices >= 0])
    if not known.size:
        return []
    breaks = np.flatnonzero(np.diff(known) != 1) + 1
    return [(int(part[0]), int(part[-1]) + 1) for part in np.split(known, breaks)]


def _ascends(indices: Indices) -> bool:
    return bool((np.diff(indices) == 1).all())


def read(reader: Reader, kept: Sequence[slice], indices: Sequence[Indices], dtype: DType, fill: float) -> Any:
    """Elements at indices along the last axes.

    Parameters
    ----------
    reader : Reader
        Gives a part of the array, which is at least one element.
    kept : Sequence[slice]
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
    shape = [part.stop - part.start for part in kept]
    if not all(ranges):
        return np.full([*shape, *(len(axis) for axis in indices)], fill, dtype)
    sizes = [sum(stop - start for start, stop in parts) for parts in ranges]
    if math.prod(len(parts) for parts in ranges) == 1:
        found = reader((*kept, *(slice(*parts[0]) for parts in ranges)))
    else:
        found = _joined(reader, kept, ranges, [*shape, *sizes])
    for axis, wanted in enumerate(indices, len(shape)):
        found = _taken(found, axis, wanted, ranges[axis - len(shape)], fill)
    return found


def _joined(
    reader: Reader, kept: Sequence[slice], ranges: Sequence[list[tuple[int, int]]], shape: Sequence[int]
) -> Any:
    """The product of several ranges along each axis as one array."""
    found = None
    for parts in itertools.product(*ranges):
        piece = reader((*kept, *(slice(*part) for part in parts)))
        if found is None:
            found = np.empty_like(piece, shape=tuple(shape))
        starts = [sum(stop - start for start, stop in along[: along.index(part)]) for along, part in zip(ranges, parts)]
        inside = [slice(first, first + stop - start) for first, (start, stop) in zip(starts, parts)]
        place = (Ellipsis, *inside)
        found[place] = piece
    return found


def _taken(array: Any, axis: int, wanted: Indices, ranges: list[tuple[int, int]], fill: float) -> Any:
    """The array at indices of an axis, of which it has the ranges."""
    known = np.concatenate([np.arange(*part) for part in ranges])
    if np.array_equal(known, wanted):
        return array
    places = np.searchsorted(known, np.maximum(wanted, known[0]))
    found = np.take(array, np.asarray(places, like=array), axis=axis)
    if (wanted < 0).any():
        found[(slice(None),) * axis + (np.asarray(np.flatnonzero(wanted < 0), like=array),)] = fill
    return found
