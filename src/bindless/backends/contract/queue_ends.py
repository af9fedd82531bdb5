"""Optional: the end of everything submitted to an out-of-order queue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from .native_objects import NativeEvent, NativeQueue

__all__ = ["QueueEndsProtocol"]


class QueueEndsProtocol(Protocol):
    """Events of a queue as a whole, by which many commands are kept alive at once."""

    def queue_ends(self, queue: NativeQueue) -> Sequence[NativeEvent]:
        """Events after everything submitted so far to an out-of-order queue."""
