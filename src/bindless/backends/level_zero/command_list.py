"""Submission of in-order commands: through an immediate command list, or through regular ones.

``Lists.run(command)`` submits a command. A command is a function that appends to a list: ``command(list, signal, count,
waits)``. Its last three arguments are those of every zeCommandListAppend function, and it returns the driver's result.

An immediate list submits each command by itself, which is fastest. Regular lists take one command each; the list is
closed and executed in a command queue, and a fence signals when the list is free again. Regular lists
(``no_immediate_command_list``) serve tools and drivers that support them better.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from ...drivers import level_zero as driver
from ...drivers.common.cffi_types import CData
from ..contract.low_level import QueueGroup
from .device import Device
from .errors import NOT_READY, SUCCESS, check, release

__all__ = ["ClosedList", "Command", "ImmediateList", "Lists", "RegularLists", "in_sequence"]

lib, ffi = driver.lib, driver.ffi

Command = Callable[[CData, CData, int, CData], int]

_NULL = ffi.NULL

_WAIT_SLICE = 50_000_000  # nanoseconds


def in_sequence(parts: Sequence[Command]) -> Command:
    """Several commands as one: the first waits, the last signals when all are complete."""
    if len(parts) == 1:
        return parts[0]

    def command(own: CData, signal: CData, count: int, waits: CData) -> int:
        result = parts[0](own, _NULL, count, waits)
        for part in parts[1:-1]:
            result = result or part(own, _NULL, 0, _NULL)
        result = result or lib.zeCommandListAppendBarrier(own, _NULL, 0, _NULL)
        return result or parts[-1](own, signal, 0, _NULL)

    return command


class ClosedList:
    """The command that executes a closed regular list.

    Parameters
    ----------
    places
        slots of the list's handle and fence.
    append
        zeCommandListImmediateAppendCommandListsExp; None without that driver function, and for execution in command
        queues only.
    """

    def __init__(self, places: CData, append: Callable[..., int] | None) -> None:
        self.places, self._append = places, append

    def __call__(self, own: CData, signal: CData, count: int, waits: CData) -> int:
        assert self._append is not None
        return int(self._append(own, 1, self.places, signal, count, waits))


def _nothing(own: CData, signal: CData, count: int, waits: CData) -> int:
    return int(lib.zeCommandListAppendBarrier(own, signal, count, waits))


def _queue_desc(device: Device, group: QueueGroup, engine: int) -> CData:
    flags = lib.ZE_COMMAND_QUEUE_FLAG_IN_ORDER if device.driver.keeps_order else 0
    return driver.make_struct(
        "ze_command_queue_desc_t",
        ordinal=group.ordinal,
        index=engine % group.engines,
        flags=flags,
        mode=lib.ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
    )


class Lists:
    """The submission of a stream's commands: the members that C code uses.

    Attributes
    ----------
    native
        bindless_lists_t.
    handle
        command list, or command queue.
    """

    def __init__(self, handle: CData, **members: object) -> None:
        self.handle = handle
        self.native = ffi.new("bindless_lists_t *", members)

    def run(self, command: Command, signal: CData = _NULL, count: int = 0, waits: CData = _NULL) -> int:
        """Submit a command, which runs after all earlier ones."""
        if not self.native.barrier:  # One list takes all commands, and keeps their order.
            return command(self.handle, signal, count, waits)
        opened = ffi.new("bindless_open_t *")
        result = lib.bindless_begin(self.native, opened)
        if result == SUCCESS:
            result = command(opened.list, signal, count, waits)
        return lib.bindless_end(self.native, opened, result)

    def tidy(self) -> None:
        """Let the driver release the resources of completed work."""

    def forgive(self) -> None:
        """Clear a reported failure in the driver."""

    def close(self) -> None:
        """Release the owned objects; their work is complete."""


def _ask_until_over(synchronize: Callable[[CData, int], int], handle: CData) -> None:
    """Repeat a synchronisation until the work is over: the driver reports a failure a moment after the event that was
    waited for. Later work is not waited for.
    """
    for _ in range(100):
        if synchronize(handle, 0) != NOT_READY:
            return
        time.sleep(1e-5)


class ImmediateList(Lists):
    """An immediate command list.

    Parameters
    ----------
    in_order
        whether the driver keeps the order; otherwise barriers keep it.
    owned
        whether ``close`` destroys it.
    """

    def __init__(self, device: Device, handle: CData, in_order: bool, owned: bool) -> None:
        super().__init__(handle, list=handle, in_order=in_order, barrier=not in_order)
        self.owned = owned
        self._synchronize = device.driver.function("zeCommandListHostSynchronize")

    @classmethod
    def create(cls, context: CData, device: Device, group: QueueGroup, engine: int) -> ImmediateList:
        """A new list."""
        return cls(device, cls._create(context, device, group, engine), device.driver.keeps_order, True)

    @classmethod
    def around(cls, device: Device, handle: CData, owned: bool) -> ImmediateList:
        """Adopt a list of another owner, of any order: barriers keep the order."""
        return cls(device, handle, False, owned)

    @staticmethod
    def _create(context: CData, device: Device, group: QueueGroup, engine: int) -> CData:
        slot = ffi.new("ze_command_list_handle_t *")
        desc = _queue_desc(device, group, engine)
        check(
            lib.zeCommandListCreateImmediate(context, device.handle, desc, slot),
            "zeCommandListCreateImmediate",
            f"group {group.ordinal} of {device.name}",
        )
        return slot[0]

    def tidy(self) -> None:
        """Let the driver release the resources of completed work; see ``RegularLists``."""
        if self._synchronize is not None:
            self._synchronize(self.handle, 0)

    def forgive(self) -> None:
        """Clear a reported failure in the driver, which would report it again for all later work."""
        if self._synchronize is not None:
            _ask_until_over(self._synchronize, self.handle)

    def close(self) -> None:
        """Destroy it; its work is complete."""
        if self.owned:
            release(lib.zeCommandListDestroy(self.handle), "zeCommandListDestroy")


class RegularLists(Lists):
    """A command queue and the regular command lists that it executes, one list per command.

    Attributes
    ----------
    handle
        ze_command_queue_handle_t.
    ordinal
        ordinal of its group of engines.
    owned
        whether it is destroyed at the end.
    """

    def __init__(self, context: CData, device: Device, ordinal: int, handle: CData, owned: bool) -> None:
        members = {"queue": handle, "context": context, "device": device.handle, "ordinal": ordinal, "barrier": True}
        super().__init__(handle, **members)
        self.ordinal = ordinal
        self.owned = owned
        # Slots of the list and the fence of another owner, and those of them that nobody uses after their execution.
        self._adopted: list[tuple[CData, CData]] = []
        self._left: list[tuple[CData, CData]] = []

    @classmethod
    def create(cls, context: CData, device: Device, group: QueueGroup, engine: int) -> RegularLists:
        """A new command queue."""
        return cls(context, device, group.ordinal, cls._create(context, device, group, engine), True)

    @classmethod
    def around(cls, context: CData, device: Device, ordinal: int, handle: CData, owned: bool) -> RegularLists:
        """Adopt a command queue of another owner, for the engine group of the ordinal."""
        return cls(context, device, ordinal, handle, owned)

    @staticmethod
    def _create(context: CData, device: Device, group: QueueGroup, engine: int) -> CData:
        slot = ffi.new("ze_command_queue_handle_t *")
        desc = _queue_desc(device, group, engine)
        check(
            lib.zeCommandQueueCreate(context, device.handle, desc, slot),
            "zeCommandQueueCreate",
            f"group {group.ordinal} of {device.name}",
        )
        return slot[0]

    def run(self, command: Command, signal: CData = _NULL, count: int = 0, waits: CData = _NULL) -> int:
        """Execute a command in its own list, after all earlier ones."""
        if isinstance(command, ClosedList):
            return self._execute(command, signal, count, waits)
        return super().run(command, signal, count, waits)

    def _execute(self, command: ClosedList, signal: CData, count: int, waits: CData) -> int:
        """Execute an existing list, between the events to wait for and the event to signal."""
        result = self.run(_nothing, _NULL, count, waits) if count else SUCCESS
        result = result or lib.zeCommandQueueExecuteCommandLists(self.handle, 1, command.places, _NULL)
        return result if signal == _NULL else result or self.run(_nothing, signal)

    def own(self, places: tuple[CData, CData]) -> None:
        """Destroy another owner's list and fence together with its own."""
        self._adopted.append(places)

    def disown(self, places: tuple[CData, CData]) -> bool:
        """Whether the caller may destroy the list and fence of ``own``: whether they still exist."""
        try:
            self._adopted.remove(places)
        except ValueError:
            return False
        return True

    def leave(self, places: tuple[CData, CData]) -> None:
        """Destroy a list and a fence of ``own`` once their execution is over."""
        self._left.append(places)

    def tidy(self) -> None:
        """Prepare finished lists for reuse."""
        check(lib.bindless_tidy(self.native), "zeCommandListReset")
        while self._left and lib.zeFenceQueryStatus(self._left[0][1][0]) != NOT_READY:
            places = self._left.pop(0)
            if self.disown(places):
                _destroy(places)

    def forgive(self) -> None:
        """See ``ImmediateList``."""
        _ask_until_over(lib.zeCommandQueueSynchronize, self.handle)

    def close(self) -> None:
        """Destroy the queue and its lists; its work is complete, but its last fence may not be signalled yet.

        An adopted queue may hold other work, which is not waited for.
        """
        while self.owned and lib.zeCommandQueueSynchronize(self.handle, _WAIT_SLICE) == NOT_READY:
            pass
        for places in self._left:
            while lib.zeFenceHostSynchronize(places[1][0], _WAIT_SLICE) == NOT_READY:
                pass
        while self._adopted:
            _destroy(self._adopted.pop())
        self._left.clear()
        release(lib.bindless_lists_clear(self.native), "zeCommandListDestroy")
        if self.owned:
            release(lib.zeCommandQueueDestroy(self.handle), "zeCommandQueueDestroy")


def _destroy(places: tuple[CData, CData]) -> None:
    own, fence = places
    release(lib.zeFenceDestroy(fence[0]), "zeFenceDestroy")
    release(lib.zeCommandListDestroy(own[0]), "zeCommandListDestroy")
