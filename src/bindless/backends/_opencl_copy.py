"""``CopyRegion`` as commands: copies of bytes, copies with an image on one side, and from image to image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..drivers import opencl as driver
from ..model.copy_region import CopyRegion, Extent, HostMemory, ImageMemory, UsmMemory
from ..model.descriptor import ImageDescriptor
from ..model.enums import ImageType, UsmKind
from . import _opencl_svm
from ._opencl_buffers import Temporary
from ._opencl_context import Context
from ._opencl_event import Event
from ._opencl_image import storage_of
from ._opencl_memory import copy, copy_commands, means_of
from ._opencl_queue import Command, Queue

__all__ = ["copy_image"]

lib, ffi = driver.lib, driver.ffi


def _start(end: HostMemory | UsmMemory) -> int:
    """Address of the first pixel to copy."""
    x, y, z = end.offset
    return end.address + z * end.slice_pitch + y * end.row_pitch + x * end.pixel_size


def _pitches(end: HostMemory | UsmMemory, extent: Extent) -> tuple[int, int]:
    """Bytes between rows and slices; distances that nothing is copied across are the least ones."""
    width, height, depth = extent
    row = end.row_pitch if height > 1 else width * end.pixel_size
    return row, end.slice_pitch if depth > 1 else row * height


def _sizes(values: Sequence[int]) -> Any:
    return ffi.new("size_t[3]", values)


def _is_row_array(desc: ImageDescriptor) -> bool:
    """Whether the layers are rows, which OpenCL counts in the second coordinate."""
    return desc.type is ImageType.array and desc.dimensions == 1


def _region(desc: ImageDescriptor, offset: Extent, extent: Extent) -> tuple[Extent, Extent]:
    """Origin and region of an image."""
    if not _is_row_array(desc):
        return offset, extent
    return (offset[0], offset[2], 0), (extent[0], extent[2], 1)


# ---------------------------------------------------------------------- memory to memory


def _rows(region: CopyRegion) -> list[tuple[int, int, int]]:
    """Where to, where from, and bytes of the runs that lie without gaps on both sides."""
    src, dst, (width, height, depth) = region.src, region.dst, region.extent
    assert not isinstance(src, ImageMemory) and not isinstance(dst, ImageMemory)
    to, of = _start(dst), _start(src)
    (to_row, to_slice), (of_row, of_slice) = _pitches(dst, region.extent), _pitches(src, region.extent)
    row = width * region.pixel_size
    if to_row == of_row == row:
        if to_slice == of_slice == row * height:
            return [(to, of, row * height * depth)]
        return [(to + z * to_slice, of + z * of_slice, row * height) for z in range(depth)]
    return [
        (to + z * to_slice + y * to_row, of + z * of_slice + y * of_row, row)
        for z in range(depth)
        for y in range(height)
    ]


def _between_memories(queue: Queue, region: CopyRegion, waits: Sequence[Event]) -> Event:
    runs = _rows(region)
    if len(runs) == 1:
        return copy(queue, *runs[0], waits)
    context = queue.context
    commands = [copy_commands(context, *run) for run in runs]
    if all(len(parts) == 1 for parts in commands):
        return queue.run_all([parts[0] for parts in commands], "copy", waits, region)
    events = [queue.run_in_sequence(parts, "copy", waits, region) for parts in commands]
    return queue.run_all((), "copy", events)


# ---------------------------------------------------------------------- with an image


class _Side:
    """The memory of a copy with an image: memory that the host reaches, or a buffer and an offset into it."""

    def __init__(self, context: Context, memory: HostMemory | UsmMemory) -> None:
        self.address = _start(memory)
        self.buffer: Any = None
        self.offset = 0
        self._made: Any = None
        own = context.allocation_of(self.address)
        if own is None:
            return
        if own.buffer is not None:
            self.buffer, self.offset = own.buffer, self.address - own.base
        elif own.kind is UsmKind.device and _is_coarse(context):
            self._made = _opencl_svm.as_buffer(context, own)
            self.buffer, self.offset = self._made, self.address - own.base

    def close(self) -> None:
        """After the commands were submitted: the driver keeps the buffer for them."""
        if self._made is not None:
            lib.clReleaseMemObject(self._made)


def _is_coarse(context: Context) -> bool:
    """Whether the host reaches device memory only after mapping it."""
    device = context.devices[0]
    return means_of(device) is _opencl_svm and _opencl_svm.is_coarse(device)


def _parts(
    image: ImageMemory, extent: Extent, row: int, between: int, packed: bool
) -> list[tuple[Extent, Extent, int, int, int]]:
    """Origin, region, place of the memory from its begin, and pitches of the copies that are needed.

    Args:
        row, between: bytes between rows and slices of the memory.
        packed: whether the command takes memory without gaps alone.
    """
    (x, y, z), (width, height, depth) = image.offset, extent
    desc, line = image.descriptor, width * image.pixel_size
    if packed and row != line:
        return [
            (*_region(desc, (x, y + j, z + k), (width, 1, 1)), k * between + j * row, 0, 0)
            for k in range(depth)
            for j in range(height)
        ]
    if packed and between != line * height:
        return [(*_region(desc, (x, y, z + k), (width, height, 1)), k * between, 0, 0) for k in range(depth)]
    if _is_row_array(desc):
        row = between  # layers are rows, and some drivers look at one of the two alone
    flat = desc.type is not ImageType.array and desc.dimensions < 3
    return [(*_region(desc, image.offset, extent), 0, row, 0 if flat else between)]


def _with_image(
    queue: Queue, image: ImageMemory, memory: HostMemory | UsmMemory, region: CopyRegion, waits: Sequence[Event]
) -> Event:
    context = queue.context
    native = storage_of(context, image.handle).handle
    to_image = image is region.dst
    side = _Side(context, memory)
    row, between = _pitches(memory, region.extent)
    try:
        commands = [
            _command(native, side, to_image, *part)
            for part in _parts(image, region.extent, row, between, side.buffer is not None)
        ]
        return queue.run_all(commands, "clEnqueueWriteImage" if to_image else "clEnqueueReadImage", waits, region)
    finally:
        side.close()


def _command(
    image: Any, side: _Side, to_image: bool, origin: Extent, extent: Extent, place: int, row: int, between: int
) -> Command:
    start, size = _sizes(origin), _sizes(extent)
    if side.buffer is not None:
        buffer, offset = side.buffer, side.offset + place
        if to_image:
            return lambda queue, *events: lib.clEnqueueCopyBufferToImage(
                queue, buffer, image, offset, start, size, *events
            )
        return lambda queue, *events: lib.clEnqueueCopyImageToBuffer(queue, image, buffer, start, size, offset, *events)
    pointer = ffi.cast("void *", side.address + place)
    call = lib.clEnqueueWriteImage if to_image else lib.clEnqueueReadImage
    return lambda queue, *events: call(queue, image, 0, start, size, row, between, pointer, *events)


# ---------------------------------------------------------------------- image to image


def _between_images(
    queue: Queue, src: ImageMemory, dst: ImageMemory, region: CopyRegion, waits: Sequence[Event]
) -> Event:
    context = queue.context
    source, target = storage_of(context, src.handle), storage_of(context, dst.handle)
    of = tuple(map(_sizes, _region(src.descriptor, src.offset, region.extent)))
    to = tuple(map(_sizes, _region(dst.descriptor, dst.offset, region.extent)))
    formats = [(side.desc.channel_type, side.desc.num_channels) for side in (source, target)]
    alike = formats[0] == formats[1] and source is not target
    if alike and _is_row_array(src.descriptor) == _is_row_array(dst.descriptor):
        return queue.run(
            lambda handle, *events: lib.clEnqueueCopyImage(
                handle, source.handle, target.handle, of[0], to[0], of[1], *events
            ),
            "clEnqueueCopyImage",
            waits,
            region,
        )
    # The driver copies between equal formats and different images alone: bytes go through a buffer.
    between = Temporary(context, region.nbytes)
    buffer = between.buffer
    commands: list[Command] = [
        lambda handle, *events: lib.clEnqueueCopyImageToBuffer(handle, source.handle, buffer, of[0], of[1], 0, *events),
        lambda handle, *events: lib.clEnqueueCopyBufferToImage(handle, buffer, target.handle, 0, to[0], to[1], *events),
    ]
    try:
        return queue.run_in_sequence(commands, "clEnqueueCopyImageToBuffer", waits, region)
    finally:
        between.close()


def copy_image(queue: Queue, region: CopyRegion, waits: Sequence[Event] = ()) -> Event:
    """Any of BI's copies, in the order of the queue."""
    src, dst = region.src, region.dst
    if isinstance(src, ImageMemory):
        if isinstance(dst, ImageMemory):
            return _between_images(queue, src, dst, region, waits)
        return _with_image(queue, src, dst, region, waits)
    if isinstance(dst, ImageMemory):
        return _with_image(queue, dst, src, region, waits)
    return _between_memories(queue, region, waits)
