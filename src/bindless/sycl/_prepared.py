"""``PreparedLaunches``: launches that a queue has seen before, repeated without checking and packing them again."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backends.contract import NativeEvent, NativeKernel
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

    def __init__(
        self,
        again: Callable[[], NativeEvent],
        watched: tuple[object, ...],
        memory: list[int],
        handles: list[tuple[int, int]],
    ) -> None:
        self.again = again
        self.batch = -1
        self.memory = memory
        self.fixed = not memory and not handles
        self._handles = handles
        self._watched = watched

    def holds(self, arguments: Sequence[Any]) -> bool:
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
        native: NativeKernel,
        sizes: tuple[tuple[int, ...], tuple[int, ...] | None],
        packed: Sequence[bytes | int],
        arguments: tuple[object, ...],
    ) -> None:
        """Prepares a launch that has just been made, where that pays and the backend can.

        Args:
            key: of the launch.
            kernel: as the caller has it.
            native: it on the queue's device.
            sizes: global and local size in the order of the native kernel.
            packed: the arguments as the backend takes them.
        """
        self.pop(key, None)  # it was not what it used to be
        if arguments and key != self._last:
            self._last = key
            return
        memory: list[int] = []
        handles: list[tuple[int, int]] = []
        mortal: list[object] = [kernel]
        fixed: list[object] = []
        for at, value in enumerate(arguments):
            if isinstance(value, (UsmArray, UsmPointer)):
                memory.append(at)
                mortal.append(value)
            elif isinstance(value, (SampledImageHandle, UnsampledImageHandle)):
                handles.append((at, value._raw_handle))
                mortal.append(value)
            elif isinstance(value, _FIXED):
                fixed.append(value)
            else:
                return
        queue = stream.native
        if queue is None:
            return
        again = stream.backend.prepare_launch(queue, native, *sizes, packed)
        if again is None:
            return
        if len(self) >= _MOST:
            self.clear()

        def forget(_: object) -> None:
            self.pop(key, None)

        watched = *(weakref.ref(value, forget) for value in mortal), fixed
        self[key] = PreparedLaunch(again, watched, memory, handles)
