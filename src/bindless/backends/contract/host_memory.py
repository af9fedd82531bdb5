"""Optional: registration of pageable host memory."""

from __future__ import annotations

from typing import Protocol

from .native_objects import NativeContext

__all__ = ["HostMemoryProtocol"]


class HostMemoryProtocol(Protocol):
    """Registration of pageable host memory, for devices whose kernels reach only registered memory.

    Both methods take the same arguments. Ranges may overlap, and each registration is returned once.
    ``pointer_info`` does not know it. It stays valid until it is returned and the commands that use it are complete.
    """

    def lend_memory(self, context: NativeContext, address: int, nbytes: int, writable: bool) -> None:
        """Lets kernels of the context use memory of the process; ``nbytes`` is at least 1."""

    def return_memory(self, context: NativeContext, address: int, nbytes: int, writable: bool) -> None:
        """Ends a registration; the garbage collector may call it, like ``free``."""
