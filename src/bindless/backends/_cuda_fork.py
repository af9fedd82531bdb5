"""A child made by ``fork`` cannot use the CUDA objects of its parent: it is told so, and releases nothing."""

from __future__ import annotations

import os
import weakref
from typing import Any, Protocol

from ..drivers import cuda as driver
from ..model.errors import PlatformError

__all__ = ["in_fork", "refuse_in_fork", "unusable_after_fork"]


NULL = driver.ffi.NULL


class _Handled(Protocol):
    """A context; its handle goes with each call."""

    handle: Any


_contexts: weakref.WeakSet[_Handled] = weakref.WeakSet()
_process = 0
_forked = False


def _after_fork_in_child() -> None:
    """No context has a handle any more, so that the next use of each fails and comes to ``refuse_in_fork``."""
    global _forked
    _forked = True
    for context in _contexts:
        context.handle = NULL


def unusable_after_fork(context: _Handled | None = None) -> None:
    """From now on children of this process refuse CUDA, and this context with it."""
    global _process
    if not _process:
        _process = os.getpid()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=_after_fork_in_child)
    if context is not None:
        _contexts.add(context)


def in_fork() -> bool:
    """Whether this process was forked from one that used CUDA."""
    return _forked


def refuse_in_fork() -> None:
    """Does nothing except in such a child.

    Raises:
        PlatformError: CUDA was used in the parent before the fork.
    """
    if _forked:
        raise PlatformError(
            f"process {os.getpid()} was forked from process {_process}, which had used CUDA before: the driver's "
            "objects cannot be used in a fork. Start workers by multiprocessing's 'spawn' or 'forkserver', or use CUDA "
            "in the children only",
            backend="cuda",
        )
