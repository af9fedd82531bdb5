"""Optional: image copies that are prepared once and submitted repeatedly."""

from __future__ import annotations

from typing import Protocol

from ...model.copy_region import CopyRegion
from .direct_copy import DirectCopy
from .native_objects import NativeQueue

__all__ = ["PreparedCopyProtocol"]


class PreparedCopyProtocol(Protocol):
    """Copies of images that C code submits again with other arrays of the same shape."""

    def prepare_copy(self, queue: NativeQueue, region: CopyRegion) -> DirectCopy | None:
        """The copy of a region; None where each submission takes Python."""
