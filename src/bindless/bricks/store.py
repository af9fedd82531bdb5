"""``BrickStore``: pictures and volumes of any size, of which a bounded part is in image memory."""

from __future__ import annotations

import itertools
import os
import re
import time
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np

from ..device.bricks import BrickTable
from ..model.arrays import Array
from ..model.enums import Backend
from ..model.errors import FeatureNotSupportedError, InvalidError, MemoryAllocationError
from ..model.message_values import shown
from ..sycl.queue.queue import Queue
from .loading import Brick, Loader
from .page_table import Key, PageTable, key_of, place_of
from .slots import Slots, cells_of, texel_format
from .source import Level, Source, source_of_arrays, source_of_file

__all__ = ["BrickStore", "Missing", "bytes_of"]

_VOLUME, _PICTURE = (64, 64, 64), (1, 256, 256)  # texels of an image along z, y and x
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
_AGAIN, _MOST_AGAIN = 5.0, 640.0  # seconds until a brick is read again that could not be read, doubled each time
_MOST_FAILURES = 10_000
_MOST_ERRORS = 100


@dataclass(frozen=True)
class Missing:
    """Result of ``BrickStore.update``.

    Attributes
    ----------
    bricks : int
        Bricks that kernels lacked and that can still come: another update may place them.
    placed : int
        Bricks that came into memory: a picture drawn again differs.
    without_room : int
        Bricks that kernels lacked and that do not come, because those of the last launches fill the memory.
    """

    bricks: int
    placed: int
    without_room: int


def bytes_of(memory: int | str) -> int:
    """Bytes of a size such as ``"2GB"`` or ``"512 MiB"``; K, M, G and T are powers of 1024.

    Raises
    ------
    InvalidError
        It is none.
    """
    if isinstance(memory, (int, np.integer)) and not isinstance(memory, bool) and memory > 0:
        return int(memory)
    text = memory.upper() if isinstance(memory, str) else ""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:I?B)?\s*", text)
    size = int(float(match[1]) * (1 << _UNITS[match[2]])) if match else 0
    if size <= 0:
        raise InvalidError(f"memory={shown(memory)}: it is a number of bytes, or a text such as '2GB' or '512MB'")
    return size


