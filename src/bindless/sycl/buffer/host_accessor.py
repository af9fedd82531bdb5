"""``HostAccessor``: a buffer's elements as a numpy array, while commands on the buffer wait."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ...core import ownership
from ...model.arrays import Array
from ...model.errors import AccessorError
from ...submission.event import Event
from ...submission.host_dependency import Gate
from ...submission.worker_threads import pool
from ..usm.allocation import Allocation, Lease
from . import storage as _storage
from .array_view import HostView
from .migration import Here, bring, make_rest, move_here, settle

if TYPE_CHECKING:
    from .accessor import Accessor
    from .memory_object import MemoryObject

__all__ = ["HostAccessor"]


class HostAccessor(HostView):
    """The elements of a buffer on the host; ``Buffer.get_host_access`` makes one.

    It is a context manager whose value is the array, read-only with mode ``read``. Commands on the buffer that are
    submitted meanwhile start when it is closed. Close it on the thread that made it before waiting for them there.

    Attributes
    ----------
    buffer : MemoryObject
        What it accesses.
    mode
        ``read``, ``write`` or ``read_write``.
    """

    __slots__ = ("__weakref__", "_array", "_gate", "_lease", "buffer", "mode")

    def __init__(self, _accessor: Accessor) -> None:
        pool.prepare()
        buffer = _accessor.buffer
        self.buffer: MemoryObject = buffer
        self.mode = _accessor.mode
        self._array: Array | None = None
        self._lease: Lease | None = None
        event = Event()
        gate = event._task = Gate(event)
        self._gate: Gate | None = None
        storage, requirement = buffer._storage, _accessor._requirement
        order, data = buffer._span, _accessor._data
        waits: list[Event] = []
        here: Here = []
        release = partial(_open_after, gate, waits, here)
        try:
            with _storage.lock:
                storage.require_open()
                part = storage.between(*data)
                place = storage.visible_place(part, writable=requirement.writes)
                if requirement.needs:
                    waits.extend(bring(storage, part, place, here=here))
                storage.waits_of(storage.between(*order), place, requirement, waits)
                storage.hold(order, data, place, requirement, event)
            others = [other for other in waits if not isinstance(other._task, Gate)]  # host accessors do not wait
            move_here(here)
            settle(others, report=True)
            if isinstance(place.memory, Allocation):  # a thread may still look at it when the interpreter ends
                self._lease = Lease(place.memory)
            whole = place.view(buffer._span[0], buffer.shape, buffer.dtype, writable=requirement.writes)
            self._array = whole[_accessor.region.slices]
        except BaseException:  # what comes later still comes after all of them
            pool.later(release)
            gate.disown()
            raise
        self._gate = gate

    @property
    def array(self) -> Array:
        """The elements in place.

        Raises
        ------
        AccessorError
            It was closed.
        """
        if self._array is None:
            raise AccessorError("this host accessor was closed: make a new one with buffer.get_host_access()")
        return self._array

    @property
    def closed(self) -> bool:
        """Whether commands may use the buffer again."""
        return self._gate is None

    def close(self) -> None:
        """Lets the commands that wait start; the array is not to be used any more. A second call does nothing."""
        gate = self._gate
        if gate is None:
            return
        release = partial(_open_after, gate, (), [])
        try:
            self._array = self._lease = None
            gate.open()
        except BaseException:
            pool.later(release)
            gate.disown()
            raise
        finally:
            self._gate = None

    def __enter__(self) -> Array:
        return self.array

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self, _pool: Any = pool, ownership: Any = ownership) -> None:
        gate = getattr(self, "_gate", None)
        if gate is not None and not ownership.is_finished():
            gate.disown()
            _pool.later(gate.open)

    def __repr__(self) -> str:
        return f"<HostAccessor {self.mode} to {self.buffer!r}{', closed' if self.closed else ''}>"


def _open_after(gate: Gate, events: Sequence[Event], moves: Here) -> None:
    """Opens a gate of a host accessor that was interrupted; runs on a thread of the pool."""
    gate.disown()
    make_rest(moves)
    settle([event for event in events if not isinstance(event._task, Gate)], report=False)
    gate.open()
