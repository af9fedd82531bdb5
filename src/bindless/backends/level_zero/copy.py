"""``CopyRegion`` as commands: linear copies of bytes, copies of boxes of bytes, and copies with an image on a side."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NamedTuple

from ...drivers import level_zero as driver
from ...drivers.common.cffi_types import CData
from ...model.copy_region import CopyRegion, Extent, HostMemory, ImageMemory, UsmMemory
from ...model.enums import Errc, ImageType
from ...model.image_descriptor import ImageDescriptor
from ..common.strided_memory import is_contiguous, pitches_of, start_of
from ..contract.prepared_copy import PreparedCopy
from .command_list import in_sequence
from .context import Context
from .errors import SUCCESS, fail
from .event import Event
from .image_format import image_desc
from .image_memory import storage_of
from .image_objects import ImageStorage
from .prepared_command import address_of, prepared
from .queue import Queue

__all__ = ["copy_image", "prepare_copy"]

lib, ffi = driver.lib, driver.ffi

_NULL = ffi.NULL
_append = lib.bindless_append_copy
_SUBMIT = address_of(ffi.addressof(lib, "bindless_copy"))

_PLACES = tuple(ffi.offsetof("bindless_copy_t", side, "place") for side in ("source", "destination"))

_LARGE = 1 << 20

# Pitches and sizes of the driver's calls have 32 bits: larger boxes are copied by slices or by rows.
_MOST = 2**32 - 1

_Region = tuple[int, int, int, int, int, int]
_Side = tuple[object, ...]  # bindless_copy_side_t


class _Plan(NamedTuple):
    """The commands of a copy.

    Attributes
    ----------
    call
        the driver's function, for errors.
    parts
        bindless_copy_t of each command.
    starts
        address of the first pixel to copy in the source and in the destination, where it is memory.
    is_large
        whether a copy engine may run it.
    """

    call: str
    parts: list[tuple[CData, ...]]
    starts: tuple[int, int] = (0, 0)
    is_large: bool = False


def _region(desc: ImageDescriptor, offset: Extent, extent: Extent) -> _Region:
    """ze_image_region_t. The layers of a one-dimensional array are its rows."""
    if desc.type is ImageType.array and desc.dimensions == 1:
        return offset[0], offset[2], 0, extent[0], extent[2], 1
    return (*offset, *extent)


# ---------------------------------------------------------------------- memory to memory


def _box(
    dst: int, dst_pitches: tuple[int, int], src: int, src_pitches: tuple[int, int], box: Extent
) -> list[tuple[CData, ...]]:
    """The copies of a box of bytes, rows and slices."""
    width, height, depth = box
    if max(*dst_pitches, *src_pitches, *box) <= _MOST:
        return [(_NULL, lib.BINDLESS_BOX, (src, *src_pitches), (dst, *dst_pitches), (0, 0, 0, *box))]
    if depth > 1:
        parts = [(dst + z * dst_pitches[1], src + z * src_pitches[1]) for z in range(depth)]
        flat = (width, height, 1)
        pitches = (dst_pitches[0], dst_pitches[0] * height), (src_pitches[0], src_pitches[0] * height)
        return [part for to, of in parts for part in _box(to, pitches[0], of, pitches[1], flat)]
    rows = ((dst + y * dst_pitches[0], src + y * src_pitches[0]) for y in range(height))
    return [_linear(to, of, width) for to, of in rows]


def _linear(dst: int, src: int, nbytes: int) -> tuple[CData, ...]:
    return _NULL, lib.BINDLESS_LINEAR, (src,), (dst,), (), nbytes


def _between_memory(src: HostMemory | UsmMemory, dst: HostMemory | UsmMemory, region: CopyRegion) -> _Plan:
    (width, height, depth), starts = region.extent, (start_of(src), start_of(dst))
    if is_contiguous(src, region.extent) and is_contiguous(dst, region.extent):
        part = _linear(starts[1], starts[0], region.nbytes)
        return _Plan("zeCommandListAppendMemoryCopy", [part], starts, region.nbytes >= _LARGE)
    sides = starts[1], pitches_of(dst, region.extent), starts[0], pitches_of(src, region.extent)
    parts = _box(*sides, (width * region.pixel_size, height, depth))
    return _Plan("zeCommandListAppendMemoryCopyRegion", parts, starts, region.nbytes >= _LARGE)


# ---------------------------------------------------------------------- with an image


def _slices(
    image: ImageMemory, memory: HostMemory | UsmMemory, extent: Extent
) -> tuple[int, list[tuple[_Side, _Side]]]:
    """The first address of the memory; the sides of image and memory for each required copy."""
    row, between = pitches_of(memory, extent)
    address, (width, height, depth), desc = start_of(memory), extent, image.descriptor
    if desc.type is ImageType.array and desc.dimensions == 1 and depth > 1:
        row, between = between, 0  # Layers are rows of one slice.
    if row <= _MOST and between <= _MOST:
        region = _region(desc, image.offset, extent)
        return address, [((image.handle, 0, 0, region), (address, row, between))]
    x, y, z = image.offset
    if depth > 1:
        step = memory.slice_pitch
        parts = [((x, y, z + at), (width, height, 1), address + at * step) for at in range(depth)]
    else:
        step = memory.row_pitch
        parts = [((x, y + at, z), (width, 1, 1), address + at * step) for at in range(height)]
    bytes_of_row = width * memory.pixel_size
    rows = row if height > 1 and row <= _MOST and depth > 1 else bytes_of_row
    return address, [
        ((image.handle, 0, 0, _region(desc, offset, part)), (start, rows, min(rows * part[1], _MOST)))
        for offset, part, start in parts
    ]


def _alike(context: Context, storage: ImageStorage, other: ImageDescriptor) -> CData:
    """The image as a view in another format of equal pixel size: the driver copies between equal formats only."""
    own = storage.desc
    key = (other.channel_type, other.num_channels)
    if key == (own.channel_type, own.num_channels):
        return storage.handle
    view = storage.views.get(key)
    if view is None:
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
        view = storage.views[key] = slot[0]
    return view


def _between_images(context: Context, src: ImageMemory, dst: ImageMemory, extent: Extent) -> _Plan:
    source, target = storage_of(context, src.handle), storage_of(context, dst.handle)
    image = address_of(_alike(context, source, target.desc))
    part = (
        _NULL,
        lib.BINDLESS_BETWEEN_IMAGES,
        (image, 0, 0, _region(src.descriptor, src.offset, extent)),
        (dst.handle, 0, 0, _region(dst.descriptor, dst.offset, extent)),
    )
    return _Plan("zeCommandListAppendImageCopyRegion", [part])


def _plan(context: Context, region: CopyRegion) -> _Plan:
    """The commands of a copy."""
    src, dst, extent = region.src, region.dst, region.extent
    if isinstance(dst, ImageMemory):
        if isinstance(src, ImageMemory):
            return _between_images(context, src, dst, extent)
        if dst.handle not in context.images:
            storage_of(context, dst.handle)  # raises the error
        start, sides = _slices(dst, src, extent)
        parts = [(_NULL, lib.BINDLESS_TO_IMAGE, memory, image) for image, memory in sides]
        return _Plan("zeCommandListAppendImageCopyFromMemoryExt", parts, (start, 0))
    if isinstance(src, ImageMemory):
        if src.handle not in context.images:
            storage_of(context, src.handle)
        start, sides = _slices(src, dst, extent)
        parts = [(_NULL, lib.BINDLESS_FROM_IMAGE, image, memory) for image, memory in sides]
        return _Plan("zeCommandListAppendImageCopyToMemoryExt", parts, (0, start))
    return _between_memory(src, dst, region)


def copy_image(queue: Queue, region: CopyRegion, waits: Sequence[Event] = ()) -> Event:
    """Submit any copy of BI, in queue order."""
    plan = _plan(queue.context, region)
    described = ffi.new("bindless_copy_t[]", plan.parts)
    commands = [functools.partial(_append, described + at) for at in range(len(plan.parts))]
    first = in_sequence(commands[:-1]) if len(commands) > 1 else None
    return queue.run(commands[-1], plan.call, waits, region, first=first, copies=plan.is_large)


def prepare_copy(queue: Queue, region: CopyRegion) -> PreparedCopy | None:
    """Prepare a copy for repetition; see the contract. None for events with timestamps and for several commands."""
    if queue.profiling:
        return None
    plan = _plan(queue.context, region)
    if len(plan.parts) > 1:
        return None
    streams = (queue.copies,) if plan.is_large and queue.copies is not None else queue.ordered
    described = ffi.new("bindless_copy_t[]", plan.parts * len(streams))
    command = prepared(streams, _SUBMIT, described, (), (), plan.call, region, None)
    between_images = plan.parts[0][1] == lib.BINDLESS_BETWEEN_IMAGES  # The format of one depends on the other.
    places, offsets = [], []
    for position, end, start in zip(_PLACES, (region.src, region.dst), plan.starts):
        fixed = between_images or isinstance(end, UsmMemory)
        places.append(() if fixed else tuple(map(position.__add__, command.descriptions)))
        offsets.append(start - end.address if isinstance(end, HostMemory) else 0)
    return PreparedCopy(command, (places[0], places[1]), (offsets[0], offsets[1]))
