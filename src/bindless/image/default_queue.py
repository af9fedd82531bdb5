"""The default queue of ``Image``."""

from __future__ import annotations

import threading

from ..core import ownership
from ..sycl.queue.queue import Queue

__all__ = ["default_queue"]

_default: Queue | None = None
_lock = threading.RLock()


def default_queue() -> Queue:
    """In order, on the default device, one for all images until it is closed."""
    global _default
    with _lock:
        if _default is None or _default.closed:
            made = Queue(in_order=True)
            if _default is None or _default.closed:  # else a finalizer has made one meanwhile
                _default = made
        return _default


def _after_fork() -> None:
    """Another thread of the parent may have held the lock."""
    global _lock
    _lock = threading.RLock()


ownership.after_fork(_after_fork)
