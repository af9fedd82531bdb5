"""Commands that the host starts, or runs itself, once other commands are complete: methods of ``CommandStream``."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ..backends.contract import NativeEvent
from .active_streams import begin
from .event import Event
from .host_dependency import Node
from .worker_threads import pool

if TYPE_CHECKING:
    from .command_stream import CommandStream, Operation

__all__ = ["defer", "let_go", "run_on_host"]


def defer(
    stream: CommandStream,
    operation: Operation,
    waits: tuple[Event, ...],
    keep: tuple[object, ...],
    barrier: bool = False,
) -> Event:
    """Submits a command once the events that its driver cannot wait for allow it."""
    event = stream._event(stream, None, waits)

    def launch(natives: Sequence[NativeEvent]) -> None:
        with stream.lock:
            if stream.native is None:
                raise stream.unusable()
            stream.run(operation, natives, event, keep)
            stream.let_go(event)  # at once: who sees that the event is complete finds the queue idle

    _start(stream, Node(event, launch=launch), waits, keep, stream.in_order or barrier)
    return event


def run_on_host(
    stream: CommandStream,
    function: Callable[[], object],
    waits: tuple[Event, ...],
    keep: Sequence[object] = (),
    after: Iterable[Event] = (),
) -> Event:
    """Calls a function on another thread after events; later commands of an in-order queue come after it."""
    event = Event(stream, None, waits)
    _start(stream, Node(event, function=function), waits, keep, stream.in_order, after)
    return event


def _start(
    stream: CommandStream,
    node: Node,
    needs: tuple[Event, ...],
    keep: Sequence[object],
    blocks: bool,
    after: Iterable[Event] = (),
) -> None:
    event = node.event
    event._task = node
    pool.prepare()
    after = [*after]
    withdraw = partial(node.withdraw, after, threading.get_ident())
    try:
        with stream.lock:
            if stream.closed or stream.native is None:
                raise stream.unusable()
            begin(stream, keep)
            if stream.blocker is not None:
                after.append(stream.blocker)
            stream.tasks[event] = keep
            if blocks:
                stream.blocker = event
        node.start(needs, after)
    except BaseException:  # it shall hold up nobody
        pool.later(withdraw)
        raise


def let_go(stream: CommandStream, event: Event) -> None:
    """The host has done its part of a command."""
    with stream.lock:
        stream.tasks.pop(event, None)
        if stream.blocker is event:
            stream.blocker = None
