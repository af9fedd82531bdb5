"""``Image.open`` and ``Image.save``: files of textures, of floats, and by Pillow; PNG files are written without it."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from ..model.arrays import Array
from ..model.errors import InvalidError
from ..model.image_descriptor import integer
from .copying import levels_of_image
from .picture_files.dds import DDS_MAGIC, encode_dds, read_dds
from .picture_files.deep_png import deep_png_pixels, is_deep_png
from .picture_files.float_pictures import EXR_MAGIC, HDR_MAGIC, float_frames
from .picture_files.ktx2 import KTX1_MAGIC, KTX2_MAGIC, read_ktx2
from .picture_files.open_files import File, name_of_file, named_errors, opened_file, write_bytes
from .picture_files.pillow_files import codec_of, opened_picture, write_picture
from .picture_files.png import encode_png
from .picture_files.texture_images import texture_arguments
from .picture_files.textures import Texture, TextureFormat, level_shape

if TYPE_CHECKING:
    from .image import Image

__all__ = ["open_file", "save_file"]


_INSTALL = "pip install 'bindless[image]'"

# Pillow's modes whose arrays are pixels of an image as they are.
_PLAIN = {"L", "LA", "RGB", "RGBA", "F", "I"}
_CONVERTED = {"1": "L", "La": "LA", "RGBa": "RGBA", "PA": "RGBA", "P": "RGB"}
_TRANSPARENT = {"L": "LA", "1": "LA", "RGB": "RGBA", "P": "RGBA"}

# How files begin that Pillow does not read, or less of.
_MAGIC = {DDS_MAGIC: "dds", KTX2_MAGIC: "ktx2", KTX1_MAGIC: "ktx", EXR_MAGIC: "exr", HDR_MAGIC: "hdr"}


def open_file(cls: type[Image], /, path: File, **options: Any) -> Image:
    """An image from a picture file: of a texture (.dds, .ktx2), of floats (.exr, .hdr), or of a format of Pillow's.

    The first bytes of the file tell its format.

    - **.dds and .ktx2**: the image has the levels, layers or faces of the file, and its channel type. Blocks stay
      compressed on the device (``from_blocks``). Of pixels, levels that the file lacks are made, and ``update`` makes
      all anew. A line of pixels is an image of one dimension. Pixels with masks other than bytes are expanded to uint8,
      or to uint16 where a mask has more than 8 bits.
    - **.exr**: channels R, G, B and A, or all of at most four others, as float16, float32 or uint32; the
      pixels of the data window. **.hdr**: float32, turned upright.
    - **others**: the picture is turned as its EXIF orientation says. Palettes are expanded to colours, with an alpha
      channel where the file has transparency; files of grey, of 16 bits and of floats keep their kind; colour spaces
      other than RGB are converted to it.

    Parameters
    ----------
    path : str | os.PathLike | IO[bytes]
        The file's name, or a file open for reading bytes.
    options : keywords
        Arguments of ``Image``. With ``layers=True`` every frame of the file is a layer, else the first is taken. Of
        .dds and .ktx2 files, ``layers``, ``cubemap`` and ``mipmaps`` are those of the file: ``layers=True`` makes
        layers of faces, ``layers=False`` and ``cubemap=False`` take the first one, ``mipmaps=False`` its first level,
        and ``srgb`` says whether codes of colours are those of sRGB, whatever the file says.

    Returns
    -------
    Image
        The new image.

    Raises
    ------
    InvalidError
        The library for the format is not installed, or no picture is read from the file: it is damaged, or too
        large (``PIL.Image.MAX_IMAGE_PIXELS``).
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
    every = bool(options.get("layers"))
    with opened_file(path) as file:
        kind = _kind_of_content(file)
        if kind in ("dds", "ktx2"):
            texture = (read_dds if kind == "dds" else read_ktx2)(file.read())
        elif kind == "ktx":
            raise InvalidError("it is a KTX 1 file, which is not read here: ktx2ktx2 makes a .ktx2 file of it")
        else:
            frames = float_frames(path, file, kind, every) if kind else _pillow_frames(file, every)
    if kind in ("dds", "ktx2"):
        return _image_of_texture(cls, texture, options)
    shapes = {frame.shape for frame in frames}
    if len(shapes) > 1:
        raise InvalidError(f"{name_of_file(path)}: its frames have the shapes {sorted(shapes)}; layers have one shape")
    return cls(np.stack(frames) if every else frames[0], **options)


