"""Pending waits for external semaphores, which may never be signalled."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import ref

from ..core.lock import Lock
from ..model.enums import EventStatus

if TYPE_CHECKING:
    from .command_stream import CommandStream
    from .event import Event

__all__ = ["OutsideWaits", "told"]

_FIRST_LOOK = 64
"""So many waits are kept before any is looked at whether it is over."""


class OutsideWaits(list[tuple[object, "int | None", "ref[Event]"]]):
    """The waits that an in-order queue was given and that may not be over, oldest first.

    The events are the caller's: of a wait whose event was dropped nothing is known, unless a later one is over.
    """

    __slots__ = ("_lock", "_most")

    def __init__(self) -> None:
        super().__init__()
        self._lock = Lock()
        self._most = _FIRST_LOOK

    def add(self, semaphore: object, value: int | None, event: Event) -> None:
        """Takes one down that was just submitted; ``value`` is None for binary semaphores."""
        self.append((semaphore, value, ref(event)))
        if len(self) > self._most:
            self._forget()

    def _forget(self) -> None:
        """Leaves those not known to be over, and one of each semaphore's whose events were dropped."""
        with self._lock:
            count = len(self)  # other threads may add some meanwhile
            rest = self._rest()[:count]
            last = {id(row[0]): row for row in rest}
            self[:count] = [row for row in rest if row[2]() is not None or last[id(row[0])] is row]
            self._most = 2 * len(self) + _FIRST_LOOK

    def _rest(self) -> list[tuple[object, int | None, ref[Event]]]:
        rows = self.copy()
        for index in reversed(range(len(rows))):
            event = rows[index][2]()
            # The queue is in order: those before one that is over, or that it has come to, are over.
            if event is not None and event._poll():
                return rows[index + 1 :]
            if event is not None and event.status is EventStatus.running:
                return rows[index:]
        return rows

    def candidates(self) -> dict[object, int | None]:
        """The semaphores of which one holds the queue, each with its value."""
        found: dict[object, int | None] = {}
        for semaphore, value, event in self._rest():
            found[semaphore] = value
            if event() is not None:
                break  # this one is not over, and the queue comes to later ones after it
        return found


def told(stream: CommandStream | None, others: set[CommandStream]) -> str:
    """The semaphores that hold a queue's commands up, as the end of a sentence; nothing without any.

    Parameters
    ----------
    stream : CommandStream | None
        Of the queue.
    others : set[CommandStream]
        Of queues whose commands those of this one may wait for.
    """
    own = {} if stream is None else stream.outside.candidates()
    if own:
        return f": its queue waits for {_listed(own)}"
    waits = [each.outside.candidates() for each in others if each is not stream]
    texts = [_listed(found) for found in waits if found]
    return f". It may depend on a queue that waits for {'; on one that waits for '.join(texts)}" if texts else ""


def _listed(waits: dict[object, int | None]) -> str:
    names = [f"{each!r}" if value is None else f"{each!r} to come to {value}" for each, value in waits.items()]
    end = "which nobody has signalled" if len(names) == 1 else "one of which nobody has signalled"
    return f"{' or '.join(names)}, {end}"
