"""Prepared device functions of a queue: C code submits a call again that differs in its arrays only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backends.contract.prepared_image_call import ALIGNMENT, ARRAYS
from ..core._submission import ImageCalls, Openable, Prepared
from ..model.aspects import Aspect
from ..model.enums import UsmKind
from ..model.image_call import ImageCall
from ..submission.event import Event
from ..sycl.usm import UsmArray, usm_empty
from .result_arrays import empty_of_size
from .scratch_memory import room

if TYPE_CHECKING:
    from ..sycl.queue.queue import Queue

__all__ = ["ALIGNMENT", "NATIVE", "Arguments", "prepare_read", "report_error", "submit_prepared"]

Arguments = tuple[object, ...]
"""Function, queue, handle, coords, layers, level, dx, dy, values, num_channels, dtype and hint, as the caller gave
them; None for those that the function lacks."""

NATIVE = frozenset((np.ndarray, UsmArray))
"""Types of arrays that need no import."""

_COORDS, _VALUES = 3, 8
_MOST_STAGED = 1 << 18  # bytes of host arrays that the device reads and writes over the bus

_ALWAYS_OPEN = Openable()  # image calls have no kernel bundle
_ALWAYS_OPEN._open = True


def report_error(event: Event) -> None:
    """Raise the error of a completed command, if it failed, also where the queue has an ``async_handler``."""
    if event._error is None and event._native is not None:
        return
    error, stream = event._first_error(), event._stream
    if error is not None and stream is not None:
        stream.log.withdraw(error)
        raise error


class _Staging:
    """Host USM for the arrays of a call that lie on the host, out of the device's reach.

    Attributes
    ----------
    memory : UsmArray
        The memory.
    places : dict[str, int]
        Address for each array, by its field of the call.
    """

    __slots__ = ("memory", "places")

    def __init__(self, queue: Queue, arrays: dict[str, Any]) -> None:
        offsets, size = {}, 0
        for name, array in arrays.items():
            offsets[name] = size
            size += room(array.nbytes)
        self.memory = usm_empty(size, np.uint8, queue, kind=UsmKind.host)
        self.places = {name: self.memory.address + offset for name, offset in offsets.items()}


def _staging(queue: Queue, arrays: dict[str, Any]) -> _Staging | None:
    """New staging memory; None for large arrays, and for devices without host USM. No lock is held.

    An allocation takes the lock of each active queue in turn: with the lock of one of them, two threads would wait for
    each other.
    """
    small = sum([array.nbytes for array in arrays.values()]) <= _MOST_STAGED
    return _Staging(queue, arrays) if small and queue.device.has(Aspect.usm_host_allocations) else None


def prepare_read(queue: Queue, call: ImageCall, *, on_host: bool) -> Prepared | None:
    """A read of an image, whose arguments are the addresses of the coordinates and of the values; None where each
    submission takes Python.

    Parameters
    ----------
    call
        the call; its addresses have any value, and those of the arguments are multiples of ``ALIGNMENT`` like these.
    on_host
        whether the addresses are those of the host, out of the device's reach.
    """
    stream, backend = queue._stream, queue._backend
    host_calls = backend.host_calls if on_host else None
    if not stream.prepares or (on_host and host_calls is None):
        return None
    with stream.lock:
        if stream.native is None or stream.closed:
            return None
        prepare = backend.prepare_image_call if host_calls is None else host_calls.prepare_host_call
        command = prepare(stream.native, call)
    if command is None:
        return None
    places = [command.places[ARRAYS.index(name)] for name in ("coords", "values")]
    return Prepared(
        command, 1, _ALWAYS_OPEN, command.mark, command.lanes, command.settle, command.refused,
        (command, command.keep), command.submit, command.descriptions,
        tuple([("number", place or 0, 8, True, False, None) for place in places]),
    )  # fmt: skip


def submit_prepared(
    queue: Queue,
    key: int,
    keep: Sequence[object],
    call: ImageCall,
    arguments: Arguments,
    arrays: dict[str, Any],
    result_array: object,
    depends_on: object,
    staged: bool,
) -> Any:
    """Prepare a call and submit it: its result, or ``NotImplemented`` where each submission takes Python.

    Parameters
    ----------
    queue
        queue of the call.
    key
        of the image in the context's table.
    keep
        native object and memory of the image; empty for an image that the context does not know.
    call
        the call, with the addresses of ``arrays``.
    arguments
        arguments of the caller.
    arrays
        arrays by the field of ``call``.
    result_array
        array that was made for the result, as the caller receives it; or None.
    depends_on
        events to wait for.
    staged
        whether the arrays are on the host and out of the device's reach.
    """
    stream = queue._stream
    if not keep or stream.profiling or queue.context._unreached:
        return NotImplemented
    for field, value in zip(ARRAYS, arguments[_COORDS : _VALUES + 1]):
        if type(value) in NATIVE and arrays.get(field) is not value:
            return NotImplemented  # a copy of the caller's array
    values = arrays["values"]
    if type(values) is np.ndarray and values.dtype.fields is not None:
        return NotImplemented  # C code cannot read the flags of structured arrays
    host_calls = queue._backend.host_calls if staged else None
    staging, placed = None, call
    if staged and host_calls is None:
        staging = _staging(queue, arrays)
        if staging is None:
            return NotImplemented
        places: dict[str, Any] = staging.places
        placed = replace(call, **places)
    with stream.lock:
        if stream.native is None or stream.closed:
            return NotImplemented
        prepare = queue._backend.prepare_image_call if host_calls is None else host_calls.prepare_host_call
        command = prepare(stream.native, placed)
    if command is None:
        return NotImplemented
    calls = stream.image_calls
    if calls is None:
        calls = stream.image_calls = ImageCalls(UsmArray, np.ndarray, queue.context._handles, report_error)
    prepared = Prepared(
        command, 1, _ALWAYS_OPEN, command.mark, command.lanes, command.settle, command.refused,
        (command, command.keep), command.submit, command.descriptions, (),
    )  # fmt: skip
    row = calls.prepare(
        arguments, result_array, tuple([getattr(call, field) for field in ARRAYS]), keep[0], key, command.places,
        call.operation == "write", type(values) is np.ndarray, empty_of_size(values.nbytes),
        (values.shape, values.dtype), prepared, None if staging is None else staging.memory,
        tuple([0 if staging is None else staging.places.get(field, 0) for field in ARRAYS]),
    )  # fmt: skip
    if row is None:
        return NotImplemented
    if result_array is not None:
        arguments = (*arguments[:_VALUES], result_array, *arguments[_VALUES + 1 :])
    return calls.submit(stream, row, arguments, depends_on)
