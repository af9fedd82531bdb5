"""Launching kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from ..drivers import level_zero as driver
from ..model.errors import InvalidError
from ._level_zero_errors import SUCCESS
from ._level_zero_event import Event
from ._level_zero_kernel import Kernel, Shape
from ._level_zero_queue import Queue

__all__ = ["launch", "launch_shape", "prepare_launch"]

lib, ffi = driver.lib, driver.ffi


def launch(
    queue: Queue,
    kernel: Kernel,
    global_size: tuple[int, ...],
    local_size: tuple[int, ...] | None,
    arguments: Sequence[bytes | int],
    waits: Sequence[Event] = (),
) -> Event:
    """Runs a kernel; see the contract. Sizes that were launched before are remembered."""
    if kernel.module.native is None or kernel.module.context.native is not queue.context.native:
        _refuse(queue, kernel)
    if kernel.device is not queue.device:
        _refuse(queue, kernel)
    shape = kernel.shapes.get((global_size, local_size)) or kernel.shape(global_size, local_size)
    kernel.require(arguments)
    return launch_shape(queue, kernel, shape, arguments, waits)


def launch_shape(
    queue: Queue, kernel: Kernel, shape: Shape, arguments: Sequence[bytes | int], waits: Sequence[Event]
) -> Event:
    """Runs a kernel over a range that is divided already."""

    def command(own: Any, signal: Any, count: int, array: Any) -> int:
        with kernel.lock:
            result = kernel.prepare(shape.group, arguments)
            if result == SUCCESS:
                result = lib.zeCommandListAppendLaunchKernel(own, kernel.native, shape.count, signal, count, array)
            return int(result)

    return queue.run(command, "zeCommandListAppendLaunchKernel", waits, f"kernel {kernel.name!r}")


def prepare_launch(
    queue: Queue,
    kernel: Kernel,
    global_size: tuple[int, ...],
    local_size: tuple[int, ...] | None,
    arguments: Sequence[bytes | int],
) -> Callable[[], Event] | None:
    """A launch to be repeated; see the contract."""
    if not queue.in_order or queue.profiling:
        return None
    shape = kernel.shape(global_size, local_size)
    kernel.require(arguments)
    return lambda: launch_shape(queue, kernel, shape, arguments, ())


def _refuse(queue: Queue, kernel: Kernel) -> NoReturn:
    if kernel.module.native is None:
        raise InvalidError(f"kernel {kernel.name!r} belongs to a module that was released", backend="level_zero")
    raise InvalidError(
        f"kernel {kernel.name!r} was loaded for {kernel.device!r}, the queue is of {queue.device!r}, or of another "
        "context: load it there",
        backend="level_zero",
    )
