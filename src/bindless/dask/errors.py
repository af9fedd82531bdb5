"""``BlockError``: a block that could not be computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..model.errors import Error

__all__ = ["BlockError", "part_text", "read_part"]

_STORES = ("store_path", "filename", "store")


class BlockError(Error, RuntimeError):
    """A block of a result that could not be computed or written: names the block, the file and the cause."""


def read_part(reader: Callable[[tuple[slice, ...]], Any], what: str, array: Any, part: tuple[slice, ...]) -> Any:
    """A part of an array, as an array also of sources that give scalars or nested lists.

    Parameters
    ----------
    reader : Callable
        Gives a part of the array.
    what : str
        Name of the array, such as "image".
    array : array
        The array, which may know its file.

    Raises
    ------
    BlockError
        The reader fails: names the array and the part.
    """
    try:
        values = reader(part)
        return values if hasattr(values, "shape") and hasattr(values, "dtype") else np.asarray(values)
    except (MemoryError, KeyboardInterrupt, SystemExit):
        raise
    except Exception as error:
        raise BlockError(
            f"{what} [{part_text(part)}] of {place_of(array)} cannot be read: {type(error).__name__}: {error}"
        ) from error


def part_text(part: Sequence[slice]) -> str:
    return ", ".join(f"{along.start}:{along.stop}" for along in part)


def place_of(array: Any) -> str:
    """Return the place of an array for messages: its store, its file, or memory."""
    place = getattr(array, "_place", None)
    if place is not None:  # FileArray
        return str(place[1])
    for name in _STORES:
        value = getattr(array, name, None)
        if value is not None:
            return str(value)
    return f"a {type(array).__name__} in memory"
