"""Reused driver events: the creation of an event costs more than a short command."""

from __future__ import annotations

from ...drivers import level_zero as driver
from ...drivers.common.cffi_types import CData
from .errors import SUCCESS, check, release

__all__ = ["EventPool", "NativeEvent"]

lib, ffi = driver.lib, driver.ffi

_drop = lib.bindless_event_drop


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
    native
        bindless_pool_t.
    """

    def __init__(self, context: CData, timed: bool) -> None:
        self.native = lib.bindless_pool_create(context, timed)

    def handles(self, unused: bool = False) -> list[CData]:
        """The ze_event_handle_t of each event, or of those that no command uses."""
        most = lib.bindless_pool_count(self.native, unused, 0, ffi.NULL)
        events = ffi.new("ze_event_handle_t[]", most)
        return list(events[0 : min(most, lib.bindless_pool_count(self.native, unused, most, events))])

    def owns(self, handle: CData) -> bool:
        """Whether an event belongs to this pool."""
        return handle in self.handles()

    def close(self) -> None:
        """Destroy all events; no unfinished work uses them."""
        native, self.native = self.native, ffi.NULL
        release(lib.bindless_pool_close(native), "zeEventDestroy")


class NativeEvent:
    """A ze_event_handle_t that returns to its pool with the last reference.

    A command that signals the event or waits for it needs a reference until it is complete: the event may be reset as
    soon as it has returned.

    Attributes
    ----------
    handle
        ze_event_handle_t.
    held
        slot of the bindless_event_t; its destructor gives up the reference. C code fills the slot, so that an event is
        owned from the start, whenever Ctrl-C arrives.
    """

    __slots__ = ("handle", "held")

    def __init__(self, held: CData) -> None:
        self.held = held
        self.handle: CData = held[0].handle

    @staticmethod
    def slot() -> CData:
        """An empty slot."""
        return ffi.gc(ffi.new("bindless_event_t **"), _drop)

    @classmethod
    def take(cls, pool: EventPool) -> NativeEvent:
        """An unsignalled event of a pool."""
        held = cls.slot()
        result = lib.bindless_event_take(pool.native, held)
        if result != SUCCESS:
            check(result, "zeEventCreate")
        return cls(held)

    @classmethod
    def adopt(cls, handle: CData, owned: bool) -> NativeEvent:
        """An event of another library; the last reference destroys an owned one."""
        held = cls.slot()
        check(lib.bindless_event_adopt(handle, owned, held), "zeEventCreate")
        return cls(held)

    @classmethod
    def of(cls, number: int) -> NativeEvent:
        """The event of a number; see ``Mark``."""
        held = cls.slot()
        lib.bindless_event_share(number, held)
        return cls(held)
