"""``CopyRegion`` as commands: a linear copy of bytes, a copy of boxes of bytes, or a copy with an image on one side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...drivers import level_zero as driver
from ...model.copy_region import CopyRegion, Extent, HostMemory, ImageMemory, UsmMemory
from ...model.enums import Errc, ImageType
from ...model.image_descriptor import ImageDescriptor
from ..common.strided_memory import is_contiguous, pitches_of, start_of
from .command_list import Command, in_sequence
from .context import Context
from .errors import SUCCESS, fail
from .event import Event
from .image_format import image_desc
from .image_memory import ImageStorage, storage_of
from .memory import copy
from .queue import Queue

__all__ = ["copy_image"]

lib, ffi = driver.lib, driver.ffi

_LARGE = 1 << 20

# Pitches and sizes of the driver's calls have 32 bits: larger boxes are copied by slices or by rows.
_MOST = 2**32 - 1


def _pointer(address: int) -> Any:
    return ffi.cast("void *", address)


def _region(desc: ImageDescriptor, offset: Extent, extent: Extent) -> Any:
    """ze_image_region_t. The layers of a one-dimensional array are its rows."""
    (x, y, z), (width, height, depth) = offset, extent
    if desc.type is ImageType.array and desc.dimensions == 1:
        y, z, height, depth = z, 0, depth, 1
    return ffi.new("ze_image_region_t *", (x, y, z, width, height, depth))


# ---------------------------------------------------------------------- memory to memory


def _box(dst: int, dst_pitches: tuple[int, int], src: int, src_pitches: tuple[int, int], box: Extent) -> list[Command]:
    """The copies of a box of bytes, rows and slices."""
    width, height, depth = box
    if max(*dst_pitches, *src_pitches, *box) <= _MOST:
        region = ffi.new("ze_copy_region_t *", (0, 0, 0, *box))
        target, source = (_pointer(dst), region, *dst_pitches), (_pointer(src), region, *src_pitches)
        return [lambda own, *events: lib.zeCommandListAppendMemoryCopyRegion(own, *target, *source, *events)]
    if depth > 1:
        parts = [(dst + z * dst_pitches[1], src + z * src_pitches[1]) for z in range(depth)]
        flat = (width, height, 1)
        pitches = (dst_pitches[0], dst_pitches[0] * height), (src_pitches[0], src_pitches[0] * height)
        return [part for to, of in parts for part in _box(to, pitches[0], of, pitches[1], flat)]
    return [_row(dst + y * dst_pitches[0], src + y * src_pitches[0], width) for y in range(height)]


def _row(dst: int, src: int, nbytes: int) -> Command:
    target, source = _pointer(dst), _pointer(src)
    return lambda own, *events: lib.zeCommandListAppendMemoryCopy(own, target, source, nbytes, *events)


# ---------------------------------------------------------------------- with an image


def _slices(image: ImageMemory, memory: HostMemory | UsmMemory, extent: Extent) -> list[tuple[Any, int, int, int]]:
    """The image region, and the address and pitches of the memory, for each required copy."""
    row, between = pitches_of(memory, extent)
    address, (width, height, depth) = start_of(memory), extent
    if image.descriptor.type is ImageType.array and image.descriptor.dimensions == 1 and depth > 1:
        row, between = between, 0  # Layers are rows of one slice.
    if max(row, between) <= _MOST:
        return [(_region(image.descriptor, image.offset, extent), address, row, between)]
    x, y, z = image.offset
    if depth > 1:
        step = memory.slice_pitch
        parts = [((x, y, z + at), (width, height, 1), address + at * step) for at in range(depth)]
    else:
        step = memory.row_pitch
        parts = [((x, y + at, z), (width, 1, 1), address + at * step) for at in range(height)]
    bytes_of_row = width * memory.pixel_size
    rows = row if height > 1 and row <= _MOST and depth > 1 else bytes_of_row
    return [
        (_region(image.descriptor, offset, part), start, rows, min(rows * part[1], _MOST))
        for offset, part, start in parts
    ]


def _to_image(image: Any, region: Any, address: int, row: int, between: int) -> Command:
    source = _pointer(address)
    return lambda own, *events: lib.zeCommandListAppendImageCopyFromMemoryExt(
        own, image, source, region, row, between, *events
    )


def _from_image(image: Any, region: Any, address: int, row: int, between: int) -> Command:
    target = _pointer(address)
    return lambda own, *events: lib.zeCommandListAppendImageCopyToMemoryExt(
        own, target, image, region, row, between, *events
    )


def _alike(context: Context, storage: ImageStorage, other: ImageDescriptor) -> Any:
    """The image as a view in another format of equal pixel size: the driver copies between equal formats only."""
    own = storage.desc
    key = (other.channel_type, other.num_channels)
    if key == (own.channel_type, own.num_channels):
        return storage.handle
    found = storage.views.get(key)
    if found is None:
        desc = ImageDescriptor(
            own.width,
            own.height,
            own.depth,
            num_channels=other.num_channels,
            channel_type=other.channel_type,
            type=own.type,
            num_levels=own.num_levels,
            array_size=own.array_size,
        )
        create = context.driver.function("zeImageViewCreateExt") or context.driver.require(
            "zeImageViewCreateExp", "1.2"
        )
        slot = ffi.new("ze_image_handle_t *")
        result = create(context.handle, storage.device.handle, image_desc(desc), storage.handle, slot)
        if result != SUCCESS:
            fail(result, "zeImageViewCreateExt", f"{own} as {desc}", Errc.runtime)
        found = storage.views[key] = slot[0]
    return found


def _between(context: Context, src: ImageMemory, dst: ImageMemory, extent: Extent) -> Command:
    source, target = storage_of(context, src.handle), storage_of(context, dst.handle)
    alike, handle = _alike(context, source, target.desc), target.handle
    regions = _region(dst.descriptor, dst.offset, extent), _region(src.descriptor, src.offset, extent)
    return lambda own, *events: lib.zeCommandListAppendImageCopyRegion(own, handle, alike, *regions, *events)


def copy_image(queue: Queue, region: CopyRegion, waits: Sequence[Event] = ()) -> Event:
    """Submit any copy of BI, in queue order."""
    src, dst, extent = region.src, region.dst, region.extent
    context = queue.context
    if isinstance(src, ImageMemory) and isinstance(dst, ImageMemory):
        command = _between(context, src, dst, extent)
        return queue.run(command, "zeCommandListAppendImageCopyRegion", waits, region)
    if isinstance(dst, ImageMemory):
        assert not isinstance(src, ImageMemory)
        image = storage_of(context, dst.handle).handle
        parts = [_to_image(image, *part) for part in _slices(dst, src, extent)]
        return _run(queue, parts, "zeCommandListAppendImageCopyFromMemoryExt", waits, region)
    if isinstance(src, ImageMemory):
        image = storage_of(context, src.handle).handle
        parts = [_from_image(image, *part) for part in _slices(src, dst, extent)]
        return _run(queue, parts, "zeCommandListAppendImageCopyToMemoryExt", waits, region)
    if is_contiguous(src, extent) and is_contiguous(dst, extent):
        return copy(queue, start_of(dst), start_of(src), region.nbytes, waits)
    width, height, depth = extent
    box = width * region.pixel_size, height, depth
    parts = _box(start_of(dst), pitches_of(dst, extent), start_of(src), pitches_of(src, extent), box)
    return _run(queue, parts, "zeCommandListAppendMemoryCopyRegion", waits, region, region.nbytes >= _LARGE)


def _run(
    queue: Queue, parts: list[Command], call: str, waits: Sequence[Event], region: CopyRegion, copies: bool = False
) -> Event:
    first = in_sequence(parts[:-1]) if len(parts) > 1 else None
    return queue.run(parts[-1], call, waits, region, first=first, copies=copies)
