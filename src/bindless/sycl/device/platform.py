"""``Platform``: one vendor's driver and its devices (SYCL 2020 section 4.6.2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from ...backends.contract import BackendProtocol, PlatformRecord
from ...model import info
from ...model.aspects import Aspect
from ...model.enums import Backend, coerce
from ...model.single_owner import Singleton

if TYPE_CHECKING:
    from .device import Device

__all__ = ["Platform"]


class Platform(Singleton):
    """A driver; a value, made by ``get_platforms`` or ``device.platform``.

    Notes
    -----
    SYCL 2020, 4.6.2, "Platform class".

    Examples
    --------
    >>> platform = bindless.Device("reference").platform
    >>> platform in bindless.get_platforms()
    True
    """

    __slots__ = ("_backend", "_record")

    _visible_devices: ClassVar[Callable[[], tuple[Device, ...]]]
    """Set by the module ``discovery``, which imports this one."""

    def __init__(self, _backend: BackendProtocol, _record: PlatformRecord) -> None:
        self._backend = _backend
        self._record = _record

    @property
    def name(self) -> str:
        """The name that the driver reports (``info::platform::name``)."""
        return self._record.name

    @property
    def vendor(self) -> str:
        """The vendor that the driver reports (``info::platform::vendor``)."""
        return self._record.vendor

    @property
    def version(self) -> str:
        """The version of the driver, as text (``info::platform::version``)."""
        return self._record.version

    @property
    def backend(self) -> Backend:
        """The backend of the platform."""
        return self._backend.backend

    def get_devices(self) -> tuple[Device, ...]:
        """The platform's devices that the environment allows; none of an empty platform.

        Returns
        -------
        tuple[Device, ...]
            The devices of the platform.
        """
        return tuple(device for device in Platform._visible_devices() if device.platform == self)

    def has(self, aspect: Aspect | str) -> bool:
        """Whether all its devices have an aspect; of an empty platform that is true.

        Parameters
        ----------
        aspect : Aspect | str
            An ``Aspect`` or its name.

        Returns
        -------
        bool
            True where all devices of the platform have the aspect.

        Raises
        ------
        InvalidError
            No aspect has this name.
        """
        aspect = coerce(Aspect, aspect, "aspect")
        return all(device.has(aspect) for device in self.get_devices())

    def get_info(self, descriptor: info.platform | str) -> str:
        """The answer to a member of ``info.platform``.

        Parameters
        ----------
        descriptor : info.platform | str
            A member of the ``info`` enumeration of this class, or its name.

        Returns
        -------
        str
            The value.

        Raises
        ------
        InvalidError
            There is no such descriptor.
        """
        return str(getattr(self._record, str(coerce(info.platform, descriptor, "descriptor"))))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Platform)
            and other._backend is self._backend
            and other._record.index == self._record.index
        )

    def __hash__(self) -> int:
        return hash((str(self.backend), self._record.index))

    def __repr__(self) -> str:
        return f"<Platform {self.backend}:{self._record.index} {self.name!r}>"
