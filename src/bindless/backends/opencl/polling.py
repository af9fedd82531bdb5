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

from ...drivers import opencl as driver
from ...drivers.common.cffi_types import CData
from .errors import SUCCESS

__all__ = ["new_events", "status_of", "wait_for"]

lib, ffi = driver.lib, driver.ffi

_SPIN = 200_000  # nanoseconds
_PAUSE = 0.001  # seconds
_STATUS = lib.CL_EVENT_COMMAND_EXECUTION_STATUS

_NULL = ffi.NULL
_ask = lib.clGetEventInfo
_new_status = functools.partial(ffi.new, ffi.typeof("cl_int *"))
_new_array = functools.partial(ffi.new, ffi.typeof("cl_event[]"))

_jobs: queues.SimpleQueue[tuple[int, CData, threading.Lock]] = queues.SimpleQueue()
_idle: queues.SimpleQueue[None] = queues.SimpleQueue()  # One item per thread; a finalizer may take one at any moment.


def status_of(handle: CData) -> int:
    """CL_COMPLETE, a larger number for an unfinished event, or the negative code of a failure of the command or of the
    query.
    """
    slot = _new_status()
    result = _ask(handle, _STATUS, 4, slot, _NULL)
    return int(slot[0] if result == SUCCESS else result)


def _serve() -> None:
    """Waits for others. No lack of memory ends the thread: its place in ``_idle`` promises that it goes on."""
    while True:
        try:
            count, events, done = _jobs.get()
        except MemoryError:
            time.sleep(_PAUSE)
            continue
        while True:
            try:
                lib.clWaitForEvents(count, events)  # The caller queries the events for failures afterwards.
                break
            except MemoryError:
                time.sleep(_PAUSE)
        done.release()
        del events, done
        _idle.put(None)


def new_events(most: int) -> CData:
    """An array of cl_events, which releases those that C writes into it; signals do not interrupt that."""
    return ffi.gc(_new_array(most + 1), lib.bindless_release_events)


def wait_for(handles: Sequence[CData]) -> None:
    """Wait until all events have ended, with or without failure. They stay alive until then, interrupted or not."""
    interruptible = threading.current_thread() is threading.main_thread()
    events = _new_array(handles)
    left = lib.bindless_poll(len(handles), events, _SPIN if interruptible else 0)
    if not left:
        return
    if not interruptible:
        lib.clWaitForEvents(left, events)
        return
    held = new_events(left)  # The other thread continues if this one is interrupted.
    lib.bindless_hold_events(left, events, held)
    done = threading.Lock()
    done.acquire()
    try:
        _idle.get_nowait()
    except queues.Empty:
        try:
            threading.Thread(target=_serve, name="bindless OpenCL wait", daemon=True).start()
        except RuntimeError:  # the system has no more threads
            while left:
                time.sleep(_PAUSE)
                left = lib.bindless_poll(left, events, 0)
            return
    _jobs.put((left, held, done))
    done.acquire()
