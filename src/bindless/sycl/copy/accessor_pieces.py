"""``copy``, ``memcpy``, ``memset`` and ``fill`` where a side is an accessor: its elements, piece by piece.

A ranged accessor of two or three dimensions covers several pieces of memory; they are written one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from ...backends.contract import NativeEvent
from ...model.errors import AccessorError, InvalidError
from ...submission.command_stream import Operation
from ..buffer.accessor import Accessor

if TYPE_CHECKING:
    from ..device.queue_base import QueueBase

__all__ = ["Pieces", "chained", "copied", "cut", "pieces_of"]

# First byte and bytes of each contiguous part.
Pieces = list[tuple[int, int]]


def pieces_of(accessor: Accessor, name: str, *, written: bool) -> tuple[Pieces, object]:
    """The memory that an accessor covers for the command being submitted, and what keeps it alive.

    Raises
    ------
    AccessorError
        Its mode does not allow it, or it belongs to another command group.
    """
    if written and not accessor._requirement.writes:
        raise AccessorError(f"{name}: {accessor!r} is only read, and the command writes it; use mode 'write'")
    if not written and accessor._mode == "write":
        raise AccessorError(f"{name}: {accessor!r} is only written, and the command reads it; use mode 'read'")
    place = accessor._place
    if place is None:
        raise accessor._foreign()
    if place.image is not None:
        raise InvalidError(f"{name}: {accessor!r} is of an image: kernels use it, or copy on the host")
    if accessor._contiguous:
        begin, end = accessor._data
        return [(place.address + begin, end - begin)] if end > begin else [], place.memory
    base = place.address + accessor.buffer._span[0]
    return [(base + begin, nbytes) for begin, nbytes in accessor.region.runs()], place.memory


def copied(target: Pieces, source: Pieces, nbytes: int) -> Iterator[tuple[int, int, int]]:
    """Destination, source and bytes of each copy that moves so many bytes, in order, from one list to the other."""
    left, right = iter(target), iter(source)
    to = from_ = room = rest = 0
    while nbytes:
        if not room:
            to, room = next(left)
        if not rest:
            from_, rest = next(right)
        step = min(room, rest, nbytes)
        yield to, from_, step
        to, from_, room, rest, nbytes = to + step, from_ + step, room - step, rest - step, nbytes - step


def cut(pieces: Pieces, nbytes: int, what: str) -> Pieces:
    """The first so many bytes.

    Raises
    ------
    InvalidError
        There are not as many.
    """
    result: Pieces = []
    for begin, size in pieces:
        if nbytes:
            result.append((begin, min(size, nbytes)))
            nbytes -= min(size, nbytes)
    if nbytes:
        raise InvalidError(f"{nbytes} bytes more than the {what} has")
    return result


def chained(queue: QueueBase, commands: Sequence[Callable[[Sequence[NativeEvent]], NativeEvent]]) -> Operation:
    """One operation of several commands, each after the one before."""
    backend = queue._backend
    if len(commands) == 1:
        return commands[0]

    def submit(waits: Sequence[NativeEvent]) -> NativeEvent:
        last = commands[0](waits)
        for command in commands[1:]:
            following = command([last])
            backend.release_event(last)
            last = following
        return last

    return submit
