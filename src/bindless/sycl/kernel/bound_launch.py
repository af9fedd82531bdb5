"""``BoundLaunch``: a kernel with its queue, range and arguments, checked and packed once, to be launched many times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core._submission import Bound
from ...model.errors import InvalidError
from ...model.ranges import NdRange, RangeLike
from ...model.single_owner import SingleOwner
from ...submission.event import Event
from ..device.handle_owner import HandleOwner
from ..device.queue_base import QueueBase
from ..usm.array_import import foreign_array
from .arguments import held_image, no_groups, pack_arguments

if TYPE_CHECKING:
    from .kernel import Kernel

__all__ = ["BoundLaunch", "LaunchQueue"]

_BY_VALUE = (np.ndarray, np.generic, tuple, list)


class LaunchQueue(QueueBase):
    """A queue that plans and submits launches, for the layers below ``Queue``."""

    __slots__ = ()

    if TYPE_CHECKING:  # ``Queue`` defines it

        def parallel_for(
            self,
            index_space: RangeLike | NdRange,
            kernel: Kernel,
            *arguments: object,
            depends_on: Iterable[Event] | Event = (),
        ) -> Event: ...
        def _plan_launch(
            self, index_space: RangeLike | NdRange, kernel: Kernel, arguments: tuple[object, ...], /
        ) -> tuple[
            Kernel, tuple[tuple[int, ...], tuple[int, ...] | None], Sequence[bytes | int], tuple[object, ...]
        ]: ...
        def _submit_launch(
            self,
            index_space: RangeLike | NdRange,
            kernel: Kernel,
            arguments: tuple[object, ...],
            depends_on: Iterable[Event] | Event,
            /,
        ) -> Event: ...


class BoundLaunch(Bound, SingleOwner):
    """``kernel.bind(queue, range, ...)`` makes one, calling it submits it, ``launch[2] = value`` changes an argument.

    It keeps queue, kernel and arguments alive. Values are what they were when they were given: a numpy array that is
    passed by value is read then. One thread at a time changes arguments.

    ``launch(depends_on=...)`` raises ``InvalidError`` if memory among the arguments was freed, or if the bundle or the
    queue was closed.
    """

    __slots__ = ("_here", "_kernel", "_queue", "_space", "_values")

    def __init__(
        self, _queue: LaunchQueue, _kernel: Kernel, _index_space: RangeLike | NdRange, _arguments: tuple[Any, ...]
    ) -> None:
        self._queue, self._kernel, self._space = _queue, _kernel, _index_space
        self._stream = _queue._stream
        self._here, _, packed, own_arguments = _queue._plan_launch(_index_space, _kernel, _arguments)
        self._values: list[Any] = list(own_arguments)
        self._arguments = [_frozen(value, data) for value, data in zip(own_arguments, packed)]

    @property
    def kernel(self) -> Kernel:
        """The kernel that is launched."""
        return self._kernel

    @property
    def queue(self) -> LaunchQueue:
        """The queue that runs the launches."""
        return self._queue

    def _again(self, *, depends_on: Iterable[Event] | Event = ()) -> Event:
        """The call, where it cannot be done without Python (``Bound`` does that, and calls this for all else)."""
        arguments = tuple(self._arguments)
        event = self._queue._submit_launch(self._space, self._kernel, arguments, depends_on)
        self._direct = self._stream.find(self._kernel, self._space, len(arguments))
        return event

    _again.__qualname__ = "BoundLaunch.__call__"  # as errors of wrong arguments name it

    # ------------------------------------------------------------------ arguments

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, index: int) -> Any:
        return self._values[index]

    def __setitem__(self, index: int, value: Any) -> None:
        """Another value for an argument, from the next launch on.

        Raises
        ------
        InvalidError
            A value of the wrong size or kind; the argument stays what it was.
        IndexError
            There is no such argument.
        """
        index = range(len(self._values))[index]
        if isinstance(value, HandleOwner):
            parameters = self._here._parameters
            value = held_image(value, None if parameters is None else parameters[index])
        try:
            packed = self._pack(index, value)
        except InvalidError:
            value = foreign_array(value, self._queue)
            packed = self._pack(index, value)  # raises the error of a value that is no array either
        if type(packed) is int and not isinstance(self._space, NdRange):
            raise no_groups(self._kernel.name)
        self._values[index], self._arguments[index] = value, _frozen(value, packed)

    def _pack(self, index: int, value: Any) -> bytes | int:
        parameters = self._here._parameters
        listed = None if parameters is None else (parameters[index],)
        return pack_arguments(self._kernel.name, listed, (value,), self._queue)[0]

    def __repr__(self) -> str:
        return f"<BoundLaunch of {self._kernel!r} on {self._queue!r}>"


def _frozen(value: Any, packed: bytes | int) -> Any:
    """Return the argument of each launch: the bytes of a value that may change, else the value."""
    return packed if isinstance(value, _BY_VALUE) else value
