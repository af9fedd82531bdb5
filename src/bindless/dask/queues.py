"""The queue of a thread that computes blocks, and its memory on the device."""

from __future__ import annotations

import itertools
import os
import threading

from ..sycl.device.device import Device
from ..sycl.device.selector import get_devices
from ..sycl.queue.queue import Queue
from .workspace import Workspace

__all__ = ["workspace_of_thread"]

_own = threading.local()
_numbers = itertools.count()


def workspace_of_thread() -> Workspace:
    """One for each thread, with an in-order queue.

    It is on the default device. Where that is one of several GPUs, workers of a cluster take them in turn by the number
    that is their name, and threads of other processes in the order in which they begin.
    """
    workspace: Workspace | None = getattr(_own, "workspace", None)
    if workspace is None or workspace.queue._stream.closed or _own.process != os.getpid():
        workspace = _own.workspace = Workspace(Queue(_device(), in_order=True))
        _own.process = os.getpid()
    return workspace


def _device() -> Device:
    default = Device()
    if not default.is_gpu():
        return default
    same = [device for device in get_devices("gpu") if device.backend is default.backend]
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
