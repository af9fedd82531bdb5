"""Optional: compilation and linking of modules in two steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from .native_objects import NativeContext, NativeDevice, NativeModule, NativeObject

__all__ = ["LinkingProtocol"]


class LinkingProtocol(Protocol):
    """Compilation and linking in two steps, with ``Aspect.online_linker``."""

    def compile_module(
        self,
        context: NativeContext,
        device: NativeDevice,
        source: bytes,
        *,
        specialization: Mapping[int, bytes] | None = None,
        options: str = "",
    ) -> tuple[NativeObject, str]:
        """Compiles a module that may import functions; returns the object and the log of the compiler.

        The object needs no release. ``BuildError`` with the log if it does not compile.
        """

    def link_modules(
        self, context: NativeContext, device: NativeDevice, objects: Sequence[NativeObject], *, options: str = ""
    ) -> NativeModule:
        """Links compiled objects into one module; ``BuildError`` with the log if linking fails."""
