"""Optional: colours mapped by tables, which a back end computes itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ...model.colour_table import ColourTable
from .native_objects import NativeEvent, NativeQueue

__all__ = ["ColourTablesProtocol"]


class ColourTablesProtocol(Protocol):
    """Tables of colours over memory that the processor reads."""

    def map_colours(self, queue: NativeQueue, described: ColourTable, waits: Sequence[NativeEvent] = ()) -> NativeEvent:
        """Submit the pixels of a picture. Its arrays are in memory that the queue's device can access."""
