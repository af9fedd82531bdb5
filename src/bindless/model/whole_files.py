"""``write_whole``: a file whose former contents stay until the new ones are complete."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

__all__ = ["write_whole"]


def write_whole(path: str | os.PathLike[str], data: bytes | memoryview) -> None:
    """Write a file; the replacement of an existing file is atomic, and keeps its permissions.

    A symbolic link keeps its place: the file that it names is replaced. Devices and pipes, such as ``/dev/null`` and
    ``/dev/stdout``, are written to.

    Raises
    ------
    OSError
        The file cannot be written; it is as it was.
    """
    place = Path(path)
    if place.exists() and not place.is_file():
        place.write_bytes(data)
        return
    place = Path(os.path.realpath(place))
    part = place.with_name(f".{secrets.token_hex(8)}.part")
    try:
        number = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    except OSError as error:  # names the caller's file, not the temporary one
        raise type(error)(error.errno, error.strerror, str(place)) from error
    try:
        with os.fdopen(number, "wb") as file:
            file.write(data)
        if place.exists():
            part.chmod(stat.S_IMODE(place.stat().st_mode))
        part.replace(place)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
