"""Pictures at computed coordinates on the reference back end, single and prepared."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...drivers import reference as driver
from ...drivers.common.cffi_types import CData
from ...model.channels import ELEMENTS
from ...model.enums import ImageType
from ...model.resampling import Resampling, Strategy
from ..contract.prepared_command import PreparedCommand
from .image_functions import OPERATIONS, PRECISIONS
from .image_structs import IMAGE_TYPES
from .objects import Event, Queue, address_of
from .prepared_command import prepared_command

if TYPE_CHECKING:
    from .driver_access import DriverAccess

__all__ = ["prepare_resampling", "resample"]

lib, ffi = driver.lib, driver.ffi

_ROUNDINGS = {"even": 0, "away": 1}
_COORDINATES = {np.dtype(np.float32): 0, np.dtype(np.float64): 1}
_FIELDS = 2
_RESAMPLE = address_of(ffi.addressof(lib, "bindless_resample_again"))
_CALL = address_of(ffi.addressof(lib, "bindless_image_call_again"))
_MATRIX_BYTES = {Strategy.projection: 9 * 8, Strategy.resampling: 16 * 8}
_PLACE_BYTES = 9 * 8  # first, origin and whole, which follow each other
_STRIDES_BYTES = 2 * 8


def _resampling(queue: Queue, picture: Resampling) -> CData:
    """A ``bindless_resample_t *``."""
    command = ffi.new("bindless_resample_t *")
    command.queue, command.ends = queue.handle, queue.ends
    native, filter_ = command.picture, picture.filter
    native.handle, native.layer, native.size = picture.handle, picture.layer, picture.shape
    native.matrix, native.centre = picture.map.matrix, picture.map.centre
    native.coordinates = ffi.cast("void *", picture.coords)
    native.coordinate_type = _FIELDS if picture.fields else _COORDINATES[picture.coords_dtype]
    native.coordinate_strides = picture.coords_strides
    native.scale, native.bias = picture.scale, picture.bias
    native.interpolation, native.precision = filter_.interpolation.number, filter_.precision.number
    native.boundary = [mode.number for mode in filter_.boundary]
    native.fill, native.ignore_nan = filter_.fill, filter_.ignore_nan
    native.ties_to_even = filter_.has_even_ties
    native.double_sums = filter_.double_sums
    native.values = ffi.cast("void *", picture.values)
    native.value_type, native.value_channels = ELEMENTS[picture.value_dtype], picture.value_channels
    native.rounding = _ROUNDINGS[picture.rounding]
    native.first = picture.first
    native.texels = ffi.cast("void *", picture.texels)
    if picture.window is not None:
        native.origin, native.whole = picture.window.origin, picture.window.whole
    return command


def _projection(queue: Queue, picture: Resampling) -> CData:
    """A ``bindless_image_call_t *`` with a map."""
    command = ffi.new("bindless_image_call_t *")
    command.queue, command.ends = queue.handle, queue.ends
    native, kind = command.call, picture.descriptor.type
    levels = "sample_grad" if picture.footprints else "sample_lod"
    native.operation = OPERATIONS[levels if kind is ImageType.mipmap else "sample"]
    native.type, native.handle, native.layer = IMAGE_TYPES[kind], picture.handle, picture.layer
    native.count = math.prod(picture.shape)
    native.precision = PRECISIONS[picture.filter.precision]
    native.values = ffi.cast("void *", picture.values)
    native.value_type, native.value_channels = ELEMENTS[picture.value_dtype], picture.value_channels
    native.map.matrix, native.map.width = picture.map.plane, picture.shape[0]
    native.map.scale, native.map.bias = picture.scale[:2], picture.bias[:2]
    return command


def resample(
    backend: DriverAccess, queue: Queue, picture: Resampling, strategy: Strategy, waits: Sequence[Event] = ()
) -> Event:
    """Submit a picture."""
    event = ffi.new("blr_event_t *")
    count, events = backend._waits(waits)
    if strategy is Strategy.projection:
        projection = _projection(queue, picture)
        call = ffi.addressof(projection, "call")
        driver.check(lib.blrEnqueueImageCall(queue.handle, call, count, events, event), "blrEnqueueImageCall")
    else:
        resampling = _resampling(queue, picture)
        command = ffi.addressof(resampling, "picture")
        driver.check(lib.blrEnqueueResample(queue.handle, command, count, events, event), "blrEnqueueResample")
    return Event(event[0], queue.profiling)


def prepare_resampling(
    backend: DriverAccess, queue: Queue, picture: Resampling, strategy: Strategy
) -> PreparedCommand | None:
    """Prepare a picture for repetition; see the contract. None if events have timestamps."""
    if queue.profiling:
        return None
    members: tuple[tuple[str, ...], ...]
    if strategy is Strategy.projection:
        command, submit, call = _projection(queue, picture), _CALL, "blrEnqueueImageCall"
        members = ("call", "values"), (), ("call", "map", "matrix"), (), (), ()
    else:
        command, submit, call = _resampling(queue, picture), _RESAMPLE, "blrEnqueueResample"
        has_vectors = bool(picture.coords)
        vectors = ("picture", "coordinates") if has_vectors else ()
        strides = ("picture", "coordinate_strides") if has_vectors else ()
        place, texels = ("picture", "first"), ("picture", "texels")
        members = ("picture", "values"), vectors, ("picture", "matrix"), place, strides, texels
    places = [address_of(ffi.addressof(command, *member)) if member else None for member in members]
    largest = 8, 8, _MATRIX_BYTES[strategy], _PLACE_BYTES, _STRIDES_BYTES, 8
    sizes = tuple([size if place else 0 for place, size in zip(places, largest)])
    return prepared_command(queue, submit, call, command, None, tuple(places), sizes)
