"""Requirements of images over linear memory, shared by all drivers."""

from __future__ import annotations

from ...model.enums import ImageType, UsmKind
from ...model.errors import SyclRuntimeError
from ...model.image_descriptor import ImageDescriptor
from ..contract import PointerRecord

__all__ = ["require_pitch", "require_place", "require_plane"]


def require_plane(desc: ImageDescriptor, backend: str) -> None:
    """Raises ``SyclRuntimeError`` for all but standard images of at most two dimensions."""
    if desc.type is not ImageType.standard or desc.dimensions > 2:
        what = f"a {desc.type} image" if desc.type is not ImageType.standard else f"{desc.dimensions} dimensions"
        raise SyclRuntimeError(
            f"{what} over USM: linear memory backs standard images of two dimensions; copy it to image memory",
            backend=backend,
        )


def require_pitch(pitch: int, desc: ImageDescriptor, backend: str) -> None:
    """Refuse a pitch that is less than a row."""
    if pitch < desc.row_size:
        raise SyclRuntimeError(
            f"pitch={pitch} is less than a row of {desc.row_size} bytes ({desc.width} pixels of {desc.pixel_size}); "
            "pitched_alloc_device gives a valid one",
            backend=backend,
        )


def require_place(
    address: int,
    pitch: int,
    desc: ImageDescriptor,
    most: tuple[int, int],
    record: PointerRecord,
    device_name: str,
    backend: str,
) -> None:
    """Refuse sizes beyond the device's limits, and memory outside the context or shorter than the image.

    Parameters
    ----------
    most
        largest width and height of the device.
    record
        allocation of the address.
    """
    for name, value, limit in (("width", desc.width, most[0]), ("height", desc.height, most[1])):
        if value > limit:
            raise SyclRuntimeError(f"{name}={value}: USM images of {device_name} have at most {limit}", backend=backend)
    if record.kind is UsmKind.unknown:
        raise SyclRuntimeError(
            f"{address:#x} is no unified memory of this context: allocate it by malloc_device or pitched_alloc_device",
            backend=backend,
        )
    needed, there = pitch * (desc.height - 1) + desc.row_size, record.base + record.size - address
    if needed > there:
        raise SyclRuntimeError(
            f"{desc.height} rows with pitch {pitch} take {needed} bytes; {there} are left of the allocation at "
            f"{record.base:#x}",
            backend=backend,
        )
