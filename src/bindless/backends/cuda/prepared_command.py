"""Prepared commands of CUDA: one C struct per stream, and the C function that submits it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from ...drivers import cuda as driver
from ...drivers.common.cffi_types import CData
from ..contract.prepared_command import PreparedCommand
from .event import Event, MarkedEvent
from .queue import Queue
from .stream import AdoptedStream, Stream

__all__ = ["address_of", "prepared_command"]

lib, ffi = driver.lib, driver.ffi


def address_of(of: CData) -> int:
    """The address of a C object."""
    return int(ffi.cast("uintptr_t", of))


_RECORDED = address_of(ffi.addressof(lib, "bindless_recorded"))


def prepared_command(
    queue: Queue,
    name: str,
    struct: str,
    fields: tuple[object, ...] | Callable[[CData, CData], tuple[object, ...]],
    refused: Callable[[int], NoReturn],
    keep: object = None,
    places: tuple[int | None, ...] = (),
    sizes: tuple[int, ...] = (),
) -> PreparedCommand | None:
    """The command that a C function submits; None if the queue prepares no commands.

    Parameters
    ----------
    name
        C function.
    struct
        type of its argument.
    fields
        the struct's members after CUcontext and CUstream, or a function that makes all members from these two.
    refused
        raises the error of a result.
    keep
        objects that own the memory behind the struct's pointers.
    places, sizes
        those of the command.
    """
    if not queue.prepares:
        return None
    context, pointer = queue.primary.handle, f"{struct} *"
    structs: list[CData] = []
    descriptions: tuple[int, ...] = ()
    for lane in queue.ordered:
        own = context, lane.handle
        structs.append(ffi.new(pointer, (*own, *fields) if isinstance(fields, tuple) else fields(*own)))
        descriptions += (int(ffi.cast("uintptr_t", structs[-1])),)
    submit, mark = int(ffi.cast("uintptr_t", ffi.addressof(lib, name))), Event
    (first, *_) = queue.ordered
    if isinstance(first, AdoptedStream):
        recorded = ffi.new("bindless_recorded_t *", (submit, descriptions[0], first.recorder))
        submit, descriptions, mark, keep = _RECORDED, (address_of(recorded),), MarkedEvent, (recorded, keep)
    return PreparedCommand(
        submit=submit,
        descriptions=descriptions,
        lanes=queue.ordered,
        mark=mark,
        places=places,
        sizes=sizes,
        settle=Stream.prepare,
        refused=refused,
        keep=(structs, keep),
    )
