"""Prepared commands of CUDA: one C struct per stream, and the C function that submits it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from ...drivers import cuda as driver
from ..contract.prepared_command import PreparedCommand
from .event import Event
from .queue import Queue
from .stream import Stream

__all__ = ["address_of", "prepared_command"]

lib, ffi = driver.lib, driver.ffi


def address_of(of: Any) -> int:
    """The address of a C object."""
    return int(ffi.cast("uintptr_t", of))


def prepared_command(
    queue: Queue,
    name: str,
    struct: str,
    fields: Callable[[Any, Any], tuple[Any, ...]],
    refused: Callable[[int], NoReturn],
    keep: object = None,
) -> PreparedCommand | None:
    """The command that a C function submits; None if the queue prepares no commands.

    Parameters
    ----------
    name
        C function.
    struct
        type of its argument.
    fields
        makes the struct's members from the CUcontext and the CUstream.
    refused
        raises the error of a result.
    keep
        objects that own the memory behind the struct's pointers.
    """
    if not queue.prepares:
        return None
    structs = [ffi.new(f"{struct} *", fields(queue.primary.handle, lane.handle)) for lane in queue.ordered]
    return PreparedCommand(
        submit=address_of(ffi.addressof(lib, name)),
        descriptions=tuple(map(address_of, structs)),
        lanes=queue.ordered,
        mark=Event,
        places=(),
        sizes=(),
        settle=Stream.prepare,
        refused=refused,
        keep=(structs, keep),
    )
