"""Image copies of the reference back end, single and prepared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...drivers import reference as driver
from ...model.copy_region import CopyRegion, Endpoint, ImageMemory, UsmMemory
from ..contract.prepared_copy import PreparedCopy
from .objects import Event, Queue, address_of
from .prepared_launch import repeated

if TYPE_CHECKING:
    from .backend import ReferenceBackend

__all__ = ["copy_image", "prepare_copy"]

lib, ffi = driver.lib, driver.ffi

_SUBMIT = address_of(ffi.addressof(lib, "bindless_copy_again"))


def _endpoint(backend: ReferenceBackend, end: Endpoint) -> tuple[Any, ...]:
    """A ``blr_copy_endpoint_t``."""
    if isinstance(end, ImageMemory):
        return backend._image(end.handle), backend._null, 0, 0, end.offset
    return backend._null, backend._pointer(end.address), end.row_pitch, end.slice_pitch, end.offset


def _region(backend: ReferenceBackend, region: CopyRegion) -> tuple[Any, ...]:
    """A ``blr_copy_region_t``."""
    return _endpoint(backend, region.src), _endpoint(backend, region.dst), region.extent, region.pixel_size


def copy_image(backend: ReferenceBackend, queue: Queue, region: CopyRegion, waits: Sequence[Event] = ()) -> Event:
    """Submit any copy of BI."""
    native = backend._ffi.new("blr_copy_region_t *", _region(backend, region))
    event = backend._ffi.new("blr_event_t *")
    count, events = backend._waits(waits)
    backend._check(backend._lib.blrEnqueueCopyImage(queue.handle, native, count, events, event), "blrEnqueueCopyImage")
    return Event(event[0], queue.profiling)


def prepare_copy(backend: ReferenceBackend, queue: Queue, region: CopyRegion) -> PreparedCopy:
    """Prepare a copy for repetition."""
    made = ffi.new("bindless_image_copy_t *", (queue.handle, _region(backend, region), queue.ends))

    def place(side: str, end: Endpoint) -> tuple[int, ...]:
        if isinstance(end, UsmMemory):
            return ()
        field = "image" if isinstance(end, ImageMemory) else "pointer"
        return (address_of(ffi.addressof(made, "region", side, field)),)

    return PreparedCopy(
        repeated(queue, _SUBMIT, "blrEnqueueCopyImage", made, None),
        (place("source", region.src), place("destination", region.dst)),
    )
