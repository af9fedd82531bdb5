"""Optional: image calls over arrays in host memory that the device cannot reach."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from ...model.image_call import ImageCall
from .native_objects import NativeEvent, NativeQueue
from .prepared_command import PreparedCommand

__all__ = ["HostCallProtocol"]


class HostCallProtocol(Protocol):
    """Device functions that copy their arrays themselves."""

    def host_call(self, queue: NativeQueue, call: ImageCall) -> Callable[[Sequence[NativeEvent]], NativeEvent] | None:
        """Function that runs a call whose arrays are in host memory, and returns after its completion; None where whole
        copies before and after the call are faster."""

    def prepare_host_call(self, queue: NativeQueue, call: ImageCall) -> PreparedCommand | None:
        """The command of a call with small arrays in host memory; None where each submission takes Python.

        The C function returns when the result is written, so its event is complete. It returns -2**31 if the queue has
        work: ``host_call`` then waits for it. ``places`` are those of ``prepare_image_call``: the addresses of the
        arrays, which need no alignment.
        """
