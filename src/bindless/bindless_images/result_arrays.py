"""Cache of memory for large results, reused by later results.

The first touch of a page costs more than moving its bytes from a device, so what a dropped result has touched is worth
keeping: a program that makes one picture after the other then waits for pages only once.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..model.arrays import Array, DType

__all__ = ["KEPT_BYTES", "SMALLEST", "empty_of_size", "empty_result"]


KEPT_BYTES = 256 << 20  # of all that no result uses
SMALLEST = 1 << 20
# Memory without a result, by its bytes. Lists are only appended to and popped from, each in one step: results end in
# whatever thread and at whatever moment.
_free: dict[int, list[Array]] = {}


class _Memory:
    """The memory of a result: the base of the array and of its views. It returns to the cache with the last of them."""

    __slots__ = ("__array_interface__", "_bytes")

    def __init__(self, memory: Array, shape: tuple[int, ...], dtype: DType) -> None:
        self._bytes = memory
        address = memory.__array_interface__["data"]
        self.__array_interface__ = {"version": 3, "shape": shape, "typestr": dtype.str, "data": address}

    def __del__(self, _free: dict[int, list[Array]] = _free) -> None:  # bound here: at exit the module's names are gone
        if not hasattr(self, "_bytes"):  # its constructor was interrupted
            return
        size = self._bytes.nbytes
        if sum(count * len(row) for count, row in list(_free.items())) + size > KEPT_BYTES:
            _free.clear()
        _free.setdefault(size, []).append(self._bytes)


def empty_result(shape: tuple[int, ...], dtype: DType) -> Array:
    """Like ``np.empty``; a large array of plain numbers may lie in the memory of one that was dropped."""
    nbytes = math.prod(shape) * dtype.itemsize
    if not SMALLEST <= nbytes <= KEPT_BYTES or dtype.fields is not None or dtype.subdtype is not None:
        return np.empty(shape, dtype)
    step = 1 << (nbytes.bit_length() - 4)  # sizes of an eighth apart are as good as equal
    size = -(-nbytes // step) * step
    try:
        memory = _free[size].pop()
    except (KeyError, IndexError):
        memory = np.empty(size, np.uint8)
    return np.asarray(_Memory(memory, shape, dtype))


def empty_of_size(nbytes: int) -> Callable[..., Array]:
    """What makes results of a size: ``np.empty`` for small ones, whose calls Python's functions would slow down."""
    return np.empty if nbytes < SMALLEST else empty_result
