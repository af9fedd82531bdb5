"""Tables of a context: resources by handle, from the call that creates them to the call that destroys them."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from ..backends.contract import BackendProtocol, NativeContext
from ..core import ownership
from ..core.lock import Lock
from ..model.errors import Error

if TYPE_CHECKING:
    from .owners import StreamContext

__all__ = ["Listed", "Table", "end_all"]

# Reentrant: making a resource may start a collection, in which others end.
_lock = Lock()


class Listed:
    """One native thing in a table of a context, which owns it.

    As long as nothing but the table has it, ending it releases it at once. What uses it longer takes hold of it first
    (``keep``): then it is released when the last holder has let go. Deleting the attribute ``_unheld``, which succeeds
    once, decides between the two when one thread ends what another takes hold of.

    Attributes
    ----------
    number : int
        The driver's.
    """

    __slots__ = ("_held", "_unheld", "number")

    number: int
    _held: ownership.Resource | None
    _unheld: bool

    def keep(self, context: StreamContext) -> Any:
        """A reference that keeps the resource alive; None after its end."""
        held = self._held
        if held is None:
            with _lock:
                if self._held is not None:  # since
                    return self._held
                held = self._hold(context)  # first: an interrupt after the deletion would leave nobody the right
                try:
                    del self._unheld
                except AttributeError:  # it has ended; or a finalizer, in a collection just now, took hold of it
                    held.detach()
                    return self._held
                self._held = held
        return held

    def end(self, backend: BackendProtocol, native: NativeContext) -> None:
        """Ends the share of the table, which has it no more. Raises what a release raises that happens now."""
        try:
            del self._unheld
        except AttributeError:
            with _lock:
                shares = [self._held]
                self._held = None
            error = ownership.let_go(shares, 0)
            if error is not None:
                raise error from None
        else:
            self._release(backend, native)

    def _hold(self, context: StreamContext) -> ownership.Resource:
        """The right and duty to release it, from now on."""
        raise NotImplementedError

    def _release(self, backend: BackendProtocol, native: NativeContext) -> None:
        """Releases it; nobody has it."""
        raise NotImplementedError


class Table(ownership.Resource):
    """The end of a table with its context: of all that it still has.

    The row of living things refers to it weakly: what a table has may keep the context alive, which keeps the table.
    """

    __slots__ = ("_rank", "_rest")

    def __init__(
        self,
        rank: ownership.Rank,
        parent: ownership.Resource,
        table: dict[int, Any],
        backend: BackendProtocol,
        native: NativeContext,
    ) -> None:
        self._rank, self._rest = rank, (table, backend, native)
        self._own(rank, parent, _end_of, (weakref.ref(self),))

    def _finalize(  # type: ignore[override]
        self, _live: dict[int, Any] = ownership._live, _base: Any = ownership.Resource._finalize
    ) -> None:
        if getattr(self, "_key", None) in _live:
            _live[self._key] = (self._rank, end_all, self._rest)
            _base(self)


def _end_of(weak: weakref.ref[Table]) -> None:
    owner = weak()
    if owner is not None:
        end_all(*owner._rest)


def end_all(table: dict[int, Any], backend: BackendProtocol, native: NativeContext) -> None:
    """Ends whatever a table still has: its context ends."""
    failures = []
    while table:
        try:
            _, entry = table.popitem()
        except KeyError:  # another thread took the last one
            break
        try:
            entry.end(backend, native)
        except Error as error:
            failures.append(error)
    if failures:
        raise failures[0]


def _after_fork() -> None:
    global _lock
    _lock = Lock()


ownership.after_fork(_after_fork)
