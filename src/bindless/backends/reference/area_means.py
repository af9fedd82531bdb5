"""Means of areas and levels of mipmaps on the reference back end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...drivers.common.cffi_types import CData
from ...model.area_mean import AreaMean
from ...model.channels import CHANNELS, ELEMENTS
from .objects import Event, Queue

if TYPE_CHECKING:
    from .driver_access import DriverAccess

__all__ = ["area_mean", "fill_levels"]


def _struct(backend: DriverAccess, mean: AreaMean) -> CData:
    """A ``blr_area_mean_t *``."""
    native = backend._ffi.new("blr_area_mean_t *")
    native.source.image = backend._image(mean.source)
    native.destination.pointer = backend._pointer(mean.means)
    native.extent, native.size = mean.extent, mean.size
    native.channel_type = CHANNELS[mean.channel_type].index
    native.source_channels, native.destination_channels = mean.source_channels, mean.channels
    native.destination_type = ELEMENTS[mean.dtype]
    return native


def area_mean(backend: DriverAccess, queue: Queue, mean: AreaMean, waits: Sequence[Event] = ()) -> Event:
    """Submit the means of an image."""
    event = backend._ffi.new("blr_event_t *")
    count, events = backend._waits(waits)
    result = backend._lib.blrEnqueueAreaMean(queue.handle, _struct(backend, mean), count, events, event)
    backend._check(result, "blrEnqueueAreaMean")
    return Event(event[0], queue.profiling)


def fill_levels(backend: DriverAccess, queue: Queue, mipmap: int, pixels: int, waits: Sequence[Event] = ()) -> Event:
    """Submit all levels of a mipmap, the first from the pixels at an address."""
    event = backend._ffi.new("blr_event_t *")
    count, events = backend._waits(waits)
    result = backend._lib.blrEnqueueFillLevels(
        queue.handle, backend._image(mipmap), backend._pointer(pixels), count, events, event
    )
    backend._check(result, "blrEnqueueFillLevels")
    return Event(event[0], queue.profiling)
