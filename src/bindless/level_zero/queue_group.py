"""Groups of engines, and queues on one of their engines (L0, "Command Queue Groups")."""

from __future__ import annotations

from ..backends.contract import AdoptedQueue, require_group
from ..backends.contract.low_level import QueueGroup
from ..model.errors import InvalidError
from ..model.message_values import shown
from ..submission.command_stream import AsyncHandler
from ..sycl.device.context import Context, default_context
from ..sycl.device.device import Device
from ..sycl.queue.queue import Queue

__all__ = ["QueueGroup", "create_queue", "get_queue_groups"]


def get_queue_groups(device: Device) -> tuple[QueueGroup, ...]:
    """The groups of a device's engines.

    Parameters
    ----------
    device : Device
        The device.

    Returns
    -------
    tuple[QueueGroup, ...]
        The groups, by their ordinal.

    Raises
    ------
    InvalidError
        Not a device.
    FeatureNotSupportedError
        Its driver has no groups.
    """
    if not isinstance(device, Device):
        raise InvalidError(f"device={shown(device)} is no Device")
    return tuple(
        require_group(device._backend.queue_group, "queue groups", device.backend).queue_groups(device._record.native)
    )


def create_queue(
    device: Device,
    group: QueueGroup | int,
    engine: int = 0,
    *,
    context: Context | None = None,
    immediate: bool = True,
    async_handler: AsyncHandler | None = None,
) -> Queue:
    """A queue in order on one engine of a group. On engines that only copy, kernels are refused by the driver.

    Parameters
    ----------
    device : Device
        Whose engines.
    group : QueueGroup | int
        One of ``get_queue_groups(device)``, or its ordinal.
    engine : int, default 0
        Its number in the group, from 0.
    context : Context, optional
        As of ``Queue``.
    immediate : bool, default True
        Whether each command goes to the device by itself; else through command lists and a command queue, which is
        what fences need.
    async_handler : AsyncHandler, optional
        As of ``Queue``.

    Returns
    -------
    Queue
        A queue as any other; closing it, or dropping it with its work done, destroys the native one.

    Raises
    ------
    InvalidError
        No such group or engine, or a device outside the context.
    FeatureNotSupportedError
        The driver has no groups.
    """
    groups = {entry.ordinal: entry for entry in get_queue_groups(device)}
    entry = groups.get(group.ordinal if isinstance(group, QueueGroup) else group)
    if entry is None or (isinstance(group, QueueGroup) and group != entry):
        listed = ", ".join(map(str, groups)) or "none"
        raise InvalidError(f"group={shown(group)}: {device!r} has the groups {listed}; get_queue_groups tells them")
    if isinstance(engine, bool) or not isinstance(engine, int) or not 0 <= engine < entry.engines:
        raise InvalidError(f"engine={shown(engine)}: group {entry.ordinal} has engines 0 to {entry.engines - 1}")
    if context is None:
        context = default_context(device)
    elif not isinstance(context, Context) or device not in context.devices:
        raise InvalidError(f"{device!r} is not a device of {context!r}")
    create = require_group(device._backend.queue_group, "queue groups", device.backend).create_queue_in_group
    native = create(context._native, device._record.native, entry.ordinal, engine, immediate=bool(immediate))
    adopted = AdoptedQueue(native, in_order=True)
    return Queue(device, context, in_order=True, async_handler=async_handler, _adopted=adopted)
