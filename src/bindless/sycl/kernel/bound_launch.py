"""``BoundLaunch``: a kernel with its queue, range and arguments, checked and packed once, to be launched many times."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ...backends.contract.prepared_command import PreparedCommand
from ...core._submission import Bound
from ...model.errors import InvalidError
from ...model.image_handles import SampledImageHandle, UnsampledImageHandle
from ...model.ranges import NdRange, RangeLike
from ...model.single_owner import SingleOwner
from ...submission.event import Event
from ..device.handle_owner import HandleOwner
from ..usm.array import UsmArray
from ..usm.array_import import foreign_array
from ..usm.pointer import UsmPointer
from .arguments import PACKERS, held_image, memory_of, no_groups, pack_arguments
from .offset_launch import has_offset
from .prepared_launch import CHANGING, PreparedLaunch, prepare_direct
from .struct_arguments import Unfit

if TYPE_CHECKING:
    from ..queue.queue import Queue
    from .kernel import Kernel

__all__ = ["BoundLaunch"]


class BoundLaunch(Bound, SingleOwner):
    """``kernel.bind(queue, range, ...)`` makes one, calling it submits it, ``launch[2] = value`` changes an argument.

    It keeps queue, kernel and arguments alive. Values are what they were when they were given: a numpy array that is
    passed by value is read then. One thread at a time changes arguments.

    ``launch(depends_on=...)`` raises ``InvalidError`` if memory among the arguments was freed, or if the bundle or the
    queue was closed.
    """

    __slots__ = ("_here", "_kernel", "_packed", "_prepared", "_queue", "_sizes", "_space", "_tried")

    def __init__(
        self, _queue: Queue, _kernel: Kernel, _index_space: RangeLike | NdRange, _arguments: tuple[Any, ...]
    ) -> None:
        self._queue, self._kernel, self._space = _queue, _kernel, _index_space
        self._stream = _queue._stream
        self._here, self._sizes, packed, taken = _queue._plan_launch(_index_space, _kernel, _arguments)
        self._arguments: list[Any] = list(taken)
        self._packed = list(packed)
        self._prepared: PreparedLaunch | None = None
        self._tried = False

    @property
    def kernel(self) -> Kernel:
        """The kernel that is launched."""
        return self._kernel

    @property
    def queue(self) -> Queue:
        """The queue that runs the launches."""
        return self._queue

    def _again(self, *, depends_on: Iterable[Event] | Event = ()) -> Event:
        """The call, where it cannot be done without Python (``Bound`` does that, and calls this for all else)."""
        stream, bundle, prepared = self._queue._stream, self._here._bundle, self._prepared
        if (
            prepared is None
            or depends_on
            or stream.blocker is not None
            or not bundle._open
            or not (prepared.fixed or prepared.holds(self._arguments))
        ):
            return self._launch(depends_on)
        event = stream.launch_again(prepared, bundle, self._arguments)
        if event._native is None:  # it comes later, with what it was prepared for
            self._forget()
        return event

    _again.__qualname__ = "BoundLaunch.__call__"  # as errors of wrong arguments name it

    def _launch(self, depends_on: Iterable[Event] | Event) -> Event:
        """The long way: everything is looked at again, and prepared for the next time."""
        self._kernel._require_usable(self._queue.context)
        memory, handles = self._mortal()
        for at in (*memory, *(at for at, _ in handles)):
            self._packed[at] = self._pack(at, self._arguments[at])
        if 0 in self._sizes[0]:
            return self._queue._nothing(depends_on)
        if has_offset(self._space):  # each time the long way
            taken = tuple(self._arguments)
            return self._queue._launch_from(self._space, self._here, self._sizes, self._packed, taken, depends_on)
        stream, keep = self._queue._stream, tuple(self._arguments)
        if keep and not stream.in_order:
            keep = memory_of(keep)
        event = stream.launch(
            self._here._native, *self._sizes, tuple(self._packed), keep, self._here._bundle, depends_on
        )
        if not self._tried:
            self._prepare()
        return event

    def _mortal(self) -> tuple[list[int], list[tuple[int, int]]]:
        """Positions of memory among the arguments; positions of handles, with their numbers."""
        memory = [at for at, value in enumerate(self._arguments) if isinstance(value, (UsmArray, UsmPointer))]
        handles = [
            (at, value._raw_handle)
            for at, value in enumerate(self._arguments)
            if isinstance(value, (SampledImageHandle, UnsampledImageHandle))
        ]
        return memory, handles

    def _pack(self, index: int, value: Any) -> bytes | int:
        parameters = self._here._parameters
        listed = None if parameters is None else (parameters[index],)
        return pack_arguments(self._kernel.name, listed, (value,), self._queue)[0]

    def _prepare(self) -> None:
        self._tried = True
        stream = self._queue._stream
        native = stream.native
        if native is None:
            return
        if stream.prepared is not None and stream.prepared.direct:
            self._direct = prepare_direct(
                stream, self._kernel, None, self._here, self._sizes, tuple(self._packed), self._arguments
            )
            return
        again = self._queue._backend.prepare_launch(native, self._here._native, *self._sizes, tuple(self._packed))
        if again is not None and not isinstance(again, PreparedCommand):
            self._prepared = PreparedLaunch(again, (), *self._mortal())

    def _forget(self) -> None:
        self._prepared, self._direct, self._tried = None, None, False

    # ------------------------------------------------------------------ arguments

    def __len__(self) -> int:
        return len(self._arguments)

    def __getitem__(self, index: int) -> Any:
        return self._arguments[index]

    def __setitem__(self, index: int, value: Any) -> None:
        """Another value for an argument, from the next launch on.

        Raises
        ------
        InvalidError
            A value of the wrong size or kind; the argument stays what it was.
        IndexError
            There is no such argument.
        """
        index = range(len(self._arguments))[index]
        packer, parameters = PACKERS.get(type(value)), self._here._parameters
        if packer is None and isinstance(value, HandleOwner):
            value = held_image(value, None if parameters is None else parameters[index])
            packer = PACKERS[type(value)]
        try:
            if packer is None or parameters is None:
                packed = self._pack(index, value)
            else:
                packed = packer(value, parameters[index], self._queue)
        except (InvalidError, Unfit):
            value = foreign_array(value, self._queue)
            packed = self._pack(index, value)  # raises with everything there is to say
        if type(packed) is int and self._sizes[1] is None:
            raise no_groups(self._kernel.name)
        before = self._arguments[index]
        read_again = type(value) is type(before) and type(value) in CHANGING
        if type(value) is UsmArray and read_again:
            read_again = value.dtype is before.dtype  # a launch is prepared for arrays of one dtype
        self._packed[index], self._arguments[index] = packed, value
        if self._direct is None or not read_again:
            self._forget()

    def __repr__(self) -> str:
        return f"<BoundLaunch of {self._kernel!r} on {self._queue!r}>"
