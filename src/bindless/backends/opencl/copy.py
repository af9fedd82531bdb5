"""``CopyRegion`` as commands: copies of bytes, copies with an image on one side, and copies between images."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from ...drivers import opencl as driver
from ...model.copy_region import CopyRegion, Extent, HostMemory, ImageMemory, UsmMemory
from ...model.enums import ImageType, UsmKind
from ...model.image_descriptor import ImageDescriptor
from ..common.strided_memory import pitches_of, start_of
from . import memory_svm
from .context import Context
from .errors import made
from .event import Event
from .image_format import image_desc, image_format
from .image_memory import ImageStorage, storage_of
from .memory import copy, copy_commands, means_of
from .memory_buffers import Temporary
from .queue import Command, Queue

__all__ = ["copy_image"]

lib, ffi = driver.lib, driver.ffi


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
    """Destination, source and bytes of the runs that are contiguous on both sides."""
    src, dst, (width, height, depth) = region.src, region.dst, region.extent
    assert not isinstance(src, ImageMemory) and not isinstance(dst, ImageMemory)
    to, of = start_of(dst), start_of(src)
    (to_row, to_slice), (of_row, of_slice) = pitches_of(dst, region.extent), pitches_of(src, region.extent)
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
    """The memory of a copy with an image: host-accessible memory, or a buffer and an offset into it."""

    def __init__(self, context: Context, memory: HostMemory | UsmMemory) -> None:
        self.address = start_of(memory)
        self.buffer: Any = None
        self.offset = 0
        own = context.allocation_of(self.address)
        if own is None:
            return
        if own.buffer is not None:
            self.buffer, self.offset = own.buffer, self.address - own.base
        elif own.kind is UsmKind.device and _is_coarse(context):
            self.buffer, self.offset = memory_svm.as_buffer(context, own), self.address - own.base


def _is_coarse(context: Context) -> bool:
    """Whether the host can access device memory only after mapping it."""
    device = context.devices[0]
    return means_of(device) is memory_svm and memory_svm.is_coarse(device)


def _parts(
    image: ImageMemory, extent: Extent, row: int, between: int, packed: bool
) -> list[tuple[Extent, Extent, int, int, int]]:
    """Origin, region, memory offset and pitches of the required copies.

    NVIDIA's driver refuses (CL_INVALID_VALUE) a slice pitch that is not a multiple of the row pitch, even for one
    slice. The pitches of memory are multiples; unused pitches are chosen as multiples: the row pitch of single rows,
    and the slice pitch of one slice.

    Parameters
    ----------
    row, between
        row pitch and slice pitch of the memory in bytes.
    packed
        whether the command supports contiguous memory only.
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
    if _is_row_array(desc):  # Layers are rows, and some drivers read only one of the two pitches.
        return [(*_region(desc, image.offset, extent), 0, between, between)]
    if depth == 1:
        return [(image.offset, extent, 0, row, 0)]
    return [(image.offset, extent, 0, between if height == 1 else row, between)]


def _with_image(
    queue: Queue, image: ImageMemory, memory: HostMemory | UsmMemory, region: CopyRegion, waits: Sequence[Event]
) -> Event:
    context = queue.context
    native = storage_of(context, image.handle).handle
    to_image = image is region.dst
    side = _Side(context, memory)
    row, between = pitches_of(memory, region.extent)
    parts = _parts(image, region.extent, row, between, side.buffer is not None)
    if side.buffer is not None and _needs_first_layer(queue, image.descriptor):
        with _FirstLayer(context, storage_of(context, image.handle), region.extent[0]) as first:
            commands = [
                command
                for origin, extent, place, *_ in parts
                for command in first.commands(to_image, side.buffer, side.offset + place, origin, extent)
            ]
            return queue.run_in_sequence(commands, "clEnqueueCopyImage", waits, region)
    commands = [_command(native, side, to_image, *part) for part in parts]
    return queue.run_all(commands, "clEnqueueWriteImage" if to_image else "clEnqueueReadImage", waits, region)


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


# ---------------------------------------------------------------------- layers that are rows


def _needs_first_layer(queue: Queue, desc: ImageDescriptor) -> bool:
    """NVIDIA's driver copies between buffers and layers that are rows, but only for the first layer of an image."""
    return queue.device.takes_ptx and _is_row_array(desc)


