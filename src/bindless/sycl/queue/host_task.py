"""``HostTask``: the function of a host task and its accessors."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...model.enums import Target
from ...submission.event import Event
from .interop_handle import InteropHandle

if TYPE_CHECKING:
    from ..buffer.accessor import Accessor
    from ..buffer.replica import Place
    from ..device.queue_base import QueueBase

__all__ = ["HostTask", "submit_host_task"]


class HostTask:
    """Calls ``function()``, or ``function(interop_handle)`` if it has a parameter to be given.

    Parameters
    ----------
    queue : Queue
        That the group was submitted to.
    function : Callable[..., object]
        The user's.
    places : Sequence[tuple[Accessor, Place]]
        The accessors of the group and where their data is.
    """

    __slots__ = ("_function", "_places", "_queue")

    def __init__(
        self, queue: QueueBase, function: Callable[..., object], places: Sequence[tuple[Accessor, Place]]
    ) -> None:
        self._queue, self._function, self._places = queue, function, places

    def __call__(self) -> None:
        for accessor, place in self._places:
            if accessor.target is Target.host_task:
                accessor._see(place)
        if _takes_an_argument(self._function):
            self._function(InteropHandle(self._queue, self._places))
        else:
            self._function()

    def __repr__(self) -> str:
        code = getattr(inspect.unwrap(self._function), "__code__", None)
        name = getattr(self._function, "__qualname__", None) or type(self._function).__qualname__
        where = f" of {code.co_filename}:{code.co_firstlineno}" if code is not None else ""
        return f"the host task {name!r}{where}"


def _takes_an_argument(function: Callable[..., object]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a function of C that does not tell
        return False
    return any(
        parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        for parameter in parameters
    )


def submit_host_task(
    queue: QueueBase, function: Callable[..., object], accessors: Sequence[Accessor], depends_on: tuple[Event, ...] = ()
) -> Event:
    """Submit a host task; a method of ``Queue``."""
    queue._native  # noqa: B018  raises if it has ended
    stream = queue._stream
    places = [(accessor, accessor._place) for accessor in accessors if accessor._place is not None]
    task = HostTask(queue, function, places)
    before = (queue.ext_oneapi_submit_barrier(),) if stream.in_order else ()
    return stream.run_on_host(task, depends_on, tuple(place.memory for _, place in places), before)
