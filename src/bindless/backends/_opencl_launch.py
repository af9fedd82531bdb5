"""Launching kernels."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from ..drivers import opencl as driver
from ..model.errors import InvalidError
from ._opencl_errors import SUCCESS, fail
from ._opencl_event import Event
from ._opencl_fork import refuse_in_fork
from ._opencl_kernel import Kernel, Shape
from ._opencl_queue import Queue

__all__ = ["launch", "launch_shape", "prepare_launch"]

lib, ffi = driver.lib, driver.ffi

_NULL = ffi.NULL
_CALL = "clEnqueueNDRangeKernel"
_enqueue = lib.clEnqueueNDRangeKernel
_new_event = functools.partial(ffi.new, ffi.typeof("cl_event *"))


def launch(
    queue: Queue,
    kernel: Kernel,
    global_size: tuple[int, ...],
    local_size: tuple[int, ...] | None,
    arguments: Sequence[bytes | int],
    waits: Sequence[Event] = (),
) -> Event:
    """Runs a kernel; see the contract. Sizes that were launched before are remembered."""
    if kernel.module.native is None or kernel.module.context is not queue.context or kernel.device is not queue.device:
        _refuse(queue, kernel)
    shape = kernel.shapes.get((global_size, local_size)) or kernel.shape(global_size, local_size)
    if not kernel.takes(arguments):
        kernel.require(arguments)
    return launch_shape(queue, kernel, shape, arguments, waits)


def launch_shape(
    queue: Queue, kernel: Kernel, shape: Shape, arguments: Sequence[bytes | int], waits: Sequence[Event]
) -> Event:
    """Runs a kernel over a range that is checked already."""
    if not (waits or queue.handle is None):
        return _submit(queue, kernel, shape, arguments)

    def command(handle: Any, count: int, events: Any, slot: Any) -> int:
        with kernel.lock:
            result = kernel.prepare(arguments)
            if result == SUCCESS:
                result = _enqueue(
                    handle, kernel.native, shape.dimensions, _NULL, shape.whole, shape.group, count, events, slot
                )
            return int(result)

    return queue.run(command, _CALL, waits, f"kernel {kernel.name!r}")


def _submit(queue: Queue, kernel: Kernel, shape: Shape, arguments: Sequence[bytes | int]) -> Event:
    """What ``launch_shape`` does, for a launch that waits for nothing."""
    refuse_in_fork()
    slot = _new_event()
    with kernel.lock:
        result = kernel.prepare(arguments)
        if result == SUCCESS:
            result = _enqueue(
                queue.handle, kernel.native, shape.dimensions, _NULL, shape.whole, shape.group, 0, _NULL, slot
            )
    if result != SUCCESS:
        fail(result, _CALL, f"kernel {kernel.name!r}")
    return queue.note(Event(slot[0], _CALL, queue.profiling))


def prepare_launch(
    queue: Queue,
    kernel: Kernel,
    global_size: tuple[int, ...],
    local_size: tuple[int, ...] | None,
    arguments: Sequence[bytes | int],
) -> Callable[[], Event] | None:
    """A launch to be repeated; see the contract."""
    if not queue.in_order:
        return None
    shape = kernel.shape(global_size, local_size)
    kernel.require(arguments)
    values = tuple(arguments)
    return lambda: launch_shape(queue, kernel, shape, values, ())


def _refuse(queue: Queue, kernel: Kernel) -> NoReturn:
    if kernel.module.native is None:
        raise InvalidError(f"kernel {kernel.name!r} belongs to a module that was released", backend="opencl")
    raise InvalidError(
        f"kernel {kernel.name!r} was loaded for {kernel.device!r}, the queue is of {queue.device!r}, or of another "
        "context: load it there",
        backend="opencl",
    )
