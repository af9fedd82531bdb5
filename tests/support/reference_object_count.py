"""Objects of the reference driver, counted."""

from __future__ import annotations

import gc

from bindless.drivers import reference as driver
from bindless.submission.active_streams import sweep

__all__ = ["objects"]


def objects() -> int:
    """Objects of the driver that are alive, without what queues have yet to let go of."""
    gc.collect()
    sweep()
    gc.collect()
    count = driver.ffi.new("uint64_t *")
    driver.check(driver.lib.blrGetObjectCount(count), "blrGetObjectCount")
    return int(count[0])
