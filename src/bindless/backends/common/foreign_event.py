"""Events around events of a driver that were made elsewhere."""

from __future__ import annotations

from typing import Any, NoReturn

from ...drivers.common.cffi_types import CData
from ...model.errors import InvalidError, ProfilingError
from ...model.native_handle import NativeHandle
from .deferred_events import RecordedEvent

__all__ = ["ForeignEvent", "owned_already"]


class ForeignEvent(RecordedEvent):
    """An event of no stream: only the driver knows whether it has happened."""

    __slots__ = ("_done",)

    native: Any

    def __init__(self, native: Any) -> None:
        self.stream = None
        self.index = 0
        self.native = native
        self._done = False

    @property
    def is_known_complete(self) -> bool:
        return self._done

    def record(self) -> Any:
        return self.native

    def native_handle(self) -> CData:
        return None if self.native is None else self.native.handle

    def times(self) -> NoReturn:
        raise ProfilingError("an event that was made of a native one has no times", backend=self.backend)

    def release(self) -> None:
        """Commands that wait for it keep the native event."""
        self.native = None


def owned_already(handle: NativeHandle, owner: str, backend: str) -> InvalidError:
    """The error of a native object to take over that an object of the package destroys already."""
    return InvalidError(
        f"ownership='transfer' of {handle!r}, which {owner} of this package owns already: get_native does not "
        "transfer ownership; give ownership='keep'",
        backend=backend,
    )
