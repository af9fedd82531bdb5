"""Submission of in-order commands: through an immediate command list, or through regular ones.

Both classes have ``run(command)``. A command is a function that appends to a list: ``command(list, signal, count,
waits)``. Its last three arguments are those of every zeCommandListAppend function, and it returns the driver's result.

An immediate list submits each command by itself, which is fastest. Regular lists take one command each; the list is
closed and executed in a command queue, and a fence signals when the list is free again. Regular lists
(``no_immediate_command_list``) serve tools and drivers that support them better.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ...drivers import level_zero as driver
from ..contract.low_level import QueueGroupRecord
from .device import Device
from .errors import NOT_READY, SUCCESS, check, release

__all__ = ["ClosedList", "Command", "ImmediateList", "Lists", "RegularLists", "in_sequence"]

lib, ffi = driver.lib, driver.ffi

Command = Callable[[Any, Any, int, Any], int]

_NULL = ffi.NULL

_WAIT_SLICE = 50_000_000  # nanoseconds


def in_sequence(parts: Sequence[Command]) -> Command:
    """Several commands as one: the first waits, the last signals when all are complete."""
    if len(parts) == 1:
        return parts[0]

    def command(own: Any, signal: Any, count: int, waits: Any) -> int:
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

    def __init__(self, places: Any, append: Callable[..., int] | None) -> None:
        self.places, self._append = places, append

    def __call__(self, own: Any, signal: Any, count: int, waits: Any) -> int:
        assert self._append is not None
        return int(self._append(own, 1, self.places, signal, count, waits))


def _nothing(own: Any, signal: Any, count: int, waits: Any) -> int:
    return int(lib.zeCommandListAppendBarrier(own, signal, count, waits))


def _queue_desc(device: Device, group: QueueGroupRecord, engine: int) -> Any:
    flags = lib.ZE_COMMAND_QUEUE_FLAG_IN_ORDER if device.driver.keeps_order else 0
    return driver.make_struct(
        "ze_command_queue_desc_t",
        ordinal=group.ordinal,
        index=engine % group.engines,
        flags=flags,
        mode=lib.ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
    )


class Lists(Protocol):
    """The submission of a stream's commands."""

    is_direct: bool
    handle: Any

    def run(self, command: Command, signal: Any = ..., count: int = ..., waits: Any = ...) -> int:
        """Submit a command, which runs after all earlier ones."""

    def tidy(self) -> None:
        """Let the driver release the resources of completed work."""

    def forgive(self) -> None:
        """Clear a reported failure in the driver."""

    def close(self) -> None:
        """Release the owned objects; their work is complete."""


def _ask_until_over(synchronize: Callable[[Any, int], int], handle: Any) -> None:
    """Repeat a synchronisation until the work is over: the driver reports a failure a moment after the event that was
    waited for. Later work is not waited for.
    """
    for _ in range(100):
        if synchronize(handle, 0) != NOT_READY:
            return
        time.sleep(1e-5)


class ImmediateList:
    """An immediate command list.

    Attributes
    ----------
    handle
        ze_command_list_handle_t.
    in_order
        whether the driver keeps the order; otherwise barriers keep it.
    is_direct
        whether a command may be appended without ``run``.
    owned
        whether ``close`` destroys it.
    """

    def __init__(self, context: Any, device: Device, group: QueueGroupRecord, engine: int) -> None:
        self._begin(device, self._create(context, device, group, engine), device.driver.keeps_order, True)

    @classmethod
    def around(cls, device: Device, handle: Any, owned: bool) -> ImmediateList:
        """Adopt a list of another owner, of any order: barriers keep the order."""
        made = cls.__new__(cls)
        made._begin(device, handle, False, owned)
        return made

    def _begin(self, device: Device, handle: Any, in_order: bool, owned: bool) -> None:
        self.handle = handle
        self.in_order = self.is_direct = in_order
        self.owned = owned
        self._synchronize = device.driver.function("zeCommandListHostSynchronize")

    @staticmethod
    def _create(context: Any, device: Device, group: QueueGroupRecord, engine: int) -> Any:
        slot = ffi.new("ze_command_list_handle_t *")
        desc = _queue_desc(device, group, engine)
        check(
            lib.zeCommandListCreateImmediate(context, device.handle, desc, slot),
            "zeCommandListCreateImmediate",
            f"group {group.ordinal} of {device.name}",
        )
        return slot[0]

    def run(self, command: Command, signal: Any = _NULL, count: int = 0, waits: Any = _NULL) -> int:
        """Append a command, which runs after all earlier ones."""
        if not self.in_order:
            result: int = lib.zeCommandListAppendBarrier(self.handle, _NULL, 0, _NULL)
            if result != SUCCESS:
                return result
        return command(self.handle, signal, count, waits)

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


