"""Division of work on pictures into blocks of rows, sized for the caches, on all processors."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from ..model.errors import MemoryAllocationError

__all__ = ["SMALL_PICTURE", "in_blocks", "require_room"]

_BLOCK, _LARGE_BLOCK = 1 << 18, 1 << 23  # pixels
_MOST_THREADS = 8
SMALL_PICTURE = 1 << 24  # bytes of pictures that need no question to the system


def in_blocks(work: Callable[[int, int], object], rows: int, row_size: int, *, large: bool = False) -> None:
    """Calls ``work(start, stop)`` until all rows are done; the first error of a call is raised.

    Parameters
    ----------
    work : Callable[[int, int], object]
        Does rows start..stop; calls run at the same time.
    rows : int
        How many there are.
    row_size : int
        Pixels of a row.
    large : bool, default False
        Whether each call costs as much as many pixels.
    """
    step = max((_LARGE_BLOCK if large else _BLOCK) // max(row_size, 1), 1)
    starts = range(0, rows, step)
    threads = min(len(starts), os.cpu_count() or 1, _MOST_THREADS)
    if threads <= 1:
        for start in starts:
            work(start, min(start + step, rows))
        return
    with ThreadPoolExecutor(threads) as pool:
        running = []
        for start in starts:
            try:
                running.append(pool.submit(work, start, min(start + step, rows)))
            except RuntimeError:  # the system has no more threads: this one does it
                work(start, min(start + step, rows))
        for done in running:
            done.result()


def require_room(pixels: int, what: str, pixel_size: int = 1) -> None:
    """Refuses a picture that this machine's memory cannot hold, before the system ends the process for it.

    Parameters
    ----------
    pixels : int
        How many there are.
    what : str
        The argument that asks for them, for the error.
    pixel_size : int, default 1
        Bytes of a pixel at least.

    Raises
    ------
    MemoryAllocationError
        There is not so much memory.
    """
    if pixels * pixel_size <= SMALL_PICTURE:
        return
    room = _memory()
    if pixels * pixel_size > room:
        power = (pixels * pixel_size).bit_length() - 1
        raise MemoryAllocationError(
            f"{what}: the picture takes 2**{power} bytes or more, this machine has {room} bytes of memory; ask for a "
            "smaller one, or for parts of it"
        )


def _memory() -> int:
    """Bytes of memory, as far as the system says."""
    limits = [1 << 47]  # what a process can address
    with contextlib.suppress(AttributeError, OSError, ValueError):  # not on this system
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    # No group, or a limit of "max".
    with contextlib.suppress(OSError, ValueError), open("/sys/fs/cgroup/memory.max", encoding="ascii") as file:
        limits.append(int(file.read()))
    return min(size for size in limits if size > 0)
