"""Streams of other libraries: order between their work and the package's, without the host."""

from __future__ import annotations

from collections.abc import Sequence

from ...drivers import cuda as driver
from ...drivers.common.cffi_types import CData
from ...model.errors import InvalidError
from .context import Context
from .device import Device
from .errors import SUCCESS, check
from .event import Event, NativeEvent
from .queue import Queue

__all__ = ["make_stream_wait", "wait_for_stream"]

lib, ffi = driver.lib, driver.ffi


def make_stream_wait(context: Context, device: Device, stream: int, waits: Sequence[Event]) -> None:
    """Order later work on a CUstream after events.

    Parameters
    ----------
    stream
        its address; 1 is the legacy default stream, 2 the calling thread's own.
    """
    handle = ffi.cast("CUstream", stream)
    recorded = []
    for event in waits:
        event.record()
        if event.native is not None and not event.is_known_complete:
            recorded.append(event.native)
    with context.primary(device):
        for native in recorded:
            check(lib.cuStreamWaitEvent(handle, native.handle, 0), "cuStreamWaitEvent", f"stream {stream:#x}")


def wait_for_stream(queue: Queue, stream: int) -> Event:
    """Order all later work on a queue after the current work of a CUstream."""
    if queue.closed:
        raise InvalidError("this queue was released; its commands can go to another one", backend="cuda")
    foreign = ffi.cast("CUstream", stream)

    def command(own: CData) -> int:
        native = NativeEvent(queue.primary, timed=False)
        result: int = lib.cuEventRecord(native.handle, foreign)
        return result if result != SUCCESS else lib.cuStreamWaitEvent(own, native.handle, 0)

    event = queue.streams[0].run(command, "cuStreamWaitEvent", details=f"stream {stream:#x}")
    return event if queue.in_order else queue.barrier()