class _FirstLayer:
    """An image of one such layer, as the intermediate of copies between a buffer and the layers of another image."""

    def __init__(self, context: Context, other: ImageStorage, width: int) -> None:
        desc = ImageDescriptor(
            width,
            type="array",
            array_size=1,
            num_channels=other.desc.num_channels,
            channel_type=other.desc.channel_type,
        )
        pixel = image_format(desc.channel_type, desc.num_channels)
        self.other, self.line = other.handle, width * desc.pixel_size
        self.image = made(
            "clCreateImage", context.handle, lib.CL_MEM_READ_WRITE, pixel, image_desc(desc), ffi.NULL, details="between"
        )

    def __enter__(self) -> _FirstLayer:
        return self

    def __exit__(self, *_: object) -> None:
        """Release the image after the submission: the driver keeps it for the commands."""
        lib.clReleaseMemObject(self.image)

    def commands(self, to_image: bool, buffer: Any, offset: int, origin: Extent, extent: Extent) -> list[Command]:
        """The sequence of commands: contiguous rows of the buffer, and layers of the other image."""
        image, other, start, size = self.image, self.other, _sizes((0, 0, 0)), _sizes((extent[0], 1, 1))
        found: list[Command] = []
        for number in range(extent[1]):
            there, place = _sizes((origin[0], origin[1] + number, 0)), offset + number * self.line
            if to_image:
                found.append(
                    lambda queue, *events, place=place: lib.clEnqueueCopyBufferToImage(
                        queue, buffer, image, place, start, size, *events
                    )
                )
                found.append(
                    lambda queue, *events, there=there: lib.clEnqueueCopyImage(
                        queue, image, other, start, there, size, *events
                    )
                )
            else:
                found.append(
                    lambda queue, *events, there=there: lib.clEnqueueCopyImage(
                        queue, other, image, there, start, size, *events
                    )
                )
                found.append(
                    lambda queue, *events, place=place: lib.clEnqueueCopyImageToBuffer(
                        queue, image, buffer, start, size, place, *events
                    )
                )
        return found


# ---------------------------------------------------------------------- image to image


def _between_images(
    queue: Queue, src: ImageMemory, dst: ImageMemory, region: CopyRegion, waits: Sequence[Event]
) -> Event:
    context = queue.context
    source, target = storage_of(context, src.handle), storage_of(context, dst.handle)
    whence = _region(src.descriptor, src.offset, region.extent)
    whither = _region(dst.descriptor, dst.offset, region.extent)
    of, to = tuple(map(_sizes, whence)), tuple(map(_sizes, whither))
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
    # The driver copies between different images of equal formats only: other copies go through a buffer.
    between = Temporary(context, region.nbytes)
    buffer = between.buffer
    parts: list[list[Command]] = [
        [lambda queue, *more: lib.clEnqueueCopyImageToBuffer(queue, source.handle, buffer, of[0], of[1], 0, *more)],
        [lambda queue, *more: lib.clEnqueueCopyBufferToImage(queue, buffer, target.handle, 0, to[0], to[1], *more)],
    ]
    try:
        with ExitStack() as kept:
            sides = ((src, source, whence, False), (dst, target, whither, True))
            for number, (end, storage, place, to_image) in enumerate(sides):
                if _needs_first_layer(queue, end.descriptor):
                    first = kept.enter_context(_FirstLayer(context, storage, region.extent[0]))
                    parts[number] = first.commands(to_image, buffer, 0, *place)
            return queue.run_in_sequence([*parts[0], *parts[1]], "clEnqueueCopyImageToBuffer", waits, region)
    finally:
        between.close()


def copy_image(queue: Queue, region: CopyRegion, waits: Sequence[Event] = ()) -> Event:
    """Submit any copy of BI, in queue order."""
    src, dst = region.src, region.dst
    if isinstance(src, ImageMemory):
        if isinstance(dst, ImageMemory):
            return _between_images(queue, src, dst, region, waits)
        return _with_image(queue, src, dst, region, waits)
    if isinstance(dst, ImageMemory):
        return _with_image(queue, dst, src, region, waits)
    return _between_memories(queue, region, waits)
