"""``PageTable``: which bricks are in image memory, as a hash table on the device with a copy on the host.

Its size follows from the number of bricks in memory, not from that of the source. ``bindless.device.bricks`` describes
the arrays and reads them in kernels.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..device.bricks import brick_place
from ..model.arrays import Array
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray, usm_empty
from .source import Level

__all__ = ["Key", "PageTable", "key_of", "place_of"]

Key = int
Place = tuple[int, int, int, int]

_MISSES = 16384  # places for keys of missing bricks; those that collide are seen in a later frame
_BLOCK = 4096  # places that are copied to the device together


def key_of(place: Place) -> Key:
    """Key of the brick (level, i, j, k), as ``device.bricks.brick_key`` computes it."""
    level, i, j, k = place
    return (level + 1) << 57 | k << 38 | j << 19 | i


def place_of(key: Key) -> Place:
    """The brick (level, i, j, k) of a key."""
    mask = (1 << 19) - 1
    return (key >> 57) - 1, key & mask, key >> 19 & mask, key >> 38 & mask


class PageTable:
    """The table.

    Parameters
    ----------
    levels : Sequence[Level]
        Of the source.
    brick : tuple[int, int, int]
        Texels of a brick along x, y and z, without those of the next one.
    numbers : tuple[float, float]
        Factor from the image's values to numbers, and the shift.
    channels : int
        Of the source.
    count : int
        The most bricks.
    queue : Queue
        Where it lies.
    """

    def __init__(
        self, levels: Sequence[Level], brick: tuple[int, int, int], numbers: tuple[float, float], channels: int,
        count: int, queue: Queue,
    ) -> None:  # fmt: skip
        size = 1 << max(2 * count - 1, 15).bit_length()
        self._size, self._queue = size, queue
        self._keys, self._handles = np.zeros(size, np.int64), np.zeros(size, np.uint64)
        self._bounds, self._slots = np.zeros((size, 8), np.float32), np.full(size, -1, np.int32)
        self._changed: set[int] = set()
        self.frame = 1
        self._facts = np.array([*brick, len(levels), self.frame, 0], np.int32)
        numbers_of = np.zeros(8, np.float32)
        numbers_of[:channels], numbers_of[4 : 4 + channels] = numbers
        sizes = np.array([level.shape[::-1] for level in levels], np.int32)
        maps = np.array([(*level.factor, *level.shift) for level in levels], np.float32)
        self._used, self._misses = np.zeros(size, np.int32), np.zeros(_MISSES, np.int64)
        self.arrays: tuple[UsmArray, ...] = tuple(
            self._on_device(array)
            for array in (self._keys, self._handles, self._bounds, self._used, self._misses, sizes, maps, self._facts,
                          numbers_of, self._slots)
        )  # fmt: skip

    def _on_device(self, array: Array) -> UsmArray:
        return usm_empty(array.shape, array.dtype, self._queue).copy_from(array, self._queue)

    def insert(self, key: Key, handle: int, bounds: Array, slot: int) -> None:
        """Enters a brick, whose texels lie between bounds (channels, 2)."""
        at = self._first(key)
        while self._keys[at]:
            at = (at + 1) % self._size
        self._keys[at], self._handles[at], self._slots[at] = key, handle, slot
        self._bounds[at] = 0
        self._bounds[at, : bounds.size] = bounds.reshape(-1)
        self._changed.add(at // _BLOCK)

    def remove(self, key: Key) -> None:
        """Removes a brick; those behind it that it kept from their places move there."""
        at = self._first(key)
        while self._keys[at] != key:
            at = (at + 1) % self._size
        free, at = at, (at + 1) % self._size
        while self._keys[at]:
            first = self._first(int(self._keys[at]))
            if (at - first) % self._size >= (at - free) % self._size:
                for array in (self._keys, self._handles, self._bounds, self._slots):
                    array[free] = array[at]
                self._changed.add(free // _BLOCK)
                free = at
            at = (at + 1) % self._size
        self._keys[free], self._handles[free], self._slots[free] = 0, 0, -1
        self._changed.add(free // _BLOCK)

    def _first(self, key: Key) -> int:
        level, i, j, k = place_of(key)
        return int(brick_place(level, i, j, k, self._size))

    def read(self) -> tuple[Array, Array]:
        """Slots of the bricks that kernels used since ``write``, and keys of those that they lacked; waits for them."""
        used = self.arrays[3].numpy(self._queue)
        misses = self.arrays[4].numpy(self._queue)
        slots: Array = self._slots[used == self.frame]
        return slots, np.unique(misses[misses != 0])

    def write(self) -> None:
        """Brings changes to the device, and begins a frame."""
        for block in self._changed:
            part = slice(block * _BLOCK, (block + 1) * _BLOCK)
            hosts: tuple[Array, ...] = self._keys, self._handles, self._bounds, self._slots
            for host, array in zip(hosts, (*self.arrays[:3], self.arrays[9])):
                array[part].copy_from(host[part], self._queue)
        self._changed.clear()
        self.frame += 1
        self._facts[4] = self.frame
        self.arrays[7].copy_from(self._facts, self._queue)
        self.arrays[4].copy_from(self._misses, self._queue)

    def close(self) -> None:
        """Frees the arrays."""
        for array in self.arrays:
            array.close()
