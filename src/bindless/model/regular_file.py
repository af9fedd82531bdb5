"""Reading of regular files, up to a size: devices and pipes may have no end."""

from __future__ import annotations

import errno
import os
import stat

__all__ = ["MOST_BYTES", "read_regular_file"]

MOST_BYTES = 256 << 20
"""Limit of sources, headers and kernel files."""


def read_regular_file(
    path: str | os.PathLike[str], limit: int = MOST_BYTES, *, own: bool = False, links: bool = True
) -> bytes:
    """Return the contents of a regular file.

    Parameters
    ----------
    limit
        Bytes.
    own
        Whether the user must own the file, and nobody else may write it.
    links
        Whether the path may be a symbolic link.

    Raises
    ------
    OSError
        The file cannot be read, is a folder, a device or a pipe, is larger than the limit, or is not the user's own.
    ValueError
        The path has a zero character.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOCTTY", 0)
    flags |= 0 if links else getattr(os, "O_NOFOLLOW", 0)
    number = os.open(path, flags)
    try:
        state = os.fstat(number)
        if stat.S_ISDIR(state.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
        if not stat.S_ISREG(state.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file, but a device or a pipe", os.fspath(path))
        if own and os.name == "posix" and not _is_own(state):
            raise PermissionError(errno.EPERM, "it is not the user's own", os.fspath(path))
        with os.fdopen(number, "rb", closefd=False) as file:
            data = file.read(limit + 1)  # a file may grow, and some of /proc tell no size
    finally:
        os.close(number)
    if len(data) > limit:
        raise OSError(errno.EFBIG, f"it has more than {limit} bytes", os.fspath(path))
    return data


def _is_own(state: os.stat_result) -> bool:
    """Whether the user owns a file that nobody else may write."""
    return state.st_uid == os.geteuid() and not state.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
