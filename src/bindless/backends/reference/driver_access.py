"""``DriverAccess``: the reference driver, and the calls of it that several modules of the back end make."""

from __future__ import annotations

from collections.abc import Sequence

from ...drivers.common.cffi_types import CData
from ...model.image_descriptor import ImageDescriptor
from .objects import Context, Device, Event, Queue

__all__ = ["DriverAccess"]


class DriverAccess:
    """Base class of ``ReferenceBackend``: the methods of other modules take a back end without importing it."""

    def __init__(self) -> None:
        from ...drivers import reference as driver

        driver.load()
        self._lib = driver.lib
        self._ffi = driver.ffi
        self._check = driver.check  # raises with the driver's sentence
        self._null = self._ffi.NULL

    def _waits(self, waits: Sequence[Event]) -> tuple[int, CData]:
        if not waits:
            return 0, self._null
        return len(waits), self._ffi.new("blr_event_t[]", [event.handle for event in waits])

    def _pointer(self, address: int) -> CData:
        return self._ffi.cast("void *", address)

    def _image(self, handle: int) -> CData:
        return self._ffi.cast("blr_image_t", handle)

    def create_queue(
        self, context: Context, device: Device, *, in_order: bool, profiling: bool, immediate: bool | None = None
    ) -> Queue:
        queue = self._ffi.new("blr_queue_t *")
        self._check(self._lib.blrQueueCreate(context.handle, 1 if in_order else 0, queue), "blrQueueCreate")
        return Queue(queue[0], context, profiling)

    def barrier(self, queue: Queue, waits: Sequence[Event] = ()) -> Event:
        event = self._ffi.new("blr_event_t *")
        count, events = self._waits(waits)
        self._check(self._lib.blrEnqueueBarrier(queue.handle, count, events, event), "blrEnqueueBarrier")
        return Event(event[0], queue.profiling)

    def free(self, context: Context, address: int) -> None:
        self._check(self._lib.blrMemoryFree(context.handle, self._pointer(address)), "blrMemoryFree")

    def free_image(self, context: Context, handle: int, desc: ImageDescriptor) -> None:
        self._check(self._lib.blrImageDestroy(self._image(handle)), "blrImageDestroy")
