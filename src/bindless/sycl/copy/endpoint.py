"""``Endpoint``: one side of ``ext_oneapi_copy``, with its kind of memory, place and image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ...model.arrays import Array
from ...model.copy_region import Endpoint, Extent, HostMemory, ImageMemory, UsmMemory, copy_failure
from ...model.enums import ImageType, UsmKind
from ...model.errors import InvalidError
from ...model.image_descriptor import ImageDescriptor
from ...model.image_handles import ImageMemHandle
from ..device.image_owner import ImageOwner
from ..usm.array import UsmArray
from ..usm.array_import import foreign_array
from ..usm.host_memory import host_span
from ..usm.pointer import UsmPointer

if TYPE_CHECKING:
    from ..device.queue_base import QueueBase

__all__ = ["Side", "resolve_side"]

_Name = Literal["source", "destination"]


@dataclass(slots=True)
class Side:
    """A source or a destination as the caller named it.

    Attributes
    ----------
    name : str
        The side.
    kind : Literal["image", "usm", "host"]
        ``image`` opaque image memory, ``usm`` memory of the driver, ``host`` ordinary memory.
    raw : int
        Raw handle, or the address of the first byte.
    desc : ImageDescriptor | None
        The image, given by the caller or known from the allocation; None where nobody said.
    offset : Extent
        First pixel.
    extent : Extent | None
        Of the whole host image as given, or None.
    pitch : int | None
        Bytes as given, or None for tightly packed.
    capacity : int | None
        Bytes from the address to the end of the memory, None where unknown.
    pitch_align : int
        What the pitch must be a multiple of.
    array : np.ndarray | None
        The numpy array, where the side is one.
    keep : object
        What must live until the copy is complete.
    """

    name: _Name
    kind: Literal["image", "usm", "host"]
    raw: int
    desc: ImageDescriptor | None
    offset: Extent
    extent: Extent | None
    pitch: int | None
    capacity: int | None
    keep: object
    pitch_align: int = 1
    array: Array | None = None

    @property
    def argument(self) -> str:
        """Prefix of this side's arguments: ``src`` or ``dst``."""
        return "src" if self.name == "source" else "dst"

    def is_flat(self, desc: ImageDescriptor) -> bool:
        """Whether the pixels of ``desc`` lie one after the other here, and the pitch says so rightly."""
        if self.kind == "image":
            return False
        rows = desc.extent[1] * desc.extent[2]
        return self.pitch is None or rows == 1 or (self.pitch == desc.row_size and self.pitch % self.pitch_align == 0)

    def endpoint(self, desc: ImageDescriptor, *, flat: bool = False) -> Endpoint:
        """This side as an endpoint that holds the image ``desc``; ``flat``: with no pitch of its own."""
        if self.kind == "image":
            return ImageMemory(self.raw, desc, self.offset)
        if self.kind == "host" and (flat or self.pitch is None):
            extent = self.extent or desc.extent
            return HostMemory(self.raw, extent, desc.pixel_size, self.capacity or 0, self.offset)
        if self.pitch == 0 and desc.extent[1] * desc.extent[2] > 1:
            raise copy_failure(
                10, f"{self.name} pitch 0 < {desc.row_size} bytes a row; leave it out for packed rows", part=True
            )
        pitch = 0 if flat or self.pitch is None else self.pitch
        return UsmMemory(self.raw, pitch, desc, self.offset, self.capacity, self.pitch_align)


def resolve_side(
    queue: QueueBase,
    name: _Name,
    value: object,
    desc: ImageDescriptor | None,
    offset: Extent,
    extent: Extent | None,
    pitch: int | None,
    part: bool,
) -> Side:
    """The side that ``value`` names; it belongs to the queue's context and device, or an ``InvalidError`` says so."""
    if desc is not None:
        if not isinstance(desc, ImageDescriptor):
            raise InvalidError(f"{name} descriptor: {type(desc).__name__} is no ImageDescriptor")
        desc.verify()
        if desc.type is ImageType.mipmap:
            raise InvalidError(
                f"{name} descriptor is a mipmap: copies go level by level; "
                "take get_mip_level_mem_handle(level) and desc.get_mip_level_desc(level)"
            )
    if isinstance(value, np.ndarray):  # first, for the next question is a slow one to most arrays
        return _host_side(name, value, desc, offset, extent, pitch)
    if isinstance(value, (ImageMemHandle, ImageOwner)):
        side = _image_side(queue, name, value, desc, offset, part)
        if pitch is not None:
            raise InvalidError(f"{side.argument}_pitch={pitch}: image memory has no pitch; leave it out")
        if extent is not None:
            _check_device_extent(side, extent)
        return side
    if not isinstance(value, (UsmPointer, UsmArray, int)):
        value = foreign_array(value, queue)
    if isinstance(value, (UsmPointer, UsmArray, int)) and not isinstance(value, bool):
        return _usm_side(queue, name, value, desc, offset, extent, pitch, part)
    return _host_side(name, value, desc, offset, extent, pitch)


