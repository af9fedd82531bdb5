"""Kernel launches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...drivers import level_zero as driver
from ...model.errors import InvalidError
from ..common.kernel import refuse_kernel
from .errors import SUCCESS, fail
from .event import Event
from .fork_guard import refuse_in_fork
from .kernel import Kernel, Shape
from .queue import Queue
from .stream import Stream

__all__ = ["launch", "launch_shape", "launch_with_offset", "prepare_launch"]

lib, ffi = driver.lib, driver.ffi

_NULL = ffi.NULL


def launch(
    queue: Queue,
    kernel: Kernel,
    global_size: tuple[int, ...],
    local_size: tuple[int, ...] | None,
    arguments: Sequence[bytes | int],
    waits: Sequence[Event] = (),
) -> Event:
    """Run a kernel; see the contract. The shapes of earlier launches are cached."""
    if kernel.module.native is None or kernel.module.context.native is not queue.context.native:
        refuse_kernel(kernel, queue)
    if kernel.device is not queue.device:
        refuse_kernel(kernel, queue)
    shape = kernel.shapes.get((global_size, local_size)) or kernel.shape(global_size, local_size)
    if kernel.packed(arguments) is None:
        kernel.require(arguments)
    if waits or queue.profiling or queue.closed:
        return launch_shape(queue, kernel, shape, arguments, waits)
    return _submit(queue.stream(), kernel, shape, arguments)


def launch_shape(
    queue: Queue, kernel: Kernel, shape: Shape, arguments: Sequence[bytes | int], waits: Sequence[Event]
) -> Event:
    """Run a kernel over a range that is divided already."""

    return queue.run(
        lambda own, *events: _append(own, kernel, shape, arguments, *events),
        "zeCommandListAppendLaunchKernel",
        waits,
        f"kernel {kernel.name!r}",
    )


def launch_with_offset(
    queue: Queue,
    kernel: Kernel,
    global_size: tuple[int, ...],
    local_size: tuple[int, ...] | None,
    offset: tuple[int, ...],
    arguments: Sequence[bytes | int],
    waits: Sequence[Event] = (),
) -> Event:
    """See ``OffsetProtocol``: the offset is set on the kernel during the append only."""
    if kernel.module.native is None or kernel.module.context.native is not queue.context.native:
        refuse_kernel(kernel, queue)
    if kernel.device is not queue.device:
        refuse_kernel(kernel, queue)
    if max(offset) >= 2**32:
        raise InvalidError(f"offset={offset}: Level Zero has offsets below 2**32", backend="level_zero")
    queue.context.driver.require("zeKernelSetGlobalOffsetExp", "1.1")
    shape = kernel.shape(global_size, local_size)
    kernel.require(arguments)

    x, y, z = (*offset, 0, 0)[:3]
    return queue.run(
        lambda own, signal, count, array: _append(own, kernel, shape, arguments, signal, count, array, (x, y, z)),
        "zeCommandListAppendLaunchKernel",
        waits,
        f"kernel {kernel.name!r}",
    )


def _submit(stream: Stream, kernel: Kernel, shape: Shape, arguments: Sequence[bytes | int]) -> Event:
    """``launch_shape`` for a launch without dependencies and timestamps."""
    refuse_in_fork()
    lists = stream.lists
    with stream.lock:
        if stream.pending is None or stream.closed or stream.is_kept():
            stream.before(())
        number = stream.begin()
        if not lists.is_direct:
            result = lists.run(lambda own, *events: _append(own, kernel, shape, arguments, *events))
        else:
            call = lib.zeCommandListAppendLaunchKernel
            where = lists.handle, kernel.native, shape.count, _NULL, 0, _NULL
            result = kernel.append(shape.group, arguments, call, *where)
        if result == SUCCESS:
            return stream.after(number)
    fail(result, "zeCommandListAppendLaunchKernel", f"kernel {kernel.name!r}")


def _append(
    own: Any,
    kernel: Kernel,
    shape: Shape,
    arguments: Sequence[bytes | int],
    signal: Any,
    count: int,
    array: Any,
    offset: tuple[int, int, int] = (0, 0, 0),
) -> int:
    where = own, kernel.native, shape.count, signal, count, array
    return kernel.append(shape.group, arguments, lib.zeCommandListAppendLaunchKernel, *where, offset=offset)


def prepare_launch(
    queue: Queue,
    kernel: Kernel,
    global_size: tuple[int, ...],
    local_size: tuple[int, ...] | None,
    arguments: Sequence[bytes | int],
) -> Callable[[], Event] | None:
    """Prepare a launch for repetition; see the contract."""
    if not queue.in_order or queue.profiling:
        return None
    shape = kernel.shape(global_size, local_size)
    kernel.require(arguments)
    stream = queue.stream()
    return lambda: _submit(stream, kernel, shape, arguments)
