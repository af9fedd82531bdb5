"""The target whose function Numba compiles at the moment. A worker compiles one kernel at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .contexts import KernelTarget

__all__ = ["activate", "target"]

_current: list[KernelTarget] = []


def activate(target: KernelTarget) -> None:
    _current[:] = [target]


def target() -> KernelTarget:
    """Return the target."""
    return _current[0]
