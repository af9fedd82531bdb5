"""Lookups in the handle tables of contexts and devices, with the errors of missing entries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from typing import Any, Protocol, TypeVar

from ...model.errors import FeatureNotSupportedError, InvalidError, MemoryAllocationError, SyclRuntimeError

__all__ = ["answer", "storage", "storage_on", "take_storage", "take_view", "unknown_on"]

_Device = TypeVar("_Device")
_Storage = TypeVar("_Storage")
_Answer = TypeVar("_Answer")


class _OnDevice(Protocol):
    @property
    def device(self) -> object: ...


_Image = TypeVar("_Image", bound=_OnDevice, covariant=True)


class _Context(Protocol[_Image]):
    @property
    def images(self) -> Mapping[int, _Image]: ...
    def device(self, device: Any, /) -> object: ...


def storage(images: Mapping[int, _Storage], handle: int, backend: str) -> _Storage:
    """The image memory of a raw handle.

    Raises
    ------
    InvalidError
        the context has no image memory of that handle.
    """
    try:
        return images[handle]
    except KeyError:
        raise InvalidError(
            f"{handle:#x} is no image memory of this context: it was freed, or belongs to another context",
            backend=backend,
        ) from None


def storage_on(context: _Context[_Image], device: object, handle: int, backend: str) -> _Image:
    """The image memory of a raw handle on a device of a context.

    Raises
    ------
    SyclRuntimeError
        The context has none of that handle there.
    """
    storage = context.images.get(handle)
    if storage is None or storage.device is not context.device(device):
        raise unknown_on(device, handle, backend)
    return storage


def unknown_on(device: object, handle: int, backend: str) -> SyclRuntimeError:
    """The error of a raw handle that is no image memory of a device."""
    return SyclRuntimeError(
        f"{handle:#x} is no image memory of {device!r} in this context: it was freed, or was allocated elsewhere",
        backend=backend,
    )


def take_storage(images: MutableMapping[int, _Storage], handle: int, backend: str) -> _Storage:
    """Remove the image memory of a raw handle from the context's table before its release.

    Raises
    ------
    MemoryAllocationError
        the context has no image memory of that handle.
    """
    storage = images.pop(handle, None)
    if storage is None:
        raise MemoryAllocationError(
            f"{handle:#x} is no image memory of this context: it was freed before, or belongs to another context",
            backend=backend,
        )
    return storage


def take_view(views: MutableMapping[int, _Storage], handle: int, sampled: bool, backend: str) -> _Storage:
    """Remove the image of a handle from the context's table before its destruction.

    Raises
    ------
    SyclRuntimeError
        the context has no image of that handle and kind.
    """
    view = views.pop(handle, None)
    if view is None:
        kind = "sampled" if sampled else "unsampled"
        raise SyclRuntimeError(
            f"{handle:#x} is no {kind} image of this context: it was destroyed before, or belongs to another context",
            backend=backend,
        )
    return view


def answer(
    answers: Mapping[str, Callable[[_Device], _Answer]], device: _Device, name: str, driver: str, backend: str
) -> _Answer:
    """The value of a member of ``info.device``.

    Raises
    ------
    FeatureNotSupportedError
        the driver has no such property.
    """
    try:
        ask = answers[str(name)]
    except KeyError:
        raise FeatureNotSupportedError(
            f"info.device.{name} is not available on {driver}; available: {', '.join(answers)}", backend=backend
        ) from None
    return ask(device)
