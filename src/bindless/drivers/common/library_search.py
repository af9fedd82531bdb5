"""Search for the absolute path of a library by its name, without the dynamic loader's own search.

The loader would also search relative elements of ``LD_LIBRARY_PATH``, folders with ``$LIB`` or ``$PLATFORM``, and
``glibc-hwcaps`` folders below any of them, which a program's user may not expect. On Linux this module searches
instead, in this order:

1. libraries of that name that are loaded in the process
2. the absolute elements of ``LD_LIBRARY_PATH``, as it was at the start of the process
3. the library folder of the Python interpreter, where conda installs drivers
4. the loader's cache, ``/etc/ld.so.cache``, except its entries for particular processors
5. the system's library folders
"""

from __future__ import annotations

import os
import re
import struct
import sys
import sysconfig
from collections.abc import Iterator

__all__ = ["candidates", "ignored_elements"]

_VARIABLE = "LD_LIBRARY_PATH"
_CACHE = "/etc/ld.so.cache"
_MAGIC = b"glibc-ld.so.cache1.1"
_HEADER, _ENTRY = 48, struct.Struct("=iIIIQ")  # flags, name, path, version, processor; offsets in bytes
_FOLDERS = ("/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib")
_ELF = 20  # bytes up to the end of the machine field


def candidates(name: str) -> Iterator[str]:
    """Yield the files for a library name, best first; only libraries for this interpreter's processor.

    Parameters
    ----------
    name
        Name of a library, without a folder.
    """
    paths: set[str] = set()
    for path in _places(name):
        if path not in paths and os.path.isabs(path) and _fits(path):
            yield path
        paths.add(path)


def ignored_elements() -> list[str]:
    """Return the elements of ``LD_LIBRARY_PATH`` that are not searched: relative ones, and those with a ``$``."""
    return [element for element in _elements() if not _is_plain(element)]


def _places(name: str) -> Iterator[str]:
    yield from _loaded(name)
    for element in _elements():
        if _is_plain(element):
            yield os.path.join(element, name)
    yield os.path.join(sys.base_prefix, "lib", name)
    yield from _cached(name)
    multiarch = sysconfig.get_config_var("MULTIARCH")
    for folder in (*(f"{base}/{multiarch}" for base in ("/lib", "/usr/lib") if multiarch), *_FOLDERS):
        yield os.path.join(folder, name)


def _loaded(name: str) -> list[str]:
    """Return the mapped files of this name, or of its stem with another version."""
    pattern = re.compile(re.escape(name.partition(".so")[0]) + r"\.so(\.[0-9.]+)?")
    try:
        with open("/proc/self/maps", encoding=sys.getfilesystemencoding(), errors="surrogateescape") as maps:
            paths = [line.rstrip("\n").split(None, 5)[5] for line in maps if " /" in line]
    except OSError:
        return []
    return [path for path in dict.fromkeys(paths) if pattern.fullmatch(os.path.basename(path))]


def _elements() -> list[str]:
    """Return the elements of ``LD_LIBRARY_PATH`` at the start of the process, which the loader uses too."""
    try:
        with open("/proc/self/environ", "rb") as file:
            rows = file.read().split(b"\0")
    except OSError:
        value = os.environ.get(_VARIABLE, "")
    else:
        start = _VARIABLE.encode() + b"="
        value = next((os.fsdecode(row[len(start) :]) for row in rows if row.startswith(start)), "")
    return re.split("[:;]", value) if value else []


def _is_plain(element: str) -> bool:
    return os.path.isabs(element) and "$" not in element


def _cached(name: str) -> Iterator[str]:
    """Yield the paths of a name in the loader's cache."""
    try:
        with open(_CACHE, "rb") as file:
            data = file.read()
    except OSError:
        return
    begin = data.find(_MAGIC)
    if begin < 0 or len(data) < begin + _HEADER:
        return
    (count,) = struct.unpack_from("=I", data, begin + len(_MAGIC))
    soname = os.fsencode(name)
    for index in range(min(count, (len(data) - begin - _HEADER) // _ENTRY.size)):
        _, key, value, _, processor = _ENTRY.unpack_from(data, begin + _HEADER + index * _ENTRY.size)
        if processor == 0 and _text(data, begin + key) == soname:
            yield os.fsdecode(_text(data, begin + value))


def _text(data: bytes, at: int) -> bytes:
    end = data.find(b"\0", at)
    return data[at:end] if end >= 0 else b""


def _fits(path: str) -> bool:
    """Return whether a file exists and, if it is an ELF file, whether it is for the processor of this process."""
    try:
        with open(path, "rb") as file:
            return _kind(file.read(_ELF)) == _own_kind()
    except OSError:
        return False


def _own_kind() -> bytes:
    with open("/proc/self/exe", "rb") as file:
        return _kind(file.read(_ELF))


def _kind(start: bytes) -> bytes:
    """Return width, byte order and machine of an ELF header; the other fields differ between programs and libraries."""
    return start[:6] + start[18:20]
