"""``CopyRegion`` as commands: copies of bytes, copies with an image on one side, and copies between images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...drivers import opencl as driver
from ...drivers.common.cffi_types import CData
from ...model.copy_region import CopyRegion, Endpoint, Extent, HostMemory, ImageMemory, UsmMemory
from ...model.enums import ImageType, UsmKind
from ...model.image_descriptor import ImageDescriptor
from ..common.strided_memory import pitches_of, start_of
from ..contract.prepared_copy import PreparedCopy
from . import memory_svm
from .context import Context
from .copy_command import CopyCommand, copy_pixels
from .errors import create
from .event import Event, address_of
from .fork_guard import in_fork
from .image_format import image_desc, image_format
from .image_memory import FOREIGN_IMAGES, storage_of
from .image_objects import ImageStorage
from .launch import repeated
from .memory import copy_commands, means_of
from .memory_buffers import Temporary
from .queue import Queue

__all__ = ["copy_image", "prepare_copy"]

lib, ffi = driver.lib, driver.ffi

_SUBMIT = address_of(ffi.addressof(lib, "bindless_submit_copy"))
_SOURCE, _TARGET = (ffi.offsetof("bindless_copy_t", name) for name in ("source", "target"))  # and their ``place``

# Kinds of copies with memory, and their driver functions.
_WRITE_IMAGE = lib.BINDLESS_WRITE_IMAGE, "clEnqueueWriteImage"
_READ_IMAGE = lib.BINDLESS_READ_IMAGE, "clEnqueueReadImage"
_FROM_BUFFER = lib.BINDLESS_BUFFER_TO_IMAGE, "clEnqueueCopyBufferToImage"
_TO_BUFFER = lib.BINDLESS_IMAGE_TO_BUFFER, "clEnqueueCopyImageToBuffer"

_NOWHERE = 0, 0, 0


class _Plan(NamedTuple):
    """The commands of a copy.

    Attributes
    ----------
    call
        driver function, for errors.
    in_sequence
        whether each command starts after the one before it.
    keep
        objects that the submission needs.
    """

    commands: list[CopyCommand]
    call: str
    in_sequence: bool = False
    keep: object = None


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


def _between_memories(queue: Queue, region: CopyRegion) -> _Plan:
    runs = _rows(region)
    commands = [command for run in runs for command in copy_commands(queue.context, *run)]
    return _Plan(commands, "copy", in_sequence=len(commands) > len(runs))


# ---------------------------------------------------------------------- with an image


def _buffer_of(context: Context, address: int) -> tuple[int, int] | None:
    """Address and offset of the buffer of memory that the host does not access; None for other memory."""
    own = context.allocation_of(address)
    if own is None:
        return None
    if own.buffer is not None:
        return address_of(own.buffer), address - own.base
    if own.kind is UsmKind.device and _is_coarse(context):
        return address_of(memory_svm.as_buffer(context, own)), address - own.base
    return None


def _is_coarse(context: Context) -> bool:
    """Whether the host can access device memory only after mapping it."""
    device = context.devices[0]
    return means_of(device) is memory_svm and memory_svm.is_coarse(device)


def _parts(
    image: ImageMemory, region: CopyRegion, row: int, between: int, packed: bool
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
    extent = width, height, depth = region.extent
    (x, y, z), desc, line = image.offset, image.descriptor, width * region.pixel_size
    if packed and row != line:
        return [
            (*_region(desc, (x, y + j, z + k), (width, 1, 1)), k * between + j * row, 0, 0)
            for k in range(depth)
            for j in range(height)
        ]
    if packed and between != line * height:
        return [(*_region(desc, (x, y, z + k), (width, height, 1)), k * between, 0, 0) for k in range(depth)]
    if desc.dimensions == 1 and _is_row_array(desc):  # Layers are rows, and some drivers read only one of the pitches.
        return [(*_region(desc, image.offset, extent), 0, between, between)]
    if depth == 1:
        return [(image.offset, extent, 0, row, 0)]
    return [(image.offset, extent, 0, between if height == 1 else row, between)]


def _with_image(queue: Queue, image: ImageMemory, memory: HostMemory | UsmMemory, region: CopyRegion) -> _Plan:
    context, to_image = queue.context, image is region.dst
    storage = context.images.get(image.handle) or storage_of(context, image.handle)
    address, (row, between) = start_of(memory), pitches_of(memory, region.extent)
    own = _buffer_of(context, address)
    parts = _parts(image, region, row, between, own is not None)
    if own is None:
        kind, call = _WRITE_IMAGE if to_image else _READ_IMAGE
        place, offset = address, 0
    else:
        kind, call = _FROM_BUFFER if to_image else _TO_BUFFER
        place, offset = own
        if _needs_first_layer(queue, image.descriptor):
            first = _FirstLayer(context, storage, region.extent[0])
            sequence = [
                command
                for origin, extent, begin, *_ in parts
                for command in first.commands(to_image, place, offset + begin, origin, extent)
            ]
            return _Plan(sequence, "clEnqueueCopyImage", True, first)
    commands = []
    for origin, extent, begin, *pitches in parts:
        pixels = storage.address, origin, 0
        linear = (place + begin, _NOWHERE, 0) if own is None else (place, _NOWHERE, offset + begin)
        source, target = (linear, pixels) if to_image else (pixels, linear)
        commands.append(copy_pixels(kind, source, target, extent, *pitches))
    return _Plan(commands, call)


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
        self.other, self.line = other.address, width * desc.pixel_size
        self.image = create(
            "clCreateImage", context.handle, lib.CL_MEM_READ_WRITE, pixel, image_desc(desc), ffi.NULL, details="between"
        )

    # Bound here: at exit the module's names are gone.
    def __del__(
        self, _release: Callable[[CData], int] = lib.clReleaseMemObject, _in_fork: Callable[[], bool] = in_fork
    ) -> None:
        """Release the image after the submission: the driver keeps it for the commands."""
        image = self.__dict__.pop("image", None)
        if image is not None and not _in_fork():
            _release(image)

    def commands(self, to_image: bool, buffer: int, offset: int, origin: Extent, extent: Extent) -> list[CopyCommand]:
        """The sequence of commands: contiguous rows of the buffer, and layers of the other image."""
        size = extent[0], 1, 1
        result: list[CopyCommand] = []
        layer = address_of(self.image), _NOWHERE, 0
        for number in range(extent[1]):
            there = self.other, (origin[0], origin[1] + number, 0), 0
            memory = buffer, _NOWHERE, offset + number * self.line
            if to_image:
                result.append(copy_pixels(lib.BINDLESS_BUFFER_TO_IMAGE, memory, layer, size))
                result.append(copy_pixels(lib.BINDLESS_COPY_IMAGE, layer, there, size))
            else:
                result.append(copy_pixels(lib.BINDLESS_COPY_IMAGE, there, layer, size))
                result.append(copy_pixels(lib.BINDLESS_IMAGE_TO_BUFFER, layer, memory, size))
        return result


# ---------------------------------------------------------------------- image to image


def _between_images(queue: Queue, src: ImageMemory, dst: ImageMemory, region: CopyRegion) -> _Plan:
    context = queue.context
    images = context.images
    source = images.get(src.handle) or storage_of(context, src.handle)
    target = images.get(dst.handle) or storage_of(context, dst.handle)
    one, other = source.desc, target.desc
    alike = one.channel_type is other.channel_type and one.num_channels == other.num_channels and source is not target
    of, size = _region(src.descriptor, src.offset, region.extent)
    to, other_size = _region(dst.descriptor, dst.offset, region.extent)
    pixels = (source.address, of, 0), (target.address, to, 0)
    if alike and (size is region.extent) == (other_size is region.extent):  # else one has rows as layers
        return _Plan([copy_pixels(lib.BINDLESS_COPY_IMAGE, *pixels, size)], "clEnqueueCopyImage")
    # The driver copies between different images of equal formats only: other copies go through a buffer.
    between = Temporary(context, region.nbytes)
    buffer = address_of(between.buffer)
    memory = buffer, _NOWHERE, 0
    parts = [
        [copy_pixels(lib.BINDLESS_IMAGE_TO_BUFFER, pixels[0], memory, size)],
        [copy_pixels(lib.BINDLESS_BUFFER_TO_IMAGE, memory, pixels[1], other_size)],
    ]
    keep: list[object] = [between]
    sides = ((src, source, of, size, False), (dst, target, to, other_size, True))
    for number, (end, storage, origin, extent, to_image) in enumerate(sides):
        if _needs_first_layer(queue, end.descriptor):
            first = _FirstLayer(context, storage, region.extent[0])
            parts[number] = first.commands(to_image, buffer, 0, origin, extent)
            keep.append(first)
    return _Plan([*parts[0], *parts[1]], "clEnqueueCopyImageToBuffer", True, keep)


# ---------------------------------------------------------------------- submission


def _plan(queue: Queue, region: CopyRegion) -> _Plan:
    src, dst = region.src, region.dst
    if isinstance(src, ImageMemory):
        if isinstance(dst, ImageMemory):
            return _between_images(queue, src, dst, region)
        return _with_image(queue, src, dst, region)
    if isinstance(dst, ImageMemory):
        return _with_image(queue, dst, src, region)
    return _between_memories(queue, region)


def copy_image(queue: Queue, region: CopyRegion, waits: Sequence[Event] = ()) -> Event:
    """Submit any copy of BI, in queue order."""
    plan = _plan(queue, region)
    if len(plan.commands) == 1:
        return queue.run(plan.commands[0], plan.call, waits, region)
    submit = queue.run_in_sequence if plan.in_sequence else queue.run_all
    return submit(plan.commands, plan.call, waits, region)


def prepare_copy(queue: Queue, region: CopyRegion) -> PreparedCopy | None:
    """Prepare a copy of one driver command for repetition; see the contract."""
    if queue.profiling or queue.handle is None:
        return None
    plan = _plan(queue, region)
    if len(plan.commands) != 1:
        return None
    struct = plan.commands[0].args[0]
    struct.queue, struct.context, struct.numbers = queue.state, queue.context.state, FOREIGN_IMAGES
    command = repeated(queue, _SUBMIT, struct, plan.call, region)
    first = command.descriptions[0]
    offset, place = _adjustable(region.src, struct.source, first + _SOURCE)
    other_offset, other_place = _adjustable(region.dst, struct.target, first + _TARGET)
    return PreparedCopy(command, (place, other_place), (offset, other_offset))


def _adjustable(end: Endpoint, side: CData, place: int) -> tuple[int, tuple[int, ...]]:
    """Offset and positions of an end of a prepared copy. Memory with a descriptor is fixed, and so are images of other
    programs, whose raw handles are numbers.
    """
    if isinstance(end, HostMemory):
        return side.place - end.address, (place,)
    return 0, (place,) if isinstance(end, ImageMemory) and end.handle < FOREIGN_IMAGES else ()
