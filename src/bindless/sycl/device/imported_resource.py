"""Base class of imported external objects: checks, ownership of the descriptor, and errors."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, Union

from ...core import ownership
from ...core.lock import Lock
from ...model.errors import DeviceLostError, Error, FeatureNotSupportedError, InvalidError
from ...model.external import ExternalMemDescriptor, ExternalSemaphoreDescriptor, ResourceFd

if TYPE_CHECKING:
    from typing_extensions import Self

    from .context import Context
    from .device import Device

__all__ = ["Imported", "as_invalid", "let_go", "of_context", "take_over"]

_Native = TypeVar("_Native")


class _OneImport:
    """One import at a time: a second one of the same descriptor finds it closed, and closes none of its number."""

    def __init__(self) -> None:
        self.lock = Lock()

    def forget(self) -> None:
        """In the child of a fork: another thread may have held it."""
        self.lock = Lock()


_one_import = _OneImport()
ownership.after_fork(_one_import.forget)

Descriptor = Union[ExternalMemDescriptor, ExternalSemaphoreDescriptor]


class Imported:
    """Base class of imported memory and semaphores.

    A copy is the same object, as copies of ``external_mem`` and ``external_semaphore`` are: released with it.
    """

    __slots__ = ("__weakref__", "_native", "_resource", "context", "descriptor", "device")

    context: Context
    descriptor: Descriptor
    device: Device
    _native: Any
    _resource: ownership.Resource | None

    @property
    def raw_handle(self) -> int:
        """The driver's handle. Raises ``InvalidError`` once it was released."""
        of_context(self, self.device, self.context)
        return int(self.context._backend.native_handle(self._native))

    def _text(self) -> str:
        # Each import leaves its descriptor's number to the next: the handle tells two of them from each other.
        handle = int(self.context._backend.native_handle(self._native))
        return f"{self.descriptor.handle_type} {handle:#x} of {self.descriptor.resource}"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> Any:
        raise InvalidError(f"{self!r} cannot be pickled: send another process a file descriptor, and import it there")


def as_invalid(error: Error, doing: str) -> Error:
    """Convert a failure to the class that the specification gives to functions of external objects."""
    if isinstance(error, (FeatureNotSupportedError, DeviceLostError)):
        return error
    return InvalidError(
        f"{doing}: {error}", backend=error.backend, native_code=error.native_code, native_name=error.native_name
    )


def take_over(desc: Descriptor, make: Callable[[], _Native]) -> _Native:
    """Import a resource by ``make``. On success its file descriptor is closed; on failure it still is the caller's."""
    with _one_import.lock:
        desc.check()
        try:
            native = make()
        except Error as error:
            raise as_invalid(error, f"{desc.resource} was not imported as {desc.handle_type}") from error
        if isinstance(desc.resource, ResourceFd):
            os.close(desc.resource.file_descriptor)
    return native


def of_context(thing: Any, device: Device, context: Context) -> ownership.Resource:
    """The native object behind an imported one that is used there.

    Raises
    ------
    InvalidError
        It was released, or imported in another context or on another device.
    """
    resource: ownership.Resource | None = thing._resource
    if resource is None:
        raise InvalidError(f"{thing!r} was released: import it again")
    if thing.context is not context:
        raise InvalidError(f"{thing!r} was imported in another context: import it in this one, too")
    if thing.device != device:
        raise InvalidError(f"{thing!r} was imported on {thing.device!r}: use it there, not on {device!r}")
    return resource


def let_go(thing: Any, device: Device, context: Context) -> None:
    """Gives up the imported object; what uses it still keeps the native one.

    Raises
    ------
    InvalidError
        It was released before, is another context's, or the driver's release failed.
    """
    of_context(thing, device, context)
    shares = [thing._resource]
    thing._resource = None
    error = ownership.let_go(shares, 0)
    if error is not None:
        raise as_invalid(error, f"{thing!r} was not released") from error
