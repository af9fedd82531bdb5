"""``ForeignEvent``: an event around a native one that was made elsewhere; no queue of the package signals it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...backends.contract import NativeEvent
from ...core import ownership
from ...core.ownership import ENDED, FORKED
from ...model.enums import EventStatus
from ...model.errors import Error, ProfilingError, SyclRuntimeError
from ...submission.event import Event

if TYPE_CHECKING:
    from ..device.context import Context

__all__ = ["ForeignEvent"]


class ForeignEvent(Event):
    """An event of a context, but of no queue."""

    __slots__ = ("_backend", "_context", "_resource")

    _native: NativeEvent

    def __init__(self, _context: Context, _native: NativeEvent) -> None:
        super().__init__(None, _native)
        self._context = _context
        self._backend = _context._backend
        self._resource = ownership.Resource(
            ownership.Rank.EVENT, _context._resource, self._backend.release_event, _native
        )

    @property
    def status(self) -> EventStatus:
        if self._done:
            return EventStatus.complete
        self._check_process()
        return self._backend.event_status(self._native)

    def _check_process(self) -> None:
        if not self._done and self._resource.closed:
            raise SyclRuntimeError(f"this event {FORKED if self._context._reason is FORKED else ENDED}")

    @property
    def _home(self) -> Context:
        return self._context

    def wait_and_throw(self) -> None:
        self.wait()

    def _settle(self) -> None:
        if not self._done:
            self._check_process()
            error: Error | None = None
            try:
                self._backend.wait_event(self._native)
            except Error as caught:
                error = caught
            self._conclude(error)

    def _times(self) -> tuple[int, int, int]:
        raise ProfilingError("this event was made of a native one, whose times are not known here: ask the driver")
