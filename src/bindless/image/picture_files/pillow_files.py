"""Picture files of Pillow, whose errors are those of the package: ``opened_picture`` and ``write_picture``."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

from ...model.errors import InvalidError, MemoryAllocationError
from .open_files import File, name_of_file, named_errors, write_bytes

__all__ = ["codec_of", "named_damage", "opened_picture", "write_picture"]


@contextmanager
def opened_picture(file: IO[bytes]) -> Iterator[Any]:
    """A picture of Pillow of an open file, for the body of a ``with`` statement, which reads from it.

    Pillow's readers raise exceptions of a dozen kinds on damaged files, in the body too; ``named_errors`` has the rest.

    Raises
    ------
    InvalidError
        Pillow reads no picture from the file, or it is too large.
    """
    from PIL import Image as Picture

    with _refusals(), Picture.open(file) as picture:
        yield picture


@contextmanager
def named_damage(name: str) -> Iterator[None]:
    """Errors of Pillow's readers as errors of the package that name the file.

    Raises
    ------
    InvalidError, MemoryAllocationError, OSError
        As of ``opened_picture`` and ``named_errors``.
    """
    with named_errors(name), _refusals():
        yield


@contextmanager
def _refusals() -> Iterator[None]:
    from PIL import Image as Picture
    from PIL import UnidentifiedImageError

    try:
        yield
    except UnidentifiedImageError:
        raise InvalidError("it is no picture that Pillow can read, nor a .dds, .ktx2, .exr or .hdr file") from None
    except (Picture.DecompressionBombError, Picture.DecompressionBombWarning) as error:
        raise InvalidError(f"{error}; PIL.Image.MAX_IMAGE_PIXELS is the limit") from None


def codec_of(path: File, kind: str) -> str:
    """Pillow's name of a format that it writes, from this name or from the ending of a file's name.

    Raises
    ------
    InvalidError
        There is none.
    """
    from PIL import Image as Picture

    Picture.init()
    codec = kind.upper() if kind.upper() in Picture.SAVE else Picture.EXTENSION.get(f".{kind.lower()}")
    if codec not in Picture.SAVE:
        raise InvalidError(
            f"{name_of_file(path)}: {kind!r} is no format that Pillow writes; endings such as .png, .jpg, .tiff and "
            ".webp name one"
        )
    return str(codec)


def write_picture(path: File, picture: Any, codec: str, what: str, options: Mapping[str, Any]) -> None:
    """Writes a picture of Pillow. A file that is there keeps its contents until the new ones are complete.

    Parameters
    ----------
    codec : str
        Pillow's name of the format.
    what : str
        The kind of pixels, for messages.
    options : Mapping[str, Any]
        Pillow's.

    Raises
    ------
    InvalidError
        The format does not hold the picture.
    OSError
        The file cannot be written.
    """
    file = io.BytesIO()
    try:
        picture.save(file, codec, **options)
    except MemoryError as error:
        raise MemoryAllocationError(f"{name_of_file(path)}: the file does not fit in memory ({error})") from None
    except Exception as error:  # each writer has its own
        raise InvalidError(
            f"{name_of_file(path)}: {codec} does not hold {what}: {error}; .png and .tiff hold more"
        ) from error
    write_bytes(path, file.getbuffer())
