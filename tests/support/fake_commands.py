"""Events of the fake backend, and its launches as prepared commands, which C code submits."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from bindless.backends.contract.prepared_command import PreparedCommand
from bindless.core._submission import Lane, Mark
from bindless.model.errors import Error

__all__ = ["FakeEvent", "FakeLane", "FakeMark", "event_of", "prepared_launch"]

_Submit = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)


class FakeEvent:
    def __init__(self) -> None:
        self.finished = threading.Event()
        self.running = False
        self.error: Error | None = None
        self.asked = False
        self.times = [time.monotonic_ns(), 0, 0]


class FakeLane(Lane):
    """The prepared commands of a queue, with the event of each."""

    def __init__(self) -> None:
        self.events: dict[int, FakeEvent] = {}
        self.raised: Error | None = None


class FakeMark(Mark):
    """The event of a prepared command, which C code makes."""

    @property
    def event(self) -> FakeEvent:
        return self.stream.events[self.index]  # type: ignore[no-any-return]


def event_of(event: FakeEvent | FakeMark) -> FakeEvent:
    return event.event if isinstance(event, FakeMark) else event


def prepared_launch(
    launch: Callable[..., FakeEvent],
    queue: Any,
    kernel: Any,
    global_size: tuple[int, ...],
    local_size: tuple[int, ...] | None,
    arguments: Sequence[bytes | int],
) -> PreparedCommand:
    """A launch with arguments that C code writes, by the backend's own function."""
    values = [
        ctypes.create_string_buffer(given, len(given)) if isinstance(given, bytes) else given for given in arguments
    ]
    lane = queue.lane

    def submit(_: int | None) -> int:
        given = [value if isinstance(value, int) else value.raw for value in values]
        try:
            lane.events[lane.submitted + 1] = launch(queue, kernel, global_size, local_size, given)
        except Error as error:
            lane.raised = error
            return 1
        return 0

    def refused(_: int) -> NoReturn:
        error, lane.raised = lane.raised, None
        assert error is not None
        raise error

    def settle(lane: FakeLane) -> None:
        lane.pending = None

    function = _Submit(submit)
    return PreparedCommand(
        submit=ctypes.cast(function, ctypes.c_void_p).value or 0,
        descriptions=(0,),
        lanes=(lane,),
        mark=FakeMark,
        places=tuple(None if isinstance(value, int) else ctypes.addressof(value) for value in values),
        sizes=tuple(len(given) if isinstance(given, bytes) else 0 for given in arguments),
        settle=settle,
        refused=refused,
        keep=(function, values),
    )
