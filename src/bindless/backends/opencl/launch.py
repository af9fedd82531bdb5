"""Kernel launches, with as few Python calls as possible."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NoReturn

from ...drivers import opencl as driver
from ...model.errors import FeatureNotSupportedError
from ..common.kernel import refuse_kernel
from ..contract.prepared_command import PreparedCommand
from .errors import SUCCESS, fail
from .event import LAUNCH, Event, Launches, array_of
from .fork_guard import refuse_in_fork
from .kernel import Kernel
from .queue import Queue

__all__ = ["launch", "launch_shape", "launch_with_offset", "prepare_launch"]

lib, ffi = driver.lib, driver.ffi

_NULL = ffi.NULL
_SIGNED = 2**31
_IN_PYTHON = lib.BINDLESS_IN_PYTHON
_enqueue = lib.bindless_enqueue
_SUBMIT = int(ffi.cast("uintptr_t", ffi.addressof(lib, "bindless_submit")))
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
    moved = ffi.new("bindless_range_t *", kernel.shape(global_size, local_size)[0])
    moved.offset = offset
    return launch_shape(queue, kernel, moved, arguments, waits)


def launch_shape(
    queue: Queue, kernel: Kernel, shape: Any, arguments: Sequence[bytes | int], waits: Sequence[Event] = ()
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
    known = kernel.set
    values: Any = packed if packed is not None and known.direct else _NULL
    count, events = (len(waits), array_of(waits)) if waits else (0, _NULL)
    slot = _new_event()
    result = _IN_PYTHON
    try:
        if values != _NULL:
            result = _enqueue(known.described, handle, shape, values, _NULL, count, events, slot)
        while result == _IN_PYTHON:  # Repeat if the settings are out of date already.
            found = kernel.find(arguments)
            result = _enqueue(known.described, handle, shape, values, found[1], count, events, slot)
        if result != SUCCESS:
            fail(result, LAUNCH, f"kernel {kernel.name!r}")
        return queue.note(Event(slot[0], LAUNCH, queue.profiling))
    except BaseException:
        queue.end_unknown(slot)
        raise


def prepare_launch(
    queue: Queue,
    kernel: Kernel,
    global_size: tuple[int, ...],
    local_size: tuple[int, ...] | None,
    arguments: Sequence[bytes | int],
) -> PreparedCommand | None:
    """Prepare a launch for repetition; see the contract. None with local memory, and for events with timestamps."""
    kernel = kernel.for_nulls(arguments)
    shape, known = kernel.shape(global_size, local_size), kernel.set
    packed = kernel.packed(arguments)
    if queue.profiling or queue.handle is None or packed is None or not known.direct:
        return None
    values, described = ffi.new("char[]", packed), ffi.new("bindless_launch_t *")
    described.queue, described.kernel, described.range = queue.handle, known.described, shape
    described.values, described.events = values, queue.launches.events
    first = int(ffi.cast("uintptr_t", values))

    def refused(result: int) -> NoReturn:
        refuse_in_fork()
        fail(result, LAUNCH, f"kernel {kernel.name!r}")

    return PreparedCommand(
        submit=_SUBMIT,
        descriptions=(int(ffi.cast("uintptr_t", described)),),
        lanes=(queue.launches,),
        mark=Event,
        places=tuple(first + begin for begin in known.begins),
        sizes=tuple(map(len, arguments)),  # type: ignore[arg-type]
        settle=Launches.settle,
        refused=refused,
        keep=(values, described, shape, kernel),
    )
