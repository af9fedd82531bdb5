"""Prepared device functions of a queue: C code submits a call again that differs in its arrays only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backends.contract import NativeQueue
from ..backends.contract.prepared_command import PreparedCommand
from ..core._submission import ImageCall as PreparedCall
from ..core._submission import ImageCalls, Openable, Prepared
from ..model.image_call import ImageCall
from ..submission.event import Event
from ..sycl.usm import UsmArray
from .result_arrays import SMALLEST, empty_result

if TYPE_CHECKING:
    from ..sycl.queue.queue import Queue

__all__ = ["Arguments", "report_error", "submit_prepared"]

Arguments = tuple[object, ...]
"""Function, queue, handle, coords, layers, level, dx, dy, values, num_channels, dtype and hint, as the caller gave
them; None for those that the function lacks."""

_COORDS, _VALUES = 3, 8
_NUMBERS = (int, float, type(None))

_ALWAYS_OPEN = Openable()  # image calls have no kernel bundle
_ALWAYS_OPEN._open = True


def report_error(event: Event) -> None:
    """Raise the error of a completed command, if it failed, also where the queue has an ``async_handler``."""
    error, stream = event._first_error(), event._stream
    if error is not None and stream is not None:
        stream.log.withdraw(error)
        raise error


def _preparation(queue: Queue, staged: bool) -> Callable[[NativeQueue, ImageCall], PreparedCommand | None] | None:
    """The back end's function that prepares a call."""
    backend = queue._backend
    if staged:
        return None if backend.host_calls is None else backend.host_calls.prepare_host_call
    return None if backend.prepared_image_calls is None else backend.prepared_image_calls.prepare_image_call


def submit_prepared(
    queue: Queue,
    key: int,
    keep: Sequence[object],
    call: ImageCall,
    arguments: Arguments,
    arrays: dict[str, Any],
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
    depends_on
        events to wait for.
    staged
        whether the arrays are on the host and out of the device's reach.
    """
    stream = queue._stream
    prepare = _preparation(queue, staged)
    if prepare is None or not keep or stream.profiling or queue.context._unreached:
        return NotImplemented
    given = arguments[_COORDS : _VALUES + 1]
    fields = ("coords", "layers", "levels", "dx", "dy", "values")
    makes_result = arguments[_VALUES] is None
    for field, value in zip(fields, given):
        array = arrays.get(field)
        if array is None:
            if type(value) not in _NUMBERS:
                return NotImplemented
        elif not (array is value or (field == "values" and makes_result)):
            return NotImplemented  # a copy of the caller's array
    values = arrays["values"]
    if type(values) is np.ndarray and values.dtype.fields is not None:
        return NotImplemented  # C code cannot read the flags of structured arrays
    with stream.lock:
        native = stream.native
        command = None if native is None else prepare(native, call)
    if command is None:
        return NotImplemented
    calls = stream.image_calls
    if calls is None:
        calls = stream.image_calls = ImageCalls(UsmArray, np.ndarray, queue.context._handles, report_error)
    prepared = Prepared(
        command, 1, _ALWAYS_OPEN, command.mark, command.lanes, command.settle, command.refused,
        (command, command.keep), command.submit, command.descriptions, (),
    )  # fmt: skip
    make_result = None
    if makes_result:
        make_result = np.empty if values.nbytes < SMALLEST else empty_result
    row = PreparedCall(
        calls, arguments, keep[0], key, command.places, call.operation == "write",
        make_result, (values.shape, values.dtype) if makes_result else (), prepared,
    )  # fmt: skip
    calls.remember(row)
    return calls.submit(stream, row, (*arguments[:_VALUES], values, *arguments[_VALUES + 1 :]), depends_on)
