"""Disk cache of built kernel files: one entry for each source, its options, the toolchain and this package.

Compilation reveals the headers of a source. An entry lists them with hashes of their contents. It is valid while they
are unchanged, and while no folder that is searched earlier has a header of the same name. Sources that use the time or
test for the existence of a file are compiled every time.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import struct
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from ..model.errors import BuildError
from ..model.module.disk_cache import cache
from ..model.module.kernel_file import KernelFile
from .llvm.toolchain import Toolchain, include_folder

__all__ = ["BuildCache", "dependencies"]

_LENGTH = struct.Struct("<I")
_CHANGING = re.compile(rb"__(?:DATE|TIME|TIMESTAMP)__|__has_(?:include|embed)|#\s*embed")
_ENVIRONMENT = ("CPATH", "C_INCLUDE_PATH", "PATH")
_RULE = re.compile(r"(?:\\ |[^\s\\])+")


class BuildCache:
    """The cache entry of one build.

    Parameters
    ----------
    tools
        The toolchain of the build.
    text
        The source.
    place
        Its folder, or empty.
    parts
        Its name and all options.
    folders
        The include path, in order.
    """

    def __init__(self, tools: Toolchain, text: bytes, place: str, parts: Sequence[str], folders: Sequence[str]) -> None:
        self._cache = cache()
        self._folders = [Path(folder) for folder in folders]
        self._text = text
        environment = [os.environ.get(name, "") for name in _ENVIRONMENT]
        words = json.dumps([place, list(parts), os.getcwd(), environment, _identity(tools.files()), _own_identity()])
        self._key = (b"kernel file", words.encode(), text)

    def get(self) -> KernelFile | None:
        """Return the cached file if all inputs are unchanged, else None."""
        data = self._cache.get(*self._key) if self._cache else None
        if data is None:
            return None
        try:
            (length,) = _LENGTH.unpack_from(data)
            entry = json.loads(data[_LENGTH.size : _LENGTH.size + length])
            file = KernelFile.from_bytes(data[_LENGTH.size + length :])
            if any(_hash(path) != known for path, known in entry["headers"].items()):
                return None
            if any(map(os.path.exists, entry["absent"])):
                return None
            return replace(file, log=entry["log"])
        except (BuildError, ValueError, KeyError, struct.error):
            return None

    def put(self, file: KernelFile, headers: Iterable[Path]) -> None:
        """Store a file, unless its source may compile to another one next time."""
        if self._cache is None or _CHANGING.search(self._text):
            return
        known: dict[str, str] = {}
        absent: set[str] = set()
        for header in headers:
            try:
                data = header.read_bytes()
            except OSError:
                return
            if _CHANGING.search(data):
                return
            known[str(header)] = hashlib.sha256(data).hexdigest()
            absent.update(self._earlier(header))
        entry = json.dumps({"headers": known, "absent": sorted(absent), "log": file.log}).encode()
        self._cache.put(b"".join([_LENGTH.pack(len(entry)), entry, file.to_bytes()]), *self._key)

    def _earlier(self, header: Path) -> list[str]:
        """Return the paths where a header of the same name would be found before this one."""
        found: list[str] = []
        for number, folder in enumerate(self._folders):
            if header.is_relative_to(folder):
                name = header.relative_to(folder)
                found += [str(other / name) for other in self._folders[:number] if not (other / name).exists()]
        return found


def dependencies(folder: Path) -> set[Path]:
    """Return the files in the dependency rules for `make` that clang wrote under a folder, without the folder's own
    files.
    """
    found: set[Path] = set()
    for rules in folder.rglob("*.d"):
        text = rules.read_text().replace("\\\n", " ").partition(": ")[2]
        found.update(Path(name.replace("\\ ", " ").replace("$$", "$")) for name in _RULE.findall(text))
    absolute = {Path(os.path.abspath(path)) for path in found}
    return {path for path in absolute if not path.is_relative_to(folder)}


def _identity(files: Iterable[Path]) -> list[tuple[str, int, int]]:
    """Return names, sizes and times of files that are too large to hash."""
    listed = []
    for path in sorted(files):
        state = path.stat()
        listed.append((str(path), state.st_size, state.st_mtime_ns))
    return listed


@functools.cache
def _own_identity() -> list[tuple[str, int, int]]:
    """Return the identity of this package's compiler and headers."""
    package = Path(__file__).parent
    files = (path for folder in (package, include_folder()) for path in folder.rglob("*") if path.suffix != ".pyc")
    return _identity(path for path in files if path.is_file())


def _hash(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return ""
