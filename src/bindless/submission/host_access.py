"""``HostAccess``: what the host itself reads and writes of native memory.

The interpreter's exit waits for the accesses under way on other threads before it releases memory. Later ones are
refused.
"""

from __future__ import annotations

from weakref import WeakSet

from ..core import ownership
from ..core.lock import Lock
from ..model.errors import SyclRuntimeError

__all__ = ["HostAccess", "end_accesses"]


class HostAccess:
    """One access: ``with access.lock: access.require_memory()``, then the reads and writes.

    Attributes
    ----------
    lock
        Held by ``with``, which Ctrl-C cannot split; an ``__enter__`` written here could be left with it held.
    """

    __slots__ = ("__weakref__", "lock")

    def __init__(self) -> None:
        self.lock = Lock()
        _accesses.add(self)

    def require_memory(self) -> None:
        """Raise an error once the interpreter ends; the lock is held.

        Raises
        ------
        SyclRuntimeError
            The memory may be gone.
        """
        if _finished:
            raise SyclRuntimeError(f"a copy was not made: its memory {ownership.ENDED}")


_accesses: WeakSet[HostAccess] = WeakSet()
_finished = False


def end_accesses() -> None:
    """At interpreter exit: wait for the accesses under way; none begins any more."""
    global _finished
    _finished = True
    for access in ownership.snapshot(_accesses):
        with access.lock:
            pass


ownership.after_fork(_accesses.clear)
