"""The default queue of ``Image``: of the default device, or of the device that an array lies on."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import ownership
from ..core.lock import Lock
from ..model.dlpack import DLDeviceType
from ..sycl.device.context import default_context
from ..sycl.device.device import Device
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray
from ..sycl.usm.array_import import as_usm_array

__all__ = ["default_queue", "is_over", "is_own", "queue_of_array"]

_HOST_TYPES = (DLDeviceType.cpu, DLDeviceType.cuda_host)

_default: Queue | None = None
_of_devices: dict[Device, Queue] = {}
_lock = Lock()


def is_over(queue: Queue) -> bool:
    """Whether a queue takes no commands any more: it or its context was closed."""
    return queue.closed or queue.context.closed


def default_queue() -> Queue:
    """In order, on the default device, one for all images until it is closed."""
    global _default
    with _lock:
        if _default is None or is_over(_default):
            queue = Queue(in_order=True)
            if _default is None or is_over(_default):  # else a finalizer has made one meanwhile
                _default = queue
        return _default


def is_own(queue: Queue) -> bool:
    """Whether a queue is one of this module, which lasts until it is closed."""
    return queue is _default or queue is _of_devices.get(queue.device)


def queue_of_array(array: Any) -> Queue:
    """A queue in order for an image of an array: on the device where it lies, else the default queue."""
    if type(array) is np.ndarray:
        return default_queue()
    if isinstance(array, UsmArray):
        return _queue_in(array)
    place = getattr(array, "__dlpack_device__", None)
    kind, number = (DLDeviceType.cpu, 0) if place is None else place()
    if kind in _HOST_TYPES and (place is not None or not hasattr(array, "__cuda_array_interface__")):
        return default_queue()
    queue = default_queue()
    if kind == DLDeviceType.cuda == queue._backend.traits.device_memory and number == queue.device.index:
        return queue
    return _queue_in(as_usm_array(array))


def _queue_in(array: UsmArray) -> Queue:
    context, device = array.context, array.device
    with _lock:
        if _default is not None and not _default.closed and _default.context is context and _default.device is device:
            return _default
        if context is not default_context(device):
            return Queue(device, context, in_order=True)
        queue = _of_devices.get(device)
        if queue is None or is_over(queue) or queue.context is not context:
            queue = _of_devices[device] = Queue(device, in_order=True)
        return queue


def _after_fork() -> None:
    """Another thread of the parent may have held the lock."""
    global _lock
    _lock = Lock()
    _of_devices.clear()


ownership.after_fork(_after_fork)
