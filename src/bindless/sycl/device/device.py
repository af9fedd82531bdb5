"""``Device``: a device of one backend (SYCL 2020 section 4.6.4)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Union

from ...backends.contract import BackendProtocol, DeviceRecord
from ...model import info
from ...model.aspects import Aspect
from ...model.enums import Backend, DeviceType, coerce
from ...model.errors import FeatureNotSupportedError
from ...model.single_owner import Singleton
from .partition import NOT_DIVIDED, can_partition, create_sub_devices
from .platform import Platform

__all__ = ["Device", "Score", "Selector"]

Score = Callable[["Device"], float]
Selector = Union[None, str, "Device", Score]


class Device(Singleton):
    """A device of one backend. A value: two objects of the same device are equal. Making one starts nothing on it.

    Parameters
    ----------
    selector : Selector, optional
        A callable that scores devices, a filter string ``backend:type:index``, one of ``"default"``, ``"gpu"``,
        ``"cpu"``, ``"accelerator"``, or another device; None is ``"default"``.

    Raises
    ------
    InvalidError
        No device fits, or the selector is none; the message lists the devices.

    Notes
    -----
    SYCL 2020, 4.6.4, "Device class".

    Examples
    --------
    >>> device = bindless.Device("reference")
    >>> print(device.backend, device.type)
    reference cpu
    """

    __slots__ = ("__weakref__", "_aspects", "_backend", "_made_by", "_parent", "_record")

    _backend: BackendProtocol
    _record: DeviceRecord
    _aspects: frozenset[Aspect] | None
    # Of a sub-device: what it is part of, and how it was divided.
    _parent: Device | None
    _made_by: tuple[info.partition_property, info.partition_affinity_domain]

    _select: ClassVar[Callable[[Selector], Device]]
    """Set by the module ``selector``, which imports this one."""

    def __init__(self, selector: Selector = None) -> None:
        chosen = Device._select(selector)
        self._backend, self._record, self._aspects = chosen._backend, chosen._record, chosen._aspects
        self._parent, self._made_by = chosen._parent, chosen._made_by

    @classmethod
    def _of(
        cls,
        backend: BackendProtocol,
        record: DeviceRecord,
        parent: Device | None = None,
        way: info.partition_property = info.partition_property.no_partition,
        domain: info.partition_affinity_domain = info.partition_affinity_domain.not_applicable,
    ) -> Device:
        device = cls.__new__(cls)
        device._backend, device._record, device._aspects = backend, record, None
        device._parent, device._made_by = parent, (way, domain)
        return device

    # ------------------------------------------------------------------ what discovery knows

    @property
    def name(self) -> str:
        """The name that the driver reports (``info::device::name``)."""
        return self._record.name

    @property
    def vendor(self) -> str:
        """The vendor that the driver reports (``info::device::vendor``)."""
        return self._record.vendor

    @property
    def driver_version(self) -> str:
        """The version of the driver, as text (``info::device::driver_version``)."""
        return self._record.driver_version

    @property
    def backend(self) -> Backend:
        """The backend of the device."""
        return self._backend.backend

    @property
    def type(self) -> DeviceType:
        """The device type: ``cpu``, ``gpu``, ``accelerator`` or ``custom``."""
        return self._record.type

    @property
    def index(self) -> int:
        """Its number among the devices of its backend; a sub-device has that of its device."""
        return self._record.index

    @property
    def uuid(self) -> bytes:
        """16 bytes; the same physical device has the same in every API that reports one."""
        return self._record.uuid

    @property
    def platform(self) -> Platform:
        """The platform of the device."""
        return Platform(self._backend, self._record.platform)

    def is_cpu(self) -> bool:
        """True for a device of type ``cpu``."""
        return self.type is DeviceType.cpu

    def is_gpu(self) -> bool:
        """True for a device of type ``gpu``."""
        return self.type is DeviceType.gpu

    def is_accelerator(self) -> bool:
        """True for a device of type ``accelerator``."""
        return self.type is DeviceType.accelerator

    # ------------------------------------------------------------------ questions

    @property
    def aspects(self) -> frozenset[Aspect]:
        """The aspects of the device."""
        if self._aspects is None:
            self._aspects = self._backend.aspects(self._record.native)
        return self._aspects

    def has(self, aspect: Aspect | str) -> bool:
        """Whether the device has an aspect.

        Parameters
        ----------
        aspect : Aspect | str
            An ``Aspect`` or its name.

        Returns
        -------
        bool
            True where the device has the aspect.

        Raises
        ------
        InvalidError
            No aspect has this name.
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

        Parameters
        ----------
        descriptor : info.device | str
            A member of the ``info`` enumeration of this class, or its name.

        Returns
        -------
        Any
            The value, of the type that the descriptor's docstring gives.

        Raises
        ------
        InvalidError
            There is no such descriptor.
        FeatureNotSupportedError
            The driver does not tell.
        """
        name = coerce(info.device, descriptor, "descriptor")
        answer = _KNOWN.get(name)
        if answer is not None:
            return answer(self)
        if str(name) in NOT_DIVIDED and not can_partition(self):
            return NOT_DIVIDED[str(name)]
        return self._backend.device_info(self._record.native, str(name))

    # ------------------------------------------------------------------ sub-devices

    @property
    def parent(self) -> Device | None:
        """The device that this sub-device is part of."""
        return self._parent

    def create_sub_devices(
        self, how: info.partition_property | str, argument: int | Iterable[int] | info.partition_affinity_domain | str
    ) -> tuple[Device, ...]:
        """Its parts, devices themselves.

        Parameters
        ----------
        how : info.partition_property | str
            ``partition_equally``, ``partition_by_counts`` or ``partition_by_affinity_domain``.
        argument : int | Iterable[int] | info.partition_affinity_domain | str
            Compute units of every part; compute units of each part; or an affinity domain such as ``numa``.

        Returns
        -------
        tuple[Device, ...]
            The sub-devices.

        Raises
        ------
        FeatureNotSupportedError
            The device is not divided so; ``get_info("partition_properties")`` and
            ``get_info("partition_affinity_domains")`` tell before.
        InvalidError
            An argument of another kind, or more compute units or parts than there are.
        """
        return create_sub_devices(self, how, argument)

    # ------------------------------------------------------------------ value

    def _key(self) -> tuple[object, ...]:
        return (self._record.index,) if self._parent is None else (self._record.index, self._record.native)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Device) and other._backend is self._backend and other._key() == self._key()

    def __hash__(self) -> int:
        return hash((self._backend.backend, self._record.index))

    def __repr__(self) -> str:
        return f"<Device {self._label}>"

    @property
    def _label(self) -> str:
        """Suffix that distinguishes devices of the same name in messages."""
        part = "" if self._parent is None else "sub-device of "
        return f"{part}{self.backend}:{self.type}:{self.index} {self.name!r}"


# Answers known from discovery, and derived ones.
_KNOWN: dict[info.device, Callable[[Device], Any]] = {
    info.device.device_type: lambda device: device.type,
    info.device.name: lambda device: device.name,
    info.device.vendor: lambda device: device.vendor,
    info.device.driver_version: lambda device: device.driver_version,
    info.device.version: lambda device: device._record.version,
    info.device.uuid: lambda device: device.uuid,
    info.device.platform: lambda device: device.platform,
    info.device.aspects: lambda device: device.aspects,
    info.device.is_compiler_available: lambda device: device.has(Aspect.online_compiler),
    info.device.is_linker_available: lambda device: device.has(Aspect.online_linker),
    info.device.queue_profiling: lambda device: device.has(Aspect.queue_profiling),
    info.device.is_endian_little: lambda device: sys.byteorder == "little",
    info.device.parent_device: lambda device: device.parent,
    info.device.partition_type_property: lambda device: device._made_by[0],
    info.device.partition_type_affinity_domain: lambda device: device._made_by[1],
}
