"""``Image.open`` and ``Image.save``: picture files, by Pillow; PNG files are written without it too."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.arrays import Array
from ..model.errors import InvalidError
from .picture_files.deep_png import deep_png_pixels, is_deep_png
from .picture_files.pillow_files import File, codec_of, name_of_file, opened_picture, write_bytes, write_picture
from .picture_files.png import encode_png

if TYPE_CHECKING:
    from .image import Image

__all__ = ["open_file", "save_file"]


_INSTALL = "pip install 'bindless[image]'"

# Pillow's modes whose arrays are pixels of an image as they are.
_PLAIN = {"L", "LA", "RGB", "RGBA", "F", "I"}
_CONVERTED = {"1": "L", "La": "LA", "RGBa": "RGBA", "PA": "RGBA", "P": "RGB"}
_TRANSPARENT = {"L": "LA", "1": "LA", "RGB": "RGBA", "P": "RGBA"}


def open_file(cls: type[Image], /, path: File, **options: Any) -> Image:
    """An image from a picture file of any format that Pillow reads.

    The picture is turned as its EXIF orientation says. Palettes are expanded to colours, with an alpha channel where
    the file has transparency; files of grey, of 16 bits and of floats keep their kind; colour spaces other than RGB
    are converted to it.

    Parameters
    ----------
    path : str | os.PathLike | IO[bytes]
        The file's name, or a file open for reading bytes.
    options : keywords
        Arguments of ``Image``. With ``layers=True`` every frame of the file is a layer, else the first is taken.

    Returns
    -------
    Image
        The new image.

    Raises
    ------
    InvalidError
        Pillow is not installed, or reads no picture from the file: it is damaged, or too large
        (``PIL.Image.MAX_IMAGE_PIXELS``).
    MemoryAllocationError
        The picture does not fit in memory.
    OSError
        The file cannot be opened or read.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> bindless.Image(np.arange(6, dtype=np.uint8).reshape(2, 3)).save(file, format="png")
    >>> bindless.Image.open(file).numpy()
    array([[0, 1, 2],
           [3, 4, 5]], dtype=uint8)
    """
    if find_spec("PIL") is None:
        raise InvalidError(f"picture files are read by Pillow, which is not installed: {_INSTALL}")
    with opened_picture(path) as (file, picture):
        if is_deep_png(picture):
            pixels = deep_png_pixels(file, picture)
            frames = [_turned(pixels, picture.getexif().get(0x0112, 1))]
        else:
            frames = [_frame(picture, number) for number in range(_count(picture, options))]
    shapes = {frame.shape for frame in frames}
    if len(shapes) > 1:
        raise InvalidError(f"{name_of_file(path)}: its frames have the shapes {sorted(shapes)}; layers have one shape")
    return cls(np.stack(frames) if options.get("layers") else frames[0], **options)


def _count(picture: Any, options: dict[str, Any]) -> int:
    return int(getattr(picture, "n_frames", 1)) if options.get("layers") else 1


def _frame(picture: Any, number: int) -> Array:
    """The pixels of a frame."""
    from PIL import ImageOps

    if number:
        picture.seek(number)
    turned = ImageOps.exif_transpose(picture)
    mode = turned.mode
    if mode.startswith("I;16"):
        return np.asarray(turned).astype(np.uint16)
    if "transparency" in turned.info and mode in _TRANSPARENT:
        form = _TRANSPARENT[mode]
    else:
        form = mode if mode in _PLAIN else _CONVERTED.get(mode, "RGB")
    if form == mode == "I":
        values = np.asarray(turned)
        return values.astype(np.uint16) if picture.format == "PNG" else values  # older Pillow: 16 bits of a PNG file
    if form == "LA" and mode == "1":
        turned = turned.convert("L")
    return np.asarray(turned.convert(form) if form != mode else turned)


def _turned(pixels: Array, orientation: Any) -> Array:
    """Pixels turned as an EXIF orientation says."""
    if orientation in (5, 6, 7, 8):
        pixels = pixels.swapaxes(0, 1)
    upside_down, mirrored = orientation in (3, 4, 7, 8), orientation in (2, 3, 6, 7)
    return pixels[:: -1 if upside_down else 1, :: -1 if mirrored else 1]


def save_file(image: Image, path: File, *, level: int = 0, format: str | None = None, **options: Any) -> None:
    """Writes the pixels as a picture file. PNG files are written without Pillow too.

    A file that is there keeps its contents until the new ones are complete.

    Parameters
    ----------
    path : str | os.PathLike | IO[bytes]
        The file's name, whose ending chooses the format, or a file open for writing bytes.
    level : int, default 0
        Level of a mipmap.
    format : str, optional
        Pillow's name of the format, such as ``"png"``; needed for a file without a name.
    options : keywords
        Pillow's options for the format, such as ``quality=90``.

    Raises
    ------
    InvalidError
        The image is no picture of one layer and two dimensions, or the format does not hold its dtype and channels.
    OSError
        The file cannot be written.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> bindless.Image(np.zeros((2, 3, 3), np.uint8)).save(file, format="png")
    >>> file.getvalue()[1:4]
    b'PNG'
    """
    if len(image.size) != 2 or image.num_layers != 1 or image._described.is_layered:
        raise InvalidError(
            f"an image of shape {image.shape} is no single picture: save Images of parts of image.numpy(), or the "
            "whole array with numpy.save"
        )
    pixels = image.numpy(level)
    pixels = pixels.reshape(*pixels.shape[:2], -1)
    ending = Path(path).suffix[1:] if isinstance(path, (str, os.PathLike)) else ""
    kind = (format or ending).lower()
    has_pillow = find_spec("PIL") is not None
    if kind == "png" and not options and pixels.dtype in (np.uint8, np.uint16):
        deep = pixels.dtype == np.uint16 and pixels.shape[2] > 1  # which Pillow does not write
        if deep or not has_pillow:
            write_bytes(path, encode_png(pixels))
            return
    if kind == "png" and pixels.dtype not in (np.uint8, np.uint16):
        raise InvalidError(
            f"{name_of_file(path)}: a PNG file holds no {pixels.dtype}: convert to uint8 or uint16, or save one "
            "channel of float32 as .tiff"
        )
    if not has_pillow:
        raise InvalidError(f"{kind or 'picture'} files are written by Pillow, which is not installed: {_INSTALL}")
    _save_with_pillow(pixels, path, kind, options)


def _save_with_pillow(pixels: Array, path: File, kind: str, options: dict[str, Any]) -> None:
    from PIL import Image as Picture

    channels, name = pixels.shape[2], name_of_file(path)
    codec, what = codec_of(path, kind), f"{channels} channels of {pixels.dtype}"
    single = {np.dtype(np.uint16)} | ({np.dtype(np.int32), np.dtype(np.float32)} if codec == "TIFF" else set())
    if pixels.dtype != np.uint8 and not (channels == 1 and pixels.dtype in single):
        raise InvalidError(
            f"{name}: Pillow writes no {what} as {codec}: convert to uint8, save uint16 as .png, or one channel of "
            "float32 as .tiff"
        )
    picture = Picture.fromarray(pixels[..., 0] if channels == 1 else np.ascontiguousarray(pixels))
    write_picture(path, picture, codec, what, options)
