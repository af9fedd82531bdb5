"""Dependencies of a command group with accessors: waits, migrations, and the order of later groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ...model.enums import Target
from ...model.errors import InvalidError
from ...submission.event import Event
from . import storage as _storage
from .access_mode import RO, Requirement, combined
from .migration import bring, is_at
from .replica import Home, Place, home_of
from .storage import Segment, Storage

if TYPE_CHECKING:
    from ..device.queue_base import QueueBase
    from .accessor import Accessor

__all__ = ["submit_group"]

Span = tuple[int, int]
_device = Target.device


# One requirement of a command group: the storage, the bytes of the buffer or sub-buffer, which decide the order of
# commands, the bytes that the command touches, where it finds them, and how it accesses them.
_Use = tuple[Storage, Span, Span, Place, Requirement]


def submit_group(
    queue: QueueBase,
    accessors: Sequence[Accessor],
    command: Callable[..., Event],
    arguments: tuple[Any, ...],
    options: dict[str, Any],
    depends_on: tuple[Event, ...],
    to_host: bool = False,
) -> Event:
    """Submit the command of a group in the order of the dependency graph.

    Parameters
    ----------
    queue : Queue
        Where it runs.
    accessors : Sequence[Accessor]
        Its requirements.
    command : Callable[..., Event]
        Submits the command; called with ``arguments``, ``options`` and ``depends_on``, what it comes after.
    depends_on : tuple[Event, ...]
        What the group names itself.
    to_host : bool, default False
        Whether the data is wanted in the buffer's own memory on the host, instead of on the device.

    Raises
    ------
    InvalidError
        A closed buffer, or accessors that contradict each other.
    MemoryAllocationError
        There is no room for the data.
    """
    with _storage.lock:
        waits = list(depends_on)
        home = queue._home
        if isinstance(home, Home) and not to_host:
            plain = _plain(home, accessors, waits)
            if plain is not None:
                try:
                    event = command(*arguments, depends_on=_distinct(queue, waits), **options)
                finally:
                    for accessor in accessors:
                        accessor._place = None
                try:
                    _take_segments(plain, event)
                except BaseException:  # interrupted: the command is on its way, later ones must know of it
                    _take_segments(plain, event)
                    raise
                return event
        try:
            uses = _uses_on_host(accessors) if to_host else _uses(queue, accessors)
            for storage, order, data, place, requirement in uses:
                if to_host:
                    waits += _bring(queue, storage, data, place)
                    continue
                if requirement.needs:
                    part = storage.between(*data)
                    if len(part) != 1 or not is_at(part[0], place):
                        bring(storage, part, place)
                storage.waits_of(storage.between(*order), place, requirement, waits)
            event = command(*arguments, depends_on=_distinct(queue, waits), **options)
        finally:
            for accessor in accessors:
                accessor._place = None
        try:
            _take_parts(uses, event)
        except BaseException:
            _take_parts(uses, event)
            raise
    return event


def _take_segments(rows: Iterable[tuple[Storage, Segment, Place, Requirement]], event: Event) -> None:
    """Note the command of a group; a second time it changes nothing."""
    for storage, segment, place, requirement in rows:
        storage.take_segment(segment, place, requirement, event)


def _take_parts(uses: Iterable[_Use], event: Event) -> None:
    """Note the command of a group that uses parts of storages; a second time it changes nothing."""
    for storage, order, data, place, requirement in uses:
        storage.take_part(order, data, place, requirement, event)


def _distinct(queue: QueueBase, events: list[Event]) -> tuple[Event, ...]:
    """Each once; those of an in-order queue itself, which come before anyway, not at all."""
    stream = queue._stream
    if stream.in_order:
        events = [event for event in events if event._stream is not stream or not event._native or event._error]
    return tuple(dict.fromkeys(events)) if len(events) > 1 else tuple(events)


def _plain(
    home: Home, accessors: Sequence[Accessor], waits: list[Event]
) -> list[tuple[Storage, Segment, Place, Requirement]] | None:
    """Fast path of common groups: distinct buffers, used whole, with contents in place."""
    rows: list[tuple[Storage, Segment, Place, Requirement]] = []
    for accessor in accessors:
        buffer = accessor.buffer
        storage, span = buffer._storage, buffer._span
        segments, place, requirement = storage.segments, storage.places.get(home), accessor._requirement
        if place is None or len(segments) != 1 or accessor._data is not span or accessor.target is not _device:
            return None
        segment = segments[0]
        if segment.begin != span[0] or segment.end != span[1]:
            return None
        for row in rows:
            if row[1] is segment:
                return None
        if requirement.needs and not is_at(segment, place):
            return None
        rows.append((storage, segment, place, requirement))
    for (_, segment, place, requirement), accessor in zip(rows, accessors):
        accessor._place = place
        Storage.wait_of(segment, place, requirement, waits)
    return rows


def _bring(queue: QueueBase, storage: Storage, data: Span, place: Place) -> list[Event]:
    """Moves to the host, and what else makes the data valid there; what the moves wait for is left out."""
    segments = storage.between(*data)
    moves = bring(storage, segments, place, queue._stream)
    waits: list[Event] = []
    storage.waits_of(segments, place, RO, waits)
    covered = {event for move in moves for event in move.get_wait_list()}
    return [*moves, *(event for event in waits if event not in covered)]


def _uses(queue: QueueBase, accessors: Sequence[Accessor]) -> list[_Use]:
    """The requirements, reading ones first, with the place of each; accessors learn theirs."""
    home = queue._home
    if not isinstance(home, Home):
        home = queue._home = home_of(queue.context, queue.device)
    uses: list[_Use] = []
    simple = True
    storages: set[Storage] = set()
    for accessor in accessors:
        storage = accessor.buffer._storage
        storage.require_open()
        if accessor.target is Target.host_task:
            simple = False
            segments = storage.between(*accessor._data)
            place = storage.visible_place(segments, writable=accessor._requirement.writes)
        else:
            if accessor.target is not Target.device:
                simple = False
            place = storage.places.get(home) or storage.place_in(home)
        accessor._place = place
        storages.add(storage)
        uses.append((storage, accessor.buffer._span, accessor._data, place, accessor._requirement))
    if simple and len(storages) == len(uses):
        return uses
    _check_targets(accessors)
    return _resolve(uses)


def _uses_on_host(accessors: Sequence[Accessor]) -> list[_Use]:
    uses: list[_Use] = []
    for accessor in accessors:
        storage = accessor.buffer._storage
        storage.require_open()
        accessor._place = storage.host_place()
        uses.append((storage, accessor.buffer._span, accessor._data, accessor._place, RO))
    return uses


def _resolve(uses: Iterable[_Use]) -> list[_Use]:
    """Requirements of the same bytes and target become one, as the table says."""
    requirements: dict[tuple[Storage, Span, Span, Place], Requirement] = {}
    for storage, order, data, place, requirement in uses:
        key = storage, order, data, place
        requirements[key] = combined(requirements.get(key, requirement), requirement)
    result = [(*key, requirement) for key, requirement in requirements.items()]
    result.sort(key=lambda use: use[4] is not RO)
    return result


def _check_targets(accessors: Sequence[Accessor]) -> None:
    """Refuse a group that writes the same memory through two targets, or writes constant memory."""
    for index, one in enumerate(accessors):
        for other in accessors[:index]:
            if (
                one.buffer._storage is other.buffer._storage
                and one.target is not other.target
                and one._requirement.writes
                and other._requirement.writes
                and max(one.buffer._span[0], other.buffer._span[0]) < min(one.buffer._span[1], other.buffer._span[1])
            ):
                raise InvalidError(
                    f"a command group accesses a buffer as {other._requirement} on target {str(other.target)!r} and as "
                    f"{one._requirement} on target {str(one.target)!r}: only one of the requisites may have write "
                    "access; read through the other, or use one target for both"
                )
    for one in accessors:
        if one.target is Target.constant_buffer and one._requirement.writes:
            raise InvalidError(
                f"an accessor of target 'constant_buffer' with mode {str(one.mode)!r}: constant memory is only read; "
                "use mode 'read', or target 'device'"
            )
