"""External semaphores, and the commands that wait for them and signal them (Importing external semaphores).

The first wait or signal of a semaphore in a queue prepares the later ones where the back end can: they run in C, with
the value as the only argument. A command stream records the semaphores that its commands wait for
(``submission.pending_semaphores``), for waits with a timeout and for interpreter exit, which does not wait for them
forever.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, SupportsIndex

from ...backends.contract import require_group
from ...backends.contract.prepared_command import PreparedCommand
from ...core import ownership
from ...core._submission import Openable, Prepared
from ...model.errors import Error, InvalidError
from ...model.external import ExternalSemaphoreDescriptor
from ..device.imported_resource import Imported, as_invalid, of_context

if TYPE_CHECKING:
    from ...submission.event import Event
    from ..device.context import Context
    from ..device.device import Device
    from ..device.queue_base import QueueBase

__all__ = ["ExternalSemaphore", "require_semaphore", "submit_semaphore"]


_NO_QUEUE = object()


class ExternalSemaphore(Imported):
    """A semaphore of another interface or process; ``import_external_semaphore`` makes one.

    It ends with ``release_external_semaphore``, or with its last reference; commands that were submitted keep what they
    need of it.

    Attributes
    ----------
    descriptor : ExternalSemaphoreDescriptor
        What it was imported from. A file descriptor in it means nothing any more.
    context, device
        Where it was imported.
    """

    __slots__ = ("_prepared",)

    descriptor: ExternalSemaphoreDescriptor

    def __init__(
        self, _native: Any, _descriptor: ExternalSemaphoreDescriptor, _device: Device, _context: Context
    ) -> None:
        self._native = _native
        self.descriptor = _descriptor
        self.device = _device
        self.context = _context
        calls = require_group(_context._backend.external_semaphores, "external semaphores", _context._backend.backend)
        # The native queue that used it last, what signals it and waits for it there, whether that takes values; as
        # one, for threads.
        self._prepared: tuple[Any, ...] = (_NO_QUEUE,)
        self._resource = ownership.Resource(
            ownership.Rank.EXTERNAL, _context._resource, calls.release_semaphore, _context._native_context, _native
        )

    def _forget_commands(self) -> None:
        """They keep the native semaphore; the next one is prepared anew."""
        self._prepared = (_NO_QUEUE,)

    def __repr__(self) -> str:
        state = "" if self._resource is not None else ", released"
        return f"<ExternalSemaphore {self._text()}{state}>"


def require_semaphore(semaphore: object) -> None:
    """Raises ``InvalidError`` for anything else."""
    if not isinstance(semaphore, ExternalSemaphore):
        raise InvalidError(f"{semaphore!r} is no ExternalSemaphore; import_external_semaphore makes one")


def submit_semaphore(
    queue: QueueBase,
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
        event: Event | None = None
        command = prepared[1 + waits]
        if command is not None:
            event = stream.submit_prepared(command, (number,), depends_on)
        if event is None:
            calls = require_group(stream.backend.external_semaphores, "external semaphores", stream.backend.backend)
            submit = calls.wait_semaphore if waits else calls.signal_semaphore
            event = stream.submit(partial(submit, stream.live, semaphore._native, number), depends_on, (resource,))
    except Error as error:
        raise as_invalid(error, f"{semaphore!r} was not {'waited for' if waits else 'signalled'}") from error
    if waits:
        stream.outside.add(semaphore, number, event)
    return event


def _prepare(queue: QueueBase, semaphore: ExternalSemaphore) -> tuple[tuple[Any, ...], ownership.Resource]:
    """Makes ready for a queue's commands what can have any; raises for what cannot."""
    stream = queue._stream
    native = stream.native
    if native is None:
        raise stream.unusable()
    if not stream.in_order:
        raise InvalidError("semaphores order the commands of in-order queues alone: make the queue with in_order=True")
    resource = of_context(semaphore, queue.device, queue.context)
    calls = require_group(stream.backend.external_semaphores, "external semaphores", stream.backend.backend)
    has_values = semaphore.descriptor.has_values
    commands: list[object] = []
    for wait in (False, True):
        command = calls.prepare_semaphore(native, semaphore._native, wait)
        commands.append(None if command is None else _direct(command, resource, has_values))
    semaphore._prepared = prepared = (native, *commands, has_values)
    return prepared, resource


class _Use(Openable):
    """The references to a semaphore that unfinished commands keep."""

    __slots__ = ("resource",)

    def __init__(self, resource: ownership.Resource) -> None:
        self.resource = resource
        self._open = True


def _direct(command: PreparedCommand, resource: ownership.Resource, has_values: bool) -> Prepared:
    """A wait or signal as one call of the driver, given the value, or None for a binary semaphore."""
    (place,), (size,) = command.places, command.sizes
    assert place is not None
    slot = ("number", place, size, True, False, None) if has_values else ("same", 0, 0, False, False, None)
    return Prepared(
        command, 1, _Use(resource), command.mark, command.lanes, command.settle, command.refused,
        (command, command.keep), command.submit, command.descriptions, (slot,),
    )  # fmt: skip
