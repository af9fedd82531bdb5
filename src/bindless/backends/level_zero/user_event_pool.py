"""Event pools whose events the program itself signals, resets and waits for, also between processes."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.lock import Lock
from ...drivers import level_zero as driver
from ...drivers.common.cffi_types import CData
from ...model.enums import Errc
from ...model.errors import InvalidError
from .context import Context
from .errors import NOT_READY, check, release
from .event import Event
from .fork_guard import in_fork, refuse_in_fork
from .queue import Queue

__all__ = [
    "SharedPool",
    "close_event_pool",
    "create_event_pool",
    "enqueue_reset",
    "enqueue_signal",
    "enqueue_wait",
    "export_event_pool",
    "open_event_pool",
    "pool_event",
    "reset_event",
    "signal_event",
    "wait_pool_event",
]

lib, ffi = driver.lib, driver.ffi

# Interval of a wait's returns, so that signals such as Ctrl-C are handled.
_SLICE = 50_000_000  # nanoseconds


class SharedPool:
    """A ze_event_pool_handle_t and the events created from it.

    Attributes
    ----------
    handle
        the pool; None after ``close``.
    opened
        whether another process created it.
    """

    def __init__(self, handle: CData, opened: bool) -> None:
        self.handle = handle
        self.opened = opened
        self._events: dict[int, CData] = {}
        self._lock = Lock()

    def event(self, index: int) -> CData:
        """The ze_event_handle_t at an index."""
        with self._lock:
            if self.handle is None:
                raise InvalidError("this event pool was closed", backend="level_zero")
            if index not in self._events:
                scope = lib.ZE_EVENT_SCOPE_FLAG_HOST
                desc = driver.make_struct("ze_event_desc_t", index=index, signal=scope, wait=scope)
                slot = ffi.new("ze_event_handle_t *")
                if index in self._events:  # a finalizer has asked for it meanwhile
                    return self._events[index]
                check(lib.zeEventCreate(self.handle, desc, slot), "zeEventCreate", f"event {index}", Errc.invalid)
                self._events[index] = slot[0]
            return self._events[index]

    def close(self) -> None:
        """Destroys events and pool."""
        with self._lock:
            events, self._events = self._events, {}
            handle, self.handle = self.handle, None
        if handle is None or in_fork():
            return
        for event in events.values():
            release(lib.zeEventDestroy(event), "zeEventDestroy")
        if self.opened:
            release(lib.zeEventPoolCloseIpcHandle(handle), "zeEventPoolCloseIpcHandle")
        else:
            release(lib.zeEventPoolDestroy(handle), "zeEventPoolDestroy")


def create_event_pool(context: Context, count: int, *, shared: bool, timed: bool) -> SharedPool:
    """Create a pool for all devices of the driver's context."""
    refuse_in_fork()
    flags = lib.ZE_EVENT_POOL_FLAG_HOST_VISIBLE
    flags |= lib.ZE_EVENT_POOL_FLAG_IPC if shared else 0
    flags |= lib.ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP if timed else 0
    desc = driver.make_struct("ze_event_pool_desc_t", flags=flags, count=count)
    slot = ffi.new("ze_event_pool_handle_t *")
    check(lib.zeEventPoolCreate(context.handle, desc, 0, ffi.NULL, slot), "zeEventPoolCreate", f"{count} events")
    return SharedPool(slot[0], False)


def export_event_pool(pool: SharedPool) -> bytes:
    """ze_ipc_event_pool_handle_t."""
    refuse_in_fork()
    if pool.handle is None:
        raise InvalidError("this event pool was closed", backend="level_zero")
    slot = ffi.new("ze_ipc_event_pool_handle_t *")
    check(
        lib.zeEventPoolGetIpcHandle(pool.handle, slot),
        "zeEventPoolGetIpcHandle",
        "a pool is shared by the process that made it, with shared=True",
        Errc.invalid,
    )
    return bytes(ffi.buffer(slot))


def open_event_pool(context: Context, data: bytes) -> SharedPool:
    """Open a pool of another process."""
    refuse_in_fork()
    handle, slot = ffi.new("ze_ipc_event_pool_handle_t *"), ffi.new("ze_event_pool_handle_t *")
    ffi.memmove(handle, data, ffi.sizeof("ze_ipc_event_pool_handle_t"))
    check(
        lib.zeEventPoolOpenIpcHandle(context.handle, handle[0], slot),
        "zeEventPoolOpenIpcHandle",
        "the handle is none, or its pool has been destroyed",
        Errc.invalid,
    )
    return SharedPool(slot[0], True)


def close_event_pool(pool: SharedPool) -> None:
    """Close a pool and its events."""
    pool.close()


def pool_event(pool: SharedPool, index: int) -> CData:
    """ze_event_handle_t, the same each time."""
    refuse_in_fork()
    return pool.event(index)


def signal_event(event: CData) -> None:
    """Signal an event from the host."""
    check(lib.zeEventHostSignal(event), "zeEventHostSignal")


def reset_event(event: CData) -> None:
    """Reset an event from the host."""
    check(lib.zeEventHostReset(event), "zeEventHostReset")


def wait_pool_event(event: CData, timeout: int) -> bool:
    """Whether an event is signalled within the timeout in nanoseconds; negative means no limit. Interruptible."""
    left = timeout
    while True:
        part = _SLICE if left < 0 else min(left, _SLICE)
        result = lib.zeEventHostSynchronize(event, part)
        if result != NOT_READY:
            check(result, "zeEventHostSynchronize", code=Errc.kernel)
            return True
        if left >= 0:
            left -= part
            if not left:
                return False


def enqueue_signal(queue: Queue, event: CData, waits: Sequence[Event] = ()) -> Event:
    """Signal an event after the earlier commands."""

    def command(own: CData, signal: CData, count: int, array: CData) -> int:
        result: int = lib.zeCommandListAppendBarrier(own, ffi.NULL, count, array)
        result = result or lib.zeCommandListAppendSignalEvent(own, event)
        return result or _end(own, signal)

    return queue.run(command, "zeCommandListAppendSignalEvent", waits)


def enqueue_reset(queue: Queue, event: CData, waits: Sequence[Event] = ()) -> Event:
    """Reset an event after the earlier commands."""

    def command(own: CData, signal: CData, count: int, array: CData) -> int:
        result: int = lib.zeCommandListAppendBarrier(own, ffi.NULL, count, array)
        result = result or lib.zeCommandListAppendEventReset(own, event)
        return result or _end(own, signal)

    return queue.run(command, "zeCommandListAppendEventReset", waits)


def enqueue_wait(queue: Queue, event: CData, waits: Sequence[Event] = ()) -> Event:
    """Hold later commands until an event is signalled."""
    one = ffi.new("ze_event_handle_t *", event)

    def command(own: CData, signal: CData, count: int, array: CData) -> int:
        result: int = lib.zeCommandListAppendWaitOnEvents(own, count, array) if count else 0
        result = result or lib.zeCommandListAppendWaitOnEvents(own, 1, one)
        return result or _end(own, signal)

    return queue.run(command, "zeCommandListAppendWaitOnEvents", waits)


def _end(own: CData, signal: CData) -> int:
    return 0 if signal == ffi.NULL else int(lib.zeCommandListAppendBarrier(own, signal, 0, ffi.NULL))
