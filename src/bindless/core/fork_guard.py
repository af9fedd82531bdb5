"""Fork guard: a child made by ``fork`` cannot use driver objects of its parent; uses raise errors."""

from __future__ import annotations

import os
from collections.abc import Callable

from ..model.errors import PlatformError
from ._submission import is_new_child
from .lock import Lock

__all__ = ["ForkGuard", "after_fork"]


_watched: list[ForkGuard] = []
_hooks: list[Callable[[], None]] = []


class ForkGuard:
    """The state of one driver: whether this process was forked from a process that had used it.

    Attributes
    ----------
    backend
        back end, for errors.
    name
        name of the driver, for errors.
    forked
        whether this process is such a child.
    """

    def __init__(
        self,
        backend: str,
        name: str,
        in_child: Callable[[], None] | None = None,
        watch: Callable[[], int] | None = None,
    ) -> None:
        """``in_child`` is a hook, called in a child; ``watch`` makes C code watch for forks, and returns 0."""
        self.backend = backend
        self.name = name
        self.forked = False
        self._in_child = in_child
        self._watch = watch
        self._lock = Lock()
        self._process = 0

    def _after_fork_in_child(self) -> None:
        self._lock = Lock()
        self.forked = True
        if self._in_child is not None:
            self._in_child()

    def watch(self) -> None:
        """Make children of this process refuse the driver from now on."""
        if self._process:
            return
        with self._lock:
            if self._process:
                return
            if self._watch is not None and self._watch() != 0:
                raise MemoryError
            _watched.append(self)
            self._process = os.getpid()

    def in_fork(self) -> bool:
        """Whether this process was forked from a process that used the driver; destructors ask before they release.

        Without the interpreter lock, objects of the parent's other threads end in a child before Python's hooks.
        """
        return self.forked or (self._process != 0 and is_new_child())

    def refuse(self) -> None:
        """Raise an error in such a child; otherwise do nothing.

        Raises
        ------
        PlatformError
            the driver was used in the parent before the fork.
        """
        if self.forked:
            raise PlatformError(
                f"process {os.getpid()} was forked from process {self._process}, which had used {self.name} before: "
                "the driver's objects cannot be used in a fork. Start workers by multiprocessing's 'spawn' or "
                f"'forkserver', or use {self.name} in the children only",
                backend=self.backend,
            )


def after_fork(hook: Callable[[], None]) -> None:
    """Call ``hook`` in the child of a fork, after every guard has been set."""
    _hooks.append(hook)


def _after_fork_in_child() -> None:
    for guard in _watched:
        guard._after_fork_in_child()
    for hook in _hooks:
        hook()


# The package's fork hook in Python; owner.c has one that restores the handler of SIGINT. Hooks of other modules drop
# native objects, whose destructors check the guards: a release in the child would wait for ever for a driver lock that
# another thread of the parent held.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