class BrickStore:
    """A picture or volume of any size, of which bricks come into image memory as kernels ask for them.

    A kernel in Python reads it by ``bindless.device.sample_bricks(store.table, x, y, z, level)``, which reads a coarser
    level where a brick is missing, and notes the miss. ``update`` looks at the notes, and places bricks that threads
    have read; those that were not used for longest make room. The coarsest level is always there.

    Parameters
    ----------
    source : array, sequence of arrays, or str
        An array of numpy, a memory map, a dask array, an array of zarr, or anything with shape, dtype and slicing; a
        pyramid of them, the finest first; or the path of an image of OME-Zarr 0.4 or 0.5, or of an array of zarr. It
        is not changed while it is open. Of an array without pyramid, every second texel makes the next level.
    queue : Queue
        Where the bricks lie and kernels run.
    memory : int or str
        The most bytes of image memory: a number, or a text such as ``"2GB"``.
    axes : str, optional
        Names of an array's axes, of ``tczyx``. Default: the last ones of ``zyx``, a last axis of at most four channels,
        and ``c`` and ``t`` before.
    time : int
        The index along the axis t.
    channels : Sequence[int], optional
        Up to four indices along the axis c; default the first ones.
    threads : int, optional
        That read; default the number of processors, at most 8.

    Attributes
    ----------
    table : tuple
        Argument of kernels, for ``sample_bricks``. Its arrays belong to the store.
    source : Source
        Levels, dtype, channels, and where texels lie in the world.
    errors : list[str]
        Why bricks could not be read, the latest last. They are tried again after 5 seconds, then after twice as
        long each time, when a kernel asks for them.

    Raises
    ------
    InvalidError
        The source is none, an option is not right, or ``memory`` does not hold the coarsest level.
    FeatureNotSupportedError
        The device has no image handles that are numbers (OpenCL).

    Notes
    -----
    A brick is an image of 64³ texels, or 256² of a picture, with the first texels of the next bricks. One whose texels
    are equal takes no image memory. Integers of more than 16 bits and float64 become float32. Kernels that follow rays
    pass over parts of volumes by the bounds of cells of 8³ texels, which are part of ``memory``: 1.6 % of it for bytes.

    Examples
    --------
    >>> from bindless import device
    >>> from bindless.bricks import BrickStore
    >>> @bindless.kernel
    ... def line(table, out):
    ...     i = device.item_id(0)
    ...     out[i] = device.sample_bricks(table, i + 1.0, 0.5, 0.5, 0).x
    >>> queue = bindless.Queue("reference")
    >>> out = bindless.usm_empty(3, np.float32, queue)
    >>> with BrickStore(np.array([[0, 10, 20, 30]], np.uint8), queue, memory="16MB") as store:
    ...     missing = 1
    ...     while missing:
    ...         queue.parallel_for(3, line, store.table, out).wait()
    ...         missing = store.update(wait=True).placed
    >>> out.numpy()
    array([ 5., 15., 25.], dtype=float32)
    """

    def __init__(
        self, source: Any, queue: Queue, *, memory: int | str = "1GB", axes: str | None = None, time: int = 0,
        channels: Sequence[int] | None = None, threads: int | None = None,
    ) -> None:  # fmt: skip
        if not isinstance(queue, Queue):
            raise InvalidError(f"queue={shown(queue)} is no Queue: bindless.Queue(...) makes one")
        if queue.device.backend is Backend.opencl:
            raise FeatureNotSupportedError(
                f"{queue.device.name} has no image handles in memory, as no device of OpenCL has: take one of another "
                "back end, such as bindless.Queue('reference')"
            )
        if isinstance(source, Source):
            self.source = source
        elif isinstance(source, (str, os.PathLike)):
            self.source = source_of_file(os.fspath(source), time=time, channels=channels)
        else:
            self.source = source_of_arrays(source, axes=axes, time=time, channels=channels)
        self._queue = queue
        self._texels = texel_format(self.source.dtype)
        self._shape = _VOLUME if self.source.is_volume else _PICTURE
        stored = 4 if self.source.channels == 3 else self.source.channels
        size = stored * self._texels.dtype.itemsize * int(np.prod(self._shape))
        size += 8 * self.source.channels * cells_of(self._shape)
        count = bytes_of(memory) // size
        coarsest = self._bricks_of(len(self.source.levels) - 1)
        if count <= len(coarsest):
            raise InvalidError(
                f"memory={shown(memory)}: bricks of {self.source.name} have {size} bytes, and the coarsest level has "
                f"{len(coarsest)}: give at least {size * (len(coarsest) + 1)} bytes"
            )
        count = min(count, sum(self._count_of(level) for level in self.source.levels) + 1)
        self._slots = Slots(self._shape, stored, self._texels, count, self.source.channels, queue)
        self._most = 2 * count  # entries of the table: bricks in slots, and those without texels
        brick = tuple(max(size - 1, 1) for size in reversed(self._shape))
        numbers = (self._texels.factor, self._texels.shift)
        self._table = PageTable(self.source.levels, brick, numbers, self.source.channels, self._most, queue)  # type: ignore[arg-type]
        self._arrays: BrickTable = (*self._table.arrays, self._slots.cells)
        self._keys, self._stamps = np.zeros(self._most, np.int64), np.zeros(self._most, np.int64)
        self._numbers: dict[Key, int] = {}  # slots of bricks; those without texels have numbers after the slots'
        self._free = [list(range(count - 1, -1, -1)), list(range(self._most - 1, count - 1, -1))]
        self._writes, self._written = 0, np.zeros(count, np.int64)  # the number of an image's last write
        self._failures: dict[Key, tuple[float, float]] = {}  # when bricks are read again, and after how long
        self.errors: list[str] = []
        self._loader = Loader(self.source, self._texels, self._shape, threads or min(os.cpu_count() or 1, 8))
        self._finalizer = weakref.finalize(self, _close, self._loader, self._slots, self._table)
        try:
            self._place_coarsest(coarsest)
        except BaseException:
            self.close()
            raise

    def _count_of(self, level: Level) -> int:
        return int(np.prod([-(-size // max(part - 1, 1)) for size, part in zip(level.shape, self._shape)]))

    def _bricks_of(self, number: int) -> list[Key]:
        counts = [-(-size // max(part - 1, 1)) for size, part in zip(self.source.levels[number].shape, self._shape)]
        if int(np.prod(counts)) > 1 << 20:
            raise InvalidError(f"{self.source.name}: the coarsest level of its pyramid has {counts} bricks")
        return [key_of((number, i, j, k)) for k, j, i in itertools.product(*map(range, counts))]

    def _place_coarsest(self, keys: list[Key]) -> None:
        """Reads and places the level that is always there.

        Raises
        ------
        InvalidError
            A brick cannot be read.
        """
        self._loader.want(keys)
        for _ in keys:
            brick = self._loader.take()
            while brick is None:
                self._loader.wait(1.0)
                brick = self._loader.take()
            if brick.error:
                raise InvalidError(brick.error)
            self._place(brick, np.iinfo(np.int64).max)
        self._queue.wait()
        self._table.write()

    # ------------------------------------------------------------------ what it is

    @property
    def table(self) -> BrickTable:
        """Argument of kernels."""
        return self._arrays

    @property
    def queue(self) -> Queue:
        """Where kernels run."""
        return self._queue

    @property
    def levels(self) -> tuple[tuple[int, int, int], ...]:
        """Texels of each level along z, y and x."""
        return tuple(level.shape for level in self.source.levels)

    @property
    def allocated(self) -> int:
        """Bytes of image memory that are allocated."""
        return self._slots.allocated * self._slots.bytes_of_one

    @property
    def cells(self) -> int:
        """Cells of an image, of which the table has bounds."""
        return cells_of(self._shape)

    @property
    def writes(self) -> int:
        """How often an image was written."""
        return self._writes

    def written_since(self, writes: int) -> Array:
        """Which images were written lately.

        Parameters
        ----------
        writes : int
            As ``writes`` said.

        Returns
        -------
        Array
            int64 numbers of the images that were written after so many writes.
        """
        numbers: Array = np.flatnonzero(self._written > writes)
        return numbers

    # ------------------------------------------------------------------ frames

    def update(self, *, wait: bool = False, seconds: float | None = None) -> Missing:
        """Asks for the bricks that kernels lacked since the last update, and places those that were read.

        Waits for the kernels of the queue. Bricks that they used stay.

        Parameters
        ----------
        wait : bool
            Until all of these bricks are placed that have room, instead of those that were read already.
        seconds : float, optional
            Places bricks no longer than that.

        Returns
        -------
        Missing
            How many bricks came, and how many are missing.

        Raises
        ------
        InvalidError
            The store is closed.
        """
        self._require_open()
        end = time.monotonic() + (float("inf") if seconds is None else seconds)
        self._queue.wait()
        slots, misses = self._table.read()
        frame = self._table.frame
        self._stamps[slots] = np.maximum(self._stamps[slots], frame)
        requests = self._requests(misses.tolist())
        self._loader.want(requests)
        rest, placed = set(requests), 0
        while time.monotonic() < end:
            brick = self._loader.take()
            if brick is None:
                if not wait or self._loader.is_idle:
                    break
                self._loader.wait(min(end - time.monotonic(), 1.0))
                continue
            is_late = brick.key not in rest  # it was missing in an earlier frame alone
            rest.discard(brick.key)
            if is_late and not self._free[brick.texels is None]:
                continue
            if brick.error:
                self._fail(brick)
            elif brick.key not in self._numbers:
                if not self._place(brick, frame):  # no room: the rest would have none either
                    self._loader.want([])
                    break
                placed += 1
        self._queue.wait()
        self._table.write()
        full = not self._has_room(frame)
        left = len(rest)
        return Missing(0 if full else left, placed, left if full else 0)

    def _requests(self, misses: list[Key]) -> list[Key]:
        """Bricks to read for misses, and the coarser ones around them, which come first."""
        now, keys = time.monotonic(), set(misses)
        for key in misses:
            above = self._above(key)
            while above is not None and above not in keys and above not in self._numbers:
                keys.add(above)
                above = self._above(above)
        late = {key for key in keys if key in self._failures and self._failures[key][0] > now}
        keys = {key for key in keys if key not in self._numbers and key not in late}
        return sorted(keys, reverse=True)  # the level is first in a key

    def _above(self, key: Key) -> Key | None:
        """The brick of the next coarser level in the middle of a brick."""
        number, *place = place_of(key)
        if number + 1 >= len(self.source.levels):
            return None
        fine, coarse = self.source.levels[number], self.source.levels[number + 1]
        above = []
        for axis, at in enumerate(place):
            part, last = max(self._shape[2 - axis] - 1, 1), coarse.shape[2 - axis] - 1
            middle = min((at + 0.5) * part, fine.shape[2 - axis])
            whole = (middle - fine.shift[axis]) / fine.factor[axis]
            texel = whole * coarse.factor[axis] + coarse.shift[axis] - 0.5
            above.append(int(min(max(texel, 0), last)) // part)
        return key_of((number + 1, above[0], above[1], above[2]))

    def _place(self, brick: Brick, stamp: int) -> bool:
        """Puts a brick into memory and the table, if there is room."""
        is_constant = brick.texels is None
        free = self._free[is_constant]
        if not free and not self._evict(is_constant):
            return False
        number, handle = free.pop(), 0
        self._failures.pop(brick.key, None)
        if brick.texels is not None:
            try:
                self._slots.write(number, brick.texels, brick.cells)
            except MemoryAllocationError:  # the device has less: what there is, is reused
                if not self._slots.allocated:
                    raise
                self._free[0] = [own for own in free if own < self._slots.allocated]
                return False
            handle = self._slots.handle(number)
            self._writes += 1
            self._written[number] = self._writes
        self._table.insert(brick.key, handle, brick.bounds, number)
        self._keys[number], self._stamps[number], self._numbers[brick.key] = brick.key, stamp, number
        return True

    def _evict(self, is_constant: bool) -> bool:
        """Makes room for bricks by removing the least recently used ones, a sixteenth at most."""
        first, last = (self._slots.count, self._most) if is_constant else (0, self._slots.count)
        stamps = self._stamps[first:last]
        there = np.flatnonzero((stamps > 0) & (stamps < self._table.frame))
        count = max((last - first) // 16, 1)
        if len(there) > count:
            there = there[np.argpartition(stamps[there], count)[:count]]
        for number in (there + first).tolist():
            key = int(self._keys[number])
            self._table.remove(key)
            del self._numbers[key]
            self._stamps[number] = 0
            self._free[is_constant].append(number)
        return bool(len(there))

    def _has_room(self, frame: int) -> bool:
        stamps = self._stamps[: self._slots.count]
        return bool(self._free[0]) or bool(((stamps > 0) & (stamps < frame)).any())

    def _fail(self, brick: Brick) -> None:
        again = min(2 * self._failures.pop(brick.key, (0.0, _AGAIN / 2))[1], _MOST_AGAIN)
        self._failures[brick.key] = time.monotonic() + again, again
        if len(self._failures) > _MOST_FAILURES:
            del self._failures[next(iter(self._failures))]
        if brick.error not in self.errors:
            self.errors.append(brick.error)
            del self.errors[:-_MOST_ERRORS]

    # ------------------------------------------------------------------ end

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return not self._finalizer.alive

    def _require_open(self) -> None:
        if self.closed:
            raise InvalidError(f"the store of {self.source.name} is closed")

    def close(self) -> None:
        """Ends the threads, waits for the queue and frees the memory. A second call does nothing."""
        if self._finalizer.alive:
            self._queue.wait()
            self._finalizer()

    def __enter__(self) -> BrickStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _close(loader: Loader, slots: Slots, table: PageTable) -> None:
    loader.close()
    slots.close()
    table.close()
