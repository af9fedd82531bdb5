"""Picture files of Pillow, whose errors are those of the package: ``opened_picture`` and ``write_picture``."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import IO, Any, Union

from ...model.errors import Error, InvalidError, MemoryAllocationError
from ...model.message_values import shown
from ...model.whole_files import write_whole

__all__ = ["File", "codec_of", "name_of_file", "named_damage", "opened_picture", "write_bytes", "write_picture"]

File = Union[str, "os.PathLike[str]", IO[bytes]]

# Errors of the system that follow from places in a damaged file, such as a negative one.
_DAMAGE = (None, errno.EINVAL, errno.EOVERFLOW, errno.EFBIG)


@contextmanager
def opened_picture(path: File) -> Iterator[tuple[IO[bytes], Any]]:
    """A picture of Pillow and its open file, for the body of a ``with`` statement, which reads from it.

    Pillow's readers raise exceptions of a dozen kinds on damaged files, in the body too: each becomes an error of the
    package, which names the file and the reason.

    Parameters
    ----------
    path : str | os.PathLike | IO[bytes]
        The file's name, or a file open for reading bytes.

    Raises
    ------
    InvalidError
        It is no file, or no picture is read from it.
    MemoryAllocationError
        The picture does not fit in memory.
    OSError
        The file cannot be opened or read.
    """
    from PIL import Image as Picture

    name = name_of_file(path)
    with _opened(path) as file, named_damage(name), Picture.open(file) as picture:
        yield file, picture


@contextmanager
def named_damage(name: str) -> Iterator[None]:
    """Errors of Pillow's readers, of which each has its own, as errors of the package that name the file.

    Raises
    ------
    InvalidError, MemoryAllocationError, OSError
        As of ``opened_picture``.
    """
    from PIL import Image as Picture
    from PIL import UnidentifiedImageError

    try:
        yield
    except InvalidError as error:
        raise InvalidError(f"{name}: {error}") from None
    except Error:
        raise
    except MemoryError as error:
        raise MemoryAllocationError(f"{name}: the picture does not fit in memory ({error})") from None
    except UnidentifiedImageError:
        raise InvalidError(f"{name} is no picture that Pillow can read") from None
    except (Picture.DecompressionBombError, Picture.DecompressionBombWarning) as error:
        raise InvalidError(f"{name}: {error}; PIL.Image.MAX_IMAGE_PIXELS is the limit") from None
    except Exception as error:
        if isinstance(error, OSError) and error.errno not in _DAMAGE:
            raise
        raise InvalidError(f"{name}: the file is damaged: {type(error).__name__}: {shown(str(error))}") from error


def _opened(path: File) -> Any:
    if isinstance(path, (str, bytes, os.PathLike)):
        try:
            return open(path, "rb")
        except ValueError as error:  # characters that no name has
            raise InvalidError(f"{name_of_file(path)} is no name of a file: {error}") from None
    if not all(hasattr(path, method) for method in ("read", "seek", "tell")):
        raise InvalidError(f"path={shown(path)}: it is the name of a file, or a file open for reading bytes")
    return nullcontext(path)


def name_of_file(path: File) -> str:
    """The file's name for messages."""
    return shown(path) if isinstance(path, (str, bytes, os.PathLike)) else f"{type(path).__name__} object"


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


def write_bytes(path: File, data: bytes | memoryview) -> None:
    """Writes a file whole, by its name, or to an open one."""
    if isinstance(path, (str, os.PathLike)):
        write_whole(path, data)
    else:
        path.write(data)
