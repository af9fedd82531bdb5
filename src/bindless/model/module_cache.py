"""Results of compilers on disk: native binaries of modules, so that a driver compiles each but once (Level Zero calls
that the duty of the application, in its section on modules and kernels), and kernel files that were built before.

A file's name is the hash of everything that its contents depend on, which the caller puts into the key; the file begins
with a hash of its name and contents. What does not have it is deleted and made anew. The binaries are run: only regular
files of the user's own are read, which nobody else may write; links are not followed, and pipes not waited for. Writers
make a file of their own and rename it, so that readers see whole files alone. When the files take more than the limit,
those not used for longest go.

``BINDLESS_CACHE=0`` turns it off, ``BINDLESS_CACHE_DIR`` chooses the folder (default ``$XDG_CACHE_HOME/bindless`` or
``~/.cache/bindless``), ``BINDLESS_CACHE_SIZE`` the limit in MiB (default 256). A folder that cannot be read or written
only costs the time of compiling: nothing fails for it.
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
_ABANDONED = 3600.0  # seconds after which an unfinished file is nobody's


class ModuleCache:
    """A folder of binaries.

    Args:
        folder: is made, for the user alone, when something is kept.
        limit: bytes that all files may take together.
    """

    def __init__(self, folder: Path, limit: int) -> None:
        self.folder = folder
        self.limit = limit

    def get(self, *key: bytes) -> bytes | None:
        """What was kept under a key, or None."""
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
            os.utime(path)  # used now
        return data[begin:]

    def put(self, data: bytes, *key: bytes) -> None:
        """Keeps bytes under a key, unless they are more than the limit or the folder cannot be written."""
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
        for part in key:  # with their lengths, so that no two keys are joined to the same
            digest.update(len(part).to_bytes(8, "little"))
            digest.update(part)
        return self.folder / (digest.hexdigest() + _SUFFIX)

    def _trim(self) -> None:
        """Deletes what is beyond the limit, least recently used first, and what writers left unfinished."""
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
    """The hash that a file begins with: two files cannot take each other's names."""
    return hashlib.sha256(path.name.encode() + b"\0" + data).digest()


def _read(path: Path, limit: int) -> bytes:
    """The contents of a file of the user's own; of another kind of file, or a larger one than any here, none.

    Raises:
        OSError: there is no such file, it cannot be read, or it is someone else's.
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
    """The cache that the environment asks for; None where it is off, or there is no home to put it."""
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
