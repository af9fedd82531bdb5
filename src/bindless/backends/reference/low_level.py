"""What the reference has beside the contract: the processor's engines are one, and its memory is all in one place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...model.errors import InvalidError, NdRangeError
from ..contract.low_level import PeerRecord, QueueGroupRecord
from .module import Kernel
from .objects import Context, Device, Event, Queue

if TYPE_CHECKING:
    from .backend import ReferenceBackend

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

# Of the reference driver: the longest pattern that a fill takes, in bytes.
_LONGEST_PATTERN = 16


def queue_groups(backend: ReferenceBackend, device: Device) -> Sequence[QueueGroupRecord]:
    """One, which does everything."""
    return (QueueGroupRecord(0, computes=True, copies=True, engines=1, longest_pattern=_LONGEST_PATTERN),)


def create_queue_in_group(
    backend: ReferenceBackend, context: Context, device: Device, ordinal: int, engine: int, *, immediate: bool
) -> Queue:
    """A queue in order; commands go to the processor one by one either way."""
    return backend.create_queue(context, device, in_order=True, profiling=False)


def can_access_peer(backend: ReferenceBackend, device: Device, peer: Device) -> bool:
    """There is one device, which reaches its own memory."""
    return True


def peer_properties(backend: ReferenceBackend, device: Device, peer: Device) -> PeerRecord:
    """Of a device and itself."""
    return PeerRecord(access=True, atomics=True)


def barrier_of_ranges(
    backend: ReferenceBackend, queue: Queue, ranges: Sequence[tuple[int, int]], waits: Sequence[Event] = ()
) -> Event:
    """Every barrier is for all memory."""
    return backend.barrier(queue, waits)


def make_memory_resident(
    backend: ReferenceBackend, context: Context, device: Device, address: int, nbytes: int
) -> None:
    """Memory is always there."""


def evict_memory(backend: ReferenceBackend, context: Context, device: Device, address: int, nbytes: int) -> None:
    """There is no other place."""


def make_image_resident(backend: ReferenceBackend, context: Context, device: Device, handle: int) -> None:
    """Images are always there."""


def evict_image(backend: ReferenceBackend, context: Context, device: Device, handle: int) -> None:
    """There is no other place."""


def launch_cooperative(
    backend: ReferenceBackend,
    queue: Queue,
    kernel: Kernel,
    global_size: tuple[int, ...],
    local_size: tuple[int, ...] | None,
    arguments: Sequence[bytes | int],
    waits: Sequence[Event] = (),
) -> Event:
    """Work-groups run to their end one after the other, so that one alone can wait for others."""
    if local_size is None or local_size != global_size:
        raise NdRangeError(
            f"range {global_size} in work-groups of {local_size}: the reference runs at most 1 together; make the "
            "work-group as large as the range",
            backend="reference",
        )
    return backend.launch(queue, kernel, global_size, local_size, arguments, waits)


def most_cooperative_groups(
    backend: ReferenceBackend, kernel: Kernel, local_size: tuple[int, ...], local_memory: int
) -> int:
    """See ``launch_cooperative``."""
    return 1


def prefer_cache(backend: ReferenceBackend, kernel: Kernel, preference: str) -> None:
    """The processor's cache is its own affair."""
    if kernel.handle is None:
        raise InvalidError("the kernel's module was released", backend="reference")
