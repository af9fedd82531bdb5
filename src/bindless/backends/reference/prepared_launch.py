"""Launches of the reference back end, single and prepared, and the prepared commands of all kinds."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from ...drivers import reference as driver
from ...model.errors import InvalidError, NdRangeError
from ..contract.prepared_command import PreparedCommand
from .module import Kernel
from .objects import Event, Queue, address_of

if TYPE_CHECKING:
    from .backend import ReferenceBackend

__all__ = ["launch", "launch_with_offset", "prepare_launch", "repeated"]

lib, ffi = driver.lib, driver.ffi


_MAX_LOCAL_MEMORY = 64 << 20  # bytes of a work-group
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


def _described(
    queue: Queue,
    kernel: Kernel,
    global_size: tuple[int, ...],
    local_size: tuple[int, ...] | None,
    arguments: Sequence[bytes | int],
    offset: tuple[int, ...] = (),
) -> tuple[Any, object, tuple[int | None, ...]]:
    """A ``bindless_launch_t``, what owns the memory behind its pointers, and the address of each argument.

    Raises
    ------
    InvalidError
        the arguments are not those of the kernel.
    NdRangeError
        the device cannot run the range.
    """
    if local_size is not None:
        _check_group(kernel, global_size, local_size)
    lengths = [_length(kernel, value) for value in arguments]
    if len(lengths) != len(kernel.sizes):
        raise InvalidError(
            f"kernel {kernel.record.name!r} has {len(kernel.sizes)} parameters of {list(kernel.sizes)} bytes, "
            f"{len(lengths)} arguments were given",
            backend="reference",
        )
    values = ffi.new("char[]", b"".join([value for value in arguments if isinstance(value, bytes)]))
    ends = itertools.accumulate([0 if isinstance(value, int) else len(value) for value in arguments])
    pointers = ffi.new("void const *[]", len(lengths) or 1)
    for at, (value, end) in enumerate(zip(arguments, ends)):
        pointers[at] = ffi.NULL if isinstance(value, int) else values + (end - len(value))
    sizes = ffi.new("uint64_t[]", lengths or 1)
    described = ffi.new("bindless_launch_t *")
    described.queue, described.kernel, described.ends = queue.handle, kernel.handle, queue.ends
    launch = described.launch
    launch.dimensions = len(global_size)
    launch.global_size[0 : len(global_size)] = global_size
    launch.global_offset[0 : len(offset)] = offset
    if local_size is not None:
        launch.local_size[0 : len(local_size)] = local_size
    launch.argument_count, launch.arguments, launch.argument_sizes = len(lengths), pointers, sizes
    places = tuple([int(ffi.cast("uintptr_t", pointer)) or None for pointer in pointers[0 : len(lengths)]])
    return described, (values, pointers, sizes), places


def _length(kernel: Kernel, value: bytes | int) -> int:
    if not isinstance(value, int):
        return len(value)
    if value > _MAX_LOCAL_MEMORY:
        raise InvalidError(
            f"kernel {kernel.record.name!r} is given {value} bytes of local memory; the reference device has at "
            f"most {_MAX_LOCAL_MEMORY} a work-group",
            backend="reference",
        )
    return value


def _check_group(kernel: Kernel, global_size: tuple[int, ...], local_size: tuple[int, ...]) -> None:
    items = 1
    for size in local_size:
        items *= size
    if len(local_size) != len(global_size) or any(n < 1 or g % n for g, n in zip(global_size, local_size)):
        raise NdRangeError(f"work-group {local_size} does not divide the range {global_size}", backend="reference")
    if items > kernel.record.max_work_group_size:
        raise NdRangeError(
            f"work-group {local_size} has {items} work-items; kernel {kernel.record.name!r} runs with at most "
            f"{kernel.record.max_work_group_size} on the reference device",
            backend="reference",
        )


def launch_with_offset(
    backend: ReferenceBackend,
    queue: Queue,
    kernel: Kernel,
    global_size: tuple[int, ...],
    local_size: tuple[int, ...] | None,
    offset: tuple[int, ...],
    arguments: Sequence[bytes | int],
    waits: Sequence[Event] = (),
) -> Event:
    """Run a kernel over a range that begins at ``offset``."""
    described, _keep, _ = _described(queue, kernel, global_size, local_size, arguments, offset)
    event = ffi.new("blr_event_t *")
    count, events = backend._waits(waits)
    launched = ffi.addressof(described, "launch")
    driver.check(lib.blrEnqueueKernel(queue.handle, kernel.handle, launched, count, events, event), "blrEnqueueKernel")
    return Event(event[0], queue.profiling)


def launch(
    backend: ReferenceBackend,
    queue: Queue,
    kernel: Kernel,
    global_size: tuple[int, ...],
    local_size: tuple[int, ...] | None,
    arguments: Sequence[bytes | int],
    waits: Sequence[Event] = (),
) -> Event:
    """Run a kernel; see the contract."""
    return launch_with_offset(backend, queue, kernel, global_size, local_size, (), arguments, waits)


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
    described, keep, places = _described(queue, kernel, global_size, local_size, arguments)
    lengths = tuple([len(value) if isinstance(value, bytes) else 0 for value in arguments])
    return repeated(queue, _SUBMIT, "blrEnqueueKernel", described, keep, places, lengths)
