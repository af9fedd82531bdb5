"""The wait list of a command, made from the argument ``depends_on``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..backends.contract import NativeEvent
from ..model.errors import InvalidError
from ..model.message_values import shown
from .event import Event

if TYPE_CHECKING:
    from .command_stream import CommandStream

__all__ = ["comes_later", "waits_of"]


def waits_of(
    stream: CommandStream, depends_on: Iterable[Event] | Event
) -> tuple[tuple[Event, ...], list[NativeEvent], list[Event]]:
    """The events to wait for, the native ones among them, and those that only the host can wait for.

    Raises
    ------
    InvalidError
        Something is not an event.
    """
    if type(depends_on) is tuple:
        events: tuple[Event, ...] = depends_on
    elif isinstance(depends_on, Event):
        events = (depends_on,)
    else:
        try:
            events = tuple(depends_on)
        except TypeError:
            raise InvalidError(f"depends_on={shown(depends_on)}: it takes an Event or several") from None
    natives: list[NativeEvent] = []
    others: list[Event] = []
    for event in events:
        if not isinstance(event, Event):
            raise InvalidError(f"depends_on contains {shown(event)}: it takes an Event or several")
        event._collect(stream, natives, others)
    return events, natives, others


def comes_later(event: Event) -> bool:
    """Whether a command waits for the host task that is asking."""
    task = event._task
    return task is not None and task.held_up_here() is not None
