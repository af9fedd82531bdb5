"""Optional contract of the reference driver: one queue group, one memory, barriers, cooperative launches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...model.errors import InvalidError, NdRangeError
from ..contract.low_level import PeerProperties, QueueGroup
from .launch import launch
from .module import Kernel
from .objects import Context, Device, Event, Queue

if TYPE_CHECKING:
    from .driver_access import DriverAccess

__all__ = [
    "barrier_of_ranges",
    "can_access_peer",
    "create_queue_in_group",
    "evict_image",
    "evict_memory",
    "launch_cooperative",
    "make_image_resident",
    "make_memory_resident",
    "most_cooperative_groups",
    "peer_properties",
    "prefer_cache",
    "queue_groups",
]

# The longest fill pattern of the reference driver, in bytes.
_LONGEST_PATTERN = 16


def queue_groups(backend: DriverAccess, device: Device) -> Sequence[QueueGroup]:
    """The single queue group, which supports all commands."""
    return (QueueGroup(0, computes=True, copies=True, engines=1, longest_pattern=_LONGEST_PATTERN),)


def create_queue_in_group(
    backend: DriverAccess, context: Context, device: Device, ordinal: int, engine: int, *, immediate: bool
) -> Queue:
    """Create an in-order queue; the processor runs commands one by one in any case."""
    return backend.create_queue(context, device, in_order=True, profiling=False)


def can_access_peer(backend: DriverAccess, device: Device, peer: Device) -> bool:
    """Whether a device can access the memory of another: the single device accesses its own."""
    return True


def peer_properties(backend: DriverAccess, device: Device, peer: Device) -> PeerProperties:
    """The properties of the access of the device to its own memory."""
    return PeerProperties(access=True, atomics=True)


def barrier_of_ranges(
    backend: DriverAccess, queue: Queue, ranges: Sequence[tuple[int, int]], waits: Sequence[Event] = ()
) -> Event:
    """Submit a barrier, which covers all memory."""
    return backend.barrier(queue, waits)


def make_memory_resident(backend: DriverAccess, context: Context, device: Device, address: int, nbytes: int) -> None:
    """Do nothing: memory is always resident."""


def evict_memory(backend: DriverAccess, context: Context, device: Device, address: int, nbytes: int) -> None:
    """Do nothing: memory has no other place."""


def make_image_resident(backend: DriverAccess, context: Context, device: Device, handle: int) -> None:
    """Do nothing: images are always resident."""


def evict_image(backend: DriverAccess, context: Context, device: Device, handle: int) -> None:
    """Do nothing: images have no other place."""


def launch_cooperative(
    backend: DriverAccess,
    queue: Queue,
    kernel: Kernel,
    global_size: tuple[int, ...],
    local_size: tuple[int, ...] | None,
    arguments: Sequence[bytes | int],
    waits: Sequence[Event] = (),
) -> Event:
    """Launch a kernel with a single work-group: work-groups run to completion one after the other, so only one can
    wait.
    """
    if local_size is None or local_size != global_size:
        raise NdRangeError(
            f"range {global_size} in work-groups of {local_size}: the reference runs at most 1 together; make the "
            "work-group as large as the range",
            backend="reference",
        )
    return launch(backend, queue, kernel, global_size, local_size, arguments, waits)


def most_cooperative_groups(
    backend: DriverAccess, kernel: Kernel, local_size: tuple[int, ...], local_memory: int
) -> int:
    """See ``launch_cooperative``."""
    return 1


def prefer_cache(backend: DriverAccess, kernel: Kernel, preference: str) -> None:
    """Check the kernel; the processor manages its cache itself."""
    if kernel.handle is None:
        raise InvalidError("the kernel's module was released", backend="reference")
