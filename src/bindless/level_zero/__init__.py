"""Functions of Level Zero that SYCL lacks, also for other drivers that have an equivalent.

They take the objects of ``bindless``: devices, contexts, queues, arrays, kernels. ``FeatureNotSupportedError`` names
the function that a driver lacks. docs/reference/level_zero_api.md lists the functions and the drivers that have them.
Importing this package opens no driver.
"""

from __future__ import annotations

from ..model.lazy_names import homes_of, load

_MODULES = {
    "cooperative_launch": "launch_cooperative launch_indirect max_cooperative_groups prefer_cache",
    "dynamic_link": "dynamic_link",
    "event_pool": "EventPool IpcEventPoolHandle PoolEvent",
    "fence": "Fence",
    "growable_array": "GrowableArray",
    "image_view": "create_image_view",
    "ipc_memory": "IpcMemoryHandle export_memory open_memory",
    "peer_access": "PeerProperties can_access_peer get_peer_properties",
    "queue_group": "QueueGroup create_queue get_queue_groups",
    "range_barrier": "memory_ranges_barrier",
    "residency": "evict make_resident",
    "virtual_memory": "PhysicalMemory VirtualRange get_page_size",
}
_HOMES = homes_of(_MODULES)

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    return load(__name__, _HOMES, name)


def __dir__() -> list[str]:
    return list(__all__)
