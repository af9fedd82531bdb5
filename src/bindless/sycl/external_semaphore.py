"""External semaphores, and the commands that wait for them and signal them (Importing external semaphores)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, SupportsIndex

from ..model.errors import Error, InvalidError
from ..model.external import ExternalSemaphoreDescriptor
from . import _lifetime
from ._external_resource import as_invalid, of_context

if TYPE_CHECKING:
    from ._stream import CommandStream
    from .context import Context
    from .device import Device
    from .event import Event
    from .queue import Queue

__all__ = ["ExternalSemaphore", "require_semaphore", "submit_semaphore", "waits_outside"]


_NO_QUEUE = object()


class ExternalSemaphore:
    """A semaphore of another interface or process; ``import_external_semaphore`` makes one.

    It ends with ``release_external_semaphore``, or with its last reference; commands that were submitted keep what they
    need of it.

    Attributes:
        descriptor: what it was imported from. A file descriptor in it means nothing any more.
        context, device: where it was imported.
    """

    __slots__ = ("__weakref__", "_native", "_prepared", "_resource", "context", "descriptor", "device")

    def __init__(
        self, _native: Any, _descriptor: ExternalSemaphoreDescriptor, _device: Device, _context: Context
    ) -> None:
        self._native = _native
        self.descriptor = _descriptor
        self.device = _device
        self.context = _context
        backend: Any = _context._backend
        # The native queue that used it last, what signals it and waits for it there, whether that takes values; as
        # one, for threads.
        self._prepared: tuple[Any, ...] = (_NO_QUEUE,)
        self._resource: _lifetime.Resource | None = _lifetime.Resource(
            _lifetime.Rank.EXTERNAL, _context._resource, backend.release_semaphore, _context._native_context, _native
        )

    @property
    def raw_handle(self) -> int:
        """The driver's handle. Raises ``InvalidError`` once it was released."""
        of_context(self, self.device, self.context)
        return int(self.context._backend.native_handle(self._native))

    def __repr__(self) -> str:
        state = "" if self._resource is not None else ", released"
        return f"<ExternalSemaphore {self.descriptor.handle_type} of {self.descriptor.resource}{state}>"


def require_semaphore(semaphore: object) -> None:
    """Raises ``InvalidError`` for anything else."""
    if not isinstance(semaphore, ExternalSemaphore):
        raise InvalidError(f"{semaphore!r} is no ExternalSemaphore; import_external_semaphore makes one")


def submit_semaphore(
    queue: Queue,
    waits: bool,
    semaphore: ExternalSemaphore,
    value: SupportsIndex | None,
    depends_on: Iterable[Event] | Event,
) -> Event:
    """Submits a wait for a semaphore, or its signal. See ``Queue.ext_oneapi_wait_external_semaphore``."""
    stream = queue._stream
    if type(semaphore) is not ExternalSemaphore:
        require_semaphore(semaphore)
    prepared, resource = semaphore._prepared, semaphore._resource
    if prepared[0] is not stream.native or resource is None:
        prepared, resource = _prepare(queue, semaphore)
    plain = type(value) is int and 0 <= value < 1 << 64 if prepared[3] else value is None
    number: Any = value if plain else semaphore.descriptor.check_value(value)
    try:
        if depends_on == () and stream.blocker is None:
            event = stream.submit_again(prepared[1 + waits], number, resource)
        else:
            backend: Any = stream.backend
            command = backend.wait_semaphore if waits else backend.signal_semaphore
            operation = partial(command, stream.native, semaphore._native, number)
            event = stream.submit(operation, depends_on, (resource,))
    except Error as error:
        raise as_invalid(error, f"{semaphore!r} was not {'waited for' if waits else 'signalled'}") from error
    if waits:
        stream.outside[semaphore] = number
    return event


def _prepare(queue: Queue, semaphore: ExternalSemaphore) -> tuple[tuple[Any, ...], _lifetime.Resource]:
    """Makes ready for a queue's commands what can have any; raises for what cannot."""
    stream = queue._stream
    native = stream.native
    if native is None:
        raise stream.unusable()
    if not stream.in_order:
        raise InvalidError("semaphores order the commands of in-order queues alone: make the queue with in_order=True")
    resource = of_context(semaphore, queue.device, queue.context)
    backend: Any = stream.backend
    prepare = backend.prepare_semaphore
    commands = (prepare(native, semaphore._native, wait) for wait in (False, True))
    semaphore._prepared = prepared = (native, *commands, semaphore.descriptor.has_values)
    return prepared, resource


def waits_outside(stream: CommandStream | None) -> str:
    """The semaphores that a queue's commands may wait for, as the end of a sentence; nothing without any."""
    waits = {} if stream is None else stream.outside.copy()
    names = [f"{each!r}" if value is None else f"{each!r} to come to {value}" for each, value in waits.items()]
    return f": its queue waits for {', or '.join(names)}, which nobody has signalled" if names else ""
