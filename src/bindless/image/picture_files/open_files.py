"""Picture files by name or open, and errors of their readers as those of the package: ``opened_file``."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import IO, Any, Union

from ...model.errors import Error, InvalidError, MemoryAllocationError
from ...model.message_values import shown
from ...model.whole_files import write_whole

__all__ = ["File", "name_of_file", "named_errors", "opened_file", "write_bytes"]

File = Union[str, "os.PathLike[str]", IO[bytes]]

# Errors of the system that follow from places in a damaged file, such as a negative one.
_DAMAGE = (None, errno.EINVAL, errno.EOVERFLOW, errno.EFBIG)


@contextmanager
def opened_file(path: File) -> Iterator[IO[bytes]]:
    """The open file, for the body of a ``with`` statement, whose errors are those of ``named_errors``.

    Parameters
    ----------
    path : str | os.PathLike | IO[bytes]
        The file's name, or a file open for reading bytes.

    Raises
    ------
    InvalidError, MemoryAllocationError, OSError
        As of ``named_errors``; or it is no file.
    """
    name = name_of_file(path)
    with _opened(path) as file, named_errors(name):
        yield file


@contextmanager
def named_errors(name: str) -> Iterator[None]:
    """Exceptions of readers, of which each has its own, as errors of the package that name the file.

    Raises
    ------
    InvalidError
        No picture is read from the file.
    MemoryAllocationError
        The picture does not fit in memory.
    OSError
        The file cannot be read.
    """
    try:
        yield
    except InvalidError as error:
        raise InvalidError(f"{name}: {error}") from None
    except Error:
        raise
    except MemoryError as error:
        raise MemoryAllocationError(f"{name}: the picture does not fit in memory ({error})") from None
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


def write_bytes(path: File, data: bytes | memoryview) -> None:
    """Writes a file whole, by its name, or to an open one."""
    if isinstance(path, (str, os.PathLike)):
        write_whole(path, data)
    else:
        path.write(data)
