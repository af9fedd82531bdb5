"""``ext_oneapi_copy`` (Explicit copies): its overloads become one checked ``CopyRegion``, or two that regroup pixels.

The forms, by the kinds of the two sides (host: an array or buffer; USM; image: opaque image memory); each
copies the whole image, or with ``copy_extent`` a part of it:

    host → image      src, dst, dst_desc            src_offset, src_extent, dst_offset, copy_extent
    image → host      src, dst, src_desc            src_offset, dst_offset, dst_extent, copy_extent
    host → USM        src, dst, dst_desc, dst_pitch     the same with the host's extent
    USM → host        src, dst, src_desc, src_pitch     the same with the host's extent
    image → image     src, src_desc, dst, dst_desc      offsets, copy_extent
    image → USM       ... and dst_pitch                 offsets, copy_extent
    USM → image       ... and src_pitch                 offsets, copy_extent
    USM → USM         both descriptors and pitches      offsets, copy_extent
    host → host       both descriptors and pitches      offsets, copy_extent

The descriptor of image memory is known from its allocation, that of USM is taken from the other side where it is not
given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...backends.contract import BackendProtocol, NativeEvent
from ...model.arrays import Array
from ...model.copy_region import CopyRegion, Extent, UsmMemory, copy_failure
from ...model.enums import UsmKind
from ...model.errors import InvalidError
from ...model.image_descriptor import ImageDescriptor, integer, range3
from .block_units import count_blocks
from .endpoint import Side, resolve_side

if TYPE_CHECKING:
    from ..device.queue_base import QueueBase

__all__ = ["ORIGIN", "PLACES", "Operation", "copy_operation", "image_copy", "plan_copy"]

Operation = Callable[[Sequence[NativeEvent]], NativeEvent]
Regions = tuple[CopyRegion, ...]

# The default of offsets: callers that pass theirs on are known by it.
ORIGIN = (0, 0, 0)


# Kinds of two sides of which image memory alone has a descriptor.
_KNOWN_IMAGE = frozenset(("hostimage", "imagehost"))


def image_copy(queue: QueueBase, src: object, dst: object, **places: Any) -> tuple[Operation, tuple[object, ...]]:
    """The operation of a checked copy, and what must live until it is complete; arguments as of ``plan_copy``."""
    regions, keep = plan_copy(queue, src, dst, **places)
    operation, memory = copy_operation(queue, regions)
    return operation, (*keep, *memory)


def copy_operation(queue: QueueBase, regions: Regions) -> tuple[Operation, tuple[object, ...]]:
    """The operation of planned regions, and memory of its own that must live until it is complete."""
    backend, native = queue._backend, queue._native
    if len(regions) == 2:
        return _staged(queue, *regions)
    (region,) = regions
    return (lambda waits: backend.copy_image(native, region, waits)), ()


def plan_copy(
    queue: QueueBase,
    src: object,
    dst: object,
    *,
    src_desc: ImageDescriptor | None = None,
    dst_desc: ImageDescriptor | None = None,
    src_offset: Sequence[int] | int = ORIGIN,
    dst_offset: Sequence[int] | int = ORIGIN,
    src_extent: Sequence[int] | int | None = None,
    dst_extent: Sequence[int] | int | None = None,
    copy_extent: Sequence[int] | int | None = None,
    src_pitch: int | None = None,
    dst_pitch: int | None = None,
) -> tuple[Regions, tuple[object, ...]]:
    """Check one copy: its region, or two through linear memory, and what must live until it is complete.

    Offsets and extents are pixels in (x, y, z); z is the layer or face of an array or cubemap. Pitches are bytes,
    None for tightly packed rows; they are ignored where there is one row. Images of blocks take their blocks: arrays of
    bytes (rows, columns, bytes of a block), and regions from a block's first pixel on, to another's or to the end.

    Raises
    ------
    InvalidError
        The copy is one of BI's numbered failure scenarios, or an argument is no image, buffer or number.
    """
    # The defaults of most calls are let through without a call of their own.
    src_first = ORIGIN if src_offset is ORIGIN else range3(src_offset, "src_offset")
    dst_first = ORIGIN if dst_offset is ORIGIN else range3(dst_offset, "dst_offset")
    src_whole = None if src_extent is None else range3(src_extent, "src_extent")
    dst_whole = None if dst_extent is None else range3(dst_extent, "dst_extent")
    part = (
        copy_extent is not None
        or src_whole is not None
        or dst_whole is not None
        or src_first != ORIGIN
        or dst_first != ORIGIN
    )
    if src_pitch is not None:
        src_pitch = integer("src_pitch", src_pitch)
    if dst_pitch is not None:
        dst_pitch = integer("dst_pitch", dst_pitch)
    source = resolve_side(queue, "source", src, src_desc, src_first, src_whole, src_pitch, part)
    target = resolve_side(queue, "destination", dst, dst_desc, dst_first, dst_whole, dst_pitch, part)
    if source.kind + target.kind not in _KNOWN_IMAGE or source.pitch is not None or target.pitch is not None:
        _share_descriptors(source, target)
    if part and copy_extent is None:
        raise InvalidError("offsets and extents are given without copy_extent: say how many pixels to copy")
    extent = None if copy_extent is None else range3(copy_extent, "copy_extent")
    if (source.desc and source.desc.channel.block) or (target.desc and target.desc.channel.block):
        extent = count_blocks(source, target, extent)
    if extent is not None:
        regions: Regions = (_part(source, target, extent),)
    else:
        regions = _whole(source, target)
    return regions, (source.keep, target.keep)


PLACES = frozenset(plan_copy.__kwdefaults__ or ())
"""The names that a copy takes for where its pixels lie."""


def _share_descriptors(source: Side, target: Side) -> None:
    """Every side that is not plain host memory knows its image; a host side with its own pitch as well."""
    on_host = source.kind == target.kind == "host"
    for side, other in ((source, target), (target, source)):
        if side.kind == "host" and not on_host:
            if side.pitch is not None:
                raise InvalidError(
                    f"{side.argument}_pitch={side.pitch}: host memory is tightly packed; leave the pitch out"
                )
        elif side.desc is None:
            side.desc = other.desc
    if source.desc is None and target.desc is None:
        raise InvalidError("no descriptor says what image is copied: pass src_desc or dst_desc")


# ---------------------------------------------------------------------- whole images


def _whole(source: Side, target: Side) -> tuple[CopyRegion, ...]:
    """One region, or two through linear memory where neither side can be regrouped into the other's pixels."""
    src_desc, dst_desc = source.desc or target.desc, target.desc or source.desc
    assert src_desc is not None and dst_desc is not None
    for side, desc in ((source, src_desc), (target, dst_desc)):
        array = side.array
        if side.kind == "host" and (array is None or array.shape != desc.shape or array.dtype != desc.dtype):
            _check_whole_host(side, desc)
    if src_desc is not dst_desc and src_desc.nbytes != dst_desc.nbytes:
        raise copy_failure(
            2, f"{src_desc.nbytes} bytes in the source, {dst_desc.nbytes} in the destination", part=False
        )
    if src_desc is dst_desc or (src_desc.extent == dst_desc.extent and src_desc.pixel_size == dst_desc.pixel_size):
        return (CopyRegion(source.endpoint(src_desc), target.endpoint(dst_desc), src_desc.extent),)
    if source.is_flat(src_desc):
        return (CopyRegion(source.endpoint(dst_desc, flat=True), target.endpoint(dst_desc), dst_desc.extent),)
    if target.is_flat(dst_desc):
        return (CopyRegion(source.endpoint(src_desc), target.endpoint(src_desc, flat=True), src_desc.extent),)
    packed = src_desc.nbytes
    return (
        CopyRegion(source.endpoint(src_desc), UsmMemory(0, 0, src_desc, capacity=packed), src_desc.extent),
        CopyRegion(UsmMemory(0, 0, dst_desc, capacity=packed), target.endpoint(dst_desc), dst_desc.extent),
    )


