"""Optional groups of driver functions that SYCL lacks; most are the base of ``bindless.level_zero``.

Each protocol is one group of methods, an attribute of ``OptionalGroups``. The rules of the package hold: native objects
are opaque, every ``destroy``, ``unmap`` and ``close`` is called once, and memory named in a command stays valid until
the command is complete.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ...model.image_descriptor import ImageDescriptor
from ...model.sampler import BindlessImageSampler
from .native_objects import (
    NativeContext,
    NativeDevice,
    NativeEvent,
    NativeFence,
    NativeGraph,
    NativeKernel,
    NativeModule,
    NativePhysical,
    NativePool,
    NativePoolEvent,
    NativeQueue,
)

__all__ = [
    "CachePreferenceProtocol",
    "CooperativeProtocol",
    "EventPoolProtocol",
    "FenceProtocol",
    "FormatViewProtocol",
    "GraphProtocol",
    "IndirectProtocol",
    "IpcProtocol",
    "ModuleLinkProtocol",
    "OffsetProtocol",
    "PeerProperties",
    "PeerProtocol",
    "QueueGroup",
    "QueueGroupProtocol",
    "RangesBarrierProtocol",
    "ReachProtocol",
    "ResidencyProtocol",
    "SharedMemory",
    "SurfaceLimitsProtocol",
    "UnsampledMemoryProtocol",
    "VirtualMemoryProtocol",
]


class UnsampledMemoryProtocol(Protocol):
    """Unsampled images over linear memory."""

    def create_unsampled_image_usm(
        self, context: NativeContext, device: NativeDevice, address: int, pitch: int, desc: ImageDescriptor
    ) -> int:
        """Handle of an image over linear memory, which kernels fetch from and write to."""


class FormatViewProtocol(Protocol):
    """Views of image memory in another format of the same size."""

    def create_format_view(
        self,
        context: NativeContext,
        device: NativeDevice,
        handle: int,
        desc: ImageDescriptor,
        layout: str,
        kind: str,
        swizzle: str,
        sampler: BindlessImageSampler | None,
    ) -> int:
        """A handle that ``destroy_image`` ends.

        Parameters
        ----------
        desc : ImageDescriptor
            Descriptor of the view, as kernels read it.
        layout : str
            Bits of the channels: ``10_10_10_2``.
        kind : str
            ``uint``, ``sint``, ``unorm``, ``snorm`` or ``float``.
        swizzle : str
            The four components, letters of ``rgba01dx``.
        """


class OffsetProtocol(Protocol):
    """Launches whose global ids begin at an offset."""

    def launch_with_offset(
        self,
        queue: NativeQueue,
        kernel: NativeKernel,
        global_size: tuple[int, ...],
        local_size: tuple[int, ...] | None,
        offset: tuple[int, ...],
        arguments: Sequence[bytes | int],
        waits: Sequence[NativeEvent] = (),
    ) -> NativeEvent:
        """``launch`` with an offset by dimension of the native kernel."""


class SurfaceLimitsProtocol(Protocol):
    """Devices with lower size limits for unsampled images than for sampled images."""

    def fits_unsampled(self, device: NativeDevice, desc: ImageDescriptor) -> bool:
        """Whether an image of these sizes can be unsampled."""


@dataclass(frozen=True)
class QueueGroup:
    """Engines of one kind.

    Attributes
    ----------
    ordinal : int
        The driver's number of the group.
    computes : bool
        Whether the engines run kernels.
    copies : bool
        Whether the engines copy.
    engines : int
        Number of engines.
    longest_pattern : int
        Bytes of the longest pattern of a fill.
    """

    ordinal: int
    computes: bool
    copies: bool
    engines: int
    longest_pattern: int


@dataclass(frozen=True)
class PeerProperties:
    """Access of a device to the memory of another device.

    Attributes
    ----------
    access : bool
        Whether kernels of the device read and write the memory.
    atomics : bool
        Whether they use atomic operations on it.
    logical_bandwidth, physical_bandwidth : int
        Bandwidth of the link in `bandwidth_unit`; 0 where the driver reports none.
    bandwidth_unit : str
        ``bytes_per_nanosecond``, ``bytes_per_clock``, or ``unknown``.
    logical_latency, physical_latency : int
        Latency of the link in `latency_unit`; 0 where the driver reports none.
    latency_unit : str
        ``nanoseconds``, ``clocks``, ``hops``, or ``unknown``.
    """

    access: bool
    atomics: bool
    logical_bandwidth: int = 0
    physical_bandwidth: int = 0
    bandwidth_unit: str = "unknown"
    logical_latency: int = 0
    physical_latency: int = 0
    latency_unit: str = "unknown"


@dataclass(frozen=True)
class SharedMemory:
    """Handle of memory for another process.

    Attributes
    ----------
    data : bytes
        The driver's handle.
    offset : int
        Bytes between the start of the memory of the handle and the exported address.
    descriptor : int | None
        File descriptor that the other process needs together with the data, or None.
    """

    data: bytes
    offset: int
    descriptor: int | None = None


class QueueGroupProtocol(Protocol):
    """Groups of engines."""

    def queue_groups(self, device: NativeDevice) -> Sequence[QueueGroup]: ...

    def create_queue_in_group(
        self, context: NativeContext, device: NativeDevice, ordinal: int, engine: int, *, immediate: bool
    ) -> NativeQueue:
        """A queue in order on one engine."""


class FenceProtocol(Protocol):
    """Fences of command queues."""

    def create_fence(self, queue: NativeQueue) -> NativeFence:
        """``FeatureNotSupportedError`` for a queue that has no fences."""

    def signal_fence(self, fence: NativeFence) -> None:
        """Signals the fence when all commands submitted so far to its queue are complete."""

    def wait_fence(self, fence: NativeFence, timeout: int) -> bool:
        """Whether it is signalled, after at most so many nanoseconds."""

    def reset_fence(self, fence: NativeFence) -> None: ...

    def destroy_fence(self, fence: NativeFence) -> None: ...


class IpcProtocol(Protocol):
    """Device memory shared between processes."""

    def export_memory(self, context: NativeContext, address: int) -> SharedMemory: ...

    def end_export(self, context: NativeContext, data: bytes) -> None:
        """Releases the resources of an exported handle."""

    def open_memory(self, context: NativeContext, device: NativeDevice, shared: SharedMemory) -> int:
        """Address of the start of the memory in this process; takes ownership of the descriptor."""

    def close_memory(self, context: NativeContext, address: int) -> None:
        """Unmaps memory that ``open_memory`` mapped."""


class EventPoolProtocol(Protocol):
    """Events that a program signals and waits for itself, also between processes."""

    def create_event_pool(self, context: NativeContext, count: int, *, shared: bool, timed: bool) -> NativePool: ...

    def export_event_pool(self, pool: NativePool) -> bytes: ...

    def open_event_pool(self, context: NativeContext, data: bytes) -> NativePool: ...

    def close_event_pool(self, pool: NativePool) -> None:
        """Closes the pool and its events."""

    def pool_event(self, pool: NativePool, index: int) -> NativePoolEvent:
        """The same object each time."""

    def signal_event(self, event: NativePoolEvent) -> None: ...

    def reset_event(self, event: NativePoolEvent) -> None: ...

    def wait_pool_event(self, event: NativePoolEvent, timeout: int) -> bool:
        """Whether it is signalled, after at most so many nanoseconds."""

    def enqueue_signal(
        self, queue: NativeQueue, event: NativePoolEvent, waits: Sequence[NativeEvent] = ()
    ) -> NativeEvent: ...

    def enqueue_reset(
        self, queue: NativeQueue, event: NativePoolEvent, waits: Sequence[NativeEvent] = ()
    ) -> NativeEvent: ...

    def enqueue_wait(
        self, queue: NativeQueue, event: NativePoolEvent, waits: Sequence[NativeEvent] = ()
    ) -> NativeEvent: ...


class VirtualMemoryProtocol(Protocol):
    """Reserved addresses, and physical memory mapped to them. Sizes and addresses are multiples of the page size."""

    def virtual_page_size(self, context: NativeContext, device: NativeDevice, nbytes: int) -> int:
        """Bytes of a page for an allocation of a size."""

    def reserve_addresses(self, context: NativeContext, device: NativeDevice, nbytes: int) -> int: ...

    def release_addresses(self, context: NativeContext, address: int, nbytes: int) -> None: ...

    def create_physical(self, context: NativeContext, device: NativeDevice, nbytes: int) -> NativePhysical: ...

    def destroy_physical(self, context: NativeContext, physical: NativePhysical) -> None: ...

    def map_physical(
        self,
        context: NativeContext,
        device: NativeDevice,
        address: int,
        nbytes: int,
        physical: NativePhysical,
        offset: int,
        access: str,
    ) -> None:
        """``access``: ``"read_write"``, ``"read"`` or ``"none"``."""

    def unmap(self, context: NativeContext, address: int, nbytes: int) -> None: ...

    def set_access(
        self, context: NativeContext, device: NativeDevice, address: int, nbytes: int, access: str
    ) -> None: ...


class RangesBarrierProtocol(Protocol):
    """Barriers for ranges of memory."""

    def barrier_of_ranges(
        self, queue: NativeQueue, ranges: Sequence[tuple[int, int]], waits: Sequence[NativeEvent] = ()
    ) -> NativeEvent:
        """``ranges``: address and bytes of each."""


class ResidencyProtocol(Protocol):
    """Memory and images kept on a device."""

    def make_memory_resident(self, context: NativeContext, device: NativeDevice, address: int, nbytes: int) -> None: ...

    def evict_memory(self, context: NativeContext, device: NativeDevice, address: int, nbytes: int) -> None: ...

    def make_image_resident(self, context: NativeContext, device: NativeDevice, handle: int) -> None: ...

    def evict_image(self, context: NativeContext, device: NativeDevice, handle: int) -> None: ...


class PeerProtocol(Protocol):
    """Devices that reach each other's memory."""

    def can_access_peer(self, device: NativeDevice, peer: NativeDevice) -> bool: ...

    def peer_properties(self, device: NativeDevice, peer: NativeDevice) -> PeerProperties: ...


