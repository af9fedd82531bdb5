"""Counter of the reference driver's objects."""

from __future__ import annotations

import gc

from bindless.drivers import reference as driver
from bindless.submission.active_streams import sweep

__all__ = ["objects"]


def objects() -> int:
    """Number of live driver objects, without those that queues still have to release."""
    gc.collect()
    sweep()
    gc.collect()
    count = driver.ffi.new("uint64_t *")
    driver.check(driver.lib.blrGetObjectCount(count), "blrGetObjectCount")
    return int(count[0])
