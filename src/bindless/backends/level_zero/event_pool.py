"""Reused driver events: the creation of an event costs more than a short command."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import Any

from ...drivers import level_zero as driver
from .errors import check, release

__all__ = ["EventPool", "NativeEvent"]

lib, ffi = driver.lib, driver.ffi

_EVENTS = 64  # Events per ze_event_pool_handle_t.


class EventPool:
    """Events of one kind in one context; grows as needed.

    Parameters
    ----------
    context
        ze_context_handle_t.
    timed
        whether the events record the start and end of their command.

    Attributes
    ----------
    at_rest
        unused events, signalled or not; no command waits for them or will signal them.
    """

    def __init__(self, context: Any, timed: bool) -> None:
        self._context = context
        self._timed = timed
        self._pools: list[Any] = []
        self._events: list[Any] = []
        self._places: list[tuple[Any, int]] = []  # of _pools that no event has been made at
        self.at_rest: list[Any] = []
        # next() takes an event that returns by itself, in one step: Ctrl-C comes before or after it.
        self._taken: Iterator[Any] = map(ffi.gc, iter(self.at_rest.pop, None), repeat(self.at_rest.append))

    def take(self) -> Any:
        """An unsignalled ze_event_handle_t, which returns to the pool with its last reference."""
        try:
            handle = next(self._taken)
        except IndexError:
            return ffi.gc(self._create(), self.at_rest.append)
        check(lib.zeEventHostReset(handle), "zeEventHostReset")
        return handle

    def _create(self) -> Any:
        """A new event. Each step is complete in itself: a collection in between may run a finalizer that comes here."""
        try:
            pool, index = self._places.pop()
        except IndexError:
            pool, index = self._create_pool(), 0
            self._pools.append(pool)
            self._places += [(pool, later) for later in reversed(range(1, _EVENTS))]
        desc = driver.make_struct("ze_event_desc_t", index=index, signal=lib.ZE_EVENT_SCOPE_FLAG_HOST)
        slot = ffi.new("ze_event_handle_t *")
        result = lib.zeEventCreate(pool, desc, slot)
        if result:
            self._places.append((pool, index))
        check(result, "zeEventCreate")
        self._events.append(slot[0])
        return slot[0]

    def _create_pool(self) -> Any:
        flags = lib.ZE_EVENT_POOL_FLAG_HOST_VISIBLE
        if self._timed:
            flags |= lib.ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP
        desc = driver.make_struct("ze_event_pool_desc_t", flags=flags, count=_EVENTS)
        slot = ffi.new("ze_event_pool_handle_t *")
        check(lib.zeEventPoolCreate(self._context, desc, 0, ffi.NULL, slot), "zeEventPoolCreate")
        return slot[0]

    def owns(self, handle: Any) -> bool:
        """Whether an event belongs to this pool."""
        return handle in self._events

    def close(self) -> None:
        """Destroy all events; no unfinished work uses them."""
        self.at_rest.clear()
        for event in self._events:
            release(lib.zeEventDestroy(event), "zeEventDestroy")
        for pool in self._pools:
            release(lib.zeEventPoolDestroy(pool), "zeEventPoolDestroy")
        self._events, self._pools, self._places = [], [], []


class NativeEvent:
    """A ze_event_handle_t that returns to its pool with the last reference.

    A command that signals the event or waits for it needs a reference until it is complete: the event may be reset as
    soon as it has returned.

    Attributes
    ----------
    handle
        ze_event_handle_t.
    """

    __slots__ = ("handle",)

    def __init__(self, pool: EventPool) -> None:
        self.handle: Any = pool.take()
