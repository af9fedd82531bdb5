"""Optional: pictures at computed coordinates, which a back end computes itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ...model.resampling import Resampling, Strategy
from .native_objects import NativeEvent, NativeQueue
from .prepared_command import PreparedCommand

__all__ = ["ResamplingProtocol"]


class ResamplingProtocol(Protocol):
    """Resampling of images whose pixels the processor reads where they are."""

    def resample(
        self, queue: NativeQueue, picture: Resampling, strategy: Strategy, waits: Sequence[NativeEvent] = ()
    ) -> NativeEvent:
        """Submit a picture. Its arrays are in memory that the queue's device can access."""

    def prepare_resampling(self, queue: NativeQueue, picture: Resampling, strategy: Strategy) -> PreparedCommand | None:
        """Prepare a picture for repetition, or None where Python has work to do each time.

        ``places`` are those of the address of the values, of that of the vectors, and of the matrix, as
        ``Strategy.projection`` takes it: nine numbers, or ``Strategy.resampling``: sixteen. Where the picture has no
        vectors, their place is None. The fourth place is that of ``first``, ``origin`` and ``whole``, nine numbers of
        64 bits; None for ``Strategy.projection``.
        """
