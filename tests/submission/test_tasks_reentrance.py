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
    """Garbage whose finalizer adds a task, and leaves garbage again."""

    def __init__(self, tasks: dict[bl.Event, Any], added: list[bl.Event]) -> None:
        self.tasks, self.added, self.cycle = tasks, added, self

    def __del__(self) -> None:
        if self.added:
            self.tasks[self.added.pop()] = ()
            Dropped(self.tasks, self.added)


@pytest.mark.parametrize("name", LISTED)
def test_tasks_are_listed_while_finalizers_add_some(device: bl.Device, name: str) -> None:
    """Up to Python 3.11 garbage is collected wherever an object is made, also within a call of ``tuple``."""
    with bl.Queue(device) as queue:
        owner = bl.usm_empty(4, np.float32, queue)._owner
        tasks = queue._stream.tasks
        events = [queue.ext_oneapi_submit_barrier() for _ in range(200)]
        queue.wait()
        tasks.update((events.pop(), ()) for _ in range(3))
        threshold = gc.get_threshold()
        gc.collect()
        try:
            Dropped(tasks, events)
            gc.set_threshold(1)
            for _ in range(5):
                LISTED[name](queue, owner)
        finally:
            gc.set_threshold(*threshold)
            events.clear()
            gc.collect()
            added = len(tasks) - 3
            tasks.clear()
        assert added > 0 or gc.get_threshold() != threshold
