"""``PreparedLaunches``: cache of launches of a queue, repeated without new checks and packing."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...backends.contract import KernelArgument, NativeEvent, NativeKernel
from ...backends.contract.prepared_command import PreparedCommand
from ...core._submission import Prepared
from ...model.image_handles import SampledImageHandle, UnsampledImageHandle
from ...model.ranges import NdRange, Range
from ..usm.array import UsmArray
from ..usm.pointer import UsmPointer
from .element_types import is_typed
from .struct_arguments import FLOATS, INTEGERS

if TYPE_CHECKING:
    from ...submission.command_stream import CommandStream
    from .kernel import Kernel

__all__ = ["CHANGING", "REPEATED_RANGES", "PreparedLaunch", "PreparedLaunches", "prepare_direct"]

_MOST = 64

REPEATED_RANGES = frozenset((int, tuple, Range, NdRange))
"""Types of the ranges that a launch can be found again by."""

# Values that never change, and so mean the same whenever they are the same object.
_FIXED = (int, float, bytes, type(None), np.number, np.bool_)

_HANDLES = (SampledImageHandle, UnsampledImageHandle)

CHANGING = frozenset((int, float, UsmArray, UsmPointer, SampledImageHandle, UnsampledImageHandle))
"""Types of arguments that a direct launch reads each time."""

# The id of the kernel, the range, the ids of the arguments: what is alive is found by its id, and no longer.
Key = tuple[Any, ...]


class PreparedLaunch:
    """One of them. It keeps no memory and no image alive, and is dropped with the first of them.

    Attributes
    ----------
    again : Callable[[], NativeEvent]
        Submits it.
    batch
        Number of the queue's batch that already holds its memory.
    memory : list[int]
        Where among the arguments memory is.
    fixed
        Whether none of the arguments can come to mean something else.
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
    """Those of one queue. A launch with arguments is prepared when it comes the second time in a row.

    Attributes
    ----------
    direct : bool
        Whether the driver is called without Python in between: then launches are found by kernel, range and number of
        arguments, which may be others each time, and lie in the stream (``core/_submission``).
    """

    __slots__ = ("_last", "direct")

    def __init__(self, direct: bool = False) -> None:
        self._last: Key | None = None
        self.direct = direct

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

        Parameters
        ----------
        key : Key
            Of the launch.
        kernel : Kernel
            As the caller has it.
        native : NativeKernel
            It on the queue's device.
        sizes : tuple[tuple[int, ...], tuple[int, ...] | None]
            Global and local size in the order of the native kernel.
        packed : Sequence[bytes | int]
            The arguments as the backend takes them.
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
        if again is None or isinstance(again, PreparedCommand):
            return
        if len(self) >= _MOST:
            self.clear()

        def forget(_: object) -> None:
            self.pop(key, None)

        watched = *(weakref.ref(value, forget) for value in mortal), fixed
        self[key] = PreparedLaunch(again, watched, memory, handles)

    def remember_direct(
        self,
        stream: CommandStream,
        kernel: Kernel,
        space: object,
        here: Kernel,
        sizes: tuple[tuple[int, ...], tuple[int, ...] | None],
        packed: Sequence[bytes | int],
        arguments: tuple[object, ...],
    ) -> None:
        """``remember`` where the driver is called directly; ``here`` is the kernel on the queue's device."""
        last, self._last = self._last, (id(kernel), space, len(arguments))
        if arguments and self._last != last:
            return
        if any(type(value) not in CHANGING and not isinstance(value, _FIXED) for value in arguments):
            return
        if len(stream.context.devices) > 1 and any(isinstance(value, _HANDLES) for value in arguments):
            return  # each is asked whose it is
        made = prepare_direct(stream, kernel, space, here, sizes, packed, arguments)
        if made is not None:
            made.watch = weakref.ref(kernel, made.forget)
            stream.remember(made)


# The letter that begins each is what ``core/_submission`` knows it by.
_KINDS = {UsmArray: "array", UsmPointer: "pointer", SampledImageHandle: "handle", UnsampledImageHandle: "handle"}

Slot = tuple[str, int, int, bool, bool, object]


def prepare_direct(
    stream: CommandStream,
    kernel: Kernel,
    space: object,
    here: Kernel,
    sizes: tuple[tuple[int, ...], tuple[int, ...] | None],
    packed: Sequence[bytes | int],
    arguments: Sequence[object],
) -> Prepared | None:
    """A launch as one call of the driver, or None where the backend has no such way.

    Numbers, memory and handles among the arguments are read at each launch; others are what they are now, as long as
    they are the same objects.
    """
    queue = stream.native
    direct = None if queue is None else stream.backend.prepare_launch(queue, here._native, *sizes, packed)
    if not isinstance(direct, PreparedCommand):
        return None
    parameters = here._parameters or (None,) * len(arguments)
    slots = tuple(map(_slot, arguments, parameters, direct.places, direct.sizes))
    return Prepared(
        kernel, space, here._bundle, direct.mark, direct.lanes, direct.settle, direct.refused, direct.keep,
        direct.submit, direct.descriptions, slots,
    )  # fmt: skip


def _slot(value: object, parameter: KernelArgument | None, place: int | None, size: int) -> Slot:
    """Packing rule of an argument for ``core/_submission``: kind, where, how many, whether of ints and of floats."""
    if place is not None:
        kind = _KINDS.get(type(value))
        if kind == "array" and parameter is not None and is_typed(parameter):
            kind = "typed array"  # of the dtype of this one
        if kind is not None:
            return kind, place, size, False, False, value
        if (
            type(value) in (int, float)
            and parameter is not None
            and parameter.kind not in ("pointer", "local", "sampler")
        ):
            becomes_float = parameter.type in FLOATS
            integers = size in ((4, 8) if becomes_float else (1, 2, 4, 8))
            floats = size in (4, 8) and parameter.type not in INTEGERS
            return ("float" if becomes_float else "number"), place, size, integers, floats, None
    return "same", 0, 0, False, False, value
