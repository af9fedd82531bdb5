"""Optional: pictures at computed coordinates, which a back end computes itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ...model.resampling import Resampling
from .native_objects import NativeEvent, NativeQueue

__all__ = ["ResamplingProtocol"]


class ResamplingProtocol(Protocol):
    """Resampling of images whose pixels the processor reads where they are."""

    def resample(self, queue: NativeQueue, picture: Resampling, waits: Sequence[NativeEvent] = ()) -> NativeEvent:
        """Submit a picture. Its arrays are in memory that the queue's device can access."""
