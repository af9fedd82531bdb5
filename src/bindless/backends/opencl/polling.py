"""Waiting for events without blocking signals.

The driver's own wait ignores Ctrl-C, and the driver of a processor runs kernels on the waiting thread. So the main
thread, which alone handles signals, polls for a while, which is fastest for short work, and then lets another thread
wait in the driver. Other threads wait in the driver themselves.
"""

from __future__ import annotations

import functools
import queue as queues
import threading
import time
from collections.abc import Sequence
from typing import Any

from ...drivers import opencl as driver
from .errors import SUCCESS
from .fork_guard import in_fork

__all__ = ["Handles", "status_of", "statuses_of", "wait_for"]

lib, ffi = driver.lib, driver.ffi

_SPIN = 2e-4  # seconds
_STATUS = lib.CL_EVENT_COMMAND_EXECUTION_STATUS

_NULL = ffi.NULL
_ask = lib.clGetEventInfo
_ask_all = lib.bindless_ask_events
_new_status = functools.partial(ffi.new, ffi.typeof("cl_int *"))
_new_statuses = functools.partial(ffi.new, ffi.typeof("cl_int[]"))
_new_array = functools.partial(ffi.new, ffi.typeof("cl_event[]"))

_jobs: queues.SimpleQueue[tuple[Sequence[Any], threading.Event]] = queues.SimpleQueue()
_idle: queues.SimpleQueue[None] = queues.SimpleQueue()  # One item per thread; a finalizer may take one at any moment.


def status_of(handle: Any) -> int:
    """CL_COMPLETE, a larger number for an unfinished event, or the negative code of a failure of the command or of the
    query.
    """
    slot = _new_status()
    result = _ask(handle, _STATUS, 4, slot, _NULL)
    return int(slot[0] if result == SUCCESS else result)


def statuses_of(handles: Sequence[Any]) -> list[int]:
    """``status_of`` of several events."""
    count = len(handles)
    statuses = _new_statuses(count)
    _ask_all(count, _new_array(handles), statuses)
    found: list[int] = ffi.unpack(statuses, count)
    return found


def _serve() -> None:
    while True:
        handles, done = _jobs.get()
        try:
            _wait_in_driver(handles)
        finally:
            done.set()
            del handles, done
            _idle.put(None)


def _unfinished(handles: Sequence[Any]) -> list[Any]:
    return [handle for handle, status in zip(handles, statuses_of(handles)) if status > 0]


def _wait_in_driver(handles: Sequence[Any]) -> None:
    """Wait in the driver; the caller queries the events for failures afterwards."""
    lib.clWaitForEvents(len(handles), _new_array(handles))


def wait_for(handles: Sequence[Any]) -> None:
    """Wait until all events have ended, with or without failure. They stay alive until then, interrupted or not."""
    waited = _unfinished(handles)
    if not waited:
        return
    if threading.current_thread() is not threading.main_thread():
        _wait_in_driver(waited)
        return
    last, end = waited[-1], time.perf_counter() + _SPIN
    while time.perf_counter() < end:
        if status_of(last) <= 0:
            waited = _unfinished(waited)
            if not waited:
                return
            last = waited[-1]
    for handle in waited:  # The other thread continues if this one is interrupted.
        lib.clRetainEvent(handle)
    done = threading.Event()
    try:
        _idle.get_nowait()
    except queues.Empty:
        threading.Thread(target=_serve, name="bindless OpenCL wait", daemon=True).start()
    _jobs.put((Handles(waited), done))
    done.wait()


class Handles(list[Any]):
    """cl_events with their own references."""

    def __del__(self) -> None:
        if not in_fork():
            for handle in self:
                lib.clReleaseEvent(handle)
