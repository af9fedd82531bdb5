"""Disk cache of built kernel files: one entry for each source, its options, the toolchain and this package.

clang lists the files that it read. An entry has their hashes, and the paths where a header with the name of one of them
does not exist, but would be read instead: in every folder of the search path, in the folder of every file, and in the
current one. It is valid while no file changes, and no header appears. Sources that use the time or test for the
existence of a file are compiled every time, as are those whose files change during the compilation.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import stat
import struct
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from ..model.errors import BuildError
from ..model.module.disk_cache import cache
from ..model.module.kernel_file import KernelFile
from ..model.regular_file import read_regular_file
from .llvm.toolchain import Toolchain, include_folder
from .process.python_command import current_folder

__all__ = ["BuildCache", "current_time", "rules_in"]

_LENGTH = struct.Struct("<I")
_CHANGING = re.compile(rb"__(?:DATE|TIME|TIMESTAMP)__|__has_(?:include|embed)|#\s*embed")
_SPLICE = re.compile(rb"\\[ \t]*\r?\n")
_ENVIRONMENT = ("CPATH", "C_INCLUDE_PATH", "OPENCL_INCLUDE_PATH", "PATH", "CCC_OVERRIDE_OPTIONS")
_RULES = "source.d"
_RULE = re.compile(r"(?:\\[ #]|\\(?![ #\n])|[^\s\\])+")
_MOST_ABSENT = 20_000  # paths, which take about 20 ms to test


class BuildCache:
    """The cache entry of one build.

    Parameters
    ----------
    tools
        The toolchain of the build.
    text
        The source.
    file
        Its file, if it has one.
    words
        Its name and all options.
    """

    def __init__(self, tools: Toolchain, text: bytes, file: Path | None, words: Sequence[str]) -> None:
        self._cache = cache()
        self._file = file
        self._text = text
        self._words = words
        environment = [os.environ.get(name, "") for name in _ENVIRONMENT]
        parts = [str(file or ""), list(words), current_folder(), environment, _identity(tools.files()), _own_identity()]
        self._key = (b"kernel file", json.dumps(parts).encode(), text)

    def get(self) -> KernelFile | None:
        """Return the cached file if all inputs are unchanged, else None."""
        data = self._cache.get(*self._key) if self._cache else None
        if data is None:
            return None
        try:
            (length,) = _LENGTH.unpack_from(data)
            entry = json.loads(data[_LENGTH.size : _LENGTH.size + length])
            file = KernelFile.from_bytes(data[_LENGTH.size + length :])
            if file.source_sha256 != hashlib.sha256(self._text).hexdigest():
                return None
            if any(map(_is_taken, entry["absent"])):
                return None
            if any(_hash(path) != digest for path, digest in entry["headers"].items()):
                return None
            return replace(file, log=entry["log"])
        except (BuildError, ValueError, KeyError, TypeError, AttributeError, struct.error):
            return None

    def put(self, file: KernelFile, work: Path, start: int, search: Callable[[], Iterable[str]]) -> None:
        """Store a file, unless its source may compile to another one next time.

        Parameters
        ----------
        work
            The folder of the build, with clang's rules.
        start
            `current_time` before clang ran.
        search
            Returns the folders of headers.
        """
        if self._cache is None or _changes(self._text) or _changes("\n".join(self._words).encode(errors="replace")):
            return
        names = _dependencies(work)
        if self._file is not None:
            names.add(str(self._file))
        hashes: dict[str, str] = {}
        for name in names:
            try:
                data = read_regular_file(name)
                state = os.stat(name)
            except (OSError, ValueError):
                return
            if _changes(data) or max(state.st_mtime_ns, state.st_ctime_ns) > start:
                return
            hashes[name] = hashlib.sha256(data).hexdigest()
        if self._file is not None and hashes[str(self._file)] != file.source_sha256:
            return
        absent = _absent(hashes, {*search(), current_folder()})
        if len(absent) > _MOST_ABSENT:
            return
        entry = json.dumps({"headers": hashes, "absent": absent, "log": file.log}).encode()
        self._cache.put(b"".join([_LENGTH.pack(len(entry)), entry, file.to_bytes()]), *self._key)


def current_time() -> int:
    """Return the time in nanoseconds on the clock of the system's files."""
    clock = getattr(time, "CLOCK_REALTIME_COARSE", None)
    return time.time_ns() if clock is None else time.clock_gettime_ns(clock)


def rules_in(folder: Path) -> list[str]:
    """Return clang's options to list the files that it reads, in a file of this folder."""
    return ["-MD", "-MF", str(folder / _RULES), "-MT", "source"]


def _dependencies(work: Path) -> set[str]:
    """Return the files of clang's rules, without those of the build's own folder, by the names under which clang found
    them: these begin with a folder of the search path.
    """
    names: set[str] = set()
    for rules in work.rglob(_RULES):
        text = os.fsdecode(rules.read_bytes()).replace("\\\n", " ").partition(": ")[2]
        names.update(re.sub(r"\\([ #])", r"\1", name).replace("$$", "$") for name in _RULE.findall(text))
    return {name for name in names if not Path(os.path.abspath(name)).is_relative_to(work)}


def _absent(files: Iterable[str], folders: Iterable[str]) -> list[str]:
    """Return the paths without a file where a header of the same name would be found before one of these files."""
    places = {folder.rstrip("/") for folder in folders} | {os.path.dirname(file) for file in files}
    names = {file[len(place) + 1 :] for file in files for place in places if file.startswith(f"{place}/")}
    names.update(name for name in files if not os.path.isabs(name))
    paths = {f"{place}/{name}" if place else name for place in places for name in names}
    return sorted(path for path in paths if not _is_taken(path))


def _is_taken(path: str) -> bool:
    """Whether clang finds a header at a path."""
    try:
        return not stat.S_ISDIR(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def _changes(text: bytes) -> bool:
    """Whether a source may compile to another module next time."""
    return _CHANGING.search(_SPLICE.sub(b"", text)) is not None


def _identity(files: Iterable[Path]) -> list[tuple[str, int, int]]:
    """Return names, sizes and times of files that are too large to hash."""
    rows = []
    for path in sorted(files):
        state = path.stat()
        rows.append((str(path), state.st_size, state.st_mtime_ns))
    return rows


@functools.cache
def _own_identity() -> list[tuple[str, int, int]]:
    """Return the identity of this package's compiler and headers."""
    package = Path(__file__).parent
    files = (path for folder in (package, include_folder()) for path in folder.rglob("*") if path.suffix != ".pyc")
    return _identity(path for path in files if path.is_file())


def _hash(path: str) -> str:
    try:
        return hashlib.sha256(read_regular_file(path)).hexdigest()
    except (OSError, ValueError):
        return ""
