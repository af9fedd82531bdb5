"""Dividing devices into sub-devices (SYCL 2020 section 4.6.4.3), where a driver does that."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Union

from ...backends.contract import require_group
from ...model.enums import coerce
from ...model.errors import FeatureNotSupportedError, InvalidError
from ...model.info import partition_affinity_domain, partition_property
from ...model.message_values import shown

if TYPE_CHECKING:
    from .device import Device

__all__ = ["NOT_DIVIDED", "can_partition", "create_sub_devices", "next_partitionable"]

Argument = Union[int, tuple[int, ...], partition_affinity_domain]

# The answers of a device whose driver divides none.
NOT_DIVIDED: dict[str, Any] = {
    "partition_max_sub_devices": 0,
    "partition_properties": (),
    "partition_affinity_domains": (),
}


def can_partition(device: Device) -> bool:
    """Whether the device's driver divides devices at all."""
    return device._backend.partitioning is not None


def create_sub_devices(device: Device, how: object, argument: object) -> tuple[Device, ...]:
    """See ``Device.create_sub_devices``."""
    way = coerce(partition_property, how, "how")
    offered: tuple[partition_property, ...] = device.get_info("partition_properties")
    if way not in offered:
        raise FeatureNotSupportedError(
            f"{device.name!r} is not divided by {str(way)!r}: "
            + (f"it can by {', '.join(map(str, offered))}" if offered else "it has no sub-devices")
            + "; ask device.get_info('partition_properties') first",
            backend=str(device.backend),
        )
    checked = _CHECKS[way](device, argument)
    return _divide(device, way, checked)


def next_partitionable(device: Device) -> tuple[Device, ...]:
    """The sub-devices that environment variables count; none where the device cannot be divided so."""
    domain = partition_affinity_domain.next_partitionable
    way = partition_property.partition_by_affinity_domain
    if way not in device.get_info("partition_properties") or domain not in device.get_info(
        "partition_affinity_domains"
    ):
        return ()
    return _divide(device, way, domain)


def _divide(device: Device, way: partition_property, argument: Argument) -> tuple[Device, ...]:
    calls = require_group(device._backend.partitioning, "sub-devices", device.backend)
    domain = argument if isinstance(argument, partition_affinity_domain) else partition_affinity_domain.not_applicable
    return tuple(
        type(device)._of(device._backend, record, device, way, domain)
        for record in calls.partition(device._record.native, way, argument)
    )


# ---------------------------------------------------------------------- arguments


def _count(value: object, name: str) -> int:
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = 0
    if number < 1:
        raise InvalidError(f"{name}={shown(value)}: it is a number of compute units, at least 1")
    return number


def _equally(device: Device, argument: object) -> int:
    count, units = _count(argument, "argument"), device.get_info("max_compute_units")
    if count > units:
        raise InvalidError(
            f"argument={shown(count)}: {device.name!r} has {units} compute units, not enough for one part"
        )
    return count


def _by_counts(device: Device, argument: object) -> tuple[int, ...]:
    if not isinstance(argument, Iterable) or isinstance(argument, (str, bytes)):
        raise InvalidError(
            f"argument={shown(argument)}: it takes the number of compute units of each part, such as [4, 2]"
        )
    counts = tuple(_count(value, "argument") for value in argument)
    maximum, units = device.get_info("partition_max_sub_devices"), device.get_info("max_compute_units")
    if not 1 <= len(counts) <= maximum:
        raise InvalidError(f"argument={shown(counts)}: {device.name!r} is divided into 1 to {maximum} parts")
    if sum(counts) > units:
        raise InvalidError(
            f"argument={shown(counts)} are {sum(counts)} compute units together: {device.name!r} has {units}"
        )
    return counts


def _by_affinity(device: Device, argument: object) -> partition_affinity_domain:
    domain = coerce(partition_affinity_domain, argument, "argument")
    offered: tuple[partition_affinity_domain, ...] = device.get_info("partition_affinity_domains")
    if domain not in offered:
        raise FeatureNotSupportedError(
            f"{device.name!r} is not divided by the affinity domain {str(domain)!r}; it can by "
            f"{', '.join(map(str, offered)) or 'none'}: ask device.get_info('partition_affinity_domains') first",
            backend=str(device.backend),
        )
    return domain


_CHECKS: dict[partition_property, Callable[[Device, object], Argument]] = {
    partition_property.partition_equally: _equally,
    partition_property.partition_by_counts: _by_counts,
    partition_property.partition_by_affinity_domain: _by_affinity,
}