class ReachProtocol(Protocol):
    """Contexts of several devices. Without this group, every device reaches all memory of its context."""

    def reaches_memory(self, context: NativeContext, device: NativeDevice, other: NativeDevice) -> bool:
        """Whether kernels of a device access device memory of another; enables peer access where needed."""


class CooperativeProtocol(Protocol):
    """Launches whose work-groups run concurrently."""

    def launch_cooperative(
        self,
        queue: NativeQueue,
        kernel: NativeKernel,
        global_size: tuple[int, ...],
        local_size: tuple[int, ...] | None,
        arguments: Sequence[bytes | int],
        waits: Sequence[NativeEvent] = (),
    ) -> NativeEvent:
        """``launch`` with all work-groups resident at the same time."""

    def most_cooperative_groups(self, kernel: NativeKernel, local_size: tuple[int, ...], local_memory: int) -> int:
        """Largest number of work-groups that are resident at the same time.

        Parameters
        ----------
        local_memory : int
            Bytes of local-memory arguments.
        """


class IndirectProtocol(Protocol):
    """Launches whose size the device reads from memory."""

    def launch_indirect(
        self,
        queue: NativeQueue,
        kernel: NativeKernel,
        address: int,
        local_size: tuple[int, ...],
        arguments: Sequence[bytes | int],
        waits: Sequence[NativeEvent] = (),
    ) -> NativeEvent:
        """``address``: three uint32 that the device reads when the kernel starts, the work-groups by dimension."""


class CachePreferenceProtocol(Protocol):
    """Preference between cache and local memory."""

    def prefer_cache(self, kernel: NativeKernel, preference: str) -> None:
        """``"local_memory"``, ``"data"`` or ``"default"``."""


class ModuleLinkProtocol(Protocol):
    """Modules that are linked when they are loaded."""

    def link_loaded(self, modules: Sequence[NativeModule]) -> str:
        """Resolves imports between modules; returns the linker's log. ``BuildError`` for an unresolved import."""


class GraphProtocol(Protocol):
    """Commands that are recorded once and submitted as one."""

    def records_graphs(self, queue: NativeQueue) -> bool:
        """Whether the queue takes graphs."""

    def record_graph(
        self, queue: NativeQueue, commands: Sequence[Callable[[Sequence[NativeEvent]], NativeEvent]]
    ) -> NativeGraph:
        """Graph of the work that the commands submit, in order; recording runs none of it."""

    def launch_graph(
        self, queue: NativeQueue, graph: NativeGraph, waits: Sequence[NativeEvent] = ()
    ) -> NativeEvent: ...

    def release_graph(self, graph: NativeGraph) -> None: ...
