"""Means of areas and levels of mipmaps on the reference back end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...drivers import reference as driver
from ...drivers.common.cffi_types import CData
from ...model.area_mean import AreaMean
from ...model.channels import CHANNELS, ELEMENTS
from ..contract.prepared_command import PreparedCommand
from ..contract.prepared_copy import PreparedCopy
from .objects import Event, Queue, address_of
from .prepared_command import prepared_command

if TYPE_CHECKING:
    from .driver_access import DriverAccess

__all__ = ["area_mean", "fill_levels", "prepare_area_mean", "prepare_levels"]

lib, ffi = driver.lib, driver.ffi

_AREA_MEAN = address_of(ffi.addressof(lib, "bindless_area_mean_again"))
_LEVELS = address_of(ffi.addressof(lib, "bindless_levels_again"))


def _area_mean(backend: DriverAccess, queue: Queue, mean: AreaMean) -> CData:
    """A ``bindless_area_mean_t *``."""
    command = ffi.new("bindless_area_mean_t *")
    command.queue, command.ends, native = queue.handle, queue.ends, command.mean
    native.source.image = backend._image(mean.source)
    native.destination.pointer = backend._pointer(mean.means)
    native.extent, native.size = mean.extent, mean.size
    native.channel_type = CHANNELS[mean.channel_type].index
    native.source_channels, native.destination_channels = mean.source_channels, mean.channels
    native.destination_type = ELEMENTS[mean.dtype]
    return command


def area_mean(backend: DriverAccess, queue: Queue, mean: AreaMean, waits: Sequence[Event] = ()) -> Event:
    """Submit the means of an image."""
    event = backend._ffi.new("blr_event_t *")
    count, events = backend._waits(waits)
    command = _area_mean(backend, queue, mean)
    means = ffi.addressof(command, "mean")
    backend._check(backend._lib.blrEnqueueAreaMean(queue.handle, means, count, events, event), "blrEnqueueAreaMean")
    return Event(event[0], queue.profiling)


def prepare_area_mean(backend: DriverAccess, queue: Queue, mean: AreaMean) -> PreparedCommand | None:
    """Prepare the means of an image for repetition; see the contract. None if events have timestamps."""
    if queue.profiling:
        return None
    command = _area_mean(backend, queue, mean)
    place = address_of(ffi.addressof(command, "mean", "destination", "pointer"))
    return prepared_command(queue, _AREA_MEAN, "blrEnqueueAreaMean", command, None, (place,), (8,))


def fill_levels(backend: DriverAccess, queue: Queue, mipmap: int, pixels: int, waits: Sequence[Event] = ()) -> Event:
    """Submit all levels of a mipmap, the first from the pixels at an address."""
    event = backend._ffi.new("blr_event_t *")
    count, events = backend._waits(waits)
    result = backend._lib.blrEnqueueFillLevels(
        queue.handle, backend._image(mipmap), backend._pointer(pixels), count, events, event
    )
    backend._check(result, "blrEnqueueFillLevels")
    return Event(event[0], queue.profiling)


def prepare_levels(backend: DriverAccess, queue: Queue, mipmap: int, pixels: int) -> PreparedCopy:
    """Prepare all levels of a mipmap for repetition."""
    image = backend._image(mipmap)
    levels = ffi.new("bindless_levels_t *", (queue.handle, image, backend._pointer(pixels), queue.ends))
    command = prepared_command(queue, _LEVELS, "blrEnqueueFillLevels", levels, None)
    return PreparedCopy(command, ((address_of(ffi.addressof(levels, "pixels")),), ()))
