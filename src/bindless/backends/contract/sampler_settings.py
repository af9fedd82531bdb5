"""Optional: settings of the whole program that decide how images are sampled."""

from __future__ import annotations

from typing import Protocol

from .native_objects import NativeDevice

__all__ = ["SamplerSettingsProtocol"]


class SamplerSettingsProtocol(Protocol):
    """Settings that a device reads once, at its first use."""

    def require_same_settings(self, device: NativeDevice) -> None:
        """Raise ``InvalidError`` where a setting has changed since."""
