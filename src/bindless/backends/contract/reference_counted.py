"""Optional: native objects that count their references, as OpenCL's do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ...model.enums import BundleState, Ownership
from ...model.image_descriptor import ImageDescriptor
from ...model.native_handle import NativeHandle
from .native_handles import InteropProtocol
from .native_objects import (
    NativeContext,
    NativeDevice,
    NativeModule,
    NativeObject,
)
from .records import DeviceRecord, PlatformRecord

__all__ = ["AdoptedBundle", "CountedProtocol"]


@dataclass(frozen=True)
class AdoptedBundle:
    """Parts of a kernel bundle made from native programs.

    Attributes
    ----------
    devices : tuple[NativeDevice, ...]
        Devices of the bundle.
    modules : Mapping[NativeDevice, Sequence[NativeModule]]
        Modules of an executable bundle, by device.
    objects : Mapping[NativeDevice, Sequence[NativeObject]]
        Compiled objects of an object bundle, by device.
    sources : tuple[bytes, ...]
        Sources of an input bundle.
    programs : tuple[NativeObject, ...]
        The given programs. They keep the driver's objects alive and need no release.
    """

    devices: tuple[NativeDevice, ...]
    modules: Mapping[NativeDevice, Sequence[NativeModule]]
    objects: Mapping[NativeDevice, Sequence[NativeObject]]
    sources: tuple[bytes, ...]
    programs: tuple[NativeObject, ...]


class CountedProtocol(InteropProtocol, Protocol):
    """``InteropProtocol`` for native objects that count references.

    Objects that are not ``owned`` take a reference of their own, and that is the usual case. Memory objects and
    programs belong to contexts rather than to devices.
    """

    @property
    def default_ownership(self) -> Ownership:
        """Ownership of a handle where the caller names none."""

    def held_handle(self, native: object) -> NativeHandle:
        """The handle of one of the backend's objects, with a reference of its own."""

    def memory_handle(self, context: NativeContext, address: int, *, image: bool = False) -> NativeHandle | None:
        """That of a buffer's memory or, by its raw handle, of an image's; None where it is no native object."""

    def memory_or_address(self, context: NativeContext, address: int) -> int:
        """The native memory object of an address; the address itself where it stands for none."""

    def adopt_device(self, handle: NativeHandle) -> tuple[DeviceRecord, NativeDevice] | None:
        """A part of a device, made here or elsewhere, and what it is a part of; None for other things."""

    def adopt_image(
        self, context: NativeContext, device: NativeDevice, handle: NativeHandle, owned: bool
    ) -> tuple[int, ImageDescriptor]:
        """Raw handle of image memory, that can be given to ``free_image`` from now on, and its descriptor."""

    def adopt_programs(
        self,
        context: NativeContext,
        devices: Sequence[NativeDevice],
        handles: Sequence[NativeHandle],
        state: BundleState,
        owned: bool,
    ) -> AdoptedBundle:
        """Build a bundle in ``state`` from native programs. Programs of fewer devices restrict the bundle to those.

        ``InvalidError`` for programs that are further than the state; ``BuildError`` with the log if they do not build.
        """

    def adopt_programs_of(
        self, context: NativeContext, devices: Sequence[NativeDevice], kernels: Sequence[NativeHandle]
    ) -> AdoptedBundle:
        """Return the executable bundle of the programs that own these kernels; see ``adopt_programs``."""

    def program_of(self, context: NativeContext, handle: NativeHandle) -> NativeHandle:
        """The program of a native kernel of the context."""

    def reference_count(self, handle: NativeHandle) -> int:
        """References to a native object; ``InvalidError`` for what is none."""

    def platform_extensions(self, platform: PlatformRecord) -> frozenset[str]:
        """Their names."""

    def device_extensions(self, device: NativeDevice) -> frozenset[str]:
        """Their names."""
