"""Questions to a driver, by C code and by Python, that a function of the test holds up."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

import bindless as bl

__all__ = ["WAYS", "block", "submitted"]

WAYS = ("in C", "in Python")

_Query = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
_Wait = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)


def submitted(queue: bl.Queue) -> bl.Event:
    """The event of a command that C code submits in every back end."""
    desc = bl.ImageDescriptor(4, 4)
    memory = bl.ImageMem(desc, queue)
    queue.ext_oneapi_copy(np.zeros(desc.shape, desc.dtype), memory).wait()
    handle = bl.create_image(memory, desc, queue)
    coords, out = bl.usm_empty((2, 2), np.int32, queue), bl.usm_empty((2, 4), np.float32, queue)
    queue.memset(coords, 0).wait()
    event = bl.fetch_image(queue, handle, coords, out=out)
    assert isinstance(event, bl.Event)
    return event


def block(
    way: str,
    event: bl.Event,
    thread: threading.Thread,
    question: Callable[[], object],
    set_attribute: Callable[[Any, str, Any], object],
) -> object:
    """Make a thread's first question about an event call ``question``; later ones find the event complete.

    Returns
    -------
    object
        What has to live until the last question.
    """
    stream: Any = event._stream
    mark: Any = event._native
    asked: list[bool] = []

    def first() -> bool:
        if threading.current_thread() is not thread or asked:
            return False
        asked.append(True)
        question()
        return True

    if way == "in C":
        lane: Any = mark.stream
        wait, query = _Wait(lambda lane, questions: first() * 0), _Query(lambda event: first() * 0)
        lane.wait_for, lane.query = (ctypes.cast(each, ctypes.c_void_p).value for each in (wait, query))
        return wait, query
    lane = getattr(mark, "stream", None)
    if hasattr(lane, "wait_for"):
        lane.wait_for = lane.query = 0
    backend = type(stream.backend)
    answer = backend.wait_event

    def held_up(self: Any, native: Any) -> None:
        first()
        answer(self, native)

    set_attribute(backend, "wait_event", held_up)
    return None
