"""Optional: compilation and linking of modules in two steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from .native_objects import NativeContext, NativeDevice, NativeModule, NativeObject

__all__ = ["LinkingProtocol"]


class LinkingProtocol(Protocol):
    """What a backend offers beside ``BackendProtocol`` if its devices have ``Aspect.online_linker``."""

    def compile_module(
        self,
        context: NativeContext,
        device: NativeDevice,
        source: bytes,
        *,
        specialization: Mapping[int, bytes] | None = None,
        options: str = "",
    ) -> tuple[NativeObject, str]:
        """Compiles a module that may use functions of others; gives also what the compiler said.

        The object needs no release. ``BuildError`` with the log if it does not compile.
        """

    def link_modules(
        self, context: NativeContext, device: NativeDevice, objects: Sequence[NativeObject], *, options: str = ""
    ) -> NativeModule:
        """One module of several compiled ones; ``BuildError`` with the log if they do not fit together."""
