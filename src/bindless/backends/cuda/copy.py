"""``CopyRegion`` as one command: a linear copy of bytes, or a copy of boxes between arrays and memory, by the driver
or, where that is faster, by a kernel (``surface_copy``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...drivers import cuda as driver
from ...model.copy_region import CopyRegion, Endpoint, Extent, HostMemory, ImageMemory
from ...model.errors import InvalidError
from ..common.strided_memory import is_contiguous, start_of
from . import pinned_staging
from .context import Context
from .event import Event
from .image_memory import storage_of
from .launch import launch_packed
from .queue import Queue
from .surface_copy import kernel_of_copy

__all__ = ["copy_image", "place_of", "staged_job"]

lib = driver.lib

_copy_box = lib.bindless_copy_box
_ARRAY, _HOST, _UNIFIED = lib.CU_MEMORYTYPE_ARRAY, lib.CU_MEMORYTYPE_HOST, lib.CU_MEMORYTYPE_UNIFIED


def place_of(end: Endpoint, context: Context, extent: Extent) -> tuple[int, ...]:
    """One side of ``bindless_copy_box``: type, address, x in bytes, y, z, row pitch in bytes, rows per slice."""
    if isinstance(end, ImageMemory):
        if storage_of(context, end.handle).is_mipmap:
            raise InvalidError(
                f"{end.handle:#x} is a whole mipmap: copies take the handle of one level, which "
                "get_mip_level_mem_handle gives, and the level's descriptor",
                backend="cuda",
            )
        x, y, z = end.offset
        return _ARRAY, end.handle, x * end.pixel_size, y, z, 0, 0
    kind = _HOST if isinstance(end, HostMemory) else _UNIFIED
    width, height, depth = extent
    # A pitch that no copied pixel depends on may have any value: keep it inside the driver's limits.
    if height == 1 and depth > 1:
        # With one row per slice, slices are treated as rows: the slice pitch need not be a multiple of the row pitch.
        pitch, rows = end.slice_pitch, 1
    elif depth > 1:
        pitch, rows = end.row_pitch, end.slice_pitch // end.row_pitch
    else:
        pitch, rows = end.row_pitch if height > 1 else width * end.pixel_size, height
    return kind, start_of(end), 0, 0, 0, pitch, rows


def staged_job(queue: Queue, region: CopyRegion, again: bool = False) -> tuple[Any, tuple[Any, ...]] | None:
    """Staging buffers for a large copy between an image and pageable host memory; None below the threshold."""
    src, dst, (width, height, depth), _, pixel_size = region
    row = width * pixel_size
    if row * height * depth < pinned_staging.smallest(isinstance(src, HostMemory), again):
        return None
    if isinstance(src, HostMemory) and isinstance(dst, ImageMemory):
        host, device = src, dst
    elif isinstance(src, ImageMemory) and isinstance(dst, HostMemory):
        host, device = dst, src
    else:
        return None
    place = place_of(device, queue.context, region.extent)
    pitches = start_of(host), host.row_pitch, host.slice_pitch
    return pinned_staging.staged_job(queue, host is src, pitches, place, (row, height, depth), again)


def copy_image(queue: Queue, region: CopyRegion, waits: Sequence[Event] = ()) -> Event:
    """Submit any copy of BI, in queue order and without an intermediate copy of host arrays.

    With pageable host memory (numpy arrays) the driver may return only after it has read or written that memory; for a
    copy from host to host it always does.
    """
    src, dst, extent, _, pixel_size = region
    if isinstance(src, ImageMemory) or isinstance(dst, ImageMemory):
        kernel = kernel_of_copy(queue, region)
        if kernel is not None:
            return launch_packed(queue, *kernel, waits)
        job = staged_job(queue, region)
        if job is not None:
            return queue.run(pinned_staging.staged(*job), "cuMemcpy3DAsync", waits, region)
    elif is_contiguous(src, extent) and is_contiguous(dst, extent):
        source, destination, nbytes = start_of(src), start_of(dst), region.nbytes
        return queue.run(
            lambda stream: lib.cuMemcpyAsync(destination, source, nbytes, stream), "cuMemcpyAsync", waits, region
        )
    width, height, depth = extent
    context, row = queue.context, width * pixel_size
    box = *place_of(src, context, extent), *place_of(dst, context, extent), row, height, depth
    return queue.run(lambda stream: _copy_box(stream, *box), "cuMemcpy3DAsync", waits, region)
