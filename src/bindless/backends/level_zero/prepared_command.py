"""Commands that C code submits again: launches, copies and device functions."""

from __future__ import annotations

from typing import NoReturn

from ...drivers import level_zero as driver
from ...drivers.common.cffi_types import CData
from ..contract.prepared_command import PreparedCommand
from .errors import fail
from .event import Event
from .fork_guard import refuse_in_fork
from .stream import Stream

__all__ = ["address_of", "prepared"]

ffi = driver.ffi


def address_of(pointer: CData) -> int:
    """The address that a pointer, an array or a function has."""
    return int(ffi.cast("uintptr_t", pointer))


def prepared(
    streams: tuple[Stream, ...],
    submit: int,
    described: CData,
    places: tuple[int | None, ...],
    sizes: tuple[int, ...],
    call: str,
    details: object,
    keep: object,
) -> PreparedCommand:
    """A command of some streams.

    Parameters
    ----------
    submit
        address of the C function.
    described
        array of its descriptions, one for each stream, which is set here.
    call
        the driver's function, for errors.
    details
        for errors.
    keep
        owner of the descriptions and of everything that they refer to.
    """
    for at, stream in enumerate(streams):
        described[at].stream = stream.native

    first, size = int(ffi.cast("uintptr_t", described)), ffi.sizeof(described[0])

    def refused(result: int) -> NoReturn:
        refuse_in_fork()
        fail(result, call, details)

    return PreparedCommand(
        submit=submit,
        descriptions=tuple(range(first, first + len(streams) * size, size)),
        lanes=streams,
        mark=Event,
        places=places,
        sizes=sizes,
        settle=Stream.settle,
        refused=refused,
        keep=(described, keep),
    )
