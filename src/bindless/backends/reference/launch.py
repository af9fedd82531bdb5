"""Launches of the reference back end, single and prepared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...drivers import reference as driver
from ...drivers.common.cffi_types import CData
from ...model.errors import InvalidError, NdRangeError
from ..contract.prepared_command import PreparedCommand
from .module import Kernel
from .objects import Event, Queue, address_of
from .prepared_command import prepared_command

if TYPE_CHECKING:
    from .driver_access import DriverAccess

__all__ = ["launch", "launch_with_offset", "prepare_launch"]

lib, ffi = driver.lib, driver.ffi

_MAX_LOCAL_MEMORY = 64 << 20  # bytes of a work-group
_SUBMIT = address_of(ffi.addressof(lib, "bindless_launch_again"))


def _described(
    queue: Queue,
    kernel: Kernel,
    global_size: tuple[int, ...],
    local_size: tuple[int, ...] | None,
    arguments: Sequence[bytes | int],
    offset: tuple[int, ...] = (),
) -> tuple[CData, object, tuple[int | None, ...]]:
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
    count = len(arguments)
    if count != len(kernel.sizes):
        raise InvalidError(
            f"kernel {kernel.record.name!r} has {len(kernel.sizes)} parameters of {list(kernel.sizes)} bytes, "
            f"{count} arguments were given",
            backend="reference",
        )
    pointers, sizes = ffi.new("void const *[]", count or 1), ffi.new("uint64_t[]", count or 1)
    values = ffi.new("char[]", b"".join([value for value in arguments if not isinstance(value, int)]))
    first, end = int(ffi.cast("uintptr_t", values)), 0
    places: list[int | None] = [None] * count
    for at, value in enumerate(arguments):
        if isinstance(value, int):
            _check_local(kernel, value)
            sizes[at] = value
        else:
            sizes[at], places[at], pointers[at] = len(value), first + end, values + end
            end += len(value)
    described = ffi.new("bindless_launch_t *")
    described.queue, described.kernel, described.ends = queue.handle, kernel.handle, queue.ends
    launch = described.launch
    launch.dimensions = len(global_size)
    launch.global_size[0 : len(global_size)] = global_size
    launch.global_offset[0 : len(offset)] = offset
    if local_size is not None:
        launch.local_size[0 : len(local_size)] = local_size
    launch.argument_count, launch.arguments, launch.argument_sizes = count, pointers, sizes
    return described, (values, pointers, sizes), tuple(places)


def _check_local(kernel: Kernel, value: int) -> None:
    if value > _MAX_LOCAL_MEMORY:
        raise InvalidError(
            f"kernel {kernel.record.name!r} is given {value} bytes of local memory; the reference device has at "
            f"most {_MAX_LOCAL_MEMORY} a work-group",
            backend="reference",
        )


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
    backend: DriverAccess,
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
    backend: DriverAccess,
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
    sizes = tuple([0 if isinstance(value, int) else len(value) for value in arguments])
    return prepared_command(queue, _SUBMIT, "blrEnqueueKernel", described, keep, places, sizes)
