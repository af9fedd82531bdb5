"""What drivers have below SYCL: Level Zero's own objects, thin, and those of other drivers that have the same.

Everything works on the objects of ``bindless``: devices, contexts, queues, arrays, kernels. What a driver lacks raises
``FeatureNotSupportedError``, which names it. docs/level_zero_api.md tells what there is and who has it. Importing this
opens no driver.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .barriers import memory_ranges_barrier
    from .event_pools import EventPool, IpcEventPoolHandle, PoolEvent
    from .fences import Fence
    from .growable import GrowableArray
    from .image_views import create_image_view
    from .ipc import IpcMemoryHandle, export_memory, open_memory
    from .launches import launch_cooperative, launch_indirect, max_cooperative_groups, prefer_cache
    from .modules import dynamic_link
    from .peers import PeerProperties, can_access_peer, get_peer_properties
    from .queue_groups import QueueGroup, create_queue, get_queue_groups
    from .residency import evict, make_resident
    from .virtual_memory import PhysicalMemory, VirtualRange, get_page_size

_MODULES = {
    "barriers": ("memory_ranges_barrier",),
    "event_pools": ("EventPool", "IpcEventPoolHandle", "PoolEvent"),
    "fences": ("Fence",),
    "growable": ("GrowableArray",),
    "image_views": ("create_image_view",),
    "ipc": ("IpcMemoryHandle", "export_memory", "open_memory"),
    "launches": ("launch_cooperative", "launch_indirect", "max_cooperative_groups", "prefer_cache"),
    "modules": ("dynamic_link",),
    "peers": ("PeerProperties", "can_access_peer", "get_peer_properties"),
    "queue_groups": ("QueueGroup", "create_queue", "get_queue_groups"),
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
    return sorted({*globals(), *__all__})
