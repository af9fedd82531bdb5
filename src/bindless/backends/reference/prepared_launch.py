"""Prepared launches and copies of the reference back end: one C call per repetition."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NoReturn

from ...drivers import reference as driver
from ..contract.prepared_command import PreparedCommand
from .module import Kernel
from .objects import Event, Queue, address_of

__all__ = ["prepare_launch", "repeated"]

lib, ffi = driver.lib, driver.ffi


_SUBMIT = address_of(ffi.addressof(lib, "bindless_launch_again"))


def repeated(
    queue: Queue,
    submit: int,
    call: str,
    described: Any,
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
        descriptions=(address_of(described),),
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


def prepare_launch(
    queue: Queue,
    kernel: Kernel,
    global_size: tuple[int, ...],
    local_size: tuple[int, ...] | None,
    arguments: Sequence[bytes | int],
) -> PreparedCommand | None:
    """Prepare a launch for repetition; see the contract. None if events have timestamps."""
    if queue.profiling or len(arguments) != len(kernel.sizes):
        return None
    lengths = [len(value) if isinstance(value, bytes) else 0 for value in arguments]
    values = ffi.new("char[]", max(sum(lengths), 1))
    begins = [end - length for end, length in zip(itertools.accumulate(lengths), lengths)]
    pointers = ffi.new("void const *[]", max(len(arguments), 1))
    sizes = ffi.new("uint64_t[]", max(len(arguments), 1))
    for at, (value, begin) in enumerate(zip(arguments, begins)):
        if isinstance(value, bytes):
            ffi.memmove(values + begin, value, len(value))
            pointers[at], sizes[at] = values + begin, len(value)
        else:
            sizes[at] = value
    described = ffi.new("bindless_launch_t *")
    described.queue, described.kernel, described.ends = queue.handle, kernel.handle, queue.ends
    launch = described.launch
    launch.dimensions = len(global_size)
    launch.global_size[0 : len(global_size)] = global_size
    if local_size is not None:
        launch.local_size[0 : len(local_size)] = local_size
    launch.argument_count, launch.arguments, launch.argument_sizes = len(arguments), pointers, sizes
    first = address_of(values)
    places = tuple(first + begin if isinstance(value, bytes) else None for value, begin in zip(arguments, begins))
    keep = values, pointers, sizes
    return repeated(queue, _SUBMIT, "blrEnqueueKernel", described, keep, places, tuple(lengths))
