"""Cooperative and indirect launches (L0, "Execution")."""

from __future__ import annotations

from ..backends.contract import require_group
from ..model.enums import UsmKind
from ..model.errors import FeatureNotSupportedError, InvalidError
from ..model.message_values import shown
from ..model.ranges import NdRange, RangeLike, as_range
from ..submission.event import Event
from ..sycl.kernel.arguments import memory_of
from ..sycl.kernel.kernel import Kernel
from ..sycl.kernel.offset_launch import has_offset
from ..sycl.queue.queue import Events, Queue
from ..sycl.usm.array import UsmArray
from .capability import memory_range, require_queue

__all__ = ["launch_cooperative", "launch_indirect", "max_cooperative_groups", "prefer_cache"]

_COOPERATIVE = "cooperative launches"


def launch_cooperative(
    queue: Queue, index_space: RangeLike | NdRange, kernel: Kernel, *arguments: object, depends_on: Events | Event = ()
) -> Event:
    """Runs a kernel with all its work-groups at work together, so that they may wait for each other.

    Parameters
    ----------
    queue : Queue
        The queue that runs the kernel.
    index_space : Range | NdRange
        Sizes in items, numpy order; none of them is 0.
    kernel : Kernel
        The kernel.
    arguments : object
        As of ``Queue.parallel_for``.
    depends_on : Events | Event, default ()
        Events to wait for.

    Returns
    -------
    Event
        Complete when all work-groups are.

    Raises
    ------
    NdRangeError
        More work-groups than work together; ``max_cooperative_groups`` is the limit.
    InvalidError
        As ``Queue.parallel_for``, and for a range without items.
    FeatureNotSupportedError
        The driver has no cooperative launches.
    """
    call = require_group(
        require_queue(queue)._backend.cooperative_launch, _COOPERATIVE, queue.backend
    ).launch_cooperative
    here, sizes, packed, values = queue._plan_launch(index_space, kernel, arguments)
    if has_offset(index_space):
        raise FeatureNotSupportedError(f"index_space={shown(index_space)}: a cooperative launch begins at 0")
    if 0 in sizes[0]:
        raise InvalidError(f"index_space={shown(index_space)}: a cooperative launch has at least one item")
    native, target = queue._native, here._native
    keep = (here._bundle, *memory_of(values))
    return queue._enqueue(lambda waits: call(native, target, *sizes, packed, waits), depends_on, keep)


def _local(local_range: RangeLike) -> tuple[int, ...]:
    """Work-items of a work-group in the order of the native kernel."""
    sizes = tuple(reversed(tuple(as_range(local_range))))
    if 0 in sizes:
        raise InvalidError(f"local_range={shown(local_range)}: a work-group has at least one item")
    return sizes


def max_cooperative_groups(kernel: Kernel, local_range: RangeLike, local_memory: int = 0) -> int:
    """The largest number of work-groups of a cooperative launch.

    Parameters
    ----------
    kernel : Kernel
        Of a bundle; on the device that it was got for.
    local_range : RangeLike
        work-items of a work-group, the last dimension being dimension 0 of the native kernel.
    local_memory : int, default 0
        Bytes that ``LocalAccessor`` arguments will ask for.

    Returns
    -------
    int
        Number of work-groups.

    Raises
    ------
    InvalidError
        No kernel or range.
    FeatureNotSupportedError
        The driver has no cooperative launches.
    """
    if not isinstance(kernel, Kernel):
        raise InvalidError(f"kernel={shown(kernel)} is no Kernel")
    kernel._require_usable(kernel.context)
    ask = require_group(
        kernel.context._backend.cooperative_launch, _COOPERATIVE, kernel.context.backend
    ).most_cooperative_groups
    return int(ask(kernel._native, _local(local_range), local_memory))


def launch_indirect(
    queue: Queue,
    group_counts: UsmArray,
    local_range: RangeLike,
    kernel: Kernel,
    *arguments: object,
    depends_on: Events | Event = (),
) -> Event:
    """Runs a kernel over as many work-groups as the device finds in memory when it starts.

    Parameters
    ----------
    queue : Queue
        Where it runs.
    group_counts : UsmArray
        Three uint32 in memory that the device reads, the work-groups by dimension of the native kernel, dimension 0
        first; an earlier kernel may write them.
    local_range : RangeLike
        work-items of a work-group, the last dimension being dimension 0 of the native kernel.
    kernel, arguments, depends_on
        As of ``Queue.parallel_for``.

    Returns
    -------
    Event
        Complete when the kernel is.

    Raises
    ------
    InvalidError
        ``group_counts`` is no such array, or as ``Queue.parallel_for``.
    FeatureNotSupportedError
        The driver has no indirect launches.
    """
    call = require_group(
        require_queue(queue)._backend.indirect_launch, "indirect launches", queue.backend
    ).launch_indirect
    if not isinstance(group_counts, UsmArray) or group_counts.dtype != "uint32" or group_counts.size != 3:
        raise InvalidError(f"group_counts={shown(group_counts)}: it is a UsmArray of three uint32")
    owner, address, _ = memory_range(group_counts, "group_counts")
    if owner.context is not queue.context or owner.kind is UsmKind.unknown:
        raise InvalidError(f"group_counts={shown(group_counts)} is memory of another context than the queue's")
    local = _local(local_range)
    here, _, packed, values = queue._plan_launch(NdRange(local_range, local_range), kernel, arguments)
    native, target = queue._native, here._native
    keep = (here._bundle, group_counts, *memory_of(values))
    return queue._enqueue(lambda waits: call(native, target, address, local, packed, waits), depends_on, keep)


_PREFERENCES = ("default", "local_memory", "data")


def prefer_cache(kernel: Kernel, preference: str) -> None:
    """Set the preferred split of memory between cache and local memory; a hint for later launches.

    Parameters
    ----------
    kernel : Kernel
        Of a bundle; on the device that it was got for.
    preference : str
        ``"local_memory"``, ``"data"`` or ``"default"``.

    Raises
    ------
    InvalidError
        No kernel or no preference.
    FeatureNotSupportedError
        The driver has no such hint, or the device cannot divide its cache.
    """
    if not isinstance(kernel, Kernel):
        raise InvalidError(f"kernel={shown(kernel)} is no Kernel")
    if preference not in _PREFERENCES:
        raise InvalidError(f"preference={shown(preference)}: it is one of {', '.join(_PREFERENCES)}")
    kernel._require_usable(kernel.context)
    require_group(kernel.context._backend.cache_preference, "cache preferences", kernel.context.backend).prefer_cache(
        kernel._native, preference
    )
