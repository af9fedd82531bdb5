"""The devices of a context."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from ...model.errors import InvalidError

__all__ = ["foreign_device", "member", "require_devices", "require_one_owner"]

_Device = TypeVar("_Device")


def require_devices(devices: Sequence[object], backend: str) -> None:
    """Raises ``InvalidError`` where there is no device."""
    if not devices:
        raise InvalidError("devices=(): a context has at least one device", backend=backend)


def require_one_owner(
    devices: Sequence[_Device], owner_of: Callable[[_Device], object], noun: str, backend: str
) -> None:
    """Raises ``InvalidError`` where devices have several drivers or platforms."""
    if any(owner_of(device) is not owner_of(devices[0]) for device in devices):
        names = ", ".join(map(repr, devices))
        raise InvalidError(f"the devices of a context have one {noun}; these have several: {names}", backend=backend)


def foreign_device(device: object, devices: Sequence[object], backend: str) -> InvalidError:
    """The error of a device that a context does not have."""
    names = ", ".join(map(repr, devices))
    return InvalidError(f"{device!r} does not belong to this context, which has {names}", backend=backend)


def member(devices: Sequence[_Device], device: _Device | None, backend: str) -> _Device:
    """One of the devices of a context; the first if None."""
    if device is None:
        return devices[0]
    if device not in devices:
        raise foreign_device(device, devices, backend)
    return device
