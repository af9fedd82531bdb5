"""Device functions over small arrays in pageable host memory, by way of pinned memory that kernels access.

The arrays are copied to and from one buffer of the queue. The kernel reads its coordinates and writes its values over
the bus, which takes less time than a transfer of few bytes takes to start.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ...drivers import cuda as driver
from ...drivers.common.cffi_types import CData
from ...model.image_call import ImageCall
from ..common.image_kernels import arrays_of
from ..contract.prepared_command import PreparedCommand
from ..contract.prepared_image_call import ARRAYS
from .device import PrimaryContext
from .errors import SUCCESS
from .event import Event
from .image_functions import launch_of_call
from .launch import Launch
from .polling import wait_until_ready
from .prepared_command import address_of, prepared_command
from .queue import Queue

__all__ = ["LARGEST", "host_call", "prepare_host_call"]

lib, ffi = driver.lib, driver.ffi

# Total bytes of the arrays up to which the processor copies them faster than transfers would.
LARGEST = 1 << 20
# The attempt that allocates a buffer, which takes as long as several calls with transfers. A call without a buffer
# makes two: to prepare it, and to make it once.
_JUSTIFIES_BUFFER = 7
_ALIGNMENT = 256
_BYTES = LARGEST + (1 + len(ARRAYS)) * _ALIGNMENT


class _Buffer:
    """Pinned memory of a queue, which returns to the unused buffers of its context with the queue's end.

    Attributes
    ----------
    address
        the same for the processor and the device; 0 where the driver has no memory.
    """

    address = 0  # for an end before the beginning is complete

    def __init__(self, primary: PrimaryContext) -> None:
        self._unused = primary.mapped
        try:
            self.address = self._unused.pop()
        except IndexError:
            self.address = lib.bindless_mapped_create(primary.handle, _BYTES)

    def close(self) -> None:
        """Return it; no kernel uses it, and no command of the queue will."""
        address, self.address = self.address, 0
        if address:
            self._unused.append(address)

    __del__ = close


def _buffer_of(queue: Queue) -> _Buffer | None:
    """The buffer of a queue, whose calls use it one after another; the queue returns it when it is idle and closed.

    None for the first calls, and where the driver has no memory.
    """
    buffer: _Buffer | None = queue.mapped
    if buffer is None or not buffer.address:
        if not queue.primary.mapped:
            queue.unmapped += 1
            if queue.unmapped < _JUSTIFIES_BUFFER:
                return None
        buffer = queue.mapped = _Buffer(queue.primary)
    return buffer if buffer.address else None


def _planned(queue: Queue, call: ImageCall) -> tuple[str, Launch, CData, tuple[int | None, ...], _Buffer] | None:
    """Kernel and launch over the buffer, ``bindless_mapped_array_t[]``, the places of the arrays' addresses in it, and
    the buffer; None if the arrays are too large.
    """
    sizes = {name: call.count * size for name, size in arrays_of(call).items()}
    if not call.count or sum(sizes.values()) > LARGEST or queue.capturing:
        return None
    buffer = _buffer_of(queue)
    if buffer is None:
        return None
    table = ffi.new("bindless_mapped_array_t[]", len(sizes))
    placed: dict[str, Any] = {}
    places: dict[str, int] = {}
    address = buffer.address + _ALIGNMENT
    for one, (name, size) in zip(table, sizes.items()):
        one.host, one.buffer, one.size = getattr(call, name), ffi.cast("void *", address), size
        one.is_result = name == "values" and call.operation != "write"
        placed[name], places[name] = address, address_of(ffi.addressof(one, "host"))
        address += -(-size // _ALIGNMENT) * _ALIGNMENT
    kernel, launch = launch_of_call(queue, replace(call, **placed))
    return kernel, launch, table, tuple(map(places.get, ARRAYS)), buffer


def _wait_for_last_call(queue: Queue) -> int:
    """Wait for a call that took long, or whose wait a signal ended: its kernel may run on any stream of the queue."""
    for stream in queue.streams:
        result = wait_until_ready(lib.cuStreamQuery, stream.handle)
        if result != SUCCESS:
            return result
    return SUCCESS


def host_call(queue: Queue, call: ImageCall) -> Callable[[Sequence[Event]], Event] | None:
    """The command of a call with small arrays, which returns after the work; None for larger arrays."""
    planned = _planned(queue, call)
    if planned is None:
        return None
    name, launch, table, _, buffer = planned
    described = ffi.new("bindless_mapped_call_t *")
    described.count, described.arrays = len(table), table
    described.busy = ffi.cast("int *", buffer.address)

    def command(stream: CData, keepalive: object = (table, buffer)) -> int:
        described.launch = (queue.primary.handle, stream, *launch.members)
        result = _wait_for_last_call(queue) if described.busy[0] else SUCCESS
        if result == SUCCESS:
            result = lib.bindless_mapped_begin(described)
        if result == SUCCESS:
            result = wait_until_ready(lib.cuStreamQuery, stream)
        if result == SUCCESS:
            lib.bindless_mapped_end(described)
        return result

    return lambda waits: queue.run(command, "cuLaunchKernel", waits, f"kernel {name!r} over host arrays")


def prepare_host_call(queue: Queue, call: ImageCall) -> PreparedCommand | None:
    """Prepare a call with small arrays for repetition; see the contract."""
    planned = _planned(queue, call) if queue.prepares else None
    if planned is None:
        return None
    _, launch, table, places, buffer = planned
    return prepared_command(
        queue,
        "bindless_mapped_call",
        "bindless_mapped_call_t",
        lambda *lane: ((*lane, *launch.members), ffi.cast("int *", buffer.address), len(table), table),
        launch.refused,
        (launch, table, buffer),
        places,
        tuple([8 if place else 0 for place in places]),
    )
