"""Finalizers that add host tasks to a queue while its host tasks are listed."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindless as bl
from bindless.submission import active_streams

LISTED: dict[str, Callable[[bl.Queue, Any], object]] = {
    "barrier": lambda queue, _: queue.ext_oneapi_submit_barrier(),
    "wait": lambda queue, _: queue._stream.settle(),
    "wait for users": lambda _, owner: active_streams.wait_for_users(owner),
    "events of users": lambda _, owner: active_streams.events_of_users(owner),
    "the interpreter's end": lambda *_: active_streams._endless_host_tasks(),
}


class Dropped:
    """Garbage whose finalizer adds or removes a task, and leaves garbage again."""

    def __init__(self, tasks: dict[bl.Event, Any], events: list[bl.Event]) -> None:
        self.tasks, self.events, self.cycle = tasks, events, self

    def __del__(self) -> None:
        if self.events:
            for event in self.events[: 1 + len(self.tasks) % 2]:
                if self.tasks.pop(event, None) is None:
                    self.tasks[event] = (None,)
            Dropped(self.tasks, self.events)


@pytest.mark.parametrize("name", LISTED)
def test_tasks_are_listed_while_finalizers_change_them(device: bl.Device, name: str) -> None:
    """Up to Python 3.11 garbage is collected wherever an object is made, also within a call of ``tuple``."""
    with bl.Queue(device) as queue:
        owner = bl.usm_empty(4, np.float32, queue)._owner
        tasks = queue._stream.tasks
        events = [queue.ext_oneapi_submit_barrier() for _ in range(5)]
        queue.wait()
        tasks.update((event, (None,)) for event in events[2:])
        threshold = gc.get_threshold()
        gc.collect()
        try:
            Dropped(tasks, events)
            gc.set_threshold(1)
            for count in range(8):
                shift = [[] for _ in range(count)]  # the collection is at another object each time
                LISTED[name](queue, owner)
                del shift
        finally:
            gc.set_threshold(*threshold)
            events.clear()
            gc.collect()
            tasks.clear()
