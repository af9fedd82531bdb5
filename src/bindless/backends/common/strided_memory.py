"""Rows and slices of the linear side of a copy."""

from __future__ import annotations

from ...model.copy_region import Extent, HostMemory, UsmMemory

__all__ = ["is_contiguous", "pitches_of", "start_of"]


def start_of(end: HostMemory | UsmMemory) -> int:
    """Address of the first pixel to copy."""
    x, y, z = end.offset
    if x == y == z == 0:
        return end.address
    return end.address + z * end.slice_pitch + y * end.row_pitch + x * end.pixel_size


def pitches_of(end: HostMemory | UsmMemory, extent: Extent) -> tuple[int, int]:
    """Bytes between rows and between slices; the least ones where there is a single row or slice."""
    width, height, depth = extent
    row = end.row_pitch if height > 1 else width * end.pixel_size
    return row, end.slice_pitch if depth > 1 else row * height


def is_contiguous(end: HostMemory | UsmMemory, extent: Extent) -> bool:
    """Whether the pixels to copy lie without gaps."""
    width, height, _ = extent
    row = width * end.pixel_size
    return pitches_of(end, extent) == (row, row * height)
