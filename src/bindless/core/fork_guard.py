"""A child made by ``fork`` cannot use the objects of its parent's driver: it is told so, and releases nothing."""

from __future__ import annotations

import os
from collections.abc import Callable

from ..model.errors import PlatformError

__all__ = ["ForkGuard", "after_fork"]


_watched: list[ForkGuard] = []
_hooks: list[Callable[[], None]] = []


class ForkGuard:
    """Knows of one driver whether this process was forked from one that had used it.

    Attributes:
        backend: for errors.
        name: the driver's, for errors.
        forked: whether this is such a child.
    """

    def __init__(self, backend: str, name: str, in_child: Callable[[], None] | None = None) -> None:
        """``in_child``: called in a child besides."""
        self.backend = backend
        self.name = name
        self.forked = False
        self._in_child = in_child
        self._process = 0

    def _after_fork_in_child(self) -> None:
        self.forked = True
        if self._in_child is not None:
            self._in_child()

    def watch(self) -> None:
        """From now on children of this process refuse the driver."""
        if not self._process:
            self._process = os.getpid()
            _watched.append(self)

    def in_fork(self) -> bool:
        """Whether this process was forked from one that used the driver."""
        return self.forked

    def refuse(self) -> None:
        """Does nothing except in such a child.

        Raises:
            PlatformError: the driver was used in the parent before the fork.
        """
        if self.forked:
            raise PlatformError(
                f"process {os.getpid()} was forked from process {self._process}, which had used {self.name} before: "
                "the driver's objects cannot be used in a fork. Start workers by multiprocessing's 'spawn' or "
                f"'forkserver', or use {self.name} in the children only",
                backend=self.backend,
            )


def after_fork(hook: Callable[[], None]) -> None:
    """Calls ``hook`` in the child of a fork, once every guard knows."""
    _hooks.append(hook)


def _after_fork_in_child() -> None:
    for guard in _watched:
        guard._after_fork_in_child()
    for hook in _hooks:
        hook()


# The only hook of the package: what other modules do then drops native objects, whose destructors look at the guards. A
# release in the child waits for ever for a lock of the driver that another thread of the parent held.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
