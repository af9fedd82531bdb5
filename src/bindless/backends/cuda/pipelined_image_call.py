"""Device functions over large arrays in pageable host memory: transfers and kernels overlap, piece by piece.

The threads and buffers are those of large copies (``pinned_staging``), with device memory of the same size. The results
equal those of one launch over all items.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ...drivers import cuda as driver
from ...drivers.common.cffi_types import CData
from ...kernels.arguments import layout_of
from ...kernels.launch_range import GROUP, ITEMS
from ...kernels.words import image_call_format
from ...model.image_call import ImageCall
from ..common.image_kernels import arguments_of, arrays_of
from .errors import SUCCESS
from .event import Event
from .image_functions import kernel_name, kernel_of
from .pinned_staging import is_ordinary, staging_of
from .polling import wait_until_ready
from .queue import Queue

__all__ = ["SMALLEST", "host_call"]

lib, ffi = driver.lib, driver.ffi

# Total bytes of the arrays from which on the threads are worth their start.
SMALLEST = 2 << 20
# Placeholder for the address of each piece: aligned, and not null.
_SOMEWHERE = 1 << 20


def host_call(queue: Queue, call: ImageCall) -> Callable[[Sequence[Event]], Event] | None:
    """The command of a call with arrays in pageable host memory, which returns after the work; None if pipelining is
    slower or impossible.
    """
    arrays = {name: (getattr(call, name), size) for name, size in arrays_of(call).items()}  # the values come last
    if call.count * sum(size for _, size in arrays.values()) < SMALLEST or queue.capturing:
        return None
    primary = queue.primary
    primary.activate()
    staging = staging_of(primary)
    if staging.native is None or not all(is_ordinary(address) for address, _ in arrays.values()):
        return None
    name = kernel_name(call)
    somewhere: dict[str, Any] = dict.fromkeys(arrays, _SOMEWHERE)
    placed = replace(call, **somewhere)
    format_word = image_call_format(placed)
    job = _job(name, placed, arrays, format_word)
    job.function = kernel_of(queue, name, format_word).native

    def command(stream: CData) -> int:
        result = wait_until_ready(lib.cuStreamQuery, stream)
        return lib.bindless_call(staging.native, job) if result == SUCCESS else result

    return lambda waits: queue.run(command, "cuLaunchKernel", waits, f"kernel {name!r} over host arrays")


def _job(name: str, call: ImageCall, arrays: dict[str, tuple[int, int]], format_word: int) -> CData:
    """The ``bindless_call_t`` of a call, without its function."""
    packed, sizes = arguments_of(call, name, format_word)
    starts = dict(zip(layout_of(name)[0], itertools.accumulate((0, *sizes))))
    job = ffi.new("bindless_call_t *")
    job.block, job.items_of_block, job.count = GROUP, GROUP * ITEMS, call.count
    job.arrays, job.has_result = len(arrays), call.operation != "write"
    for index, (field, (address, size)) in enumerate(arrays.items()):
        job.host[index], job.size[index] = address, size
        job.address_at[index] = starts["level" if field == "levels" else field]
    job.count_at, job.parameters, job.packed_size = starts["count"], len(starts), len(packed)
    job.starts[0 : len(starts)] = list(starts.values())
    ffi.buffer(job.packed)[0 : len(packed)] = packed
    return job
