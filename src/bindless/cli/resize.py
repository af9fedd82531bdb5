"""``bindless resize``: a picture file in another size."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np

from ..image.image import Image
from ..image.picture_files.open_files import opened_file
from ..image.picture_files.pillow_files import codec_of, opened_picture, write_picture
from ..model.errors import InvalidError, MemoryAllocationError
from ..sycl.queue.queue import Queue

__all__ = ["parse_size", "resize_file"]

# What a picture is converted to before it is resized: colours are weighted by their coverage, so that the
# colour of transparent pixels does not bleed.
_WORKING_MODE = {"L": "L", "1": "L", "LA": "La", "RGBA": "RGBa", "PA": "RGBa", "I;16": "I;16"}
_STORED_MODE = {"La": "LA", "RGBa": "RGBA"}


def parse_size(text: str, width: int, height: int) -> tuple[int, int]:
    """(width, height) from ``WxH``, ``Wx`` or ``xH``; the missing one keeps the proportions of the picture.

    Raises
    ------
    InvalidError
        The text is none of these, or a size is zero.
    """
    match = re.fullmatch(r"(\d*)[xX](\d*)", text.strip())
    if match is None or not any(match.groups()):
        raise InvalidError(f"--size {text!r}: it is WxH in pixels, such as 640x480, 640x or x480")
    sizes = [int(part) if part else 0 for part in match.groups()]
    if "0" in (part.lstrip("0") or part[:1] for part in match.groups()):
        raise InvalidError(f"--size {text!r}: a picture has at least 1 pixel in each direction")
    return (
        sizes[0] or max(round(width * sizes[1] / height), 1),
        sizes[1] or max(round(height * sizes[0] / width), 1),
    )


def resize_file(source: str, target: str, size: str, filtering: str, queue: Queue) -> None:
    """Reads a picture, resizes it on the queue's device and writes it.

    Raises
    ------
    InvalidError
        Pillow is not installed or cannot read the file, the size is none, or the output is the input.
    MemoryAllocationError
        The size is too large.
    OSError
        A file cannot be opened or written.
    """
    from .extras import require

    require("PIL", "picture files are read and written by Pillow", "cli")
    from PIL import Image as Picture
    from PIL import ImageOps

    if os.path.exists(source) and os.path.exists(target) and os.path.samefile(source, target):
        raise InvalidError(f"{target} is the input: name another file")
    codec = codec_of(target, Path(target).suffix[1:])
    with opened_file(source) as file, opened_picture(file) as original:
        picture = ImageOps.exif_transpose(original)
        transparent = "transparency" in picture.info
        mode = "RGBa" if transparent else _WORKING_MODE.get(picture.mode, "RGB")
        if mode == "RGBa":
            picture = picture.convert("RGBA")
        pixels = np.asarray(picture.convert(mode) if picture.mode != mode else picture)
    width, height = parse_size(size, *picture.size)
    with Image(pixels, filtering=filtering, queue=queue) as image:
        try:
            result = Picture.frombytes(mode, (width, height), image.resize((height, width)).tobytes())
        except (MemoryError, OverflowError, ValueError) as error:  # Pillow's too, of what is too large for it
            if isinstance(error, InvalidError):
                raise
            raise MemoryAllocationError(
                f"--size {size!r}: a picture of {width} x {height} pixels does not fit in memory: {error}"
            ) from None
    output = result.convert(_STORED_MODE[mode]) if mode in _STORED_MODE else result
    write_picture(target, output, codec, f"a picture of mode {output.mode}", {})
    print(f"{source}: {picture.width} x {picture.height} -> {target}: {width} x {height}, by {queue.device.name}")
