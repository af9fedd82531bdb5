"""The target whose function Numba compiles at the moment. A worker compiles one kernel at a time."""

from __future__ import annotations

from typing import Protocol

from numba.core.base import BaseContext

from ...device.declaration import LaunchFacts
from .numba_names import NumbaType, PythonFunction

__all__ = ["activate", "target"]


class _Typing(Protocol):
    launch: LaunchFacts


class _Target(Protocol):
    """What lowerings ask of a ``KernelTarget``."""

    @property
    def typing_context(self) -> _Typing: ...
    @property
    def target_context(self) -> BaseContext: ...
    def type_of_composed(self, function: PythonFunction) -> NumbaType: ...


_current: list[_Target] = []


def activate(target: _Target) -> None:
    _current[:] = [target]


def target() -> _Target:
    """Return the target."""
    return _current[0]
