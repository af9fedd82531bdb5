"""PNG files of arrays, with the standard library and numpy alone: pictures in notebooks need no imaging package."""

from __future__ import annotations

import struct
import zlib

import numpy as np

from ...model.arrays import Array

__all__ = ["encode_png"]


_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_COLOUR_TYPE = {1: 0, 2: 4, 3: 2, 4: 6}


def encode_png(pixels: Array) -> bytes:
    """The PNG file of an image.

    Parameters
    ----------
    pixels : Array
        uint8 or uint16 (height, width, channels), channels 1 (grey), 2 (grey, alpha), 3 (RGB) or 4 (RGBA).
    """
    height, width, channels = pixels.shape
    big = np.ascontiguousarray(pixels, pixels.dtype.newbyteorder(">"))
    rows = np.zeros((height, 1 + width * channels * big.itemsize), np.uint8)  # a row begins with its filter: 0, none
    rows[:, 1:] = big.reshape(height, -1).view(np.uint8)
    header = struct.pack(">IIBBBBB", width, height, 8 * big.itemsize, _COLOUR_TYPE[channels], 0, 0, 0)
    body = _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(rows.tobytes(), 6)) + _chunk(b"IEND", b"")
    return _SIGNATURE + body


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
