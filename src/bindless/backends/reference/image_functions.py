"""Device functions of the reference back end, single and prepared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...drivers import reference as driver
from ...drivers.common.cffi_types import CData
from ...model.channels import ELEMENTS
from ...model.enums import Precision
from ...model.image_call import ImageCall
from ..contract.prepared_command import PreparedCommand
from ..contract.prepared_image_call import ARRAYS
from .image_structs import IMAGE_TYPES
from .objects import Event, Queue, address_of
from .prepared_command import prepared_command

if TYPE_CHECKING:
    from .driver_access import DriverAccess

__all__ = ["OPERATIONS", "PRECISIONS", "image_call", "prepare_image_call"]

lib, ffi = driver.lib, driver.ffi

_SUBMIT = address_of(ffi.addressof(lib, "bindless_image_call_again"))
PRECISIONS = {Precision.hardware: 0, Precision.exact: 1, Precision.reproducible: 2}
OPERATIONS = {"fetch": 0, "sample": 1, "sample_lod": 2, "sample_grad": 3, "write": 4}

# Members of blr_image_call_t, by the field of ``ImageCall`` with the address of the same array.
_MEMBERS = dict(zip(ARRAYS, ("coordinates", "layers", "levels", "gradient_x", "gradient_y", "values")))


def _described(queue: Queue, call: ImageCall) -> CData:
    """A ``bindless_image_call_t``."""
    described = ffi.new("bindless_image_call_t *")
    described.queue, described.ends = queue.handle, queue.ends
    native = described.call
    native.operation = OPERATIONS[call.operation]
    native.type = IMAGE_TYPES[call.descriptor.type]
    native.handle, native.count = call.handle, call.count
    native.coordinates = ffi.cast("void *", call.coords)
    native.layers = ffi.cast("uint32_t *", call.layers)
    native.levels = ffi.cast("float *", call.levels)
    native.gradient_x, native.gradient_y = ffi.cast("float *", call.dx), ffi.cast("float *", call.dy)
    native.values = ffi.cast("void *", call.values)
    native.value_type, native.value_channels = ELEMENTS[call.value_dtype], call.value_channels
    native.layer, native.level, native.precision = call.layer, call.level, PRECISIONS[call.precision]
    return described


def image_call(backend: DriverAccess, queue: Queue, call: ImageCall, waits: Sequence[Event] = ()) -> Event:
    """Run a device function over ``call.count`` items."""
    described, event = _described(queue, call), ffi.new("blr_event_t *")
    count, events = backend._waits(waits)
    result = lib.blrEnqueueImageCall(queue.handle, ffi.addressof(described, "call"), count, events, event)
    driver.check(result, "blrEnqueueImageCall")
    return Event(event[0], queue.profiling)


def prepare_image_call(backend: DriverAccess, queue: Queue, call: ImageCall) -> PreparedCommand | None:
    """Prepare a device function for repetition; see the contract. None if events have timestamps."""
    if queue.profiling or not call.count:
        return None
    described = _described(queue, call)
    places = [
        address_of(ffi.addressof(described, "call", _MEMBERS[name])) if getattr(call, name) else None for name in ARRAYS
    ]
    sizes = [8 if place else 0 for place in places]
    return prepared_command(queue, _SUBMIT, "blrEnqueueImageCall", described, None, tuple(places), tuple(sizes))
