"""Pictures at computed coordinates on the reference back end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...drivers.common.cffi_types import CData
from ...model.channels import ELEMENTS
from ...model.resampling import Resampling
from .objects import Event, Queue

if TYPE_CHECKING:
    from .backend import ReferenceBackend

__all__ = ["resample"]

_ROUNDINGS = {"even": 0, "away": 1}
_COORDINATES = {np.dtype(np.float32): 0, np.dtype(np.float64): 1}


def _struct(backend: ReferenceBackend, picture: Resampling) -> CData:
    """A ``blr_resampling_t *``."""
    native = backend._ffi.new("blr_resampling_t *")
    native.handle, native.layer, native.size = picture.handle, picture.layer, picture.shape
    native.matrix, native.centre = picture.map.matrix, picture.map.centre
    native.coordinates = backend._pointer(picture.coords)
    native.coordinate_type = _COORDINATES[picture.coords_dtype]
    native.coordinate_strides = picture.coords_strides
    native.scale, native.bias = picture.scale, picture.bias
    filter_ = picture.filter
    native.interpolation, native.precision = filter_.interpolation.number, filter_.precision.number
    native.boundary = [mode.number for mode in filter_.boundary]
    native.fill, native.ignore_nan = filter_.fill, filter_.ignore_nan
    native.values = backend._pointer(picture.values)
    native.value_type, native.value_channels = ELEMENTS[picture.value_dtype], picture.value_channels
    native.rounding = _ROUNDINGS[picture.rounding]
    native.first = picture.first
    if picture.window is not None:
        native.origin, native.whole = picture.window.origin, picture.window.whole
    return native


def resample(backend: ReferenceBackend, queue: Queue, picture: Resampling, waits: Sequence[Event] = ()) -> Event:
    """Submit a picture."""
    event = backend._ffi.new("blr_event_t *")
    count, events = backend._waits(waits)
    result = backend._lib.blrEnqueueResample(queue.handle, _struct(backend, picture), count, events, event)
    backend._check(result, "blrEnqueueResample")
    return Event(event[0], queue.profiling)
