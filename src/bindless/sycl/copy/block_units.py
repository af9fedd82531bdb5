"""Copies of images of blocks: places in pixels become places in blocks, which drivers count."""

from __future__ import annotations

from ...model.channels import BLOCK_SIDE
from ...model.copy_region import Extent
from ...model.errors import InvalidError
from ...model.image_descriptor import ImageDescriptor
from .endpoint import Side

__all__ = ["count_blocks"]


def count_blocks(source: Side, target: Side, extent: Extent | None) -> Extent | None:
    """Gives sides of blocks the descriptor of their bytes, and offsets and extents in blocks.

    Parameters
    ----------
    source, target : Side
        The sides, one of which has blocks at least; changed.
    extent : Extent | None
        Pixels to copy; None: all.

    Returns
    -------
    Extent | None
        Blocks to copy.

    Raises
    ------
    InvalidError
        A region begins within a block, or ends within one that is not the last of its row or column; or a part is
        copied between blocks and pixels.
    """
    for side, other in ((source, target), (target, source)):
        desc = side.desc or other.desc
        assert desc is not None
        if not desc.channel.block:
            if extent is not None:
                raise InvalidError(
                    f"a part of the {side.name}, {desc.channel_type}, is copied from or to an image of blocks: copy "
                    "the whole image, or between images of blocks"
                )
            continue
        if extent is not None:
            _require_whole_blocks(side, desc, extent)
            side.offset = _blocks(side.offset)
            side.extent = None if side.extent is None else _blocks(side.extent)
    for side in (source, target):
        side.desc = None if side.desc is None else side.desc.storage
    return None if extent is None else _blocks(extent)


def _blocks(pixels: Extent) -> Extent:
    x, y, z = pixels
    return -(-x // BLOCK_SIDE), -(-y // BLOCK_SIDE), z


def _require_whole_blocks(side: Side, desc: ImageDescriptor, extent: Extent) -> None:
    whole = desc.extent if side.kind != "host" else side.extent or extent
    for name, offset, size, end in list(zip("xy", side.offset, extent, whole)):
        is_end = offset + size == end or side.kind == "host"
        is_outside = side.kind != "host" and offset + size > end
        if is_outside or offset % BLOCK_SIDE or (size % BLOCK_SIDE and not is_end):
            raise InvalidError(
                f"{name}: offset {offset} and extent {size} of the {side.name}, {end} pixels of {desc.channel_type}: "
                f"blocks of {BLOCK_SIDE} x {BLOCK_SIDE} pixels are copied whole; give multiples of {BLOCK_SIDE}, or an "
                "extent to the end"
            )
