"""Kernel launches, single and prepared, with as few Python calls as possible."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NoReturn

from ...drivers import opencl as driver
from ...drivers.common.cffi_types import CData
from ...model.errors import FeatureNotSupportedError
from ..common.kernel import refuse_kernel
from ..contract.prepared_command import PreparedCommand
from .errors import SUCCESS, fail
from .event import Event, address_of, array_of
from .fork_guard import refuse_in_fork
from .kernel import Kernel
from .queue import Queue

__all__ = ["launch", "launch_shape", "launch_with_offset", "prepare_launch", "prepare_shape", "repeated"]

lib, ffi = driver.lib, driver.ffi

_NULL = ffi.NULL
_SIGNED = 2**31
_IN_PYTHON = lib.BINDLESS_IN_PYTHON
_CALL = "clEnqueueNDRangeKernel"
_enqueue = lib.bindless_enqueue
_SUBMIT = address_of(ffi.addressof(lib, "bindless_submit_launch"))
_new_event = functools.partial(ffi.new, ffi.typeof("cl_event *"))


def launch(
    queue: Queue,
    kernel: Kernel,
    global_size: tuple[int, ...],
    local_size: tuple[int, ...] | None,
    arguments: Sequence[bytes | int],
    waits: Sequence[Event] = (),
) -> Event:
    """Run a kernel; see the contract. The shapes of earlier launches are cached."""
    if kernel.module.native is None or kernel.context is not queue.context or kernel.device is not queue.device:
        refuse_kernel(kernel, queue)
    shape = kernel.shapes.get((global_size, local_size)) or kernel.shape(global_size, local_size)
    return launch_shape(queue, kernel, shape, arguments, waits)


def launch_with_offset(
    queue: Queue,
    kernel: Kernel,
    global_size: tuple[int, ...],
    local_size: tuple[int, ...] | None,
    offset: tuple[int, ...],
    arguments: Sequence[bytes | int],
    waits: Sequence[Event] = (),
) -> Event:
    """See ``OffsetProtocol``."""
    if kernel.module.native is None or kernel.context is not queue.context or kernel.device is not queue.device:
        refuse_kernel(kernel, queue)
    if max(offset) >= _SIGNED and queue.device.takes_ptx:
        raise FeatureNotSupportedError(
            f"offset={offset}: NVIDIA's OpenCL driver gives kernels negative ids where an offset is 2**31 or more; add "
            "it in the kernel",
            backend="opencl",
        )
    shape = ffi.new("bindless_range_t *", kernel.shape(global_size, local_size)[0])
    shape.offset = offset
    return launch_shape(queue, kernel, shape, arguments, waits)


def launch_shape(
    queue: Queue, kernel: Kernel, shape: CData, arguments: Sequence[bytes | int], waits: Sequence[Event] = ()
) -> Event:
    """Run a kernel over a checked range, a ``bindless_range_t``."""
    handle = queue.handle
    if handle is None:
        queue.refuse()
    refuse_in_fork()
    shared = queue.context.handover
    if shared is not None and shared.away:
        shared.take(queue, waits)
    kernel = kernel.for_nulls(arguments)
    packed = kernel.packed(arguments)
    if packed is None:
        kernel.require(arguments)
    prepared = kernel.set
    values: CData = packed if packed is not None and prepared.direct else _NULL
    count, events = (len(waits), array_of(waits)) if waits else (0, _NULL)
    slot = _new_event()
    result = _IN_PYTHON
    try:
        if values != _NULL:
            result = _enqueue(prepared.described, handle, shape, values, _NULL, count, events, slot)
        while result == _IN_PYTHON:  # Repeat if the settings are out of date already.
            settings = kernel.find(arguments)
            result = _enqueue(prepared.described, handle, shape, values, settings[1], count, events, slot)
        if result != SUCCESS:
            fail(result, _CALL, f"kernel {kernel.name!r}")
        return queue.note(slot[0])
    except BaseException:
        queue.end_unknown(slot)
        raise


# ---------------------------------------------------------------------- prepared


def repeated(
    queue: Queue,
    submit: int,
    described: CData,
    call: str,
    details: object,
    keep: object = None,
    places: tuple[int | None, ...] = (),
    sizes: tuple[int, ...] = (),
) -> PreparedCommand:
    """A command that the C function at the address ``submit`` makes from a description in a C struct.

    Parameters
    ----------
    call, details
        driver function and values, for errors.
    keep
        objects that own the memory behind the struct's pointers.
    places, sizes
        addresses and bytes of the arguments.
    """

    def refused(result: int) -> NoReturn:
        fail(result, call, details)

    return PreparedCommand(
        submit=submit,
        descriptions=(int(ffi.cast("uintptr_t", described)),),
        lanes=(queue,),
        mark=Event,
        places=places,
        sizes=sizes,
        settle=_settle,
        refused=refused,
        keep=(described, keep),
    )


def _settle(_: object) -> None:
    """Do nothing: each command has its own event."""


def prepare_shape(
    queue: Queue, kernel: Kernel, shape: CData, arguments: Sequence[bytes | int]
) -> PreparedCommand | None:
    """Prepare a launch over a checked range. None with local memory, and for events with timestamps."""
    kernel = kernel.for_nulls(arguments)
    packed = kernel.packed(arguments)
    if queue.profiling or queue.handle is None or packed is None or not kernel.set.direct:
        return None
    values = ffi.new("char[]", packed)
    if kernel.set.objects:
        kernel.set.find_objects(arguments, values)
    members, first = (queue.state, kernel.set.described, shape, values), address_of(values)
    return repeated(
        queue,
        _SUBMIT,
        ffi.new("bindless_launch_t *", members),
        _CALL,
        f"kernel {kernel.name!r}",
        (kernel, members),
        tuple([first + begin for begin in kernel.set.begins]),
        tuple(map(len, arguments)),  # type: ignore[arg-type]
    )


def prepare_launch(
    queue: Queue,
    kernel: Kernel,
    global_size: tuple[int, ...],
    local_size: tuple[int, ...] | None,
    arguments: Sequence[bytes | int],
) -> PreparedCommand | None:
    """Prepare a launch for repetition; see the contract."""
    return prepare_shape(queue, kernel, kernel.shape(global_size, local_size), arguments)
