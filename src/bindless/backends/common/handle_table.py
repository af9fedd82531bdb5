"""What the tables of a driver's contexts and devices hold, and the errors of what they do not, whatever the driver."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from typing import TypeVar

from ...model.errors import FeatureNotSupportedError, InvalidError, MemoryAllocationError, SyclRuntimeError

__all__ = ["answer", "storage", "take_storage", "take_view"]

_Device = TypeVar("_Device")
_Storage = TypeVar("_Storage")
_Answer = TypeVar("_Answer")


def storage(images: Mapping[int, _Storage], handle: int, backend: str) -> _Storage:
    """The image memory of a raw handle.

    Raises:
        InvalidError: the context has none of that handle.
    """
    try:
        return images[handle]
    except KeyError:
        raise InvalidError(
            f"{handle:#x} is no image memory of this context: it was freed, or belongs to another context",
            backend=backend,
        ) from None


def take_storage(images: MutableMapping[int, _Storage], handle: int, backend: str) -> _Storage:
    """The image memory of a raw handle that is to be freed, which the context forgets.

    Raises:
        MemoryAllocationError: the context has none of that handle.
    """
    found = images.pop(handle, None)
    if found is None:
        raise MemoryAllocationError(
            f"{handle:#x} is no image memory of this context: it was freed before, or belongs to another context",
            backend=backend,
        )
    return found


def take_view(views: MutableMapping[int, _Storage], handle: int, sampled: bool, backend: str) -> _Storage:
    """The image of a handle that is to be destroyed, which the context forgets.

    Raises:
        SyclRuntimeError: the context has none of that handle and kind.
    """
    found = views.pop(handle, None)
    if found is None:
        kind = "sampled" if sampled else "unsampled"
        raise SyclRuntimeError(
            f"{handle:#x} is no {kind} image of this context: it was destroyed before, or belongs to another context",
            backend=backend,
        )
    return found


def answer(
    answers: Mapping[str, Callable[[_Device], _Answer]], device: _Device, name: str, driver: str, backend: str
) -> _Answer:
    """The answer to a member of ``info.device``.

    Raises:
        FeatureNotSupportedError: the driver of this name has no answer.
    """
    try:
        found = answers[str(name)]
    except KeyError:
        raise FeatureNotSupportedError(
            f"info.device.{name} has no answer on {driver}; these have one: {', '.join(answers)}", backend=backend
        ) from None
    return found(device)
