"""Optional: means of areas, and levels of mipmaps, which a back end computes itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ...model.area_mean import AreaMean
from .native_objects import NativeEvent, NativeQueue
from .prepared_command import PreparedCommand
from .prepared_copy import PreparedCopy

__all__ = ["AreaMeansProtocol"]


class AreaMeansProtocol(Protocol):
    """Reductions of images whose pixels the processor reads where they are."""

    def area_mean(self, queue: NativeQueue, mean: AreaMean, waits: Sequence[NativeEvent] = ()) -> NativeEvent:
        """Submit the means of an image."""

    def prepare_area_mean(self, queue: NativeQueue, mean: AreaMean) -> PreparedCommand | None:
        """Prepare the means of an image for repetition, or None where Python has work to do each time.

        ``places`` is that of the address of the means.
        """

    def fill_levels(
        self, queue: NativeQueue, mipmap: int, pixels: int, waits: Sequence[NativeEvent] = ()
    ) -> NativeEvent:
        """Submit all levels of a mipmap, the first from contiguous pixels, each other from the level before.

        Parameters
        ----------
        mipmap : int
            Raw handle.
        pixels : int
            Address, on the host or the device.
        """

    def prepare_levels(self, queue: NativeQueue, mipmap: int, pixels: int) -> PreparedCopy:
        """Prepare ``fill_levels`` for repetition with pixels at any address."""
