"""``PreparedLaunches``: launches that a queue has seen before, repeated without checking and packing them again."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backends.contract import NativeEvent
from ..model.handles import SampledImageHandle, UnsampledImageHandle
from ._usm_array import UsmArray
from ._usm_pointer import UsmPointer

if TYPE_CHECKING:
    from ._stream import CommandStream
    from .kernel import Kernel

__all__ = ["PreparedLaunch", "PreparedLaunches"]

_MOST = 64

# Values that never change, and so mean the same whenever they are the same object.
_FIXED = (int, float, bytes, type(None), np.number, np.bool_)

# The id of the kernel, the range, the ids of the arguments: what is alive is found by its id, and no longer.
Key = tuple[Any, ...]


class PreparedLaunch:
    """One of them. It keeps no memory and no image alive, and is dropped with the first of them.

    Attributes:
        again: submits it.
        batch: number of the queue's batch that already holds its memory.
        memory: where among the arguments memory is.
        fixed: whether none of the arguments can come to mean something else.
    """

    __slots__ = ("_handles", "_watched", "again", "batch", "fixed", "memory")

    def __init__(self, again: Callable[[], NativeEvent], watched: tuple[object, ...], arguments: tuple[object, ...]):
        self.again = again
        self.batch = -1
        self._watched = watched
        self.memory = [at for at, value in enumerate(arguments) if isinstance(value, (UsmArray, UsmPointer))]
        self._handles = [
            (at, value._raw_handle)
            for at, value in enumerate(arguments)
            if isinstance(value, (SampledImageHandle, UnsampledImageHandle))
        ]
        self.fixed = not self.memory and not self._handles

    def holds(self, arguments: tuple[Any, ...]) -> bool:
        """Whether the arguments still mean what they did: memory not freed, handles with the same number."""
        for at, raw in self._handles:
            if arguments[at]._raw_handle != raw:
                return False
        for at in self.memory:  # noqa: SIM110  a generator takes as long as the launch
            if not arguments[at]._owner.open:
                return False
        return True


class PreparedLaunches(dict[Key, PreparedLaunch]):
    """Those of one queue. A launch with arguments is prepared when it comes the second time in a row."""

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last: Key | None = None

    def remember(
        self,
        key: Key,
        stream: CommandStream,
        kernel: Kernel,
        sizes: tuple[tuple[int, ...], tuple[int, ...] | None],
        packed: Sequence[bytes | int],
        arguments: tuple[object, ...],
    ) -> None:
        """Prepares a launch that has just been made, where that pays and the backend can.

        Args:
            key: of the launch.
            sizes: global and local size in the order of the native kernel.
            packed: the arguments as the backend takes them.
        """
        self.pop(key, None)  # it was not what it used to be
        if arguments and key != self._last:
            self._last = key
            return
        mortal = []
        for value in arguments:
            if isinstance(value, (UsmArray, UsmPointer, SampledImageHandle, UnsampledImageHandle)):
                mortal.append(value)
            elif not isinstance(value, _FIXED):
                return
        native = stream.native
        if native is None:
            return
        again = stream.backend.prepare_launch(native, kernel._native, *sizes, packed)
        if again is None:
            return
        if len(self) >= _MOST:
            self.clear()

        def forget(_: object) -> None:
            self.pop(key, None)

        fixed = tuple(value for value in arguments if isinstance(value, _FIXED))
        watched = *(weakref.ref(value, forget) for value in (kernel, *mortal)), fixed
        self[key] = PreparedLaunch(again, watched, arguments)
