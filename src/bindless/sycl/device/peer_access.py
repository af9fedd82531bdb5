"""Checks of kernel arguments in contexts of several devices: images of the device, and memory that it can access."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.enums import UsmKind

if TYPE_CHECKING:
    from ..usm.allocation import Allocation
    from .context import Context
    from .device import Device
    from .queue_base import QueueBase

__all__ = ["image_of_another_device", "memory_out_of_reach"]


def memory_out_of_reach(memory: Allocation, queue: QueueBase) -> str:
    """Return the reason why kernels of the queue's device do not reach this memory; empty where they do."""
    if memory.kind is not UsmKind.device or (queue.device, memory.device) not in queue.context._unreached:
        return ""
    return (
        f"it is device memory of {memory.device!r}, which kernels of {queue.device!r} do not reach: copy it with "
        "memcpy, or allocate host or shared memory"
    )


def image_of_another_device(context: Context, device: Device, raw: int, sampled: bool) -> str:
    """Return the error text of an image that was created on another device of the context; empty for images of this
    device, and for numbers that the context does not know."""
    record = context._handles.get(raw << 1 | sampled)
    if record is None or record.device == device:
        return ""
    return f"the image was made on {record.device!r}, the queue runs on {device!r}: make one there, of memory there"
