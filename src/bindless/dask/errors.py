"""``BlockError``: a block that could not be computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..model.errors import Error

__all__ = ["BlockError", "naming_failures"]

_STORES = ("store_path", "filename", "store")


class BlockError(Error, RuntimeError):
    """A block of a result that could not be computed or written: names the block, the file and the cause."""


def naming_failures(reader: Callable[[tuple[slice, ...]], Any], what: str, array: Any) -> Callable[..., Any]:
    """A reader whose failures name the array and the part that was read.

    Parameters
    ----------
    reader : Callable
        Gives a part of the array.
    what : str
        Name of the array, such as "image".
    array : Any
        The array, which may know its file.
    """

    def read(part: tuple[slice, ...]) -> Any:
        try:
            return reader(part)
        except (MemoryError, KeyboardInterrupt, SystemExit):
            raise
        except Exception as error:
            raise BlockError(
                f"{what} [{part_text(part)}] of {place_of(array)} cannot be read: {type(error).__name__}: {error}"
            ) from error

    return read


def part_text(part: Sequence[slice]) -> str:
    return ", ".join(f"{along.start}:{along.stop}" for along in part)


def place_of(array: Any) -> str:
    """Return the place of an array for messages: its store, its file, or memory."""
    place = getattr(array, "_place", None)
    if place is not None:  # FileArray
        return str(place[1])
    for name in _STORES:
        found = getattr(array, name, None)
        if found is not None:
            return str(found)
    return f"a {type(array).__name__} in memory"
