"""Ownership of external memory objects: acquired before the first command that uses them, released before the host
waits (OpenCL API specification, section on acquiring and releasing external memory objects).

Only semaphores and waits for a queue mark the end of a use. So a mapped object is acquired by the first command that
follows, and released by a signal, by a wait, and before the host waits for the queue that acquired it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...core.lock import Lock
from ...drivers import opencl as driver
from ...drivers.common.cffi_types import CData
from .errors import SUCCESS, check, fail, release
from .event import Event, address_of, array_of
from .fork_guard import in_fork

if TYPE_CHECKING:
    from .context import Context
    from .queue import Queue

__all__ = ["Handover"]

lib, ffi = driver.lib, driver.ffi

_ACQUIRE, _RELEASE = "clEnqueueAcquireExternalMemObjectsKHR", "clEnqueueReleaseExternalMemObjectsKHR"


class Handover:
    """The external memory objects of a context.

    Attributes
    ----------
    away
        released objects, which the next command acquires: cl_mem by number.
    here
        acquired objects, which commands may use.
    holder
        queue of the last acquisition.
    """

    def __init__(self, context: Context) -> None:
        self.away: dict[int, CData] = {}
        self.here: dict[int, CData] = {}
        self.holder: Queue | None = None
        self._context = context
        self._lock = Lock()
        self._busy = False
        self._later: deque[Callable[[], None]] = deque()  # changes that finalizers request during another change
        self._released: Event | None = None  # The event of the last release, and its queue.
        self._giver: Queue | None = None

    def add(self, memory: CData) -> None:
        """Register a new cl_mem for acquisition before its use."""
        self._change(lambda: self.away.update({_number(memory): memory}))

    def drop(self, memory: CData) -> None:
        """Release a cl_mem at its end, and remove it; commands that use it are complete. A request by the garbage
        collector during another change is deferred until that change is complete.
        """
        if not in_fork():
            check(lib.clRetainMemObject(memory), "clRetainMemObject")
            self._change(lambda: self._drop(memory))

    def take(self, queue: Queue, waits: Sequence[Event]) -> None:
        """Acquire the released objects, for a command of the queue that waits for events."""
        self._change(lambda: self._take(queue, waits))

    def give(self, queue: Queue) -> None:
        """Release the acquired objects, after the work of the queue."""
        self._change(lambda: self._give(queue))

    # ------------------------------------------------------------------ one change after the other

    def _change(self, change: Callable[[], None]) -> None:
        """Make a change, then those that finalizers requested during it on this thread: finalizers run anywhere."""
        with self._lock:
            if self._busy:
                self._later.append(change)
                return
            try:
                self._make(change)
            finally:
                while self._later:
                    self._make(self._later.popleft())

    def _make(self, change: Callable[[], None]) -> None:
        self._busy = True
        try:
            change()
        finally:
            self._context.state.needs_acquire = bool(self.away)
            self._busy = False

    def _drop(self, memory: CData) -> None:
        number = _number(memory)
        self.away.pop(number, None)
        used = self.here.pop(number, None) is not None
        if used and self.holder is not None and self.holder.handle is not None:
            _enqueue(self.holder, _RELEASE, {number: memory})
        release(lib.clReleaseMemObject(memory), "clReleaseMemObject")

    def _take(self, queue: Queue, waits: Sequence[Event]) -> None:
        if self.away:
            events = waits if self._released is None or self._giver is queue else [*waits, self._released]
            if events:
                _stop(queue, events)
            _enqueue(queue, _ACQUIRE, self.away)
            if not queue.in_order:
                _stop(queue)
            self.here.update(self.away)
            self.away.clear()
            self.holder = queue

    def _give(self, queue: Queue) -> None:
        if not self.here:
            return
        if queue.handle is not None:  # Otherwise the queue has ended meanwhile, and its work with it.
            if not queue.in_order:
                _stop(queue)
            self._released = _enqueue(queue, _RELEASE, self.here)
        self.away.update(self.here)
        self.here.clear()
        self.holder, self._giver = None, queue


def _number(memory: CData) -> int:
    return int(ffi.cast("uintptr_t", memory))


def _stop(queue: Queue, waits: Sequence[Event] = ()) -> None:
    """Order later commands after events, or after all earlier commands."""
    events = array_of(waits) if waits else ffi.NULL
    result = lib.clEnqueueBarrierWithWaitList(queue.handle, len(waits), events, ffi.NULL)
    check(result, "clEnqueueBarrierWithWaitList", "around external memory")


def _enqueue(queue: Queue, call: str, objects: dict[int, CData]) -> Event:
    listed, slot = ffi.new("cl_mem[]", list(objects.values())), ffi.new("cl_event *")
    result = getattr(lib, call)(queue.handle, len(objects), listed, 0, ffi.NULL, slot)
    if result != SUCCESS:
        fail(result, call, f"{len(objects)} external memory objects")
    return Event(address_of(slot[0]), queue)
