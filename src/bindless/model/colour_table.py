"""``ColourTable``: colours mapped by a table of three dimensions, as a back end computes it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .channels import ELEMENTS

__all__ = ["ColourTable"]

DType = np.dtype[np.generic]


class ColourTable(NamedTuple):
    """Packed pixels, whose colours go through tables.

    Attributes
    ----------
    pixels, values
        Addresses of the pixels and of the result, the same or apart.
    pixel_count
        Number of pixels.
    pixel_dtype, value_dtype
        uint8, uint16, float16 or float32.
    channels
        3 or 4.
    tetrahedral
        Whether values lie between four entries of the table, not eight.
    table
        Address of packed float32 entries, shape (blue, green, red, 4); 0 for none.
    size
        Entries along each axis of the table.
    place
        Values of red, green and blue at the first entry, and factors from values to places.
    shaper
        Address of packed float32 entries, shape (shaper_size, 3), which each channel goes through before; 0 for none.
    shaper_size
        Entries of the shaper.
    shaper_place
        As ``place``.
    """

    pixels: int
    values: int
    pixel_count: int
    pixel_dtype: DType
    value_dtype: DType
    channels: int
    tetrahedral: bool
    table: int
    size: int
    place: tuple[float, ...]
    shaper: int
    shaper_size: int
    shaper_place: tuple[float, ...]

    @property
    def fields(self) -> dict[str, Any]:
        """Those of the reference driver's ``blr_colour_table_t``, without addresses."""
        return {
            "count": self.pixel_count, "pixel_type": ELEMENTS[self.pixel_dtype],
            "value_type": ELEMENTS[self.value_dtype], "channels": self.channels, "tetrahedral": self.tetrahedral,
            "size": self.size,
            "first": self.place[:3], "scale": self.place[3:], "shaper_size": self.shaper_size,
            "shaper_first": self.shaper_place[:3], "shaper_scale": self.shaper_place[3:],
        }  # fmt: skip
