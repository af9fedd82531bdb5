"""Optional: image copies that are prepared once and submitted repeatedly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ...model.copy_region import CopyRegion
from .native_objects import NativeQueue
from .prepared_command import PreparedCommand

__all__ = ["PreparedCopy", "PreparedCopyProtocol"]


@dataclass(frozen=True)
class PreparedCopy:
    """The result of ``prepare_copy``.

    Attributes
    ----------
    command
        command that submits the copy.
    places
        positions in each description of the address of an array, or the handle of an image, for the source and for the
        destination. A side without positions is fixed: the copy is valid for this image or memory only.
    offsets
        bytes that are added to those addresses.
    """

    command: PreparedCommand
    places: tuple[tuple[int, ...], tuple[int, ...]]
    offsets: tuple[int, int] = (0, 0)


class PreparedCopyProtocol(Protocol):
    """Copies of images that C code submits again with other arrays of the same shape."""

    def prepare_copy(self, queue: NativeQueue, region: CopyRegion) -> PreparedCopy | None:
        """The copy of a region; None where each submission takes Python."""
