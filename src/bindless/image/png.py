"""PNG files to and from arrays, with the standard library and numpy alone.

Pictures in notebooks need no imaging package, and imaging packages read colours of 16 bits as 8.
"""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from ..model.errors import InvalidError

__all__ = ["decode_deep_png", "encode_png", "is_deep_png"]

Array = npt.NDArray[Any]

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_COLOUR_TYPE = {1: 0, 2: 4, 3: 2, 4: 6}
_CHANNELS = {number: channels for channels, number in _COLOUR_TYPE.items()}


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


def is_deep_png(start: bytes) -> bool:
    """Whether the first 32 bytes are those of a PNG file with more than one channel of 16 bits."""
    if start[:8] != _SIGNATURE or start[12:16] != b"IHDR" or len(start) < 26:
        return False
    bits, colour = start[24:26]
    return bits == 16 and _CHANNELS.get(colour, 0) > 1


def decode_deep_png(data: bytes) -> Array:
    """The uint16 pixels (height, width, channels) of a file for which ``is_deep_png`` holds.

    Raises
    ------
    InvalidError
        The file is damaged or interlaced.
    """
    if len(data) < 33:
        raise InvalidError("the PNG file is damaged: it ends in its header")
    width, height, _, colour, _, _, interlaced = struct.unpack(">IIBBBBB", data[16:29])
    channels = _CHANNELS[colour]
    if interlaced:
        raise InvalidError("an interlaced PNG file with colours of 16 bits is not read: save it without interlacing")
    pixel = 2 * channels
    line = 1 + width * pixel
    unpacker = zlib.decompressobj()
    try:
        packed = unpacker.decompress(b"".join(_parts(data)), height * line)
    except zlib.error as error:
        raise InvalidError(f"the PNG file is damaged: {error}") from None
    if len(packed) < height * line or not width:
        raise InvalidError(f"the PNG file is damaged: it ends after {len(packed)} of {height * line} bytes")
    rows = np.frombuffer(packed, np.uint8).reshape(height, line)
    values = _unfiltered(rows[:, 0], rows[:, 1:].reshape(height, width, pixel))
    return values.view(">u2").astype(np.uint16)


def _parts(data: bytes) -> list[bytes]:
    """The contents of the IDAT chunks."""
    found, place = [], 8
    while place + 8 <= len(data):
        (size,) = struct.unpack(">I", data[place : place + 4])
        if data[place + 4 : place + 8] == b"IDAT":
            found.append(data[place + 8 : place + 8 + size])
        place += size + 12
    return found


def _unfiltered(kinds: Array, stored: Array) -> Array:
    """Bytes of pixels from differences to their neighbours on the left, above, and on the left above.

    A pixel needs those of the two diagonals before its own, and no other pixel of its diagonal: each diagonal is one
    step over all rows.
    """
    height, width, pixel = stored.shape
    if kinds.max(initial=0) > 4:
        raise InvalidError(f"the PNG file is damaged: a row has the filter {kinds.max()}")
    # Row y begins at column y + 1, so that a diagonal is a column; row and column 0 are the zeros outside.
    turned = np.zeros((height + width, height + 1, pixel), np.int16)
    for y in range(height):
        turned[y + 1 : y + 1 + width, y + 1] = stored[y]
    kind = kinds[:, None]
    for column in range(1, height + width):
        first, last = max(column - width, 0), min(column, height)  # rows of this diagonal
        rows = kind[first:last]
        own = turned[column, first + 1 : last + 1]
        left = turned[column - 1, first + 1 : last + 1]
        above = turned[column - 1, first:last]
        corner = turned[column - 2, first:last] if column > 1 else np.zeros_like(own)
        start = column - 1 == np.arange(first, last)[:, None]  # the first pixel of a row has none on its left
        left = np.where(start, 0, left)
        corner = np.where(start, 0, corner)
        to_left, to_above = np.abs(above - corner), np.abs(left - corner)
        to_corner = np.abs(above + left - 2 * corner)
        nearest = np.where(
            (to_left <= to_above) & (to_left <= to_corner), left, np.where(to_above <= to_corner, above, corner)
        )
        guess = np.select([rows == 1, rows == 2, rows == 3, rows == 4], [left, above, (left + above) >> 1, nearest], 0)
        own += guess
        own &= 255
    result = np.empty((height, width, pixel), np.uint8)
    for y in range(height):
        result[y] = turned[y + 1 : y + 1 + width, y + 1]
    return result
