"""Kernel launches: one record of kernel, shape and packed arguments, submitted once or prepared for repetition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, NoReturn

from ...drivers import cuda as driver
from ...drivers.common.cffi_types import CData
from ...model.enums import Errc
from ...model.errors import InvalidError
from ..contract.prepared_command import PreparedCommand
from .errors import SUCCESS, check, fail
from .event import Event
from .fork_guard import refuse_in_fork
from .kernel import Kernel, Shape
from .prepared_command import prepared_command
from .queue import Queue

__all__ = ["Launch", "launch", "launch_of", "packed_launch", "prepare", "prepare_launch", "submit"]

lib, ffi = driver.lib, driver.ffi


class Launch(NamedTuple):
    """One launch, of any stream of the kernel's device.

    Attributes
    ----------
    shared
        bytes of dynamic shared memory.
    storage
        ``char[]``, the arguments one after another. The driver copies each argument during the call, byte by byte, so
        no argument needs an alignment.
    pointers
        ``void *[]``, to each argument.
    native
        CUfunction.
    """

    kernel: Kernel
    shape: Shape
    shared: int
    storage: CData
    pointers: CData
    native: CData

    @property
    def members(self) -> tuple[object, ...]:
        """The members of its ``bindless_launch_t`` after CUcontext and CUstream."""
        shape = self.shape
        return self.native, shape[:3], shape[3:], self.shared, self.pointers

    def refused(self, result: int) -> NoReturn:
        """Raise the driver's error."""
        refuse_in_fork()
        kernel, shape, shared = self[:3]
        details = (
            f"kernel {kernel.name!r} with {shape[:3]} work-groups of {shape[3:]} work-items, {shared} bytes of local "
            "memory"
        )
        if result in (lib.CUDA_ERROR_INVALID_VALUE, lib.CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES):
            check(result, "cuLaunchKernel", details, Errc.nd_range)
        fail(result, "cuLaunchKernel", details)


def packed_launch(
    kernel: Kernel, shape: Shape, sizes: Sequence[int], packed: bytes, shared: int = 0, native: CData = None
) -> Launch:
    """A launch with packed arguments of the given sizes, of the kernel or of another CUfunction made of it."""
    storage = ffi.new("char[]", len(packed) + 1)
    ffi.memmove(storage, packed, len(packed))
    pointers = ffi.new("void *[]", len(sizes))
    at = storage
    for index, size in enumerate(sizes):
        pointers[index] = at
        at += size
    return Launch(kernel, shape, shared, storage, pointers, kernel.native if native is None else native)


def launch_of(
    queue: Queue,
    kernel: Kernel,
    global_size: tuple[int, ...],
    local_size: tuple[int, ...] | None,
    arguments: Sequence[bytes | int],
) -> Launch:
    """The launch of a kernel with the contract's arguments.

    Raises
    ------
    InvalidError
        the kernel is of another device or of a released module, or its parameters have other sizes than the arguments:
        the driver would read beyond the arguments.
    NdRangeError
        the device cannot run the range.
    """
    if kernel.module.native is None:
        raise InvalidError(f"kernel {kernel.name!r} belongs to a module that was released", backend="cuda")
    if kernel.primary is not queue.primary:
        raise InvalidError(
            f"kernel {kernel.name!r} was loaded for {kernel.device!r}, the queue is of {queue.device!r}", backend="cuda"
        )
    values: Sequence[bytes] = arguments  # type: ignore[assignment]
    shared, has_local = 0, int in map(type, arguments)
    guarded = None if local_size is not None or has_local or queue.capturing else kernel.guarded(global_size)
    shape = kernel.shape(global_size, local_size) if guarded is None else guarded.shape
    if has_local:
        values, shared = kernel.arguments(arguments)
    sizes = tuple(map(len, values))
    if kernel.sizes is not None and sizes != kernel.sizes:
        raise InvalidError(
            f"kernel {kernel.name!r} has parameters of {list(kernel.sizes)} bytes, the arguments have {list(sizes)}",
            backend="cuda",
        )
    if shared:
        queue.primary.activate()
        kernel.allow_shared(shared)
    if guarded is not None:
        packed = b"".join((*values, guarded.argument))
        return packed_launch(kernel, shape, (*sizes, len(guarded.argument)), packed, native=guarded.native)
    return packed_launch(kernel, shape, sizes, b"".join(values), shared)


def launch(
    queue: Queue,
    kernel: Kernel,
    global_size: tuple[int, ...],
    local_size: tuple[int, ...] | None,
    arguments: Sequence[bytes | int],
    waits: Sequence[Event] = (),
) -> Event:
    """Run a kernel; see the contract."""
    return submit(queue, launch_of(queue, kernel, global_size, local_size, arguments), waits)


def submit(queue: Queue, launch: Launch, waits: Sequence[Event] = ()) -> Event:
    """Submit a launch."""
    _, shape, shared, _, pointers, native = launch

    def command(stream: CData) -> int:
        result: int = lib.cuLaunchKernel(native, *shape, shared, stream, pointers, ffi.NULL)
        if result != SUCCESS:
            launch.refused(result)
        return result

    return queue.run(command, "cuLaunchKernel", waits)


def prepare_launch(
    queue: Queue,
    kernel: Kernel,
    global_size: tuple[int, ...],
    local_size: tuple[int, ...] | None,
    arguments: Sequence[bytes | int],
) -> PreparedCommand | None:
    """Prepare a launch for repetition; see the contract."""
    if kernel.sizes and not arguments:
        return None
    launch = launch_of(queue, kernel, global_size, local_size, arguments)
    places: list[int | None] = []
    sizes: list[int] = []
    listed, at = len(launch.pointers) >= len(arguments), 0  # Otherwise local memory is not a parameter.
    for argument in arguments:
        is_value = isinstance(argument, bytes)
        places.append(int(ffi.cast("uintptr_t", launch.pointers[at])) if listed or is_value else None)
        sizes.append(len(argument) if isinstance(argument, bytes) else 0)
        at += listed or is_value
    return prepare(queue, launch, tuple(places), tuple(sizes))


def prepare(
    queue: Queue, launch: Launch, places: tuple[int | None, ...] = (), sizes: tuple[int, ...] = ()
) -> PreparedCommand | None:
    """Prepare a launch for repetition; None if the queue prepares no commands."""
    fields, struct = launch.members, "bindless_launch_t"
    return prepared_command(queue, "bindless_launch", struct, fields, launch.refused, launch, places, sizes)
