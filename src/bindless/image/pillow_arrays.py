"""Pixels of Pillow's images as numpy arrays; palettes and modes without plain channels are converted."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..model.arrays import Array
from .picture_files.pillow_files import named_damage

__all__ = ["array_of_pillow"]

# What Pillow converts to which mode. Others are arrays as they are: L, LA, RGB, RGBA, I, F, and those of 16 bits.
_CONVERTED = {
    "1": "L",
    "PA": "RGBA",
    "RGBX": "RGB",
    "RGBa": "RGBA",
    "La": "LA",
    "CMYK": "RGB",
    "YCbCr": "RGB",
    "LAB": "RGB",
    "HSV": "RGB",
}


def array_of_pillow(value: Any) -> Array | None:
    """The pixels of an image of Pillow, (height, width[, channels]); None of anything else.

    Raises
    ------
    InvalidError, MemoryAllocationError, OSError
        The file of the image is damaged, too large, or cannot be read.
    """
    module = sys.modules.get("PIL.Image")
    if module is None or not isinstance(value, module.Image):
        return None
    with named_damage(str(getattr(value, "filename", "") or "the picture of Pillow")):  # it is read here at the latest
        if value.mode == "P":
            transparent = "transparency" in value.info or value.palette.mode == "RGBA"
            value = value.convert("RGBA" if transparent else "RGB")
        elif value.mode in _CONVERTED:
            value = value.convert(_CONVERTED[value.mode])
        return np.asarray(value)
