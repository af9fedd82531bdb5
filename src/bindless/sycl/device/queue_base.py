"""``QueueBase``: the device, context and command stream of a queue, for the layers below ``Queue``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from ...core._submission import Submitter
from ...model.enums import Backend

if TYPE_CHECKING:
    from ...backends.contract import BackendProtocol, NativeQueue
    from ...submission.command_stream import CommandStream, Operation
    from ...submission.event import Event
    from .context import Context
    from .device import Device

__all__ = ["QueueBase", "transfer_queue"]


class QueueBase(Submitter):
    """Base class of ``Queue``: functions of lower layers take a queue without importing it."""

    __slots__ = ()

    device: Device
    context: Context
    _backend: BackendProtocol
    _stream: CommandStream
    _home: object
    """Where buffers have their contents on the device; None before a buffer is used there."""

    _queue_class: ClassVar[type[QueueBase]]
    """``Queue``, set by its module, which imports this one."""

    @property
    def backend(self) -> Backend:
        """The backend of the device."""
        return self._backend.backend

    @property
    def is_in_order(self) -> bool:
        """True where each command starts after the one before it (``property::queue::in_order``)."""
        return self._stream.in_order

    @property
    def _native(self) -> NativeQueue:
        """The back end's queue; raises if this one has ended."""
        native = self._stream.native
        if native is None or self._stream.closed:
            raise self._stream.unusable()
        return native

    def _lend(self) -> NativeQueue:
        """``_native`` for somebody who may submit to it from now on."""
        native = self._native
        self._stream.is_alone = False
        return native

    if TYPE_CHECKING:  # what lower layers call; ``Queue`` defines it

        def __init__(self, device: Device, context: Context, *, in_order: bool) -> None: ...
        @property
        def closed(self) -> bool: ...
        def memcpy(
            self, dst: object, src: object, nbytes: int | None = None, *, depends_on: Iterable[Event] | Event = ()
        ) -> Event: ...
        def fill(
            self,
            pointer: object,
            pattern: object,
            count: int | None = None,
            *,
            depends_on: Iterable[Event] | Event = (),
        ) -> Event: ...
        def wait(self) -> None: ...
        def ext_oneapi_submit_barrier(self, events: Iterable[Event] | Event = ()) -> Event: ...
        def _nothing(self, depends_on: Iterable[Event] | Event = ()) -> Event: ...
        def _enqueue(
            self, operation: Operation, depends_on: Iterable[Event] | Event = (), keep: tuple[object, ...] = ()
        ) -> Event: ...


def transfer_queue(context: Context, device: Device) -> QueueBase:
    """The package's own in-order queue on a device, for copies that the caller waits for; made on first use."""
    with context._lock:
        queue = context._transfer.get(device)
        if queue is None or queue.closed:
            queue = context._transfer[device] = QueueBase._queue_class(device, context, in_order=True)
    return queue
