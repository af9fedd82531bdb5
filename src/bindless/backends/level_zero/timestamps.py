"""Conversion of device timestamps to host time: nanoseconds of ``time.monotonic_ns``."""

from __future__ import annotations

import time

from ...drivers import level_zero as driver
from ...drivers.common.cffi_types import CData
from .device import Device
from .errors import check

__all__ = ["Clock", "clock_of"]

lib, ffi = driver.lib, driver.ffi

# Validity of a reading. Kernel timestamps may have as few as 32 bits, which overflow after 223 seconds at 19.2 MHz.
_KEPT = 8_000_000_000

_ATTEMPTS = 4
_EXACT = 20_000  # nanoseconds


class Clock:
    """One reading of both clocks at about the same time.

    Attributes
    ----------
    host
        nanoseconds of ``time.monotonic_ns``.
    """

    def __init__(self, device: Device) -> None:
        host, ticks = ffi.new("uint64_t *"), ffi.new("uint64_t *")
        for _ in range(_ATTEMPTS):  # A slow reading is not exact.
            before = time.monotonic_ns()
            check(lib.zeDeviceGetGlobalTimestamps(device.handle, host, ticks), "zeDeviceGetGlobalTimestamps")
            after = time.monotonic_ns()
            if after - before < _EXACT:
                break
        self.host = (before + after) // 2
        self._tick = device.tick
        self._mask = (1 << (int(device.properties.kernelTimestampValidBits) or 64)) - 1
        self._ticks = int(ticks[0]) & self._mask

    def time_of(self, ticks: CData) -> int:
        """Nanoseconds of a kernel's timestamp, before or after the reading."""
        passed = (ticks - self._ticks) & self._mask
        if passed > self._mask >> 1:
            passed -= self._mask + 1
        return int(self.host + round(passed * self._tick))


_clocks: dict[Device, Clock] = {}


def clock_of(device: Device) -> Clock:
    """A recent reading for a device."""
    clock = _clocks.get(device)
    if clock is None or time.monotonic_ns() - clock.host > _KEPT:
        clock = _clocks[device] = Clock(device)
    return clock
