"""``CopyRegion`` as one driver call: a straight copy of bytes, or a copy of boxes between arrays and memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..drivers import cuda as driver
from ..model.copy_region import CopyRegion, Endpoint, HostMemory, ImageMemory, UsmMemory
from ..model.errors import InvalidError
from ._cuda_context import Context
from ._cuda_event import Event
from ._cuda_image import storage_of
from ._cuda_queue import Queue

__all__ = ["copy_image"]

lib, ffi = driver.lib, driver.ffi


def _start(end: HostMemory | UsmMemory) -> int:
    """Address of the first pixel to copy."""
    x, y, z = end.offset
    return end.address + z * end.slice_pitch + y * end.row_pitch + x * end.pixel_size


def _is_contiguous(end: Endpoint, extent: tuple[int, int, int]) -> bool:
    """Whether the pixels to copy lie in linear memory without gaps."""
    if isinstance(end, ImageMemory):
        return False
    width, height, depth = extent
    row = width * end.pixel_size
    return (height == 1 or end.row_pitch == row) and (depth == 1 or end.slice_pitch == row * height)


def _describe(copy: Any, side: str, end: Endpoint, context: Context, extent: tuple[int, int, int]) -> None:
    """Fills in the source or the destination of a CUDA_MEMCPY3D."""

    def assign(name: str, value: Any) -> None:
        setattr(copy, side + name, value)

    if isinstance(end, ImageMemory):
        storage = storage_of(context, end.handle)
        if storage.is_mipmap:
            raise InvalidError(
                f"{end.handle:#x} is a whole mipmap: copies take the handle of one level, which "
                "get_mip_level_mem_handle gives, and the level's descriptor",
                backend="cuda",
            )
        assign("MemoryType", lib.CU_MEMORYTYPE_ARRAY)
        assign("Array", storage.native)
        x, y, z = end.offset
        assign("XInBytes", x * end.pixel_size)
        assign("Y", y)
        assign("Z", z)
        return
    start = _start(end)
    if isinstance(end, HostMemory):
        assign("MemoryType", lib.CU_MEMORYTYPE_HOST)
        assign("Host", ffi.cast("void *", start))
    else:
        assign("MemoryType", lib.CU_MEMORYTYPE_UNIFIED)
        assign("Device", start)
    width, height, depth = extent
    # Distances that nothing is copied across may be anything: keep them inside the driver's limits.
    row_pitch = end.row_pitch if height * depth > 1 else width * end.pixel_size
    if height == 1 and depth > 1:
        # One row a slice: the slices are as good as rows, and their distance need not be whole rows.
        assign("Pitch", end.slice_pitch)
        assign("Height", 1)
    else:
        assign("Pitch", row_pitch)
        assign("Height", end.slice_pitch // end.row_pitch if depth > 1 else height)


def copy_image(queue: Queue, region: CopyRegion, waits: Sequence[Event] = ()) -> Event:
    """Any of BI's copies, in the order of the queue and without a copy of host arrays in between.

    With pageable host memory (numpy arrays) the driver may return only when it has read or written it, and from host to
    host it always does.
    """
    extent = region.extent
    width, height, depth = extent
    details = f"{width} x {height} x {depth} pixels of {region.pixel_size} bytes"
    src, dst = region.src, region.dst
    if _is_contiguous(src, extent) and _is_contiguous(dst, extent):
        assert not isinstance(src, ImageMemory) and not isinstance(dst, ImageMemory)
        source, destination, nbytes = _start(src), _start(dst), region.nbytes
        return queue.run(
            lambda stream: lib.cuMemcpyAsync(destination, source, nbytes, stream), "cuMemcpyAsync", waits, details
        )
    copy = ffi.new("CUDA_MEMCPY3D *")
    _describe(copy, "src", src, queue.context, extent)
    _describe(copy, "dst", dst, queue.context, extent)
    copy.WidthInBytes = width * region.pixel_size
    copy.Height = height
    copy.Depth = depth
    return queue.run(lambda stream: lib.cuMemcpy3DAsync(copy, stream), "cuMemcpy3DAsync", waits, details)
