"""Ownership and device of native objects that ``make_*`` wraps."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from ...backends.contract import BackendProtocol
from ...core.lock import Lock
from ...core.ownership import Rank, after_fork, arguments_of
from ...model.enums import Ownership, coerce
from ...model.errors import BackendMismatchError, Error, InvalidError
from ...model.message_values import shown
from ...model.native_handle import CountedHandle, NativeHandle
from ...sycl.device.context import Context
from ...sycl.device.device import Device
from .backend_lookup import interop_of

__all__ = ["chosen_device", "is_owned", "named_device", "one_at_a_time", "pass_on"]

_P = ParamSpec("_P")
_T = TypeVar("_T")

# Held from the look at who uses a handle until its object is made, so that of two threads one is refused.
_transfer = Lock()


def one_at_a_time(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """The function under the one lock of all that make objects of handles."""

    @functools.wraps(function)
    def held(*arguments: _P.args, **named: _P.kwargs) -> _T:
        with _transfer:
            return function(*arguments, **named)

    return held


def _after_fork() -> None:
    global _transfer
    _transfer = Lock()


after_fork(_after_fork)


def is_owned(
    backend: BackendProtocol, kind: str, rank: Rank | None, handle: NativeHandle, ownership: Ownership | str | None
) -> bool:
    """Whether the package is to destroy a native object, or to give the caller's reference to it back.

    Parameters
    ----------
    rank : Rank | None
        Under which the package's own native objects of this kind are known; None where the backend looks itself.
    ownership : Ownership | str | None
        None is what the backend's specification has.

    Raises
    ------
    InvalidError
        There is no such ownership, or an object that is alive uses the native one already, and it does not count
        references.
    """
    usual = Ownership.transfer if backend.counted is None else backend.counted.default_ownership
    if (usual if ownership is None else coerce(Ownership, ownership, "ownership")) is Ownership.keep:
        return False
    if rank is None or kind in interop_of(backend).native_counted:
        return True
    for arguments in arguments_of(rank):
        if any(_handle_of(backend, item, rank) == handle for item in arguments):
            raise InvalidError(
                f"ownership='transfer' of {handle!r}: an object of this package uses it already, so that two would "
                "destroy it. get_native does not change whose it is, and a handle is transferred once; give "
                "ownership='keep'",
                backend=str(backend.backend),
            )
    return True


def _handle_of(backend: BackendProtocol, item: object, rank: Rank) -> int:
    """The handle that an argument of a release is, or 0."""
    if isinstance(item, int):
        return item if rank is Rank.MEMORY else 0
    try:
        return backend.native_handle(item)
    except Error:  # of another backend, or released
        return 0


def pass_on(native: object, owned: bool) -> None:
    """After a transfer: a handle that held the reference which was taken over holds it no more."""
    if owned and isinstance(native, CountedHandle):
        native.detach()


def chosen_device(
    backend: BackendProtocol, context: Context, device: Device | None, kind: str, handle: NativeHandle
) -> Device:
    """The named device, or the one that the driver reports, or the first."""
    if device is not None:
        return named_device(backend, context, device)
    natives = interop_of(backend).devices_of(kind, handle)
    return next((own for own in context.devices if own._record.native in natives), context.devices[0])


def named_device(backend: BackendProtocol, context: Context, device: object) -> Device:
    """A device that the caller named, as the context has it.

    Raises
    ------
    InvalidError
        It is none, or none of the context's.
    BackendMismatchError
        It is another backend's.
    """
    if not isinstance(device, Device):
        raise InvalidError(f"device={shown(device)} is no Device")
    if device._backend is not backend:
        raise BackendMismatchError(
            f"device={shown(device)} is of the {device.backend} backend, the native object of {backend.backend}",
            backend=str(backend.backend),
        )
    if device not in context.devices:
        raise InvalidError(f"{device!r} is not a device of {context!r}")
    return context.devices[context.devices.index(device)]
