"""Optional: image calls that overlap with the transfer of their arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from ...model.image_call import ImageCall
from .native_objects import NativeEvent, NativeQueue

__all__ = ["HostCallProtocol"]


class HostCallProtocol(Protocol):
    """Device functions that overlap with the transfer of their arrays."""

    def host_call(self, queue: NativeQueue, call: ImageCall) -> Callable[[Sequence[NativeEvent]], NativeEvent] | None:
        """Function that runs a call whose arrays are in host memory, and returns after its completion; None where whole
        copies before and after the call are faster."""
