"""``PreparedCopy``: the command of an image copy, with the positions of what may change."""

from __future__ import annotations

from dataclasses import dataclass

from .prepared_command import PreparedCommand

__all__ = ["PreparedCopy"]


@dataclass(frozen=True)
class PreparedCopy:
    """The result of ``prepare_copy``.

    Attributes
    ----------
    command
        command that submits the copy.
    places
        positions in each description of the address of an array or of memory, or the handle of an image, for the source
        and for the destination. A side without positions is fixed: the copy is valid for this image or memory only.
        Memory at another address has the same alignment, up to 16 bytes.
    offsets
        bytes that are added to those addresses.
    """

    command: PreparedCommand
    places: tuple[tuple[int, ...], tuple[int, ...]]
    offsets: tuple[int, int] = (0, 0)
