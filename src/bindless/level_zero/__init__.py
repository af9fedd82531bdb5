"""Functions of Level Zero that SYCL lacks, also for other drivers that have an equivalent.

They take the objects of ``bindless``: devices, contexts, queues, arrays, kernels. ``FeatureNotSupportedError`` names
the function that a driver lacks. docs/reference/level_zero_api.md lists the functions and the drivers that have them.
Importing this package opens no driver.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .cooperative_launch import launch_cooperative, launch_indirect, max_cooperative_groups, prefer_cache
    from .dynamic_link import dynamic_link
    from .event_pool import EventPool, IpcEventPoolHandle, PoolEvent
    from .fence import Fence
    from .growable_array import GrowableArray
    from .image_view import create_image_view
    from .ipc_memory import IpcMemoryHandle, export_memory, open_memory
    from .peer_access import PeerProperties, can_access_peer, get_peer_properties
    from .queue_group import QueueGroup, create_queue, get_queue_groups
    from .range_barrier import memory_ranges_barrier
    from .residency import evict, make_resident
    from .virtual_memory import PhysicalMemory, VirtualRange, get_page_size

_MODULES = {
    "range_barrier": ("memory_ranges_barrier",),
    "event_pool": ("EventPool", "IpcEventPoolHandle", "PoolEvent"),
    "fence": ("Fence",),
    "growable_array": ("GrowableArray",),
    "image_view": ("create_image_view",),
    "ipc_memory": ("IpcMemoryHandle", "export_memory", "open_memory"),
    "cooperative_launch": ("launch_cooperative", "launch_indirect", "max_cooperative_groups", "prefer_cache"),
    "dynamic_link": ("dynamic_link",),
    "peer_access": ("PeerProperties", "can_access_peer", "get_peer_properties"),
    "queue_group": ("QueueGroup", "create_queue", "get_queue_groups"),
    "residency": ("evict", "make_resident"),
    "virtual_memory": ("PhysicalMemory", "VirtualRange", "get_page_size"),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "EventPool",
    "Fence",
    "GrowableArray",
    "IpcEventPoolHandle",
    "IpcMemoryHandle",
    "PeerProperties",
    "PhysicalMemory",
    "PoolEvent",
    "QueueGroup",
    "VirtualRange",
    "can_access_peer",
    "create_image_view",
    "create_queue",
    "dynamic_link",
    "evict",
    "export_memory",
    "get_page_size",
    "get_peer_properties",
    "get_queue_groups",
    "launch_cooperative",
    "launch_indirect",
    "make_resident",
    "max_cooperative_groups",
    "memory_ranges_barrier",
    "open_memory",
    "prefer_cache",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: Any = getattr(importlib.import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
