"""Native binaries of modules on disk, so that a driver compiles each but once: Level Zero calls that the duty of the
application, in its section on modules and kernels.

A file's name is the hash of everything that its contents depend on, which the caller puts into the key; the file begins
with a hash of its contents. What does not have it is deleted and made anew. Writers make a file of their own and rename
it, so that readers see whole files alone. When the files take more than the limit, those not used for longest go.

``BINDLESS_CACHE=0`` turns it off, ``BINDLESS_CACHE_DIR`` chooses the folder (default ``$XDG_CACHE_HOME/bindless`` or
``~/.cache/bindless``), ``BINDLESS_CACHE_SIZE`` the limit in MiB (default 256). A folder that cannot be read or written
only costs the time of compiling: nothing fails for it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from pathlib import Path

__all__ = ["ModuleCache", "cache"]

_MAGIC = b"bindless module 1\n"
_SUFFIX = ".module"
_DEFAULT_SIZE = 256
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
            data = path.read_bytes()
        except OSError:
            return None
        begin = len(_MAGIC) + hashlib.sha256().digest_size
        if not data.startswith(_MAGIC) or data[len(_MAGIC) : begin] != hashlib.sha256(data[begin:]).digest():
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # used now
        return data[begin:]

    def put(self, data: bytes, *key: bytes) -> None:
        """Keeps bytes under a key, unless they are more than the limit or the folder cannot be written."""
        path = self._path(key)
        whole = b"".join((_MAGIC, hashlib.sha256(data).digest(), data))
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
    limit = int(size) if size.isascii() and size.isdigit() else _DEFAULT_SIZE
    return ModuleCache(Path(folder), limit << 20)
