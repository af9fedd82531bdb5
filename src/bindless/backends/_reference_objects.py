"""The reference backend's own objects: handles of the driver and what is known of them."""

from __future__ import annotations

from typing import Any

__all__ = ["Context", "Device", "Event", "Queue"]


class Device:
    """A device and its blr_device_properties_t."""

    __slots__ = ("handle", "index", "properties")

    def __init__(self, handle: Any, index: int, properties: Any) -> None:
        self.handle, self.index, self.properties = handle, index, properties


class Context:
    """A context of one device; one that is not ``owned`` is never destroyed here."""

    __slots__ = ("device", "handle", "owned")

    def __init__(self, handle: Any, device: Device, owned: bool = True) -> None:
        self.handle, self.device, self.owned = handle, device, owned


class Queue:
    """A queue; one that is not ``owned`` is never destroyed here."""

    __slots__ = ("context", "handle", "owned", "profiling")

    def __init__(self, handle: Any, context: Context, profiling: bool, owned: bool = True) -> None:
        self.handle, self.context, self.profiling, self.owned = handle, context, profiling, owned


class Event:
    """A reference to an event."""

    __slots__ = ("handle", "profiling")

    def __init__(self, handle: Any, profiling: bool) -> None:
        self.handle, self.profiling = handle, profiling
