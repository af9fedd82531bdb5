"""Residency of memory and images (L0, "Memory Residency")."""

from __future__ import annotations

from ..backends.contract import require_group
from ..bindless_images import ImageMem
from ..model.errors import InvalidError
from ..model.message_values import shown
from ..submission.command_stream import wait_for_users
from ..sycl.device.device import Device
from ..sycl.usm.array import UsmArray
from ..sycl.usm.pointer import UsmPointer
from .capability import memory_range

__all__ = ["evict", "make_resident"]

_WHAT = "calls for residency"


def _apply(memory: object, device: Device | None, resident: bool) -> None:
    image = isinstance(memory, ImageMem)
    if isinstance(memory, ImageMem):
        address, _, context, place, _ = memory._image_memory()
        nbytes = 0
    else:
        owner, address, nbytes = memory_range(memory, "memory")
        context, place = owner.context, owner.device
        if not resident:
            wait_for_users(owner)
    chosen = place if device is None else device
    if not isinstance(chosen, Device) or chosen not in context.devices:
        raise InvalidError(f"device={shown(chosen)} is not a device of the memory's context")
    calls = require_group(context._backend.residency, _WHAT, context.backend)
    where = context._native, chosen._record.native
    if image:
        (calls.make_image_resident if resident else calls.evict_image)(*where, address)
    else:
        (calls.make_memory_resident if resident else calls.evict_memory)(*where, address, nbytes)


def make_resident(memory: UsmArray | UsmPointer | ImageMem, device: Device | None = None) -> None:
    """Keeps memory where a device reaches it without being told of it by a kernel's arguments.

    The package does so itself for images that have handles, and kernels reach all unified memory; this is for what
    another library's kernels reach by addresses that they find, and to have the cost of moving at a chosen time.

    Parameters
    ----------
    memory : UsmArray | UsmPointer | ImageMem
        An array or a pointer, of which everything from there on counts, or image memory.
    device : Device, optional
        None is the one where the memory was made.

    Raises
    ------
    InvalidError
        No memory, memory that was freed, or a device outside its context.
    MemoryAllocationError
        There is no room.
    FeatureNotSupportedError
        The driver has no such calls.
    """
    _apply(memory, device, True)


def evict(memory: UsmArray | UsmPointer | ImageMem, device: Device | None = None) -> None:
    """Lets the driver move memory away; no unfinished kernel reaches it by an address that it finds.

    Args and errors: as ``make_resident``.

    Parameters
    ----------
    memory : UsmArray | UsmPointer | ImageMem
        An array, a pointer or image memory, as of ``make_resident``.
    device : Device, optional
        None is the device where the memory was made.
    """
    _apply(memory, device, False)