class RegularLists:
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

    is_direct = False

    def __init__(self, context: Any, device: Device, group: QueueGroupRecord, engine: int) -> None:
        self._begin(context, device, group.ordinal, self._create(context, device, group, engine), True)

    @classmethod
    def around(cls, context: Any, device: Device, ordinal: int, handle: Any, owned: bool) -> RegularLists:
        """Adopt a command queue of another owner, for the engine group of the ordinal."""
        made = cls.__new__(cls)
        made._begin(context, device, ordinal, handle, owned)
        return made

    def _begin(self, context: Any, device: Device, ordinal: int, handle: Any, owned: bool) -> None:
        self.handle = handle
        self.owned = owned
        self._context = context
        self._device = device
        self.ordinal = ordinal
        # Slots of a list and its fence: all of them, the empty and unsignalled ones, and the running ones. Slots that
        # Ctrl-C leaves in an unknown state are only among the first.
        self._made: list[tuple[Any, Any]] = []
        self._free: list[tuple[Any, Any]] = []
        self._running: deque[tuple[Any, Any]] = deque()

    @staticmethod
    def _create(context: Any, device: Device, group: QueueGroupRecord, engine: int) -> Any:
        slot = ffi.new("ze_command_queue_handle_t *")
        desc = _queue_desc(device, group, engine)
        check(
            lib.zeCommandQueueCreate(context, device.handle, desc, slot),
            "zeCommandQueueCreate",
            f"group {group.ordinal} of {device.name}",
        )
        return slot[0]

    def run(self, command: Command, signal: Any = _NULL, count: int = 0, waits: Any = _NULL) -> int:
        """Execute a command in its own list, after all earlier ones."""
        if isinstance(command, ClosedList):
            return self._execute(command, signal, count, waits)
        places = self._take()
        own = places[0][0]
        result: int = lib.zeCommandListAppendBarrier(own, _NULL, 0, _NULL)
        if result == SUCCESS:
            result = command(own, signal, count, waits)
        if result == SUCCESS:
            result = lib.zeCommandListClose(own)
        if result == SUCCESS:
            result = lib.zeCommandQueueExecuteCommandLists(self.handle, 1, places[0], places[1][0])
        if result == SUCCESS:
            self._running.append(places)
        else:
            lib.zeCommandListReset(own)
            self._free.append(places)
        return result

    def _execute(self, command: ClosedList, signal: Any, count: int, waits: Any) -> int:
        """Execute an existing list, between the events to wait for and the event to signal."""
        result = self.run(_nothing, _NULL, count, waits) if count else SUCCESS
        result = result or lib.zeCommandQueueExecuteCommandLists(self.handle, 1, command.places, _NULL)
        return result if signal == _NULL else result or self.run(_nothing, signal)

    def _take(self) -> tuple[Any, Any]:
        """The slots of an empty list and an unsignalled fence."""
        self.tidy()
        if self._free:
            return self._free.pop()
        desc = driver.make_struct("ze_command_list_desc_t", commandQueueGroupOrdinal=self.ordinal)
        fence_desc = driver.make_struct("ze_fence_desc_t")
        places = ffi.new("ze_command_list_handle_t *"), ffi.new("ze_fence_handle_t *")
        self._made.append(places)  # Before any object could be lost.
        result = lib.zeCommandListCreate(self._context, self._device.handle, desc, places[0])
        if result != SUCCESS:
            self._made.remove(places)
        check(result, "zeCommandListCreate")
        result = lib.zeFenceCreate(self.handle, fence_desc, places[1])
        if result != SUCCESS:
            self._made.remove(places)
            lib.zeCommandListDestroy(places[0][0])
        check(result, "zeFenceCreate")
        return places

    def own(self, places: tuple[Any, Any]) -> None:
        """Destroy another owner's list and fence together with its own."""
        self._made.append(places)

    def disown(self, places: tuple[Any, Any]) -> bool:
        """Whether the caller may destroy the list and fence of ``own``: whether they still exist."""
        try:
            self._made.remove(places)
        except ValueError:
            return False
        return True

    def take_over(self, places: tuple[Any, Any]) -> None:
        """Reuse a list and a fence of ``own`` for later commands, once their execution is over."""
        self._running.append(places)

    def tidy(self) -> None:
        """Prepare finished lists for reuse."""
        while self._running and lib.zeFenceQueryStatus(self._running[0][1][0]) != NOT_READY:
            places = self._running.popleft()
            check(lib.zeFenceReset(places[1][0]), "zeFenceReset")
            check(lib.zeCommandListReset(places[0][0]), "zeCommandListReset")
            self._free.append(places)

    def forgive(self) -> None:
        """See ``ImmediateList``."""
        _ask_until_over(lib.zeCommandQueueSynchronize, self.handle)

    def close(self) -> None:
        """Destroy the queue and its lists; its work is complete, but its last fence may not be signalled yet.

        An adopted queue may hold other work, which is not waited for.
        """
        if self.owned:
            while lib.zeCommandQueueSynchronize(self.handle, _WAIT_SLICE) == NOT_READY:
                pass
        else:
            for _, fence in self._running:
                while lib.zeFenceHostSynchronize(fence[0], _WAIT_SLICE) == NOT_READY:
                    pass
        while self._made:
            own, fence = self._made[-1]
            if fence[0] != _NULL:
                release(lib.zeFenceDestroy(fence[0]), "zeFenceDestroy")
                fence[0] = _NULL
            if own[0] != _NULL:
                release(lib.zeCommandListDestroy(own[0]), "zeCommandListDestroy")
                own[0] = _NULL
            self._made.pop()
        self._free.clear()
        self._running.clear()
        if self.owned:
            release(lib.zeCommandQueueDestroy(self.handle), "zeCommandQueueDestroy")
