"""``Storage``: the contents of a buffer: place of the newest version of each part, and the commands that use it.

The bytes are divided into segments, split where accesses begin and end and joined again where neighbours are
equal. What a segment knows is all that later commands need: a command that nothing waits for any more is forgotten.
One lock serves all storages, so that the commands of several threads come in the same order everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...core import ownership
from ...core.lock import Lock
from ...core.ownership import FORKED
from ...model.arrays import Array
from ...model.errors import InvalidError, SyclRuntimeError
from ...submission.event import Event
from ...submission.host_dependency import Gate
from .replica import Home, Place

if TYPE_CHECKING:
    from .access_mode import Requirement

__all__ = ["Segment", "Storage", "is_pending", "lock", "unfinished"]

lock = Lock()
"""Lock of the dependency graph, held while a command group is inserted; no code waits under it."""

unfinished: set[Storage] = set()
"""Storages with a pending write-back. This reference keeps them alive if a buffer ends in a cycle of garbage."""

_MOST_READERS = 32

# Counts the forks on the way to this process.
_generation = 0


class Segment:
    """A range of bytes that was always used together.

    Attributes
    ----------
    begin, end : int
        Bytes.
    valid : dict[Place, Event | None]
        The places that hold the newest contents, each with the event after which it does (None: it does). Empty as
        long as nothing was written.
    before : tuple[Event, ...]
        What every later command comes after: the last command that wrote, and what the host holds.
    readers : list[Event]
        What a later command that writes comes after besides.
    """

    __slots__ = ("before", "begin", "end", "limit", "readers", "valid")

    def __init__(
        self,
        begin: int,
        end: int,
        valid: dict[Place, Event | None],
        before: tuple[Event, ...] = (),
        readers: list[Event] | None = None,
    ) -> None:
        self.begin, self.end = begin, end
        self.valid = valid
        self.before = before
        self.readers: list[Event] = [] if readers is None else readers
        self.limit = _MOST_READERS

    def split(self, at: int) -> Segment:
        """Cuts itself off at a byte; the rest."""
        rest = Segment(at, self.end, dict(self.valid), self.before, list(self.readers))
        self.end = at
        return rest

    def resembles(self, other: Segment) -> bool:
        """Whether the segment equals a neighbour."""
        return self.before == other.before and self.readers == other.readers and self.valid == other.valid

    def add_reader(self, event: Event) -> None:
        """Notes a command that reads; those that are complete are forgotten now and then."""
        readers = self.readers
        if readers:
            last, stream = readers[-1], event._stream
            if stream is last._stream and stream is not None and stream.in_order and last._native and event._native:
                readers[-1] = event  # comes after it
                return
        readers.append(event)
        if len(readers) > self.limit:
            self.readers = [reader for reader in readers if is_pending(reader) and not reader._poll()]
            self.limit = max(_MOST_READERS, 2 * len(self.readers))


def is_pending(event: Event) -> bool:
    """Whether later commands depend on a command: it may be unfinished, or its failure unreported.

    One whose queue was seen idle since is complete.
    """
    stream = event._stream
    if event._done:
        error = event._error
        return error is not None and stream is not None and stream.log.owes(error)
    if event._native is not None or event._task is not None:
        return stream is None or stream._dirty
    return any(is_pending(part) for part in event._parts)


class Storage:
    """The contents of a buffer and of all buffers that share them.

    Attributes
    ----------
    nbytes : int
        Size.
    segments
        In order, without gaps; none if there are no bytes.
    places : dict[Home, Place]
        The memory in each home.
    host : Place | None
        Memory of the host that may be written; made when it is needed.
    origin : Place | None
        The user's own memory, as long as it is used.
    uploads : list[Event]
        Commands that read the user's memory.
    modified
        Whether anything was written.
    open
        Whether it can be used.
    waits
        Whether its end waits for everything that uses it, as the memory is someone else's.
    adopted
        Whether its memory was made elsewhere.
    noun
        What messages call it.
    returns : Place | None
        Someone else's memory that has the newest contents at the end, too.
    forked : bool
        Whether it was made before this process was forked.
    """

    def __init__(
        self,
        nbytes: int,
        origin: Array | None,
        writable: bool,
        allocate: Callable[[Home, int], Place] = Home.allocate,
    ) -> None:
        self.nbytes = nbytes
        self._allocate = allocate
        self.places: dict[Home, Place] = {}
        self.host: Place | None = None
        self.origin: Place | None = None
        self.uploads: list[Event] = []
        self.modified = False
        self.open = True
        self.waits = False
        self.adopted = False
        self.noun = "buffer"
        self.returns: Place | None = None
        self._generation = _generation
        valid: dict[Place, Event | None] = {}
        if origin is not None:
            self.origin = Place.of_array(origin)
            valid[self.origin] = None
            if writable:
                self.host = self.origin
        self.segments = [Segment(0, nbytes, valid)] if nbytes else []

    @property
    def forked(self) -> bool:
        return self._generation != _generation

    def require_open(self) -> None:
        """Raises ``InvalidError`` once the buffer is closed, ``SyclRuntimeError`` after a fork."""
        if self.forked:
            raise SyclRuntimeError(f"this {self.noun} {FORKED}")
        if not self.open:
            raise InvalidError(f"this {self.noun} was closed: make a new one")

    # ------------------------------------------------------------------ places

    @classmethod
    def filled(
        cls,
        place: Place,
        nbytes: int,
        available: Event | None,
        *,
        waits: bool,
        returns: bool = False,
        allocate: Callable[[Home, int], Place] = Home.allocate,
    ) -> Storage:
        """Contents that lie in memory of a device from the beginning, or once an event says so."""
        assert place.home is not None
        storage = cls(nbytes, None, False, allocate)
        storage.places[place.home] = place
        storage.adopted, storage.waits = True, waits
        storage.returns = place if returns else None
        segment = storage.segments[0]
        segment.valid = {place: available}
        if available is not None:
            segment.before = (available,)
            storage.uploads = [available]
        return storage

    def place_in(self, home: Home) -> Place:
        """The memory in a home, allocated on first use."""
        place = self.places.get(home)
        if place is None:
            place = self.places[home] = self._allocate(home, self.nbytes)
        return place

    def host_place(self) -> Place:
        """Memory of the host that may be written."""
        if self.host is None:
            self.host = Place.of_array(np.empty(self.nbytes, np.uint8))
        return self.host

    def visible_place(self, segments: Sequence[Segment], *, writable: bool) -> Place:
        """Host-accessible place of these segments, with the fewest moves."""
        for segment in segments:
            for place in segment.valid:
                if place.visible and not (writable and place is self.origin and place is not self.host):
                    return place
        return self.host_place()

    def protect_origin(self) -> None:
        """The user's memory is not written from now on."""
        if self.host is self.origin:
            self.host = None

    # ------------------------------------------------------------------ segments

    def between(self, begin: int, end: int) -> list[Segment]:
        """The segments of a range of bytes, which starts and ends with one."""
        segments = self.segments
        if len(segments) == 1 and segments[0].begin == begin and segments[0].end == end:
            return segments
        if begin >= end:
            return []
        first = self._cut(begin)
        return segments[first : self._cut(end)]

    def _cut(self, at: int) -> int:
        """Index of the segment that begins at a byte."""
        segments = self.segments
        low, high = 0, len(segments)
        while low < high:
            middle = (low + high) // 2
            if segments[middle].end <= at:
                low = middle + 1
            else:
                high = middle
        if low < len(segments) and segments[low].begin < at:
            segments.insert(low + 1, segments[low].split(at))
            return low + 1
        return low

    def join(self, begin: int, end: int) -> None:
        """Joins what has become alike in and around a range of bytes."""
        segments = self.segments
        if len(segments) == 1:
            return
        index = max(self._cut(begin) - 1, 0)
        while index + 1 < len(segments) and segments[index].begin < end:
            this, following = segments[index], segments[index + 1]
            if this.resembles(following):
                this.end = following.end
                del segments[index + 1]
            else:
                index += 1

    # ------------------------------------------------------------------ what commands wait for and leave

    @classmethod
    def waits_of(cls, segments: Iterable[Segment], place: Place, requirement: Requirement, waits: list[Event]) -> None:
        """Adds what a command has to wait for that uses segments at a place, where they are valid if needed."""
        for segment in segments:
            cls.wait_of(segment, place, requirement, waits)

    @staticmethod
    def wait_of(segment: Segment, place: Place, requirement: Requirement, waits: list[Event]) -> None:
        """Append the events that a command on one segment waits for."""
        before = segment.before
        for event in before:
            if is_pending(event):
                waits.append(event)
        if requirement.needs:
            event_there = segment.valid.get(place)
            if event_there is not None and event_there not in before and is_pending(event_there):
                waits.append(event_there)
        if requirement.writes and segment.readers:
            waits.extend([event for event in segment.readers if is_pending(event)])

    def take_part(
        self, order: tuple[int, int], data: tuple[int, int], place: Place, requirement: Requirement, event: Event
    ) -> None:
        """Notes a command that uses the bytes ``data`` at a place, and comes in order for the bytes ``order``."""
        segments = self.between(*order)
        if not requirement.writes:
            for segment in segments:
                segment.add_reader(event)
            return
        self.modified = True
        for segment in segments:
            segment.before = (event,)
            segment.readers = []
        for segment in segments if data == order else self.between(*data):
            segment.valid = {place: event}
        self.join(*order)

    def take_segment(self, segment: Segment, place: Place, requirement: Requirement, event: Event) -> None:
        """``take_part`` of the only segment there is."""
        if requirement.writes:
            self.modified = True
            segment.before, segment.valid = (event,), {place: event}
            if segment.readers:
                segment.readers = []
        else:
            segment.add_reader(event)

    def hold(
        self, order: tuple[int, int], data: tuple[int, int], place: Place, requirement: Requirement, event: Event
    ) -> None:
        """Notes a host accessor: everything later comes after it, other host accessors apart."""
        for segment in self.between(*order):
            gates = tuple(other for other in segment.before if isinstance(other._task, Gate))
            segment.before = (*gates, event)
            if requirement.writes:
                segment.readers = []
        if requirement.writes:
            self.modified = True
            for segment in self.between(*data):
                segment.valid = {place: event}
        self.join(*order)

    def users(self) -> list[Event]:
        """Return the events of submitted commands that may be unfinished."""
        events: dict[Event, None] = {}
        for segment in self.segments:
            for event in (*segment.before, *segment.readers):
                if is_pending(event):
                    events[event] = None
        return list(events)


def _after_fork() -> None:
    global lock, _generation
    lock = Lock()
    _generation += 1
    unfinished.clear()


ownership.after_fork(_after_fork)
