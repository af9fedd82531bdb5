"""Disk cache of compiler results: native binaries of modules, and built kernel files. Level Zero leaves such a cache to
the application (its section on modules and kernels).

A key holds every input of the compilation, and its hash is the name of a file. The file has that hash again, which
proves the key under any name, and a hash of both and of the contents. Files with a wrong hash are deleted and built
again. The hash of a key depends on the format, so that packages of several versions share a folder.

Because the binaries are executed, only regular files that the user owns and nobody else can write are read; the cache
follows no links and waits for no pipes. Writers rename a temporary file, so that readers see only complete files. Above
the size limit the least recently used files are deleted.

``BINDLESS_CACHE=0`` disables the cache, ``BINDLESS_CACHE_DIR`` sets the folder (default ``$XDG_CACHE_HOME/bindless`` or
``~/.cache/bindless``), ``BINDLESS_CACHE_SIZE`` the limit in MiB (default 256). An unreadable or unwritable folder costs
compile time and is not an error.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from pathlib import Path

from ..regular_file import read_regular_file

__all__ = ["ModuleCache", "cache"]

_MAGIC = b"bindless module 3\n"
_HASH = hashlib.sha256().digest_size
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
        digest = _digest(key)
        path = self._path(digest)
        try:
            whole = read_regular_file(path, self.limit, own=True, links=False)
        except OSError:
            return None
        begin = len(_MAGIC) + 2 * _HASH
        data = whole[begin:]
        if whole[:begin] != _head(digest, data):
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # marks it as used
        return data

    def put(self, data: bytes, *key: bytes) -> None:
        """Store bytes under a key, unless they exceed the limit or the folder cannot be written."""
        digest = _digest(key)
        whole = _head(digest, data) + data
        if len(whole) > self.limit:
            return
        part = ""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            number, part = tempfile.mkstemp(dir=self.folder, suffix=".part")
            with os.fdopen(number, "wb") as file:
                file.write(whole)
            os.replace(part, self._path(digest))
            part = ""
        except OSError:
            return
        finally:
            if part:
                with contextlib.suppress(OSError):
                    os.unlink(part)
        self._trim()

    def _path(self, digest: bytes) -> Path:
        return self.folder / (digest.hex() + _SUFFIX)

    def _trim(self) -> None:
        """Delete least recently used files above the limit, and abandoned temporary files."""
        files: list[tuple[float, int, str]] = []
        try:
            with os.scandir(self.folder) as entries:
                for entry in entries:
                    with contextlib.suppress(OSError):
                        state = entry.stat(follow_symlinks=False)
                        if entry.name.endswith(_SUFFIX):
                            files.append((state.st_mtime, state.st_size, entry.path))
                        elif entry.name.endswith(".part") and time.time() - state.st_mtime > _ABANDONED:
                            os.unlink(entry.path)
        except OSError:
            return
        total = sum(size for _, size, _ in files)
        for _, size, path in sorted(files):
            if total <= self.limit:
                break
            with contextlib.suppress(OSError):
                os.unlink(path)
            total -= size


def _digest(key: tuple[bytes, ...]) -> bytes:
    digest = hashlib.sha256(_MAGIC)
    for part in key:  # with lengths, so that different keys never concatenate to the same bytes
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.digest()


def _head(digest: bytes, data: bytes) -> bytes:
    """Return the first bytes of a file: they name its key, and prove key and contents."""
    return _MAGIC + digest + hashlib.sha256(digest + data).digest()


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
