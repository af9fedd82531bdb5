"""Migration of the newest contents of a buffer to the device of a command.

within what a driver reaches     one copy that the driver orders
from the host's memory           one copy by the driver of the target
to the host's memory             one copy by the driver of the source; on a thread, for a driver may block in it
between two drivers' memory      through the host's, both of these
between memory the host sees     the host copies
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from ...backends.contract import NativeEvent
from ...model.copy_region import CopyRegion, HostMemory
from ...model.errors import InvalidError
from ...submission.command_stream import CommandStream
from ...submission.event import Event
from ...submission.host_access import HostAccess
from ...submission.host_dependency import Node
from ...submission.worker_threads import pool
from .replica import Home, Place
from .storage import Segment, Storage, is_pending

__all__ = ["Here", "bring", "is_at", "make_rest", "move_here", "settle"]


# Moves that the calling thread makes itself, with what each waits for.
Here = list[tuple[Node, tuple[Event, ...]]]


def bring(
    storage: Storage,
    segments: Sequence[Segment],
    place: Place,
    stream: CommandStream | None = None,
    here: Here | None = None,
) -> list[Event]:
    """Makes segments valid at a place; the moves that this takes. The storage's lock is held.

    Parameters
    ----------
    storage : Storage
        What the segments are of.
    segments : Sequence[Segment]
        Neighbours, in order.
    place : Place
        Where the contents are needed.
    stream : CommandStream, optional
        What copies to the host, if it can, instead of a stream of the package's own.
    here : Here, optional
        Takes the moves to the host, which the caller makes then with ``move_here``; else threads of the pool do.

    Raises
    ------
    InvalidError
        The newest contents were in a context that is closed.
    """
    moves: list[Event] = []
    run: list[Segment] = []
    source: Place | None = None
    for segment in segments:
        best = None if is_at(segment, place) else _source(segment, place)
        if run and (best is not source or best is None):
            moves.append(_move(storage, run, source, place, stream, moves, here))
            run = []
        source = best
        if best is not None:
            run.append(segment)
    if run:
        moves.append(_move(storage, run, source, place, stream, moves, here))
    return moves


def settle(events: Iterable[Event], *, report: bool) -> bool:
    """Waits for commands and moves; whether all succeeded.

    Parameters
    ----------
    report : bool
        Whether to raise what a command failed with, if nobody else takes it. A move that only repeats that does not
        count.
    """
    events = tuple(events)
    for event in events:
        event._settle()
    failed = [event for event in events if event._first_error() is not None]
    if report:
        for event in sorted(failed, key=lambda event: event._origin is not None):
            if event._stream is not None and not event._stream.log.silent:
                event.wait()
            elif event._origin is None and event._error is not None:
                raise event._error
    return not failed


def is_at(segment: Segment, place: Place) -> bool:
    """Whether nothing has to be moved: the contents are here, or there are none."""
    valid = segment.valid
    if place not in valid:
        return not valid
    event = valid[place]
    if event is not None and event._error is not None and len(valid) > 1:  # a move that failed
        del valid[place]
        return False
    return True


def _source(segment: Segment, place: Place) -> Place:
    """The best place to take a segment from: one that the driver reaches, one that the host sees, any."""
    usable = [other for other in segment.valid if other.home is None or other.visible or not other.home.context.closed]
    if not usable:
        raise InvalidError(
            "the newest contents of the buffer are in a context that was closed: close the buffer, or read it with "
            "get_host_access(), before the context"
        )
    for candidate in usable:
        if _reaches(candidate, place):
            return candidate
    for candidate in usable:
        if candidate.visible:
            return candidate
    return usable[0]


def _reaches(source: Place, target: Place) -> bool:
    """Whether one driver copies between two places that are both its own."""
    left, right = source.home, target.home
    if left is None or right is None or left.context.closed:
        return False
    if left is not right and (source.image or target.image):
        return False
    if left.context is right.context:
        return True
    backend = left.context._backend
    return backend is right.context._backend and backend.traits.memory_crosses_contexts


def _one_driver_copies(source: Place, target: Place) -> bool:
    """Whether one side's driver, or the host, reaches the other side: a driver refuses memory of its other contexts."""
    if source.visible and target.visible:
        return True
    left, right = source.home, target.home
    if left is not None and right is not None and left.context._backend is right.context._backend:
        return False
    return source.visible or target.visible


