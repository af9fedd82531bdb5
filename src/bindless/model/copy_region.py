"""``CopyRegion``: every overload of ``ext_oneapi_copy`` as one checked value (Explicit copies).

The two endpoints say where pixels lie; offsets and extents are pixels in (x, y, z) order, z being the
layer of an array or the face of a cubemap. Pitches are bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from .descriptor import ImageDescriptor
from .errors import InvalidError

__all__ = ["CopyRegion", "Endpoint", "HostMemory", "ImageMemory", "UsmMemory", "copy_failure"]

Extent = tuple[int, int, int]

_WHOLE = {
    1: "the memory was not allocated on the device and context of the queue",
    2: "source and destination do not have the same capacity",
}
_PART = {
    1: "the memory was not allocated on the device and context of the queue",
    2: "the descriptor is not the one the image was allocated with",
    3: "the copy extent is larger than the memory",
    4: "the host extent is larger than the host memory",
    5: "the source extent is larger than the source memory",
    6: "the destination extent is larger than the destination memory",
    7: "source offset + copy extent leaves the source",
    8: "destination offset + copy extent leaves the destination",
    9: "the row pitch does not adhere to the device's alignment",
    10: "the row pitch is smaller than a row of the image",
}


def copy_failure(scenario: int, details: str, *, part: bool) -> InvalidError:
    """The error of one of BI's numbered failure scenarios of copies.

    Args:
        scenario: number in the list "without" (2 scenarios) or "with offsets and extents" (10).
        details: the offending numbers.
        part: whether the copy has offsets and extents.
    """
    table, form = (_PART, "with offsets and extents") if part else (_WHOLE, "without offsets and extents")
    return InvalidError(f"copy {form}, scenario {scenario}: {table[scenario]}: {details}")


@dataclass(frozen=True)
class HostMemory:
    """Tightly packed host memory: no pitch of a device reaches it.

    Attributes:
        address: first byte.
        extent: pixels of the whole host image.
        pixel_size: bytes.
        capacity: bytes of the buffer.
        offset: first pixel to copy.
    """

    address: int
    extent: Extent
    pixel_size: int
    capacity: int
    offset: Extent = (0, 0, 0)

    @property
    def row_pitch(self) -> int:
        return self.extent[0] * self.pixel_size

    @property
    def slice_pitch(self) -> int:
        return self.row_pitch * max(self.extent[1], 1)


@dataclass(frozen=True)
class UsmMemory:
    """Linear device memory that holds an image.

    Attributes:
        address: first byte.
        pitch: bytes between rows; 0 for tightly packed.
        descriptor: of the image.
        offset: first pixel to copy.
        capacity: bytes from ``address`` to the end of the allocation, None where not known.
        pitch_align: the device's alignment of a pitch; 1 where there is none. Tightly packed rows need none.
    """

    address: int
    pitch: int
    descriptor: ImageDescriptor
    offset: Extent = (0, 0, 0)
    capacity: int | None = None
    pitch_align: int = 1

    @property
    def extent(self) -> Extent:
        return self.descriptor.extent

    @property
    def pixel_size(self) -> int:
        return self.descriptor.pixel_size

    @property
    def row_pitch(self) -> int:
        return self.pitch or self.descriptor.row_size

    @property
    def slice_pitch(self) -> int:
        return self.row_pitch * self.extent[1]


@dataclass(frozen=True)
class ImageMemory:
    """Opaque image memory.

    Attributes:
        handle: raw handle of the memory, or of one level of a mipmap.
        descriptor: of the image or the level.
        offset: first pixel to copy.
    """

    handle: int
    descriptor: ImageDescriptor
    offset: Extent = (0, 0, 0)

    @property
    def extent(self) -> Extent:
        return self.descriptor.extent

    @property
    def pixel_size(self) -> int:
        return self.descriptor.pixel_size


Endpoint = Union[HostMemory, UsmMemory, ImageMemory]


def _capacity(end: Endpoint) -> int:
    x, y, z = (max(n, 1) for n in end.extent)
    return x * y * z * end.pixel_size


def _check_host(end: HostMemory, other: Endpoint, side: str, part: bool) -> None:
    """The host image fits its buffer. The number depends on the form: HostExtent, SrcExtent or DestExtent."""
    needed = _capacity(end)
    if needed <= end.capacity:
        return
    details = f"{end.extent} pixels of {end.pixel_size} bytes take {needed} bytes, the {side} buffer has {end.capacity}"
    if not part:
        raise copy_failure(2, details, part=False)
    opaque = isinstance(other, ImageMemory)
    raise copy_failure((5 if side == "source" else 6) if opaque else 4, details, part=True)


def _check_linear(end: UsmMemory, side: str, part: bool) -> None:
    """The image fits the allocation, and its pitch is one."""
    row = end.descriptor.row_size
    rows = end.extent[1] * end.extent[2]
    if end.pitch and rows > 1:
        if end.pitch < row:
            raise copy_failure(10, f"{side} pitch {end.pitch} < {row} bytes a row", part=True)
        if end.pitch % end.pitch_align:
            raise copy_failure(9, f"{side} pitch {end.pitch} is no multiple of {end.pitch_align} bytes", part=True)
    needed = (rows - 1) * end.row_pitch + row
    if end.capacity is None or needed <= end.capacity:
        return
    details = f"{end.extent} pixels with pitch {end.row_pitch} take {needed} bytes, the {side} has {end.capacity}"
    if not part:
        raise copy_failure(2, details, part=False)
    raise copy_failure(5 if side == "source" else 6, details, part=True)


def _check_bounds(end: Endpoint, extent: Extent, side: str, part: bool) -> None:
    """The region lies within the endpoint; Python's integers cannot overflow."""
    for axis, name in enumerate("xyz"):
        bound = max(end.extent[axis], 1)
        if extent[axis] > bound:
            details = f"{name}: extent {extent[axis]} > {bound} pixels of the {side}"
            raise copy_failure(3 if part else 2, details, part=part)
        if end.offset[axis] + extent[axis] > bound:
            details = f"{name}: offset {end.offset[axis]} + extent {extent[axis]} > {bound} pixels of the {side}"
            raise copy_failure(7 if side == "source" else 8, details, part=True)


@dataclass(frozen=True)
class CopyRegion:
    """A copy of ``extent`` pixels from one endpoint to another, checked at construction.

    Attributes:
        src, dst: the endpoints with their offsets.
        extent: pixels; every component at least 1.
        part: whether offsets and extents were given (it decides which list a failure is numbered by).

    Raises:
        InvalidError: one of BI's failure scenarios, with its number and the offending values.
    """

    src: Endpoint
    dst: Endpoint
    extent: Extent
    part: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "extent", tuple(max(n, 1) for n in self.extent))
        sides = ((self.src, self.dst, "source"), (self.dst, self.src, "destination"))
        for end, other, side in sides:
            if isinstance(end, HostMemory):
                _check_host(end, other, side, self.part)
            elif isinstance(end, UsmMemory):
                _check_linear(end, side, self.part)
        if self.src.pixel_size != self.dst.pixel_size:
            raise copy_failure(
                2,
                f"pixels of {self.src.pixel_size} bytes in the source, {self.dst.pixel_size} in the destination; "
                "bits are copied between pixels of equal size",
                part=self.part,
            )
        for end, _, side in sides:
            _check_bounds(end, self.extent, side, self.part)

    @property
    def pixel_size(self) -> int:
        """Bytes of a pixel, the same on both sides."""
        return self.src.pixel_size

    @property
    def nbytes(self) -> int:
        """Bytes that the copy moves."""
        x, y, z = self.extent
        return x * y * z * self.pixel_size
