"""Kernel launches, with as few Python calls as possible."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NoReturn

from ...drivers import cuda as driver
from ...model.enums import Errc
from ...model.errors import InvalidError
from ..contract.prepared_command import PreparedCommand
from .errors import SUCCESS, check, fail
from .event import Event, NativeEvent
from .fork_guard import refuse_in_fork
from .kernel import Kernel, Packing, Shape
from .queue import Queue
from .stream import Stream

__all__ = ["launch", "launch_packed", "prepare_launch", "prepare_packed"]

lib, ffi = driver.lib, driver.ffi

_NULL = ffi.NULL
_launch, _record = lib.bindless_launch, lib.bindless_record
_SUBMIT = int(ffi.cast("uintptr_t", ffi.addressof(lib, "bindless_launch")))


def launch(
    queue: Queue,
    kernel: Kernel,
    global_size: tuple[int, ...],
    local_size: tuple[int, ...] | None,
    arguments: Sequence[bytes | int],
    waits: Sequence[Event] = (),
) -> Event:
    """Run a kernel; see the contract. The shapes of earlier launches and the layout of their arguments are cached."""
    shape = kernel.shapes.get((global_size, local_size)) or kernel.shape(global_size, local_size)
    if kernel.primary is not queue.primary or kernel.module.native is None:
        _refuse(queue, kernel)
    if not arguments and not kernel.sizes:
        return _submit(queue, kernel, shape, 0, _NULL, waits)
    shared = 0
    try:
        packed = b"".join(arguments)  # type: ignore[arg-type]
        values: Sequence[bytes] = arguments  # type: ignore[assignment]
    except TypeError:
        values, shared = kernel.arguments(arguments)
        packed = b"".join(values)
        queue.primary.activate()
        kernel.allow_shared(shared)
    if len(packed) == kernel.total and len(values) == len(kernel.free.sizes):
        sizes = kernel.free.sizes
    else:
        sizes = tuple(map(len, values))
    return launch_packed(queue, kernel, shape, sizes, packed, waits, shared)


def launch_packed(
    queue: Queue,
    kernel: Kernel,
    shape: Shape,
    sizes: tuple[int, ...],
    packed: bytes,
    waits: Sequence[Event],
    shared: int = 0,
) -> Event:
    """Run a kernel with packed arguments of the given sizes."""
    free = kernel.free
    if sizes is not free.sizes and sizes != free.sizes:
        free = kernel.packings(sizes)
    try:
        packing = free.pop()
    except IndexError:
        packing = Packing(sizes)
    packing.bytes[:] = packed
    event = _submit(queue, kernel, shape, shared, packing.pointers, waits)
    free.append(packing)
    return event


def _submit(queue: Queue, kernel: Kernel, shape: Shape, shared: int, pointers: Any, waits: Sequence[Event]) -> Event:
    streams = queue.untimed
    if streams is None or waits:
        return queue.run(
            lambda native: lib.cuLaunchKernel(kernel.native, *shape, shared, native, pointers, _NULL),
            "cuLaunchKernel",
            waits,
            f"kernel {kernel.name!r}",
        )
    stream = next(streams)
    with stream.lock:
        if stream.pending is not None and stream.is_kept():
            queue.primary.activate()
            stream.before(())
        described = stream.launch
        # Again, where a finalizer has launched another kernel meanwhile. From the last comparison to the call nothing
        # allocates and no Python function begins, so none runs there.
        while stream.launched is not shape or stream.parameters is not pointers or stream.shared != shared:
            if stream.launched is not shape:  # each kernel has its own objects for its shapes
                stream.launched = None
                described.function, described.grid, described.block = kernel.native, shape[:3], shape[3:]
                if stream.launched is None:  # else the finalizer's launch has described itself in between
                    stream.launched = shape
            if stream.parameters is not pointers:
                stream.parameters = described.parameters = pointers
            if stream.shared != shared:
                stream.shared = described.shared = shared
        result = _launch(described)
        if result == SUCCESS:
            return stream.after()
    refuse_in_fork()
    _refused(result, kernel, shape, shared)


def prepare_launch(
    queue: Queue,
    kernel: Kernel,
    global_size: tuple[int, ...],
    local_size: tuple[int, ...] | None,
    arguments: Sequence[bytes | int],
) -> PreparedCommand | None:
    """Prepare a launch for repetition; see the contract."""
    if queue.untimed is None or (kernel.sizes and not arguments):
        return None
    shape = kernel.shape(global_size, local_size)
    values, shared = kernel.arguments(arguments)
    lengths = tuple(map(len, values))
    direct, first = _prepare(queue, kernel, shape, lengths, b"".join(values), shared)
    ends = itertools.accumulate(lengths)
    places = iter([first + end - length for length, end in zip(lengths, ends)])
    listed = len(values) == len(arguments)  # Otherwise local memory is not a parameter.
    return replace(
        direct,
        places=tuple(next(places) if listed or isinstance(given, bytes) else None for given in arguments),
        sizes=tuple(len(given) if isinstance(given, bytes) else 0 for given in arguments),
    )


def prepare_packed(
    queue: Queue, kernel: Kernel, shape: Shape, sizes: tuple[int, ...], packed: bytes
) -> PreparedCommand:
    """Prepare a launch for repetition with packed arguments, as ``launch_packed`` takes them."""
    return _prepare(queue, kernel, shape, sizes, packed, 0)[0]


def _prepare(
    queue: Queue, kernel: Kernel, shape: Shape, sizes: tuple[int, ...], packed: bytes, shared: int
) -> tuple[PreparedCommand, int]:
    """The prepared launch with constant arguments, and the address of the first one."""
    packing = Packing(sizes)
    packing.bytes[:] = packed
    described = ffi.new("bindless_launch_t[]", len(queue.ordered))
    for one, stream in zip(described, queue.ordered):
        one.context, one.stream, one.function = queue.primary.handle, stream.handle, kernel.native
        one.grid, one.block = shape[:3], shape[3:]
        one.parameters, one.shared = packing.pointers, shared

    primary = queue.primary

    def settle(stream: Stream) -> None:
        with stream.lock:
            event = stream.pending
            if event is not None and event.index > stream.done:
                if not primary.events[False]:
                    primary.activate()
                native = NativeEvent(primary, False)
                result = _record(primary.handle, native.handle, stream.handle)
                if result != SUCCESS:
                    refuse_in_fork()
                    fail(result, "cuEventRecord")
                event.native = native
            stream.pending = None

    def refused(result: int) -> NoReturn:
        refuse_in_fork()
        _refused(result, kernel, shape, shared)

    direct = PreparedCommand(
        submit=_SUBMIT,
        descriptions=tuple(int(ffi.cast("uintptr_t", described + at)) for at in range(len(queue.ordered))),
        lanes=queue.ordered,
        mark=Event,
        places=(),
        sizes=(),
        settle=settle,
        refused=refused,
        keep=(packing, described, kernel),
    )
    return direct, int(ffi.cast("uintptr_t", packing.storage))


def _refuse(queue: Queue, kernel: Kernel) -> NoReturn:
    if kernel.module.native is None:
        raise InvalidError(f"kernel {kernel.name!r} belongs to a module that was released", backend="cuda")
    raise InvalidError(
        f"kernel {kernel.name!r} was loaded for {kernel.device!r}, the queue is of {queue.device!r}", backend="cuda"
    )


def _refused(result: int, kernel: Kernel, shape: Shape, shared: int) -> NoReturn:
    details = (
        f"kernel {kernel.name!r} with {shape[:3]} work-groups of {shape[3:]} work-items, {shared} bytes of local memory"
    )
    if result in (lib.CUDA_ERROR_INVALID_VALUE, lib.CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES):
        check(result, "cuLaunchKernel", details, Errc.nd_range)
    fail(result, "cuLaunchKernel", details)
