"""Disk cache of compiler results: native binaries of modules, and built kernel files. Level Zero leaves such a cache to
the application (its section on modules and kernels).

A file's name is the hash of its key, which holds every input of the compilation; the file starts with a hash of its
name and contents. Files with a wrong hash are deleted and built again. Because the binaries are executed, only regular
files that the user owns and nobody else can write are read; the cache follows no links and waits for no pipes. Writers
rename a temporary file, so that readers see only complete files. Above the size limit the least recently used files are
deleted.

``BINDLESS_CACHE=0`` disables the cache, ``BINDLESS_CACHE_DIR`` sets the folder (default ``$XDG_CACHE_HOME/bindless`` or
``~/.cache/bindless``), ``BINDLESS_CACHE_SIZE`` the limit in MiB (default 256). An unreadable or unwritable folder costs
compile time and is not an error.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
import time
from pathlib import Path

__all__ = ["ModuleCache", "cache"]

_MAGIC = b"bindless module 2\n"
_SUFFIX = ".module"
_DEFAULT_SIZE = 256
_MOST_DIGITS = 9
_ABANDONED = 3600.0  # age in seconds at which an unfinished file is deleted


class ModuleCache:
    """A folder of binaries.

    Parameters
    ----------
    folder
        Created on the first write, for the user alone.
    limit
        Total bytes of all files.
    """

    def __init__(self, folder: Path, limit: int) -> None:
        self.folder = folder
        self.limit = limit

    def get(self, *key: bytes) -> bytes | None:
        """Return the bytes of a key, or None."""
        path = self._path(key)
        try:
            data = _read(path, self.limit)
        except OSError:
            return None
        begin = len(_MAGIC) + hashlib.sha256().digest_size
        if data[:begin] != _MAGIC + _seal(path, data[begin:]):
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # marks it as used
        return data[begin:]

    def put(self, data: bytes, *key: bytes) -> None:
        """Store bytes under a key, unless they exceed the limit or the folder cannot be written."""
        path = self._path(key)
        whole = b"".join((_MAGIC, _seal(path, data), data))
        if len(whole) > self.limit:
            return
        part = ""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            number, part = tempfile.mkstemp(dir=self.folder, suffix=".part")
            with os.fdopen(number, "wb") as file:
                file.write(whole)
            os.replace(part, path)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(part)
            return
        self._trim()

    def _path(self, key: tuple[bytes, ...]) -> Path:
        digest = hashlib.sha256()
        for part in key:  # with lengths, so that different keys never concatenate to the same bytes
            digest.update(len(part).to_bytes(8, "little"))
            digest.update(part)
        return self.folder / (digest.hexdigest() + _SUFFIX)

    def _trim(self) -> None:
        """Delete least recently used files above the limit, and abandoned temporary files."""
        found: list[tuple[float, int, str]] = []
        try:
            with os.scandir(self.folder) as entries:
                for entry in entries:
                    with contextlib.suppress(OSError):
                        told = entry.stat(follow_symlinks=False)
                        if entry.name.endswith(_SUFFIX):
                            found.append((told.st_mtime, told.st_size, entry.path))
                        elif entry.name.endswith(".part") and time.time() - told.st_mtime > _ABANDONED:
                            os.unlink(entry.path)
        except OSError:
            return
        total = sum(size for _, size, _ in found)
        for _, size, path in sorted(found):
            if total <= self.limit:
                break
            with contextlib.suppress(OSError):
                os.unlink(path)
            total -= size


def _seal(path: Path, data: bytes) -> bytes:
    """Return the hash at the start of a file: it covers the name, so that files cannot be swapped."""
    return hashlib.sha256(path.name.encode() + b"\0" + data).digest()


def _read(path: Path, limit: int) -> bytes:
    """Read a file that the user owns; empty for another kind of file, or for one above the limit.

    Raises
    ------
    OSError
        The file does not exist, cannot be read, or belongs to another user.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags), "rb") as file:
        told = os.fstat(file.fileno())
        if os.name == "posix" and (told.st_uid != os.geteuid() or told.st_mode & (stat.S_IWGRP | stat.S_IWOTH)):
            raise PermissionError(f"{path} is not the user's own")
        if not stat.S_ISREG(told.st_mode) or told.st_size > limit:
            return b""
        return file.read(limit)


def cache() -> ModuleCache | None:
    """Return the cache that the environment configures; None if it is disabled, or without a home folder."""
    if os.environ.get("BINDLESS_CACHE") == "0":
        return None
    folder = os.environ.get("BINDLESS_CACHE_DIR")
    if not folder:
        home = os.environ.get("XDG_CACHE_HOME")
        if not home or not os.path.isabs(home):
            home = os.path.expanduser("~/.cache")
        if not os.path.isabs(home):
            return None
        folder = os.path.join(home, "bindless")
    size = os.environ.get("BINDLESS_CACHE_SIZE", "")
    limit = int(size) if size.isascii() and size.isdigit() and len(size) <= _MOST_DIGITS else _DEFAULT_SIZE
    return ModuleCache(Path(folder), limit << 20)
