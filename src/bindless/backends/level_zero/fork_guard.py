"""Level Zero in a child made by ``fork``: see ``common.fork_guard``."""

from __future__ import annotations

from ...core.fork_guard import ForkGuard
from ...drivers import level_zero as driver

__all__ = ["in_fork", "refuse_in_fork", "unusable_after_fork"]

_guard = ForkGuard("level_zero", "Level Zero", watch=driver.lib.bindless_watch_forks)
in_fork, refuse_in_fork, unusable_after_fork = _guard.in_fork, _guard.refuse, _guard.watch
