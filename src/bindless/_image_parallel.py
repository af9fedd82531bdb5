"""Work on pictures in blocks of rows: small enough for the processor's caches, on as many threads as it has."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

__all__ = ["in_blocks"]

_BLOCK = 1 << 18  # pixels
_MOST_THREADS = 8


def in_blocks(work: Callable[[int, int], object], rows: int, row_size: int) -> None:
    """Calls ``work(start, stop)`` until all rows are done; the first error of a call is raised.

    Args:
        work: does rows start..stop; calls run at the same time.
        rows: how many there are.
        row_size: pixels of a row.
    """
    step = max(_BLOCK // max(row_size, 1), 1)
    starts = range(0, rows, step)
    threads = min(len(starts), os.cpu_count() or 1, _MOST_THREADS)
    if threads <= 1:
        for start in starts:
            work(start, min(start + step, rows))
        return
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(work, start, min(start + step, rows)) for start in starts]:
            done.result()