def _move(
    storage: Storage,
    run: Sequence[Segment],
    source: Place | None,
    target: Place,
    stream: CommandStream | None,
    moves: list[Event],
    here: Here | None,
) -> Event:
    """Copies neighbouring segments in one piece."""
    assert source is not None
    if not (_reaches(source, target) or _one_driver_copies(source, target)):
        host = storage.host_place()
        moves.extend(bring(storage, run, host))  # a driver waits for this one: not here
        source = host
    begin, nbytes = run[0].begin, run[-1].end - run[0].begin
    # The command that made the source newer has waited for earlier users of the target.
    waits: dict[Event, None] = {}
    for segment in run:
        event_before = segment.valid[source]
        if event_before is not None and is_pending(event_before):
            waits[event_before] = None
    event = _copy(source, target, begin, nbytes, tuple(waits), stream, here)
    if source is storage.origin:
        storage.uploads = [*filter(is_pending, storage.uploads), event]
    for segment in run:
        segment.valid[target] = event
        segment.add_reader(event)
    return event


def _copy(
    source: Place,
    target: Place,
    begin: int,
    nbytes: int,
    waits: tuple[Event, ...],
    stream: CommandStream | None,
    here: Here | None,
) -> Event:
    left, right = source.home, target.home
    copy = _Copy(source, target, begin, nbytes)
    if right is not None and not right.context.closed and (left is None or _reaches(source, target)):
        return copy.by_driver(right.stream, waits)
    if left is not None and right is None and not left.context.closed:
        if stream is not None and _is_of(stream, left):
            return copy.by_driver(stream, waits)
        if source.visible:
            return copy.by_driver(left.stream, waits)
    if source.visible and right is not None and not target.visible:
        return copy.by_driver(right.stream, waits)
    if source.visible and target.visible:
        return _by_host(partial(copy.by_host, None), waits, here)
    assert left is not None
    return _by_host(partial(copy.by_host, left), waits, here)


def _by_host(function: Callable[[], object], waits: tuple[Event, ...], here: Here | None) -> Event:
    event = Event(None, None, waits)
    event._task = node = Node(event, function=function)
    if here is None:
        pool.prepare()
        node.start(waits)
    else:
        here.append((node, waits))
    return event


def move_here(moves: Here) -> None:
    """Makes the moves; whatever happens, those that are left are made, or ended, by ``make_rest``."""
    pool.prepare()
    rest = partial(make_rest, moves)
    try:
        while moves:
            node, waits = moves[0]
            node.run_here(waits)
            del moves[0]
    except BaseException:
        pool.later(rest)
        raise


def make_rest(moves: Here) -> None:
    """After an interruption: lets threads of the pool make the moves that are left; runs on one of these."""
    while True:
        try:
            node, waits = moves.pop(0)
        except IndexError:  # another thread may be at it, too
            return
        node.resume(waits)


def _is_of(stream: CommandStream | None, home: Home) -> bool:
    return stream is not None and stream.context is home.context and stream.device == home.device


class _Copy:
    """A range of bytes from one place to another, or a whole image."""

    __slots__ = ("begin", "keep", "nbytes", "source", "target")

    def __init__(self, source: Place, target: Place, begin: int, nbytes: int) -> None:
        self.source, self.target, self.begin, self.nbytes = source, target, begin, nbytes
        self.keep = (source.memory, target.memory)

    def submit(self, stream: CommandStream, waits: Sequence[NativeEvent] = ()) -> NativeEvent:
        """Gives it to a driver."""
        source, target, backend = self.source, self.target, stream.backend
        image = source.image or target.image
        if image is None:
            to, from_ = target.address + self.begin, source.address + self.begin
            return backend.copy(stream.live, to, from_, self.nbytes, waits)
        desc = image.descriptor
        ends = [
            place.image or HostMemory(place.address, desc.extent, desc.pixel_size, self.nbytes)
            for place in (source, target)
        ]
        return backend.copy_image(stream.live, CopyRegion(ends[0], ends[1], desc.extent), waits)

    def by_driver(self, stream: CommandStream, waits: tuple[Event, ...]) -> Event:
        """Ordered by the driver."""
        return stream.submit(partial(self.submit, stream), waits, self.keep)

    def by_host(self, home: Home | None) -> None:
        """Made when the call returns: by the host itself, or by the driver of ``home``, which may wait in it."""
        access = HostAccess()
        with access.lock:
            access.require_memory()
            if home is None:
                ctypes.memmove(self.target.address + self.begin, self.source.address + self.begin, self.nbytes)
            else:
                self._fetch(home)

    def _fetch(self, home: Home) -> None:
        stream = home.stream
        event = self.submit(stream)
        try:
            stream.backend.wait_event(event)
        except KeyboardInterrupt:  # it writes memory that may end with the interruption
            stream.backend.wait_event(event)
            raise
        finally:
            stream.backend.release_event(event)
