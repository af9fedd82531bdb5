"""Lookup of optional functions of a backend, and shared argument checks."""

from __future__ import annotations

import math

from ..model.errors import InvalidError
from ..model.message_values import shown
from ..model.seconds import seconds
from ..sycl.queue.queue import Queue
from ..sycl.usm.allocation import Allocation
from ..sycl.usm.array import UsmArray
from ..sycl.usm.pointer import UsmPointer

__all__ = ["memory_range", "nanoseconds", "require_queue"]


def require_queue(queue: object) -> Queue:
    """A queue that is open.

    Raises
    ------
    InvalidError
        It is none, or was closed.
    """
    if not isinstance(queue, Queue):
        raise InvalidError(f"queue={shown(queue)} is no Queue: bindless.Queue(...) makes one")
    queue._native  # noqa: B018  raises if it has ended
    return queue


def nanoseconds(timeout: float | None) -> int:
    """A time limit in seconds as nanoseconds; -1 for none.

    Raises
    ------
    InvalidError
        It is no number, or below 0.
    """
    if timeout is None:
        return -1
    limit = seconds(timeout) * 1e9
    return -1 if math.isinf(limit) else min(int(limit), 2**63 - 1)


def memory_range(memory: object, name: str) -> tuple[Allocation, int, int]:
    """The allocation, first address and bytes of an array, or of what a pointer points to.

    Raises
    ------
    InvalidError
        Neither, memory that was freed, or a view that is not contiguous.
    """
    if isinstance(memory, UsmArray):
        memory._owner.require_open()
        if not memory.is_contiguous:
            raise InvalidError(f"{name}: this view of shape {memory.shape} is not contiguous: give the whole array")
        return memory._owner, memory.address, memory.nbytes
    if isinstance(memory, UsmPointer):
        memory._owner.require_open()
        return memory._owner, memory._owner.address + memory._offset, memory._owner.nbytes - memory._offset
    raise InvalidError(f"{name}={shown(memory)}: it is a UsmArray or a UsmPointer")
