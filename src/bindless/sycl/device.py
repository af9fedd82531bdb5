"""``Device``: something that runs commands (SYCL 2020 section 4.6.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backends.contract import BackendProtocol, DeviceRecord
from ..model import info
from ..model.aspects import Aspect
from ..model.enums import Backend, DeviceType, coerce
from ..model.errors import FeatureNotSupportedError

if TYPE_CHECKING:
    from .platform import Platform
    from .selector import Selector

__all__ = ["Device", "get_devices"]


class Device:
    """A device of one backend. A value: two objects of the same device are equal. Making one starts nothing on it.

    Args:
        selector: a callable that scores devices, a filter string ``backend:type:index``, one of ``"default"``,
            ``"gpu"``, ``"cpu"``, ``"accelerator"``, or another device; None is ``"default"``.

    Raises:
        InvalidError: no device fits, or the selector is none; the message lists the devices.
    """

    __slots__ = ("__weakref__", "_aspects", "_backend", "_record")

    _backend: BackendProtocol
    _record: DeviceRecord
    _aspects: frozenset[Aspect] | None

    def __init__(self, selector: Selector = None) -> None:
        from .selector import select_device

        chosen = select_device(selector)
        self._backend, self._record, self._aspects = chosen._backend, chosen._record, chosen._aspects

    @classmethod
    def _of(cls, backend: BackendProtocol, record: DeviceRecord) -> Device:
        device = cls.__new__(cls)
        device._backend, device._record, device._aspects = backend, record, None
        return device

    # ------------------------------------------------------------------ what discovery knows

    @property
    def name(self) -> str:
        return self._record.name

    @property
    def vendor(self) -> str:
        return self._record.vendor

    @property
    def driver_version(self) -> str:
        return self._record.driver_version

    @property
    def backend(self) -> Backend:
        return self._backend.backend

    @property
    def type(self) -> DeviceType:
        return self._record.type

    @property
    def index(self) -> int:
        """Its number among the devices of its backend."""
        return self._record.index

    @property
    def uuid(self) -> bytes:
        """16 bytes; the same physical device has the same in every API that reports one."""
        return self._record.uuid

    @property
    def platform(self) -> Platform:
        from .platform import Platform

        return Platform(self._backend, self._record.platform)

    def is_cpu(self) -> bool:
        return self.type is DeviceType.cpu

    def is_gpu(self) -> bool:
        return self.type is DeviceType.gpu

    def is_accelerator(self) -> bool:
        return self.type is DeviceType.accelerator

    # ------------------------------------------------------------------ questions

    @property
    def aspects(self) -> frozenset[Aspect]:
        """What it says yes to."""
        if self._aspects is None:
            self._aspects = self._backend.aspects(self._record.native)
        return self._aspects

    def has(self, aspect: Aspect | str) -> bool:
        """Whether it has an aspect.

        Raises:
            InvalidError: no aspect has this name.
        """
        if not isinstance(aspect, Aspect):
            aspect = coerce(Aspect, aspect, "aspect")
        return aspect in self.aspects

    def _require(self, aspect: Aspect, what: str) -> None:
        """Raises ``FeatureNotSupportedError`` naming the aspect if the device lacks it."""
        if aspect not in self.aspects:
            raise FeatureNotSupportedError(
                f"{what} is not supported by {self.name!r}: ask device.has({str(aspect)!r}) first",
                backend=str(self.backend),
            )

    def get_info(self, descriptor: info.device | str) -> Any:
        """The answer to a member of ``info.device``, whose comments give the types.

        Raises:
            InvalidError: there is no such descriptor.
            FeatureNotSupportedError: the driver does not tell.
        """
        name = coerce(info.device, descriptor, "descriptor")
        known = _KNOWN.get(name)
        if known is not None:
            return getattr(self._record, known)
        return self._backend.device_info(self._record.native, str(name))

    # ------------------------------------------------------------------ value

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Device) and other._backend is self._backend and other._record.index == self._record.index
        )

    def __hash__(self) -> int:
        return hash((str(self.backend), self._record.index))

    def __repr__(self) -> str:
        return f"<Device {self.backend}:{self.type}:{self.index} {self.name!r}>"


# Answers that discovery has already given.
_KNOWN = {
    info.device.device_type: "type",
    info.device.name: "name",
    info.device.vendor: "vendor",
    info.device.driver_version: "driver_version",
    info.device.version: "version",
    info.device.uuid: "uuid",
}


def get_devices(selector: Selector = None) -> tuple[Device, ...]:
    """All devices, or those that a selector accepts, best first.

    Raises:
        InvalidError: the selector is none. No matching device is no error: the result is empty.
    """
    from ._discovery import visible_devices
    from .selector import ranked_devices

    return visible_devices() if selector is None else ranked_devices(selector)
