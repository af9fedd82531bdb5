"""The queue of a thread that computes blocks."""

from __future__ import annotations

import itertools
import os
import threading

from ..sycl.device.device import Device
from ..sycl.device.selector import get_devices
from ..sycl.queue.queue import Queue

__all__ = ["queue_of_thread"]

_own = threading.local()
_numbers = itertools.count()


def queue_of_thread() -> Queue:
    """In order, one for each thread.

    It is on the default device. Where that is one of several GPUs, workers of a cluster take them in turn by the number
    that is their name, and threads of other processes in the order in which they begin.
    """
    queue: Queue | None = getattr(_own, "queue", None)
    if queue is None or queue.closed or _own.process != os.getpid():
        queue = _own.queue = Queue(_device(), in_order=True)
        _own.process = os.getpid()
    return queue


def _device() -> Device:
    default = Device()
    if not default.is_gpu():
        return default
    same = [found for found in get_devices("gpu") if found.backend is default.backend]
    number = _number_of_worker()
    return same[(next(_numbers) if number is None else number) % len(same)]


def _number_of_worker() -> int | None:
    """The number of this worker in a cluster of ``distributed``, if it is in one and has a number."""
    try:
        from distributed import get_worker

        name = get_worker().name
    except (ImportError, ValueError):
        return None
    return name if isinstance(name, int) else None
