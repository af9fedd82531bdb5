"""Records that back ends return: platforms, devices, pointers, images, kernels and adopted queues."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...model.enums import DeviceType, ImageChannelType, UsmKind
from .native_objects import NativeDevice, NativeQueue

__all__ = [
    "AdoptedQueue",
    "DeviceRecord",
    "ImageRecord",
    "KernelArgument",
    "KernelRecord",
    "PlatformRecord",
    "PointerRecord",
]


@dataclass(frozen=True)
class PlatformRecord:
    """A driver: ``index`` counts the platforms of one backend."""

    index: int
    name: str
    vendor: str
    version: str


@dataclass(frozen=True)
class DeviceRecord:
    """A device as discovery finds it, without making anything on it.

    Attributes
    ----------
    native : NativeDevice
        What the backend's other methods take.
    platform : PlatformRecord
        The driver it belongs to.
    index : int
        Counts the devices of one backend; a sub-device has that of its device.
    uuid : bytes
        16 bytes; the same physical device has the same in every API that reports one.
    parent : DeviceRecord | None
        The device that this sub-device is part of.
    """

    native: NativeDevice
    platform: PlatformRecord
    index: int
    type: DeviceType
    name: str
    vendor: str
    driver_version: str
    version: str
    uuid: bytes
    parent: DeviceRecord | None = None


@dataclass(frozen=True)
class PointerRecord:
    """Allocation that an address belongs to; ``kind`` unknown means memory that is not the driver's."""

    kind: UsmKind
    base: int = 0
    size: int = 0
    device: NativeDevice | None = None


@dataclass(frozen=True)
class ImageRecord:
    """The driver's own description of image memory: unused sizes are 0 (R19).

    ``channel_type`` is the native one: a driver without normalized formats reports the integer type.
    """

    width: int
    height: int
    depth: int
    channel_type: ImageChannelType
    num_channels: int


@dataclass(frozen=True)
class KernelArgument:
    """One parameter of a kernel as reflected.

    Attributes
    ----------
    kind : str
        ``value``, ``pointer``, ``local``, ``image`` or ``sampler``.
    size : int
        Bytes.
    type : str
        As in the source, such as ``float4``; empty where that is not told.
    may_be_local : bool
        Whether a value may be the offset of local memory, for all that the driver tells.
    may_be_handle : bool
        Whether a value of 8 bytes may be an image handle; not where handles are no numbers.
    """

    index: int
    name: str
    kind: str
    size: int
    type: str = ""
    may_be_local: bool = False
    may_be_handle: bool = True


@dataclass(frozen=True)
class KernelRecord:
    """A kernel's signature and limits; ``arguments`` is None where the driver cannot tell.

    ``may_be_set``: it was made elsewhere, and may be launched without arguments, with those that were set there.
    ``group_function``: a function that it calls, and for which the launch names work-groups.
    """

    name: str
    arguments: tuple[KernelArgument, ...] | None
    max_work_group_size: int
    local_memory_size: int = 0
    private_memory_size: int = 0
    required_work_group_size: tuple[int, ...] | None = None
    properties: Mapping[str, int] = field(default_factory=dict)
    may_be_set: bool = False
    group_function: str = ""


@dataclass(frozen=True)
class AdoptedQueue:
    """A native queue around one that was made elsewhere.

    Attributes
    ----------
    native : NativeQueue
        What the backend's other methods take.
    in_order : bool
        Whether each of its commands starts after the one before it.
    profiling : bool
        Whether its events have times.
    """

    native: NativeQueue
    in_order: bool
    profiling: bool = False
