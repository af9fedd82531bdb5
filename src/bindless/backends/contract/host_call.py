"""Optional: image calls that overlap with the transfer of their arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from ...model.image_call import ImageCall
from .native_objects import NativeEvent, NativeQueue

__all__ = ["HostCallProtocol"]


class HostCallProtocol(Protocol):
    """What a backend offers beside ``BackendProtocol`` if it overlaps device functions with the transfer of arrays."""

    def host_call(self, queue: NativeQueue, call: ImageCall) -> Callable[[Sequence[NativeEvent]], NativeEvent] | None:
        """What submits a call whose arrays lie in the host's memory; the call is done when that returns. None where the
        arrays had better be copied as a whole, before and after."""