def _check_whole_host(side: Side, desc: ImageDescriptor) -> None:
    """Host memory holds exactly the image: an array as its shape, or flat. With a pitch its capacity decides."""
    array = side.array
    if array is None:
        if side.capacity != desc.nbytes and side.pitch is None:
            raise copy_failure(
                2, f"the image {desc.extent} takes {desc.nbytes} bytes, the {side.name} has {side.capacity}", part=False
            )
        return
    shapes = _pixel_shapes(side, desc, part=False)
    if side.pitch is not None:
        return
    if shapes and desc.shape[:-1] not in shapes:
        raise copy_failure(
            2, f"the {side.name} array of shape {array.shape} is no image of shape {desc.shape}", part=False
        )
    if array.nbytes != desc.nbytes:
        raise copy_failure(
            2,
            f"the image of shape {desc.shape} takes {desc.nbytes} bytes, the {side.name} array has {array.nbytes}",
            part=False,
        )


def _pixel_shapes(side: Side, desc: ImageDescriptor, *, part: bool) -> list[tuple[int, ...]]:
    """Possible sizes in pixels of the array's shape, without channels; none for a flat array.

    An array of one channel may leave the axis of channels out, and one that holds a part of an image the first axes.

    Raises
    ------
    InvalidError
        dtype or number of axes are not the descriptor's.
    """
    array: Array | None = side.array
    assert array is not None
    axes, channels = desc.dimensions + desc.is_layered, desc.num_channels
    shape: tuple[int, ...] = array.shape
    shapes: list[tuple[int, ...]] = []
    if array.dtype.fields is not None:
        if array.dtype.itemsize != desc.pixel_size:
            raise InvalidError(
                f"the {side.name} array's items of {array.dtype.itemsize} bytes are no pixels of {desc.pixel_size} "
                f"bytes ({channels} channels of {desc.dtype})"
            )
        shapes.append(shape)
    else:
        if array.dtype != desc.dtype:
            swapped = array.dtype.newbyteorder("=") == desc.dtype
            bits = "" if swapped else f", or pass the bits with array.view({str(desc.dtype)!r})"
            raise InvalidError(
                f"the {side.name} array is {array.dtype}, {desc.channel_type} channels are {desc.dtype}: convert with "
                f"array.astype({str(desc.dtype)!r}){bits}"
            )
        if len(shape) > 1 and shape[-1] == channels:
            shapes.append(shape[:-1])
        if channels == 1:
            shapes.append(shape)
    shapes = [pixels for pixels in shapes if len(pixels) == axes or (part and 1 < len(pixels) + 1 <= axes)]
    if not shapes and array.ndim != 1:
        raise InvalidError(
            f"the {side.name} array of shape {array.shape} is no image of {desc.dimensions} dimensions"
            f"{' with layers' if desc.is_layered else ''} and {channels} channels; its shape is "
            f"({'layers, ' if desc.is_layered else ''}{'depth, ' if desc.depth else ''}"
            f"{'height, ' if desc.height else ''}width, channels), or flat"
        )
    if array.ndim == 1 and axes > 1:
        return []
    return [(1,) * (axes - len(pixels)) + pixels for pixels in shapes]