def _foreign(part: bool, details: str) -> InvalidError:
    return copy_failure(1, details, part=part)


def _image_side(
    queue: QueueBase, name: _Name, value: Any, desc: ImageDescriptor | None, offset: Extent, part: bool
) -> Side:
    context = queue.context
    if isinstance(value, ImageMemHandle):
        raw = value.raw_handle
        record = context._images.get(raw)
        if record is None:
            raise _foreign(
                part,
                f"{name} {value!r} is no image memory of the queue's context: "
                "it was freed, or allocated in another context",
            )
        allocated, device, keep = record.descriptor, record.device, record.keep(context)
    else:
        raw, allocated, owner, device, keep = value._image_memory()
        if owner is not context and owner != context:
            raise _foreign(part, f"{name} {value!r} was allocated in another context")
    if device is not queue.device and device != queue.device:
        raise _foreign(part, f"{name} {value!r} was allocated on {device}, the queue runs on {queue.device}")
    if allocated.type is ImageType.mipmap:
        raise InvalidError(
            f"the {name} is a whole mipmap: copies go level by level; "
            "take get_mip_level_mem_handle(level) and desc.get_mip_level_desc(level)"
        )
    if desc is not None and desc != allocated:
        same_layout = desc.extent == allocated.extent and desc.pixel_size == allocated.pixel_size
        if part or not same_layout:
            raise copy_failure(2, f"{name}: given {desc}, allocated as {allocated}", part=part)
    return Side(name, "image", raw, desc or allocated, offset, None, None, None, keep)


def _check_device_extent(side: Side, extent: Extent) -> None:
    """An extent given for memory that has a descriptor says the same, or is one of BI's failures."""
    assert side.desc is not None
    whole = side.desc.extent
    sizes = tuple(max(n, 1) for n in extent)
    if any(n > bound for n, bound in zip(sizes, whole)):
        raise copy_failure(
            5 if side.name == "source" else 6, f"extent {extent} > {whole} pixels of the {side.name}", part=True
        )
    if sizes != whole:
        raise InvalidError(
            f"{side.argument}_extent={extent}: extents of images on the device come from their descriptor, {whole}; "
            "give the size of the region as copy_extent"
        )


def _usm_side(
    queue: QueueBase,
    name: _Name,
    value: UsmPointer | UsmArray | int,
    desc: ImageDescriptor | None,
    offset: Extent,
    extent: Extent | None,
    pitch: int | None,
    part: bool,
) -> Side:
    context = queue.context
    if isinstance(value, int):
        address = value
        if not 0 < address < 2**64:
            raise InvalidError(f"the {name} address {address} is none: it is a positive number of 64 bits")
        record = queue._backend.pointer_info(context._native, address)
        kind, capacity = record.kind, record.base + record.size - address
        if kind is UsmKind.unknown:
            raise _foreign(
                part,
                f"{name} address {address:#x} is no memory of the queue's context; "
                "ordinary host memory is passed as an array or another buffer",
            )
        keep: object = None
    else:
        if name == "destination":
            value._owner.require_writable("the destination")
        if isinstance(value, UsmArray) and not value.is_contiguous:
            raise InvalidError(f"the {name} {value!r} is not contiguous: copy it into usm_empty first")
        pointer = value.pointer
        address, kind = pointer.address, pointer.kind
        capacity = value.nbytes
        if pointer.context is not context and pointer.context != context:
            raise _foreign(part, f"{name} {value!r} was allocated in another context")
        if kind is UsmKind.device and pointer.device is not queue.device and pointer.device != queue.device:
            raise _foreign(part, f"{name} {value!r} is memory of {pointer.device}, the queue runs on {queue.device}")
        keep = value
    align = 1 if kind is UsmKind.host else int(queue.device.get_info("image_row_pitch_align"))
    side = Side(name, "usm", address, desc, offset, extent, pitch, capacity, keep, align)
    if extent is not None and desc is not None:
        _check_device_extent(side, extent)
    return side


def _host_side(
    name: _Name,
    value: object,
    desc: ImageDescriptor | None,
    offset: Extent,
    extent: Extent | None,
    pitch: int | None,
) -> Side:
    span = host_span(f"the {name}", value, written=name == "destination")
    if span is None:
        raise InvalidError(
            f"the {name} is a {type(value).__name__}; copies take numpy arrays and other buffers, ImageMem, "
            "ImageMemHandle, UsmPointer and UsmArray"
        )
    address, nbytes, keep = span
    array = value if isinstance(value, np.ndarray) else None
    return Side(name, "host", address, desc, offset, extent, pitch, nbytes, keep, array=array)
