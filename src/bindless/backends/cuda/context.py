"""Contexts: the devices that share memory, and the objects created in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...drivers import cuda as driver
from ...drivers.common.cffi_types import CData
from ...model.enums import UsmKind
from ..common.context import foreign_device, require_devices
from .device import Device, PrimaryContext
from .errors import release
from .fork_guard import in_fork

if TYPE_CHECKING:
    from .image_storage import ImageStorage

__all__ = ["Allocation", "Context", "View"]

lib = driver.lib

View = tuple[PrimaryContext, int, CData]


@dataclass(frozen=True)
class Allocation:
    """One allocation of unified memory.

    Attributes
    ----------
    kind
        device, host or shared.
    primary
        primary context of the allocation.
    base
        address from the driver; the address given to the caller may be higher, for alignment.
    size
        bytes asked for.
    """

    kind: UsmKind
    primary: PrimaryContext
    base: int
    size: int


class Context:
    """The primary contexts of some devices, with a record of the objects in them.

    CUDA has one context per device. Addresses and arrays are unique among all of them; ``image_handle`` makes the
    numbers of textures and surfaces unique too.

    Attributes
    ----------
    devices
        as given.
    primaries
        the primary context of each.
    allocations
        by address.
    images
        image memory by raw handle, levels of mipmaps included.
    textures, surfaces
        primary context, raw handle of the memory (0 for USM) and texture descriptor of each sampled and each unsampled
        image, by its number.
    copied
        surfaces that large copies use, by the raw handle of their image memory.
    opened
        primary context of imported memory of other processes, by address.
    mapped
        the mipmapped array of each image mapped from external memory, by its raw handle.
    retained
        whether the caller retained the primary context for this one.
    """

    def __init__(self, devices: Sequence[Device]) -> None:
        require_devices(devices, "cuda")
        self.devices = tuple(devices)
        self.primaries: dict[Device, PrimaryContext] = {device: device.context() for device in self.devices}
        self.allocations: dict[int, Allocation] = {}
        self.images: dict[int, ImageStorage] = {}
        self.textures: dict[int, View] = {}
        self.surfaces: dict[int, View] = {}
        self.copied: dict[int, int] = {}
        self.opened: dict[int, PrimaryContext] = {}
        self.mapped: dict[int, int] = {}
        self.retained = False

    def primary(self, device: Device | None) -> PrimaryContext:
        """The primary context of one of the devices; of the first if None."""
        if device is None:
            device = self.devices[0]
        try:
            return self.primaries[device]
        except KeyError:
            raise foreign_device(device, self.devices, "cuda") from None

    def close(self) -> None:
        """Forget the records. The primary contexts stay, which other contexts and libraries use."""
        self.textures.clear()
        self.surfaces.clear()
        if self.retained and not in_fork():
            release(lib.cuDevicePrimaryCtxRelease(self.devices[0].handle), "cuDevicePrimaryCtxRelease")
