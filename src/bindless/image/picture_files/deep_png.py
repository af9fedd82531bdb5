"""``deep_png_pixels``: colours of 16 bits of PNG files, of which Pillow keeps 8.

Pillow's decoder undoes the compression and the filters of the file for all bytes of a pixel, and then keeps one byte of
each channel. It decodes the file twice here: for the high and for the low bytes.
"""

from __future__ import annotations

from typing import IO, Any

import numpy as np
import numpy.typing as npt

from ...model.errors import InvalidError

__all__ = ["deep_png_pixels", "is_deep_png"]

# The layouts of Pillow that keep the high bytes of the file, with the number of channels in the file, and those that
# keep the bytes that are missing. Grey with alpha fits into one picture of four channels.
_LAYOUTS = {
    "LA;16B": (2, ("RGBA",)),
    "RGB;16B": (3, ("RGB;16B", "RGB;16L")),
    "RGBA;16B": (4, ("RGBA;16B", "RGBA;16L")),
}
_MOST_RATIO = 1032  # of the bytes of zlib's streams, after and before


def is_deep_png(picture: Any) -> bool:
    """Whether an open picture of Pillow is a PNG file of several channels of 16 bits."""
    return picture.format == "PNG" and _layout(picture) in _LAYOUTS


def deep_png_pixels(file: IO[bytes], picture: Any) -> npt.NDArray[np.uint16]:
    """The pixels (height, width, channels) of a file for which ``is_deep_png`` holds.

    Parameters
    ----------
    file : IO[bytes]
        The file, which can seek.
    picture : array
        Of Pillow, open and not decoded.

    Raises
    ------
    InvalidError
        The picture is larger than Pillow's limit, or the file is too small for it.
    """
    from PIL import Image as Picture

    channels, layouts = _LAYOUTS[_layout(picture)]
    width, height = picture.size
    most = Picture.MAX_IMAGE_PIXELS  # of 8 bits; Pillow itself refuses twice as many
    if most is not None and width * height > most:
        raise InvalidError(
            f"{width} x {height} pixels of 16 bits are more than {most}; PIL.Image.MAX_IMAGE_PIXELS is the limit"
        )
    place = file.tell()
    stored = file.seek(0, 2)
    file.seek(place)
    if stored * _MOST_RATIO < 2 * channels * width * height:
        raise InvalidError(f"the file is damaged: {stored} bytes hold no {width} x {height} pixels")
    pixels = np.empty((height, width, channels), np.uint16)
    parts = pixels.view(np.uint8).reshape(height, width, channels, 2)
    high = int(pixels.dtype.newbyteorder("<") == pixels.dtype)
    for number, layout in enumerate(layouts):
        if number:
            file.seek(0)
            picture = Picture.open(file, formats=("PNG",))
        (tile,) = picture.tile
        picture.tile = [(tile[0], tile[1], tile[2], layout)]
        decoded = np.asarray(picture)
        if len(layouts) == 1:
            pixels[...] = decoded.view(">u2")
        else:
            parts[..., high if number == 0 else 1 - high] = decoded
    return pixels


def _layout(picture: Any) -> str:
    """Return the mode in which Pillow unpacks the pixels of the file; empty where it has several parts."""
    tiles: Any = getattr(picture, "tile", None) or ()
    return str(tiles[0][3]) if len(tiles) == 1 else ""
