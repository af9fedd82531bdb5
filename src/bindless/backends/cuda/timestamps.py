"""Conversion of device timestamps to host time: nanoseconds of ``time.monotonic_ns``.

CUDA gives only milliseconds between two events, in single precision. That keeps half a microsecond, the resolution of
events, for eight seconds; so a base event with a known host time is replaced when it is older.
"""

from __future__ import annotations

import time

from ...core.lock import Lock
from ...drivers import cuda as driver
from ...drivers.common.cffi_types import CData
from .device import PrimaryContext
from .errors import NOT_READY, SUCCESS, check, fail
from .polling import wait_until_ready

__all__ = ["Clock", "clock_of"]

lib, ffi = driver.lib, driver.ffi

_KEPT = 8_000_000_000
_PATIENCE = 1e-3


class Clock:
    """A base event and its time on the host.

    Attributes
    ----------
    context
        context of the event.
    native
        CUevent with timing.
    host
        nanoseconds of ``time.monotonic_ns`` of the event.
    """

    def __init__(self, context: PrimaryContext, native: CData, host: int) -> None:
        self.context = context
        self.native = native
        self.host = host

    def time_of(self, event: CData, not_before: int = 0) -> int:
        """Nanoseconds of a completed CUevent with timing.

        Parameters
        ----------
        not_before
            submission time of its command. An event before that shows that the clock is slow, by the delay of the
            thread that read the base event: the clock is corrected for all later events.
        """
        slot = ffi.new("float *")
        function = "cuEventElapsedTime" if driver.has("cuEventElapsedTime") else "cuEventElapsedTime_v1"
        check(getattr(lib, function)(slot, self.native, event), function)
        milliseconds: float = slot[0]
        after = round(milliseconds * 1e6)
        self.host = max(self.host, not_before - after)
        return self.host + after

    def __del__(self) -> None:
        self.context.events[True].append(self.native)


class _Timekeeper:
    """The current clock of one context, and the stream of its base events."""

    def __init__(self, context: PrimaryContext) -> None:
        self.context = context
        self.lock = Lock()
        slot = ffi.new("CUstream *")
        check(lib.cuStreamCreate(slot, lib.CU_STREAM_NON_BLOCKING), "cuStreamCreate")
        self.stream = slot[0]
        self.clock: Clock | None = None

    def current(self) -> Clock:
        with self.lock:
            clock = self.clock
            if clock is None or time.monotonic_ns() - clock.host > _KEPT:
                clock = self.clock = self._new(clock)
            return clock

    def _new(self, old: Clock | None) -> Clock:
        """A new clock; the old one if the device is too busy for an exact measurement."""
        slot = ffi.new("CUevent *")
        check(lib.cuEventCreate(slot, lib.CU_EVENT_DEFAULT), "cuEventCreate")
        clock = Clock(self.context, slot[0], time.monotonic_ns())
        check(lib.cuEventRecord(clock.native, self.stream), "cuEventRecord")
        result = wait_until_ready(lib.cuEventQuery, clock.native, None if old is None else _PATIENCE)
        if result == NOT_READY and old is not None:
            return old
        if result != SUCCESS:
            fail(result, "cuEventQuery")
        clock.host = (clock.host + time.monotonic_ns()) // 2
        return clock


_keepers: dict[int, _Timekeeper] = {}
_lock = Lock()


def clock_of(context: PrimaryContext) -> Clock:
    """The clock of a context, which is current."""
    keeper = _keepers.get(context.address)
    if keeper is None:
        with _lock:
            keeper = _keepers.get(context.address) or _keepers.setdefault(context.address, _Timekeeper(context))
    return keeper.current()
