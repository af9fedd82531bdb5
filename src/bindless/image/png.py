"""PNG files from arrays, with the standard library alone: pictures in notebooks need no imaging package."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["displayable", "encode_png"]

_COLOUR_TYPE = {1: 0, 2: 4, 3: 2, 4: 6}


def encode_png(pixels: npt.NDArray[np.uint8]) -> bytes:
    """The PNG file of an image.

    Parameters
    ----------
    pixels : NDArray[np.uint8]
        (height, width, channels), channels 1 (grey), 2 (grey, alpha), 3 (RGB) or 4 (RGBA).
    """
    height, width, channels = pixels.shape
    rows = np.zeros((height, 1 + width * channels), np.uint8)  # each row begins with its filter: 0, none
    rows[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOUR_TYPE[channels], 0, 0, 0)
    body = _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(rows.tobytes(), 6)) + _chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def displayable(pixels: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """uint8 pixels of any array of an image: integers keep their high bits, floats run over 0..1."""
    if pixels.dtype == np.uint8:
        return pixels
    whole: int = np.iinfo(pixels.dtype.name).max if pixels.dtype.kind in "iu" else 1
    parts: npt.NDArray[np.float64] = np.clip(np.nan_to_num(pixels.astype(np.float64)) / whole, 0, 1)
    return np.rint(parts * 255).astype(np.uint8)