def _staged(queue: QueueBase, first: CopyRegion, second: CopyRegion) -> tuple[Operation, tuple[object, ...]]:
    """Image → linear memory → image, for images of equal capacity and different pixels or shapes."""
    backend, context = queue._backend, queue.context
    assert isinstance(first.dst, UsmMemory) and isinstance(second.src, UsmMemory)
    memory = _Staging(backend, context, queue.device._record.native, first.nbytes)
    into = CopyRegion(first.src, UsmMemory(memory.address, 0, first.dst.descriptor), first.extent)
    out = CopyRegion(UsmMemory(memory.address, 0, second.src.descriptor), second.dst, second.extent)

    def submit(waits: Sequence[NativeEvent]) -> NativeEvent:
        staged = backend.copy_image(queue._native, into, waits)
        try:
            return backend.copy_image(queue._native, out, [staged])
        finally:
            backend.release_event(staged)

    return submit, (memory,)


class _Staging:
    """Linear device memory that lives as long as this object."""

    __slots__ = ("_backend", "_context", "address")

    def __init__(self, backend: BackendProtocol, context: Any, device: Any, nbytes: int) -> None:
        self.address = 0
        self._backend, self._context = backend, context
        self.address = backend.allocate(context._native, device, UsmKind.device, nbytes)

    def __del__(self) -> None:
        if getattr(self, "address", 0):
            self._backend.free(self._context._native, self.address)


# ---------------------------------------------------------------------- parts of images


def _part(source: Side, target: Side, copy_extent: Extent) -> CopyRegion:
    src_desc, dst_desc = source.desc or target.desc, target.desc or source.desc
    assert src_desc is not None and dst_desc is not None
    extent = _copy_extent(copy_extent, src_desc, dst_desc)
    for side, desc in ((source, src_desc), (target, dst_desc)):
        if side.kind == "host" and side.pitch is None:
            side.extent = _host_extent(side, desc, extent)
    return CopyRegion(source.endpoint(src_desc), target.endpoint(dst_desc), extent, part=True)


def _copy_extent(extent: Extent, src: ImageDescriptor, dst: ImageDescriptor) -> Extent:
    """Unused components are 1; a used one of 0 is refused instead of meaning the whole image."""
    used = (
        True,
        bool(src.height or dst.height),
        bool(src.depth or dst.depth or src.is_layered or dst.is_layered),
    )
    for axis, name in enumerate("xyz"):
        if used[axis] and extent[axis] == 0:
            raise InvalidError(
                f"copy_extent={extent}: {name} is 0; give at least 1, or leave copy_extent out to copy everything"
            )
    return max(extent[0], 1), max(extent[1], 1), max(extent[2], 1)


def _host_extent(side: Side, desc: ImageDescriptor, extent: Extent) -> Extent:
    """Pixels of the whole host image: as given, as the array's shape says, or the region itself."""
    shapes = _pixel_shapes(side, desc, part=True) if side.array is not None else []
    if side.extent is not None:
        if side.extent[0] == 0:
            raise InvalidError(f"{side.argument}_extent={side.extent}: x is 0; the host image has a width")
        return max(side.extent[0], 1), max(side.extent[1], 1), max(side.extent[2], 1)
    extents = [_extent_of(pixels, desc) for pixels in shapes]
    for whole in extents:
        if all(offset + size <= bound for offset, size, bound in zip(side.offset, extent, whole)):
            return whole
    if extents:
        return extents[0]
    if any(side.offset):
        raise InvalidError(
            f"{side.argument}_offset={side.offset} into a flat buffer: say with {side.argument}_extent how large "
            "the host image is"
        )
    return extent


def _extent_of(pixels: tuple[int, ...], desc: ImageDescriptor) -> Extent:
    """(x, y, z) of a shape in pixels; the layers of lines are z."""
    sizes = [*reversed(pixels)]
    if desc.is_layered and desc.dimensions == 1:
        sizes.insert(1, 1)
    sizes += [1, 1]
    return sizes[0], sizes[1], sizes[2]