def _image_of_texture(cls: type[Image], texture: Texture, options: dict[str, Any]) -> Image:
    """An image with the layers, faces and levels of a texture file."""
    levels, options = texture_arguments(texture, options)
    if texture.format.is_packed:
        mipmaps, dimensions = options.pop("mipmaps"), options.pop("dimensions")
        if dimensions != 2:
            raise InvalidError(f"{dimensions} dimensions of {texture.format.channel_type}: images of it have 2")
        blocks = levels if mipmaps and len(levels) > 1 else levels[0]
        return cls.from_blocks(blocks, texture.shape, mipmaps=mipmaps, **options)
    image = cls(levels[0], **options)
    for number, level in enumerate(levels[1:] if options["mipmaps"] else (), 1):
        if options["cubemap"]:
            image.parts[number].update(level)
            continue
        for part, picture in zip(image.parts, level if options["layers"] else [level]):
            part._native.fill_level(number, picture if image._has_channel_axis else picture[..., None])
    return image


def _kind_of_content(file: IO[bytes]) -> str:
    """The format of a file that Pillow does not read, or less of; empty for others."""
    file.seek(0)  # as Pillow does
    head = file.read(max(map(len, _MAGIC)))
    file.seek(0)
    return next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), "")


def _pillow_frames(file: IO[bytes], every: bool) -> list[Array]:
    """The pixels of the frames that Pillow reads."""
    if find_spec("PIL") is None:
        raise InvalidError(
            f"picture files but .dds, .ktx2, .exr and .hdr are read by Pillow, which is not installed: {_INSTALL}"
        )
    with opened_picture(file) as picture:
        if is_deep_png(picture):
            pixels = deep_png_pixels(file, picture)
            return [_turned(pixels, picture.getexif().get(0x0112, 1))]
        return [_frame(picture, number) for number in range(int(getattr(picture, "n_frames", 1)) if every else 1)]


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


def save_file(image: Image, path: File, *, level: int | None = None, format: str | None = None, **options: Any) -> None:
    """Writes the pixels as a picture file. .dds and PNG files are written without Pillow too.

    A .dds file holds images of all kinds with their layers, faces and levels: pixels uncompressed, blocks as they are.

    A file that is there keeps its contents until the new ones are complete.

    Parameters
    ----------
    path : str | os.PathLike | IO[bytes]
        The file's name, whose ending chooses the format, or a file open for writing bytes.
    level : int, optional
        Level of a mipmap; default: all of them in a .dds file, 0 in others.
    format : str, optional
        ``"dds"``, or Pillow's name of the format, such as ``"png"``; needed for a file without a name.
    options : keywords
        Pillow's options for the format, such as ``quality=90``.

    Raises
    ------
    InvalidError
        The format does not hold the dtype and channels; or, but for .dds, the image is no picture of one layer and
        two dimensions.
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
    ending = Path(path).suffix[1:] if isinstance(path, (str, os.PathLike)) else ""
    kind = (format or ending).lower()
    if kind == "dds":
        _save_dds(image, path, level, options)
        return
    if len(image.size) != 2 or image.num_layers != 1 or image._described.is_layered:
        raise InvalidError(
            f"an image of shape {image.shape} is no single picture: save it as .dds, Images of parts of image.numpy(), "
            "or the whole array with numpy.save"
        )
    pixels = image.numpy(level or 0)
    pixels = pixels.reshape(*pixels.shape[:2], -1)
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


def _save_dds(image: Image, path: File, level: int | None, options: dict[str, Any]) -> None:
    """Writes levels as a .dds file."""
    if options:
        raise InvalidError(f"{name_of_file(path)}: {', '.join(map(repr, options))}: .dds files have no such options")
    described, numbers = image._described, range(image.num_levels) if level is None else [level]
    kind = str(described.type)
    if described.channel.decoded is not None:
        own = levels_of_image(image).arrays
        levels = [own[integer("level", number, len(own) - 1)] for number in numbers]
    else:
        levels = [image.numpy(number) for number in numbers]
        if not image._has_channel_axis:
            levels = [pixels[..., None] for pixels in levels]
    levels = levels if kind in ("array", "cubemap") else [pixels[None] for pixels in levels]
    shape = level_shape(image.size[::-1], numbers[0])
    form = TextureFormat(str(described.channel_type), levels[0].dtype, levels[0].shape[-1])
    with named_errors(name_of_file(path)):
        data = encode_dds(Texture(form, kind, shape, tuple(levels)))
    write_bytes(path, data)


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
