"""CUDA in a child made by ``fork`` (see ``common.fork_guard``): no context has a handle there."""

from __future__ import annotations

import weakref
from typing import Protocol

from ...core.fork_guard import ForkGuard
from ...drivers import cuda as driver
from ...drivers.common.cffi_types import CData

__all__ = ["in_fork", "refuse_in_fork", "unusable_after_fork"]


NULL = driver.ffi.NULL


class _Handled(Protocol):
    """A context whose handle every call uses; without the handle its caches are unusable too."""

    handle: CData
    rest: dict[str, list[int]]
    views: dict[int, dict[CData | None, int]]
    mapped: list[int]


_contexts: weakref.WeakSet[_Handled] = weakref.WeakSet()


def _forget_handles() -> None:
    """Clear the handles, so that the next use of each context fails and calls ``refuse_in_fork``."""
    for context in _contexts:
        context.handle, context.rest, context.views, context.mapped = NULL, {}, {}, []


_guard = ForkGuard("cuda", "CUDA", _forget_handles)
in_fork, refuse_in_fork = _guard.in_fork, _guard.refuse


def unusable_after_fork(context: _Handled | None = None) -> None:
    """Make children of this process refuse CUDA, and this context, from now on."""
    _guard.watch()
    if context is not None:
        _contexts.add(context)
