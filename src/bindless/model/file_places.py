"""Paths of arrays on this machine, and ``require_apart``: a result does not take the place of its input."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from .errors import InvalidError

__all__ = ["local_name", "places_of", "require_apart"]

_LOCAL = ("file://", "local://")
_INNER = ("_array", "_store", "store", "sync_fs", "fs", "fo")  # of wrappers: arrays, stores and file systems


def local_name(url: str) -> str:
    """The name of a file or a folder of this machine where a URL names one; else the URL."""
    for scheme in _LOCAL:
        if url.startswith(scheme) and "::" not in url:
            return url[len(scheme) :]
    return url


def places_of(*inputs: Any) -> list[Path]:
    """The files and folders of this machine that hold some inputs.

    Parameters
    ----------
    *inputs : Any
        Names, URLs (also chains such as ``zip::file:///a.zip``), zarr arrays of any store, memory maps, and what the
        package makes of them; None is left out.
    """
    names = []
    for item in inputs:
        if isinstance(item, (str, os.PathLike)):
            names += [local_name(part) for part in os.fspath(item).split("::")]
        elif item is not None:
            names += _names_in(item)
    return [Path(name) for name in dict.fromkeys(names) if name and "\0" not in name and os.path.lexists(name)]


def _names_in(array: Any) -> Iterator[str]:
    """Names of files and folders that an array, its store, or the store's file system has."""
    inside = str(getattr(array, "path", "") or "")
    place = getattr(array, "_place", None)
    if isinstance(place, tuple):  # a FileArray
        yield str(place[1])
    left: list[Any] = [array]
    objects: list[Any] = []
    while left:
        now = left.pop()
        if any(now is one for one in objects):
            continue
        objects.append(now)
        for attribute in ("root", "path", "filename"):
            name = getattr(now, attribute, None)
            if now is not array and isinstance(name, (str, os.PathLike)):
                yield os.path.join(name, inside)
            if isinstance(name, (str, os.PathLike)):
                yield os.fspath(name)
        left += [inner for inner in (getattr(now, attribute, None) for attribute in _INNER) if inner is not None]
        if len(objects) > 16:
            break


def require_apart(output: Path, inputs: Sequence[Path], *, replaces: bool) -> None:
    """Refuses an output that is an input, holds one, or lies inside of one: by links, and by what is mounted twice.

    Parameters
    ----------
    output : Path
        A folder, which need not exist.
    inputs : Sequence[Path]
        Files, and folders of arrays.
    replaces : bool
        Whether the output is deleted: then no link in an input leads into it.

    Raises
    ------
    InvalidError
        Writing the output would destroy an input.
    """
    target = Path(os.path.realpath(output))
    for item in inputs:
        place = Path(os.path.realpath(item))
        if _is_in(place, target):
            word = "is" if _is_in(target, place) else "holds"
            raise InvalidError(f"{output} {word} the input {item}, which the result would replace: give another name")
        if _is_in(target, place):
            raise InvalidError(f"{output} lies inside of the input {item}: give another name")
        if replaces:
            for link in _links(place):
                if _is_in(Path(os.path.realpath(link)), target):
                    raise InvalidError(
                        f"{output} holds what {link} of the input leads to, which the result would replace: give "
                        "another name"
                    )


def _is_in(place: Path, folder: Path) -> bool:
    """Whether a place is a folder, or below it."""
    identity = _identity(folder)
    line = (place, *place.parents)
    return folder in line or (identity is not None and any(_identity(one) == identity for one in line))


def _identity(place: Path) -> tuple[int, int] | None:
    try:
        record = place.stat()
    except OSError:
        return None
    return record.st_dev, record.st_ino


def _links(folder: Path) -> Iterable[str]:
    """Symbolic links in a folder and in those below it."""
    left = [str(folder)] if folder.is_dir() else []
    while left:
        with os.scandir(left.pop()) as entries:
            for entry in entries:
                if entry.is_symlink():
                    yield entry.path
                elif entry.is_dir(follow_symlinks=False):
                    left.append(entry.path)
