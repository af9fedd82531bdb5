"""``Loader``: threads that read bricks of a source."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..core.lock import Lock
from ..device.bricks import CELL
from ..model.arrays import Array
from ..model.errors import Error
from .page_table import Key, place_of
from .slots import TexelFormat
from .source import Source

__all__ = ["Brick", "Loader", "read_brick"]


@dataclass(frozen=True)
class Brick:
    """A brick that was read.

    Attributes
    ----------
    key : Key
        Which.
    texels : Array | None
        (depth, height, width, channels), for an image; None where those of each channel are equal, or on an error.
    bounds : Array
        Least and greatest number of each channel, (channels, 2).
    cells : Array
        Least and greatest number of each channel in each cell of a volume's image, float32 (cells, 2 * channels).
    error : str
        Why it could not be read, or empty.
    """

    key: Key
    texels: Array | None
    bounds: Array
    cells: Array | None = None
    error: str = ""


def read_brick(source: Source, texels: TexelFormat, shape: Sequence[int], key: Key) -> Brick:
    """Reads a brick.

    Parameters
    ----------
    shape : Sequence[int]
        Of the image along z, y and x: of one texel, or of those of a brick and one of the next.
    """
    number, i, j, k = place_of(key)
    level = source.levels[number]
    starts = [at * max(size - 1, 1) for at, size in zip((k, j, i), shape)]
    ends = [min(start + size, whole) for start, size, whole in zip(starts, shape, level.shape)]
    numbers = level.read((slice(starts[0], ends[0]), slice(starts[1], ends[1]), slice(starts[2], ends[2])))
    numbers = numbers.astype(source.dtype, copy=False)
    flat = numbers.reshape(-1, source.channels)
    least, greatest = flat.min(0), flat.max(0)
    bounds = np.stack([least, greatest], -1).astype(np.float32)
    if np.array_equal(least, greatest):  # not with not-a-number
        return Brick(key, None, bounds)
    stored = texels.texels(numbers)
    channels = 4 if source.channels == 3 else source.channels
    if numbers.shape == (*shape, channels):
        whole = np.ascontiguousarray(stored)
    else:
        whole = np.empty((*shape, channels), texels.dtype)
        z, y, x = stored.shape[:3]
        whole[:z, :y, :x, : source.channels] = stored
        whole[..., source.channels :] = 0
        whole[:z, :y, x:] = whole[:z, :y, x - 1 : x]  # the outermost texels continue
        whole[:z, y:] = whole[:z, y - 1 : y]
        whole[z:] = whole[z - 1 : z]
    return Brick(key, whole, _without_nan(bounds), bounds_of_cells(texels, whole[..., : source.channels]))


def _without_nan(bounds: Array) -> Array:
    """Bounds of all numbers in place of those with a not-a-number."""
    return np.where(np.isnan(bounds), np.array([-np.inf, np.inf], np.float32), bounds)


def bounds_of_cells(texels: TexelFormat, image: Array) -> Array | None:
    """Least and greatest number of each channel in each cell of an image, (cells, 2 * channels); None of pictures."""
    if image.shape[0] == 1:
        return None
    ends = []
    for most in (np.minimum, np.maximum):
        part = image
        for axis in (2, 1, 0):  # the first texel of the next cell belongs to both
            starts = np.arange(0, part.shape[axis], CELL)
            cells = most.reduceat(part, starts, axis)
            follow = [slice(None)] * 4
            follow[axis] = slice(CELL, None, CELL)
            before = [slice(None)] * 4
            before[axis] = slice(0, len(starts) - 1)
            cells[tuple(before)] = most(cells[tuple(before)], part[tuple(follow)])
            part = cells
        ends.append(texels.numbers(part).reshape(-1, image.shape[3]))
    bounds = _without_nan(np.stack(ends, -1))
    return bounds.reshape(len(bounds), -1)


class Loader:
    """Threads and the bricks that they read, of which a bounded number waits to be taken.

    Parameters
    ----------
    source : Source
        What they read.
    texels : TexelFormat
        Of the bricks' images.
    shape : tuple[int, int, int]
        Of a brick's image along z, y and x.
    threads : int
        How many.
    """

    def __init__(self, source: Source, texels: TexelFormat, shape: tuple[int, int, int], threads: int) -> None:
        self._source, self._texels, self._shape = source, texels, shape
        self._lock, self._most = Lock(), 8 * threads
        self._requests: deque[Key] = deque()
        self._reading: set[Key] = set()
        self._read: deque[Brick] = deque()
        self._work, self._news, self._is_closed = threading.Semaphore(0), threading.Event(), False
        self._threads = [
            threading.Thread(target=self._serve, name=f"bindless bricks {number}", daemon=True)
            for number in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    def want(self, keys: Sequence[Key]) -> None:
        """Reads these bricks next, in this order, and none of those that were wanted before and are not among them."""
        with self._lock:
            there = self._reading.union(brick.key for brick in self._read)
            self._requests = deque(key for key in keys if key not in there)
            self._wake()

    def take(self) -> Brick | None:
        """A brick that was read, or None."""
        with self._lock:
            self._news.clear()
            brick = self._read.popleft() if self._read else None
            self._wake()
            return brick

    @property
    def is_idle(self) -> bool:
        """Whether nothing is wanted, is read or waits."""
        with self._lock:
            return not (self._requests or self._reading or self._read)

    def wait(self, seconds: float) -> None:
        """Waits until a brick was read since the last ``take``, so long at most."""
        self._news.wait(seconds)

    def close(self) -> None:
        """Ends the threads, each after the brick that it reads."""
        with self._lock:
            self._is_closed = True
            self._requests.clear()
            self._read.clear()
        for _ in self._threads:
            self._work.release()
        for thread in self._threads:
            thread.join(1.0)  # a store that never answers keeps its daemon thread

    def _wake(self) -> None:
        for _ in range(min(len(self._requests), len(self._threads))):
            self._work.release()

    def _serve(self) -> None:
        while True:
            self._work.acquire()
            if self._is_closed:
                return
            key = self._next()
            while key is not None:
                brick = self._brick(key)
                with self._lock:
                    self._reading.discard(key)
                    self._read.append(brick)
                    self._news.set()
                key = self._next()

    def _next(self) -> Key | None:
        with self._lock:
            if self._is_closed or not self._requests or len(self._read) >= self._most:
                return None
            key = self._requests.popleft()
            self._reading.add(key)
            return key

    def _brick(self, key: Key) -> Brick:
        try:
            return read_brick(self._source, self._texels, self._shape, key)
        except Exception as error:  # of any store and codec
            is_plain = isinstance(error, (Error, OSError))
            what = str(error) if is_plain else f"{type(error).__name__}: {error}"
            level, i, j, k = place_of(key)
            text = f"{self._source.name}: brick {(k, j, i)} of level {level} cannot be read: {what}"
            return Brick(key, None, np.zeros((self._source.channels, 2), np.float32), error=text)
