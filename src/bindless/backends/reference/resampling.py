"""Pictures at computed coordinates on the reference back end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...model.channels import ELEMENTS
from ...model.enums import Boundary, Interpolation, Precision
from ...model.resampling import Resampling
from .objects import Event, Queue

if TYPE_CHECKING:
    from .backend import ReferenceBackend

__all__ = ["resample"]

# The driver's numbers of the model's names, in the order of the header.
_INTERPOLATIONS = {name: number for number, name in enumerate(Interpolation)}
_PRECISIONS = {name: number for number, name in enumerate(Precision)}
_BOUNDARIES = {name: number for number, name in enumerate(Boundary)}
_ROUNDINGS = {"even": 0, "away": 1}
_COORDINATES = {np.dtype(np.float32): 0, np.dtype(np.float64): 1}


def _struct(backend: ReferenceBackend, picture: Resampling) -> Any:
    """A ``blr_resampling_t *``."""
    native = backend._ffi.new("blr_resampling_t *")
    native.handle, native.layer, native.size = picture.handle, picture.layer, picture.shape
    native.matrix, native.centre = picture.matrix, picture.centre
    native.coordinates = backend._pointer(picture.coords)
    native.coordinate_type = _COORDINATES[picture.coords_dtype]
    native.coordinate_strides = picture.coords_strides
    native.scale, native.bias = picture.scale, picture.bias
    native.interpolation = _INTERPOLATIONS[picture.interpolation]
    native.precision = _PRECISIONS[picture.precision]
    native.boundary = [_BOUNDARIES[mode] for mode in picture.boundary]
    native.fill, native.ignore_nan = picture.fill, picture.ignore_nan
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
