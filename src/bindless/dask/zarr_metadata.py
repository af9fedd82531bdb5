"""Checks of stores of zarr whose metadata may lie: nothing is read or planned by sizes before they are checked."""

from __future__ import annotations

import json
import math
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..model.errors import Error, InvalidError
from ..model.message_values import shown
from .stored_chunks import has_plain_chunks, is_zarr

__all__ = ["is_name", "named_errors", "require_array", "require_files"]

_FILES = ("zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata")
_MOST_METADATA = 64 << 20  # bytes of a file
_MOST_SIZE = 1 << 31  # along an axis
_RUNS_CODE = "pickle"  # in the name of a codec: it runs what the store says


@contextmanager
def named_errors(what: str) -> Iterator[None]:
    """Exceptions of stores and codecs, of which each has its own, as errors of the package.

    Parameters
    ----------
    what : str
        What failed, with the name of the store.

    Raises
    ------
    InvalidError
        Something was raised that is no error of the package.
    """
    try:
        yield
    except Error:
        raise
    except Exception as error:
        raise InvalidError(f"{what}: {type(error).__name__}: {error}") from error


def is_name(name: str) -> bool:
    """Whether a name leads to something in a group."""
    return "\0" not in name and all(part not in ("", ".", "..") for part in name.replace("\\", "/").split("/"))


def require_files(folder: str, name: str) -> None:
    """Refuses metadata that is no file, such as a pipe, or too large, along the way to an array of a local group.

    Parameters
    ----------
    folder : str
        Of the group; a URL has no files.
    name : str
        Of the array; empty for the group.

    Raises
    ------
    InvalidError
        A file of metadata is none.
    """
    parts = name.split("/") if name else []
    for depth in range(len(parts) + 1):
        for file in _FILES:
            path = os.path.join(folder, *parts[:depth], file)
            try:
                record = os.stat(path)
            except (OSError, ValueError):  # it is missing
                continue
            if not stat.S_ISREG(record.st_mode):
                raise InvalidError(f"{path} is no regular file")
            if record.st_size > _MOST_METADATA:
                raise InvalidError(f"{path} has {record.st_size} bytes; metadata has at most {_MOST_METADATA}")


def require_array(name: str, array: Any) -> None:
    """Refuses an array whose metadata has sizes that no run could read.

    Parameters
    ----------
    name : str
        For messages: store and array.
    array : array
        Of the library zarr.

    Raises
    ------
    InvalidError
        A field of its metadata is not right.
    """
    if not is_zarr(array):
        raise InvalidError(f"{name}: it is no array with axes and a regular grid of chunks")
    shape, chunks, shards = tuple(array.shape), tuple(array.chunks), getattr(array, "shards", None)
    if not all(1 <= size < _MOST_SIZE for size in shape):
        raise InvalidError(f"{name}: shape={shape}; sizes are 1 to {_MOST_SIZE - 1}")
    for field, sizes in (("chunks", chunks), ("shards", shards or ())):
        if not all(size >= 1 for size in sizes):
            raise InvalidError(f"{name}: {field}={sizes}; sizes are at least 1")
    described = json.dumps(array.metadata.to_dict(), default=str)
    if _RUNS_CODE in described.lower():
        raise InvalidError(
            f"{name}: metadata={shown(described)}: the codec pickle runs what the store says, and is not used"
        )
    nbytes, most = math.prod(chunks) * np.dtype(array.dtype).itemsize, _memory()
    is_mapped = has_plain_chunks(array) and all(part <= size for part, size in zip(chunks, shape))
    if most is not None and nbytes > most and not is_mapped:
        raise InvalidError(f"{name}: chunks={chunks}; a chunk has {nbytes} bytes, and the machine {most} of memory")


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None
