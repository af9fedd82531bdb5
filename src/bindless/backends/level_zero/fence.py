"""Fences of command queues (L0, "Fences")."""

from __future__ import annotations

from ...core.lock import Lock
from ...drivers import level_zero as driver
from ...drivers.common.cffi_types import CData
from ...model.enums import Errc
from ...model.errors import FeatureNotSupportedError, InvalidError
from .command_list import RegularLists
from .errors import NOT_READY, check, release
from .fork_guard import in_fork, refuse_in_fork
from .queue import Queue

__all__ = ["Fence", "create_fence", "destroy_fence", "reset_fence", "signal_fence", "wait_fence"]

lib, ffi = driver.lib, driver.ffi

_SLICE = 50_000_000  # nanoseconds


class Fence:
    """A ze_fence_handle_t of a command queue, and the empty command list whose execution signals it.

    Both belong to the queue's lists, which destroy them at the latest.
    """

    def __init__(self, queue: Queue) -> None:
        stream = queue.streams[0]
        if not queue.in_order or not isinstance(stream.lists, RegularLists):
            raise FeatureNotSupportedError(
                "fences belong to command queues, and this queue has immediate command lists, or several: make it with "
                "Queue(..., in_order=True, no_immediate_command_list=True)",
                backend="level_zero",
            )
        self.queue = queue
        self.handle: CData = None
        self._lists = stream.lists
        self._pending = False  # Whether work that signals the fence may be unfinished.
        self._lock = Lock()
        desc = driver.make_struct("ze_command_list_desc_t", commandQueueGroupOrdinal=stream.lists.ordinal)
        own, fence = ffi.new("ze_command_list_handle_t *"), ffi.new("ze_fence_handle_t *")
        check(lib.zeCommandListCreate(queue.context.handle, queue.device.handle, desc, own), "zeCommandListCreate")
        try:
            check(lib.zeCommandListClose(own[0]), "zeCommandListClose")
            result = lib.zeFenceCreate(stream.lists.handle, driver.make_struct("ze_fence_desc_t"), fence)
            check(result, "zeFenceCreate")
        except BaseException:
            lib.zeCommandListDestroy(own[0])
            raise
        self.handle, self._places = fence[0], (own, fence)
        self._lists.own(self._places)

    def require(self) -> CData:
        """The handle; raises an error once the fence is destroyed or its queue is closed."""
        refuse_in_fork()
        if self.handle is None or self.queue.closed:
            raise InvalidError("this fence, or its queue, was closed", backend="level_zero")
        return self.handle

    def signal(self) -> None:
        """See the contract."""
        stream = self.queue.streams[0]
        with stream.lock:
            handle = self.require()
            check(
                lib.zeCommandQueueExecuteCommandLists(stream.lists.handle, 1, self._places[0], handle),
                "zeCommandQueueExecuteCommandLists",
            )
            self._pending = True

    def close(self) -> None:
        """Destroy it, or leave it to the queue's lists if work that signals it may be unfinished; does not wait."""
        with self._lock:
            handle, self.handle = self.handle, None
        if handle is None or self.queue.closed or in_fork():
            return
        if self._pending and lib.zeFenceQueryStatus(handle) == NOT_READY:
            self._lists.leave(self._places)
        elif self._lists.disown(self._places):
            release(lib.zeFenceDestroy(handle), "zeFenceDestroy")
            release(lib.zeCommandListDestroy(self._places[0][0]), "zeCommandListDestroy")

    def reset(self) -> None:
        """See the contract."""
        handle = self.require()
        if lib.zeFenceQueryStatus(handle) != NOT_READY:  # Otherwise unfinished work would still signal the fence.
            check(lib.zeFenceReset(handle), "zeFenceReset")
            self._pending = False


def create_fence(queue: Queue) -> Fence:
    """Create an unsignalled fence."""
    refuse_in_fork()
    return Fence(queue)


def signal_fence(fence: Fence) -> None:
    """Signal a fence after everything submitted to its queue so far."""
    fence.signal()


def wait_fence(fence: Fence, timeout: int) -> bool:
    """Whether a fence is signalled within the timeout in nanoseconds; negative means no limit. Interruptible."""
    left, handle = timeout, fence.require()
    while True:
        part = _SLICE if left < 0 else min(left, _SLICE)
        result = lib.zeFenceHostSynchronize(handle, part)
        if result != NOT_READY:
            check(result, "zeFenceHostSynchronize", code=Errc.kernel)
            return True
        if left >= 0:
            left -= part
            if not left:
                return False


def reset_fence(fence: Fence) -> None:
    """Reset a fence."""
    fence.reset()


def destroy_fence(fence: Fence) -> None:
    """Destroy a fence."""
    fence.close()
