"""Queries of pointers (SYCL 2020 section 4.8.3.4): ``get_pointer_type`` and ``get_pointer_device``."""

from __future__ import annotations

import operator

from ...backends.contract import PointerRecord
from ...model.enums import UsmKind
from ...model.errors import InvalidError
from ...model.message_values import shown
from ..device.context import Context
from ..device.device import Device
from ..device.queue_base import QueueBase
from .array import UsmArray
from .pointer import UsmPointer

__all__ = ["get_pointer_device", "get_pointer_type"]


def _context_of(where: object) -> Context:
    context = where.context if isinstance(where, QueueBase) else where
    if not isinstance(context, Context):
        raise InvalidError(f"context={shown(where)}: it is a Context, or a Queue for that of its own")
    return context


def _record(pointer: object, context: Context) -> PointerRecord:
    if isinstance(pointer, (UsmPointer, UsmArray)):
        owner = pointer._owner
        if not owner.open or (owner.context is not context and owner.context != context):
            return PointerRecord(UsmKind.unknown)
        return PointerRecord(owner.kind, owner.address, owner.nbytes, owner.device._record.native)
    try:
        address = operator.index(pointer)  # type: ignore[arg-type]
    except TypeError:
        raise InvalidError(f"pointer={shown(pointer)}: it is a UsmPointer, a UsmArray or an address") from None
    if not 0 <= address < 2**64:
        raise InvalidError(f"pointer={shown(address)}: an address has 64 bits")
    return context._backend.pointer_info(context._native, address)


def get_pointer_type(pointer: UsmPointer | UsmArray | int, context: Context | QueueBase) -> UsmKind:
    """The kind of memory that a pointer is into; ``unknown`` if it is no memory of this context, or freed.

    Parameters
    ----------
    pointer : UsmPointer | UsmArray | int
        Or an address, also one that another library allocated.
    context : Context | QueueBase
        Or a queue, for its own.

    Returns
    -------
    UsmKind
        ``device``, ``host``, ``shared``, or ``unknown`` for memory outside the context.

    Notes
    -----
    SYCL 2020, 4.8.3.6, "Querying memory".

    Examples
    --------
    >>> queue = bindless.Queue("reference")
    >>> pointer = bindless.malloc_host(64, queue)
    >>> print(bindless.get_pointer_type(pointer, queue.context))
    host
    """
    return _record(pointer, _context_of(context)).kind


def get_pointer_device(pointer: UsmPointer | UsmArray | int, context: Context | QueueBase) -> Device:
    """The device that memory was allocated on; of host memory the context's first.

    Parameters
    ----------
    pointer : UsmPointer | UsmArray | int
        A ``UsmPointer`` or ``UsmArray``, or an address.
    context : Context | QueueBase
        The context.

    Returns
    -------
    Device
        The device of the allocation.

    Raises
    ------
    InvalidError
        The pointer is into no memory of this context.

    Notes
    -----
    SYCL 2020, 4.8.3.6, "Querying memory".

    Examples
    --------
    >>> queue = bindless.Queue("reference")
    >>> pointer = bindless.malloc_device(64, queue)
    >>> bindless.get_pointer_device(pointer, queue.context) == queue.device
    True
    """
    where = _context_of(context)
    record = _record(pointer, where)
    if record.kind is UsmKind.unknown:
        what = pointer if isinstance(pointer, (UsmPointer, UsmArray)) else hex(pointer)
        raise InvalidError(f"{what} is no memory of {where!r}, or was freed: no device has it")
    if record.kind is not UsmKind.host:
        for device in where.devices:
            if device._record.native is record.device:
                return device
    return where.devices[0]
