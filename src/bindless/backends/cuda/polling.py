"""Waiting for the device without blocking signals or other threads.

The driver's own waits ignore Ctrl-C, so a wait polls. During the first millisecond it polls without a pause, so that a
short wait ends within microseconds of the work. Later pauses are a twentieth of the time waited so far, at most a
millisecond, so that a long wait does not occupy a core. Each query releases the interpreter lock, and Python handles
signals between queries.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from ...drivers.common.cffi_types import CData
from .errors import NOT_READY

__all__ = ["wait_until_ready"]

_SPIN = 1e-3
_LONGEST_PAUSE = 1e-3
_PAUSES_OF_A_WAIT = 20


def wait_until_ready(query: Callable[[CData], int], handle: CData, timeout: float | None = None) -> int:
    """The first result of ``query(handle)`` other than not ready; not ready after ``timeout`` seconds."""
    result = query(handle)
    if result != NOT_READY:
        return result
    begin = time.perf_counter()
    while (result := query(handle)) == NOT_READY:
        waited = time.perf_counter() - begin
        if timeout is not None and waited >= timeout:
            break
        if waited > _SPIN:
            time.sleep(min(waited / _PAUSES_OF_A_WAIT, _LONGEST_PAUSE))
    return result
