"""Image copies of the reference back end, single and prepared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...drivers import reference as driver
from ...model.copy_region import CopyRegion, Endpoint, HostMemory, ImageMemory
from ..contract.prepared_copy import PreparedCopy
from .objects import Event, Queue, address_of
from .prepared_command import prepared_command

if TYPE_CHECKING:
    from .driver_access import DriverAccess

__all__ = ["copy_image", "prepare_bytes", "prepare_copy"]

lib, ffi = driver.lib, driver.ffi

_SUBMIT = address_of(ffi.addressof(lib, "bindless_copy_again"))
_BYTES = address_of(ffi.addressof(lib, "bindless_bytes_again"))

# Offsets of a side's image or address in the description; memory on the device is fixed.
_PLACES: dict[str, dict[type, int]] = {
    side: {
        kind: ffi.offsetof("bindless_image_copy_t", "region", side, field)
        for kind, field in ((ImageMemory, "image"), (HostMemory, "pointer"))
    }
    for side in ("source", "destination")
}


def _endpoint(backend: DriverAccess, end: Endpoint) -> tuple[object, ...]:
    """A ``blr_copy_endpoint_t``."""
    if isinstance(end, ImageMemory):
        return backend._image(end.handle), backend._null, 0, 0, end.offset
    return backend._null, backend._pointer(end.address), end.row_pitch, end.slice_pitch, end.offset


def copy_image(backend: DriverAccess, queue: Queue, region: CopyRegion, waits: Sequence[Event] = ()) -> Event:
    """Submit any copy of BI."""
    source, destination, extent, _, size = region
    sides = _endpoint(backend, source), _endpoint(backend, destination)
    native = backend._ffi.new("blr_copy_region_t *", (*sides, extent, size))
    event = backend._ffi.new("blr_event_t *")
    count, events = backend._waits(waits)
    backend._check(backend._lib.blrEnqueueCopyImage(queue.handle, native, count, events, event), "blrEnqueueCopyImage")
    return Event(event[0], queue.profiling)


def prepare_copy(backend: DriverAccess, queue: Queue, region: CopyRegion) -> PreparedCopy:
    """Prepare a copy for repetition."""
    source, destination, extent, _, size = region
    sides = _endpoint(backend, source), _endpoint(backend, destination)
    state = ffi.new("bindless_image_copy_t *", (queue.handle, (*sides, extent, size), queue.ends))
    command = prepared_command(queue, _SUBMIT, "blrEnqueueCopyImage", state, None)
    base = command.descriptions[0]
    from_, to = _PLACES["source"].get(type(source)), _PLACES["destination"].get(type(destination))
    return PreparedCopy(command, (() if from_ is None else (base + from_,), () if to is None else (base + to,)))


def prepare_bytes(
    backend: DriverAccess, queue: Queue, dst: int, src: int, nbytes: int, host: tuple[bool, bool]
) -> PreparedCopy:
    """Prepare a copy of bytes for repetition; all memory is in one place."""
    fields = queue.handle, backend._pointer(dst), backend._pointer(src), nbytes, queue.ends
    state = ffi.new("bindless_bytes_t *", fields)
    places = [(address_of(ffi.addressof(state, side)),) for side in ("source", "destination")]
    return PreparedCopy(prepared_command(queue, _BYTES, "blrEnqueueCopy", state, None), (places[0], places[1]))
