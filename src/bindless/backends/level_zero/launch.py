"""Kernel launches."""

from __future__ import annotations

from collections.abc import Sequence

from ...drivers import level_zero as driver
from ...drivers.common.cffi_types import CData
from ...model.errors import InvalidError
from ..common.kernel import refuse_kernel
from ..contract.prepared_command import PreparedCommand
from .event import Event
from .kernel import Kernel
from .prepared_command import address_of, prepared
from .queue import Queue

__all__ = ["Launch", "launch", "launch_with_offset", "prepare", "prepare_launch", "require_kernel", "submit"]

lib, ffi = driver.lib, driver.ffi

_NULL = ffi.NULL
_SUBMIT = address_of(ffi.addressof(lib, "bindless_launch"))
_NO_OFFSET = (0, 0, 0)


class Launch:
    """A launch with its arguments, as a command for any list.

    Parameters
    ----------
    group
        work-items of a work-group by dimension.
    groups
        ze_group_count_t.
    streams
        number of streams that the launch is prepared for.

    Attributes
    ----------
    kernel
        kernel of the launch.
    call
        the driver's function, for errors.
    described
        bindless_launch_t of each stream.
    places
        address of the bytes of each argument; None for local memory.
    """

    def __init__(
        self,
        kernel: Kernel,
        group: tuple[int, int, int],
        groups: CData,
        arguments: Sequence[bytes | int],
        *,
        way: int = lib.BINDLESS_PLAIN,
        call: str = "zeCommandListAppendLaunchKernel",
        offset: tuple[int, int, int] = _NO_OFFSET,
        streams: int = 1,
    ) -> None:
        if kernel.packed(arguments) is None:
            kernel.require(arguments)
        self.kernel, self.call, self._groups = kernel, call, groups
        data, starts = b"", []
        for at, value in enumerate(arguments):
            starts.append(len(data))
            if not isinstance(value, int):
                data += kernel.bytes_of(at, value) if kernel.has_objects else value
        self._bytes = ffi.new("char[]", data)
        self._settings = ffi.new("bindless_setting_t[]", len(starts))
        self.places: list[CData] = []
        first = int(ffi.cast("uintptr_t", self._bytes))
        for setting, value, start in zip(self._settings, arguments, starts):
            if isinstance(value, int):
                setting.size = value
                self.places.append(None)
            else:
                setting.size, setting.value = len(value), self._bytes + start
                self.places.append(first + start)
        self.described = ffi.new("bindless_launch_t[]", streams)
        for one in self.described:
            one.kernel, one.way, one.groups, one.group, one.offset = kernel.state, way, groups, group, offset
            one.count, one.settings = len(starts), self._settings

    def __call__(self, own: CData, signal: CData, count: int, waits: CData) -> int:
        return lib.bindless_append_launch(self.described, own, signal, count, waits)


def submit(queue: Queue, launch: Launch, waits: Sequence[Event]) -> Event:
    """Submit a launch once."""
    return queue.run(launch, launch.call, waits, f"kernel {launch.kernel.name!r}")


def prepare(queue: Queue, launch: Launch, places: tuple[int | None, ...], sizes: tuple[int, ...]) -> PreparedCommand:
    """A launch that is described for each of the queue's ordered streams, for repetition."""
    details = f"kernel {launch.kernel.name!r}"
    return prepared(queue.ordered, _SUBMIT, launch.described, places, sizes, launch.call, details, launch)


def require_kernel(queue: Queue, kernel: Kernel) -> None:
    """Refuse a kernel of a released module, or of another device or context than the queue."""
    if kernel.module.native is None or kernel.module.context.native is not queue.context.native:
        refuse_kernel(kernel, queue)
    if kernel.device is not queue.device:
        refuse_kernel(kernel, queue)


def launch(
    queue: Queue,
    kernel: Kernel,
    global_size: tuple[int, ...],
    local_size: tuple[int, ...] | None,
    arguments: Sequence[bytes | int],
    waits: Sequence[Event] = (),
) -> Event:
    """Run a kernel; see the contract."""
    require_kernel(queue, kernel)
    shape = kernel.shape(global_size, local_size)
    return submit(queue, Launch(kernel, shape.group, shape.count, arguments), waits)


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
    require_kernel(queue, kernel)
    if max(offset) >= 2**32:
        raise InvalidError(f"offset={offset}: Level Zero has offsets below 2**32", backend="level_zero")
    queue.context.driver.require("zeKernelSetGlobalOffsetExp", "1.1")
    shape = kernel.shape(global_size, local_size)
    x, y, z = (*offset, 0, 0)[:3]
    return submit(queue, Launch(kernel, shape.group, shape.count, arguments, offset=(x, y, z)), waits)


def prepare_launch(
    queue: Queue,
    kernel: Kernel,
    global_size: tuple[int, ...],
    local_size: tuple[int, ...] | None,
    arguments: Sequence[bytes | int],
) -> PreparedCommand | None:
    """Prepare a launch for repetition; see the contract.

    None for events with timestamps, and for arguments whose driver objects change.
    """
    if queue.profiling or kernel.has_objects:
        return None
    shape = kernel.shape(global_size, local_size)
    launch = Launch(kernel, shape.group, shape.count, arguments, streams=len(queue.ordered))
    sizes = tuple([0 if isinstance(value, int) else len(value) for value in arguments])
    return prepare(queue, launch, tuple(launch.places), sizes)
