"""Optional: registration of pageable host memory."""

from __future__ import annotations

from typing import Protocol

from .native_objects import NativeContext

__all__ = ["HostMemoryProtocol"]


class HostMemoryProtocol(Protocol):
    """What a backend offers beside ``BackendProtocol`` if kernels reach only that ordinary host memory it is told of.

    Both take the same arguments; memory may be lent several times, and overlap, and is returned as often.
    ``pointer_info`` does not know it. It stays valid until it is returned and the commands that use it are complete.
    """

    def lend_memory(self, context: NativeContext, address: int, nbytes: int, writable: bool) -> None:
        """Lets kernels of the context use memory of the process; ``nbytes`` is at least 1."""

    def return_memory(self, context: NativeContext, address: int, nbytes: int, writable: bool) -> None:
        """Ends that; it may be called like ``free``."""
