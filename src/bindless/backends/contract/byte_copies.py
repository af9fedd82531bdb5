"""Optional: copies of bytes that C code repeats."""

from __future__ import annotations

from typing import Protocol

from .native_objects import NativeQueue
from .prepared_copy import PreparedCopy

__all__ = ["ByteCopiesProtocol"]


class ByteCopiesProtocol(Protocol):
    """Copies between memory of the device, and between it and the host."""

    def prepare_bytes(
        self, queue: NativeQueue, dst: int, src: int, nbytes: int, host: tuple[bool, bool]
    ) -> PreparedCopy | None:
        """Prepare a copy for repetition at any addresses, or None where Python has work to do each time.

        Parameters
        ----------
        host : tuple[bool, bool]
            Whether the source is ordinary memory of the host, and whether the destination is.
        """
