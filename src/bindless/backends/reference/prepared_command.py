"""Prepared commands of the reference back end: a description in a C struct, and the C function that submits it."""

from __future__ import annotations

from typing import NoReturn

from ...drivers import reference as driver
from ...drivers.common.cffi_types import CData
from ..contract.prepared_command import PreparedCommand
from .objects import Event, Queue

__all__ = ["prepared_command"]

ffi = driver.ffi


def prepared_command(
    queue: Queue,
    submit: int,
    call: str,
    described: CData,
    keep: object,
    places: tuple[int | None, ...] = (),
    sizes: tuple[int, ...] = (),
) -> PreparedCommand:
    """A command that the C function at the address ``submit`` makes from a description in a C struct.

    Parameters
    ----------
    call
        driver function, for errors.
    keep
        objects that own the memory behind the struct's pointers.
    places, sizes
        addresses and bytes of the arguments.
    """

    def refused(result: int) -> NoReturn:
        driver.check(result, call)
        raise AssertionError(result)

    return PreparedCommand(
        submit=submit,
        descriptions=(int(ffi.cast("uintptr_t", described)),),
        lanes=(queue,),
        mark=Event,
        places=places,
        sizes=sizes,
        settle=_settle,
        refused=refused,
        keep=(described, queue.ends, keep),
    )


def _settle(_: object) -> None:
    """Do nothing: each command has its own event."""
