"""Optional: division of devices into sub-devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ...model.info import partition_affinity_domain, partition_property
from .native_objects import NativeDevice
from .records import DeviceRecord

__all__ = ["PartitioningProtocol"]


class PartitioningProtocol(Protocol):
    """Division of devices into sub-devices.

    Its ``device_info`` answers ``partition_max_sub_devices``, ``partition_properties`` and
    ``partition_affinity_domains``. A backend without ``partition`` has devices that cannot be divided.
    """

    def partition(
        self, device: NativeDevice, how: partition_property, argument: int | tuple[int, ...] | partition_affinity_domain
    ) -> Sequence[DeviceRecord]:
        """The parts of a device, the same native objects each time. The arguments were checked against its answers."""
