"""``CopyRegion``: every overload of ``ext_oneapi_copy`` as one checked value (Explicit copies).

The two endpoints locate the pixels. Offsets and extents are pixels in (x, y, z) order; z is the layer of an array or
the face of a cubemap. Pitches are bytes.
"""

from __future__ import annotations

from typing import NamedTuple, Union

from .errors import InvalidError
from .image_descriptor import ImageDescriptor

__all__ = ["CopyRegion", "Endpoint", "HostMemory", "ImageMemory", "UsmMemory", "copy_failure"]

Extent = tuple[int, int, int]

_ORIGIN = (0, 0, 0)

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
    """Return the error of one of BI's numbered failure scenarios of copies.

    Parameters
    ----------
    scenario
        Number in the list "without" (2 scenarios) or "with offsets and extents" (10).
    details
        The offending numbers.
    part
        Whether the copy has offsets and extents.
    """
    table, form = (_PART, "with offsets and extents") if part else (_WHOLE, "without offsets and extents")
    return InvalidError(f"copy {form}, scenario {scenario}: {table[scenario]}: {details}")


class HostMemory(NamedTuple):
    """Tightly packed host memory, to which device pitch rules do not apply.

    Attributes
    ----------
    address
        First byte.
    extent
        Pixels of the whole host image.
    pixel_size
        Bytes.
    capacity
        Bytes of the buffer.
    offset
        First pixel to copy.
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
        return self.extent[0] * self.pixel_size * (self.extent[1] or 1)


class UsmMemory(NamedTuple):
    """Linear device memory that holds an image.

    Attributes
    ----------
    address
        First byte.
    pitch
        Bytes between rows; 0 for tightly packed rows.
    descriptor
        Descriptor of the image.
    offset
        First pixel to copy.
    capacity
        Bytes from ``address`` to the end of the allocation, None where unknown.
    pitch_align
        The device's pitch alignment in bytes; 1 without one. Tightly packed rows need no alignment.
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


class ImageMemory(NamedTuple):
    """Opaque image memory.

    Attributes
    ----------
    handle
        Raw handle of the memory, or of one level of a mipmap.
    descriptor
        Descriptor of the image or the level.
    offset
        First pixel to copy.
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


def _check_host(end: HostMemory, other: Endpoint, side: str, part: bool) -> None:
    """Check that the host image fits its buffer. The form decides the scenario: HostExtent, SrcExtent, DestExtent."""
    x, y, z = end.extent
    size = (x or 1) * (y or 1) * (z or 1) * end.pixel_size
    if size <= end.capacity:
        return
    details = f"{end.extent} pixels of {end.pixel_size} bytes take {size} bytes, the {side} buffer has {end.capacity}"
    if not part:
        raise copy_failure(2, details, part=False)
    opaque = isinstance(other, ImageMemory)
    raise copy_failure((5 if side == "source" else 6) if opaque else 4, details, part=True)


def _check_linear(end: UsmMemory, side: str, part: bool) -> None:
    """Check that the image fits the allocation, and that its pitch is valid."""
    row = end.descriptor.row_size
    rows = end.extent[1] * end.extent[2]
    if end.pitch and rows > 1:
        if end.pitch < row:
            raise copy_failure(10, f"{side} pitch {end.pitch} < {row} bytes a row", part=True)
        if end.pitch % end.pitch_align:
            raise copy_failure(9, f"{side} pitch {end.pitch} is no multiple of {end.pitch_align} bytes", part=True)
    size = (rows - 1) * end.row_pitch + row
    if end.capacity is None or size <= end.capacity:
        return
    details = f"{end.extent} pixels with pitch {end.row_pitch} take {size} bytes, the {side} has {end.capacity}"
    if not part:
        raise copy_failure(2, details, part=False)
    raise copy_failure(5 if side == "source" else 6, details, part=True)


def _check_bounds(end: Endpoint, extent: Extent, side: str, part: bool) -> None:
    """Check that the region lies within the endpoint; Python's integers cannot overflow."""
    for name, size, offset, pixels in zip("xyz", extent, end.offset, end.extent):
        bound = pixels or 1
        if offset + size <= bound:
            continue
        if size > bound:
            details = f"{name}: extent {size} > {bound} pixels of the {side}"
            raise copy_failure(3 if part else 2, details, part=part)
        details = f"{name}: offset {offset} + extent {size} > {bound} pixels of the {side}"
        raise copy_failure(7 if side == "source" else 8, details, part=True)


class _Region(NamedTuple):
    src: Endpoint
    dst: Endpoint
    extent: Extent
    part: bool
    pixel_size: int


class CopyRegion(_Region):
    """A copy of ``extent`` pixels from one endpoint to another, checked at construction.

    Attributes
    ----------
    src, dst
        The endpoints with their offsets.
    extent
        Pixels; every component at least 1.
    part
        Whether offsets and extents were given; selects the list that numbers a failure.
    pixel_size
        Bytes of a pixel, equal on both sides.

    Raises
    ------
    InvalidError
        One of BI's failure scenarios, with its number and the offending values.
    """

    __slots__ = ()

    def __new__(cls, src: Endpoint, dst: Endpoint, extent: Extent, part: bool = False) -> CopyRegion:
        x, y, z = extent
        extent = (x or 1, y or 1, z or 1)
        sizes, wholes = [], []
        for end, other, side in ((src, dst, "source"), (dst, src, "destination")):
            if isinstance(end, HostMemory):
                _check_host(end, other, side, part)
                sizes.append(end.pixel_size)
                wholes.append(end.extent)
            else:
                if isinstance(end, UsmMemory):
                    _check_linear(end, side, part)
                sizes.append(end.descriptor.pixel_size)
                wholes.append(end.descriptor.extent)
        pixel_size = sizes[0]
        if pixel_size != sizes[1]:
            raise copy_failure(
                2,
                f"pixels of {pixel_size} bytes in the source, {sizes[1]} in the destination; "
                "bits are copied between pixels of equal size",
                part=part,
            )
        for end, whole, side in ((src, wholes[0], "source"), (dst, wholes[1], "destination")):
            if end.offset != _ORIGIN or whole != extent:
                _check_bounds(end, extent, side, part)
        return tuple.__new__(cls, (src, dst, extent, part, pixel_size))

    @property
    def nbytes(self) -> int:
        """Bytes that the copy moves."""
        x, y, z = self.extent
        return x * y * z * self.pixel_size

    def __str__(self) -> str:
        """Text for errors of drivers."""
        x, y, z = self.extent
        return f"{x} x {y} x {z} pixels of {self.pixel_size} bytes"
