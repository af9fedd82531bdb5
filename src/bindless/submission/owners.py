"""What this layer asks of a context and of a device, which the layer above has as classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from ..backends.contract import BackendProtocol, NativeContext
from ..backends.contract.records import DeviceRecord
from ..core import ownership

if TYPE_CHECKING:
    from weakref import WeakSet

    from .async_errors import AsyncHandler, Unclaimed
    from .command_stream import CommandStream

__all__ = ["StreamContext", "StreamDevice"]


class StreamDevice(Protocol):
    """The device of a command stream."""

    @property
    def index(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def _label(self) -> str: ...
    @property
    def _record(self) -> DeviceRecord: ...


class StreamContext(Protocol):
    """The context of a command stream."""

    @property
    def devices(self) -> Sequence[StreamDevice]: ...
    @property
    def async_handler(self) -> AsyncHandler | None: ...
    @property
    def _backend(self) -> BackendProtocol: ...
    @property
    def _native(self) -> NativeContext: ...
    @property
    def _native_context(self) -> NativeContext: ...
    @property
    def _resource(self) -> ownership.Resource: ...
    @property
    def _handles(self) -> dict[int, object]: ...
    @property
    def _unreached(self) -> object: ...
    @property
    def _unclaimed(self) -> Unclaimed: ...
    @property
    def _streams(self) -> WeakSet[CommandStream]: ...
