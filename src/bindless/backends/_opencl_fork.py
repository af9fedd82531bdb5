"""A child made by ``fork`` cannot use the OpenCL objects of its parent: it is told so, and releases nothing."""

from __future__ import annotations

import os

from ..model.errors import PlatformError

__all__ = ["in_fork", "refuse_in_fork", "unusable_after_fork"]

_process = 0
_forked = False


def _after_fork_in_child() -> None:
    global _forked
    _forked = True


def unusable_after_fork() -> None:
    """From now on children of this process refuse OpenCL."""
    global _process
    if not _process:
        _process = os.getpid()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=_after_fork_in_child)


def in_fork() -> bool:
    """Whether this process was forked from one that used OpenCL."""
    return _forked


def refuse_in_fork() -> None:
    """Does nothing except in such a child.

    Raises:
        PlatformError: OpenCL was used in the parent before the fork.
    """
    if _forked:
        raise PlatformError(
            f"process {os.getpid()} was forked from process {_process}, which had used OpenCL before: the driver's "
            "objects cannot be used in a fork. Start workers by multiprocessing's 'spawn' or 'forkserver', or use "
            "OpenCL in the children only",
            backend="opencl",
        )
