"""``recall``: calls with arrays and options like those of an earlier one, apart from addresses and maps."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from ..core._submission import array_layout
from ..core.ownership import after_fork
from ..image.default_queue import is_own
from ..model.filter import CoordinateMap
from ..sycl.queue.queue import Queue
from .arguments import NUMBERS

__all__ = ["Call", "Calls", "Key", "add", "recall"]

Key = tuple[Any, ...]

_MOST_CALLS = 512


class Call(Protocol):
    """A call that comes again.

    Attributes
    ----------
    queue : Queue
        In order; lasts as long as the call.
    dims : tuple[int, int, int]
        Axes of the input and of the result, and those that the map concerns.
    margin : int
        Elements in front of the array along each axis where a map leads: coefficients of B-splines exceed it.
    on_device : bool
        Whether fields that move positions are read there.
    """

    @property
    def queue(self) -> Queue: ...
    @property
    def dims(self) -> tuple[int, int, int]: ...
    @property
    def margin(self) -> int: ...
    @property
    def on_device(self) -> bool: ...
    def submit(self, value: Any, output: Any, map_: CoordinateMap | None = None, coords: Any = None) -> Any:
        """The result; None where the call is to be computed as if it were the first.

        The coordinates are as the caller gave them, or fields as ``pack_fields`` made them.
        """


class Calls(NamedTuple):
    """Calls one after the other, each on the result of the one before."""

    calls: tuple[Call, ...]

    @property
    def queue(self) -> Queue:
        """See ``Call``."""
        return self.calls[0].queue

    @property
    def dims(self) -> tuple[int, int, int]:
        """See ``Call``: of the last one."""
        return self.calls[-1].dims

    @property
    def margin(self) -> int:
        """See ``Call``: of the first one."""
        return self.calls[0].margin

    @property
    def on_device(self) -> bool:
        """See ``Call``."""
        return self.calls[0].on_device

    def submit(self, value: Any, output: Any, map_: CoordinateMap | None = None, coords: Any = None) -> Any:
        """See ``Call``: without a map and coordinates."""
        *before, last = self.calls
        for call in before:
            value = call.submit(value, None)
            if value is None:
                return None
        return last.submit(value, output)


_calls: dict[Key, Call] = {}  # in queues of the package, which last until they are closed
_NO_CALLS: dict[Key, Call] = {}


def recall(
    function: str, queue: Queue | None, input: object, output: object, cval: object, options: Key, coords: object = None
) -> tuple[Key | None, Call | None]:
    """The key of a call, and the call that was remembered for it; no key of a call that is not remembered.

    Parameters
    ----------
    function : str
        Name of the function.
    queue, input, output, cval, coords
        As the caller gave them.
    options : Key
        All other arguments, apart from those that a map is given for when the call is submitted.
    """
    if type(cval) not in NUMBERS:
        return None, None
    calls = _calls
    if queue is not None:
        if type(queue) is not Queue or not queue._stream.in_order:
            return None, None
        calls = queue._storage.get(recall, _NO_CALLS)
    writes = output is not None and hasattr(output, "shape") and not isinstance(output, (np.dtype, type))
    try:
        layouts = (
            array_layout(input),
            array_layout(output) if writes else None,
            None if coords is None else array_layout(coords),
            None if writes else output,
        )
        key = (function, layouts, repr(cval), options, queue is None)  # 0.0 and -0.0 are equal
        call = calls.get(key)
    except (AttributeError, TypeError, RuntimeError, BufferError):  # no layout, or no hash
        return None, None
    return key, None if call is None or call.queue._stream.closed else call


def add(key: Key, call: Call) -> None:
    """Add a call that comes again, in a queue that is in order."""
    if not key[-1]:
        calls = call.queue._storage.setdefault(recall, {})
    elif is_own(call.queue):
        calls = _calls
    else:
        return
    if len(calls) >= _MOST_CALLS:
        calls.clear()
    for other in [other for other, old in calls.items() if old.queue.closed]:
        del calls[other]
    calls[key] = call


after_fork(_calls.clear)
