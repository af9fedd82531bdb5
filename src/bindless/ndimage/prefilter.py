"""``coefficients``: those of the B-spline that passes through the elements of an array; memory for them."""

from __future__ import annotations

import math
import weakref
from functools import lru_cache

import numpy as np

from ..image.array_library import AnyArray
from ..image.spline_filter import described_filter, filter_samples
from ..model.arrays import DType
from ..model.enums import Boundary
from ..model.filter import Filter
from ..model.spline_filter import SplineFilter
from ..submission.active_streams import spare
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray, usm_empty
from .source import wait_unless_ordered

__all__ = ["coefficients", "give_back", "spline_of", "take"]

_FLOAT32: DType = np.dtype(np.float32)
_MOST_SHAPES, _PART = 4, 32  # of arrays that the calls in a queue leave to the next ones; their part of its memory
_BYTES = 8  # of an element of both

Pair = tuple[UsmArray, UsmArray]


def coefficients(
    queue: Queue, pixels: AnyArray, dimensions: int, filter_: Filter, *, extend: bool = False
) -> tuple[AnyArray, int]:
    """Coefficients in single precision, and the number of elements by which they exceed the pixels at each end.

    Parameters
    ----------
    pixels : AnyArray
        Shape (..., channels), up to four channels.
    dimensions : int
        Axes that are filtered, the last ones before the channels.
    filter_ : Filter
        Its boundary, the same along all axes, has the values beyond the elements.
    extend : bool
        Whether the array is extended, as scipy's functions do before they interpolate.
    """
    filters = spline_of(filter_, pixels.shape, dimensions, extend=extend)
    values, after = filter_samples(queue, pixels, filters)
    if after:
        wait_unless_ordered(queue, after)
    return values, filters.margin[0]


def spline_of(filter_: Filter, shape: tuple[int, ...], dimensions: int, *, extend: bool) -> SplineFilter:
    """The filter of ``coefficients`` for an array of a shape (..., channels), without addresses."""
    lines, margin, fills = _options(filter_, dimensions, extend)
    fill = filter_.fill if fills else None
    return described_filter(shape, dimensions, lines, margin, fill, filter_.spline_order)


@lru_cache(64)
def _options(filter_: Filter, dimensions: int, extend: bool) -> tuple[tuple[Boundary, ...], int, bool]:
    """The continuation of lines along x, y, z, the margin, and whether it has the fill value."""
    fills = extend and Boundary.border in filter_.boundary
    return filter_.spline_lines[:dimensions], filter_.spline_margin[0] if extend else 0, fills


class _Pairs:
    """Arrays that calls in a queue leave to the next ones, by their shape.

    Attributes
    ----------
    most : int
        Their bytes at most.
    """

    __slots__ = ("__weakref__", "by_shape", "most")

    def __init__(self, queue: Queue) -> None:
        self.by_shape: dict[tuple[int, ...], Pair] = {}
        self.most = int(queue.device.get_info("global_mem_size")) // _PART
        _all.add(self)


_all: weakref.WeakSet[_Pairs] = weakref.WeakSet()


def take(queue: Queue, shape: tuple[int, ...]) -> Pair:
    """Two float32 arrays on the device of an in-order queue, which nobody else uses until ``give_back``."""
    pairs: _Pairs | None = queue._storage.get(_Pairs)
    if pairs is None:
        pairs = queue._storage.setdefault(_Pairs, _Pairs(queue))
    pair = pairs.by_shape.pop(shape, None)
    return (usm_empty(shape, _FLOAT32, queue), usm_empty(shape, _FLOAT32, queue)) if pair is None else pair


def give_back(queue: Queue, pair: Pair) -> None:
    """Leave two arrays to the next call: its commands come after those that use them now."""
    pairs: _Pairs | None = queue._storage.get(_Pairs)
    shape, size = pair[0].shape, 2 * pair[0].nbytes
    if pairs is None or size > pairs.most or shape in pairs.by_shape:  # another thread's
        return
    by_shape = pairs.by_shape
    for other in list(by_shape):  # the oldest first
        if len(by_shape) < _MOST_SHAPES and _BYTES * sum(map(math.prod, list(by_shape))) + size <= pairs.most:
            break
        by_shape.pop(other, None)
    by_shape[shape] = pair


def _let_go() -> None:
    for pairs in list(_all):
        pairs.by_shape.clear()


spare.append(_let_go)
