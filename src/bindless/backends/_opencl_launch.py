"""Launching kernels: the path that is kept short."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from ..drivers import opencl as driver
from ..model.errors import InvalidError
from ._opencl_errors import SUCCESS, fail
from ._opencl_event import Event, array_of
from ._opencl_fork import refuse_in_fork
from ._opencl_kernel import Kernel
from ._opencl_queue import Queue

__all__ = ["launch", "launch_shape", "prepare_launch"]

lib, ffi = driver.lib, driver.ffi

_NULL = ffi.NULL
_OTHER_ADDRESS = lib.BINDLESS_OTHER_ADDRESS
_CALL = "clEnqueueNDRangeKernel"
_launch = lib.bindless_launch


def launch(
    queue: Queue,
    kernel: Kernel,
    global_size: tuple[int, ...],
    local_size: tuple[int, ...] | None,
    arguments: Sequence[bytes | int],
    waits: Sequence[Event] = (),
) -> Event:
    """Runs a kernel; see the contract. Sizes that were launched before are remembered."""
    if kernel.module.native is None or kernel.context is not queue.context or kernel.device is not queue.device:
        _refuse(queue, kernel)
    shape = kernel.shapes.get((global_size, local_size)) or kernel.shape(global_size, local_size)
    return launch_shape(queue, kernel, shape, arguments, waits)


def launch_shape(
    queue: Queue, kernel: Kernel, shape: Any, arguments: Sequence[bytes | int], waits: Sequence[Event] = ()
) -> Event:
    """Runs a kernel over a range that is checked already, a ``bindless_range_t``."""
    packed = kernel.packed(arguments)
    if packed is None:
        kernel.require(arguments)
    direct = packed if kernel.set.direct else None
    return _submit(queue, kernel, shape, arguments, direct, waits)


def _submit(
    queue: Queue,
    kernel: Kernel,
    shape: Any,
    arguments: Sequence[bytes | int],
    packed: Any,
    waits: Sequence[Event] = (),
) -> Event:
    """Runs a kernel; ``packed`` are the bytes of its arguments, None where they are set one by one."""
    handle = queue.handle
    if handle is None:
        queue.refuse()
    refuse_in_fork()
    count, events = (len(waits), array_of(waits)) if waits else (0, _NULL)
    known = kernel.set
    with kernel.lock:
        if packed is None or known.generation != kernel.context.generation:
            _set(kernel, arguments)
            packed = _NULL
        event = _launch(known.described, handle, shape, packed, count, events)
        if not event and known.described.result == _OTHER_ADDRESS:
            _set(kernel, arguments)
            event = _launch(known.described, handle, shape, _NULL, count, events)
        if not event:
            fail(known.described.result, _CALL, f"kernel {kernel.name!r}")
    return queue.note(Event(event, _CALL, queue.profiling))


def _set(kernel: Kernel, arguments: Sequence[bytes | int]) -> None:
    result = kernel.prepare(arguments)
    if result != SUCCESS:
        fail(result, _CALL, f"kernel {kernel.name!r}")


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
    values = list(arguments)
    found = kernel.packed(values) if kernel.set.direct else None
    packed = None if found is None else ffi.new("char[]", found)

    def again() -> Event:
        return _submit(queue, kernel, shape, values, packed)

    def patch(index: int, value: bytes) -> None:
        if packed is not None:
            ffi.memmove(packed + sum(map(len, values[:index])), value, len(value))  # type: ignore[arg-type]
        values[index] = value

    again.patch = patch  # type: ignore[attr-defined]
    return again


def _refuse(queue: Queue, kernel: Kernel) -> NoReturn:
    if kernel.module.native is None:
        raise InvalidError(f"kernel {kernel.name!r} belongs to a module that was released", backend="opencl")
    raise InvalidError(
        f"kernel {kernel.name!r} was loaded for {kernel.device!r}, the queue is of {queue.device!r}, or of another "
        "context: load it there",
        backend="opencl",
    )
