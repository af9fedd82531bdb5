"""Copies of results to pinned memory, and what an upload from pinned memory by another queue comes after.

An upload may overlap the last download of the image's queue, which it has nothing to do with. It comes after everything
else in the queue, since any other command may write the memory that it reads.
"""

from __future__ import annotations

from typing import NamedTuple

from ..model.enums import UsmKind
from ..sampling.packing import After
from ..submission.event import Event
from ..sycl.queue.queue import Queue
from ..sycl.usm import UsmArray
from .array_library import AnyArray

__all__ = ["before_upload", "download"]


class _Download(NamedTuple):
    """The last download of a queue in order.

    Attributes
    ----------
    before : Event
        Of all commands before it.
    position : int
        Of its command.
    first, last : int
        Addresses of the first byte that it writes, and of the one after the last.
    """

    before: Event
    position: int
    first: int
    last: int


def download(queue: Queue, target: UsmArray, values: AnyArray, after: After) -> None:
    """Copies values to a contiguous array, after events as of ``Queue.memcpy``; nobody waits."""
    stream, before = queue._stream, None
    if target._owner.kind is UsmKind.host and stream.position is not None:
        before = queue.ext_oneapi_submit_barrier()
    position = stream.position_of(queue.memcpy(target, values, depends_on=after))
    # Another thread's command may have come between the two.
    if before is not None and position is not None and stream.position_of(before) == position - 1:
        first = target.address
        queue._storage[_Download] = _Download(before, position, first, first + target.nbytes)


def before_upload(queue: Queue, source: UsmArray) -> After:
    """The event after the commands submitted so far that may write contiguous pinned memory."""
    last: _Download | None = queue._storage.get(_Download)
    if last is not None and last.position == queue._stream.position:
        first = source.address
        if first >= last.last or first + source.nbytes <= last.first:
            return (last.before,)
    return (queue.ext_oneapi_submit_barrier(),)
