"""Optional: objects made from native handles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from ...model.native_handle import NativeHandle
from .native_objects import NativeContext, NativeDevice, NativeEvent, NativeKernel, NativeModule
from .records import AdoptedQueue, PlatformRecord, PointerRecord

__all__ = ["InteropProtocol", "ModuleInteropProtocol"]


class InteropProtocol(Protocol):
    """Objects made from native handles.

    Kinds of objects are ``platform``, ``device``, ``context``, ``queue``, ``event``, ``kernel_bundle``, ``kernel`` and
    ``buffer``. A handle is never null and of one of the kind's types. ``owned``: the driver's object ends with the
    backend's; else it stays, and the caller keeps it as long. A driver that counts references takes one either way.
    Every ``adopt`` raises ``InvalidError`` for a handle of another context where the driver can tell, and leaves the
    driver's object to the caller whenever it raises.
    """

    @property
    def native_types(self) -> Mapping[str, tuple[str, ...]]:
        """C types of the handles of each kind that can be made, the usual one first. A kind without them cannot be."""

    @property
    def native_lists(self) -> frozenset[str]:
        """Kinds whose objects may consist of several native ones: ``get_native`` returns a tuple of their handles."""

    @property
    def native_counted(self) -> frozenset[str]:
        """Kinds whose handles count references: each transfer takes one, however many objects have the handle."""

    def platform_handle(self, platform: PlatformRecord) -> int:
        """The driver's own handle of a platform; ``FeatureNotSupportedError`` if it has none."""

    def find_device(self, handle: NativeHandle) -> NativeDevice | None:
        """The device, or part of one, that a handle is of."""

    def devices_of(self, kind: str, handle: NativeHandle) -> Sequence[NativeDevice]:
        """The devices of a context, queue or kernel bundle; none where the driver does not tell."""

    def adopt_context(self, handle: NativeHandle, devices: Sequence[NativeDevice], owned: bool) -> NativeContext: ...

    def adopt_queue(
        self, context: NativeContext, device: NativeDevice, handle: NativeHandle, owned: bool
    ) -> AdoptedQueue: ...

    def adopt_event(self, context: NativeContext, handle: NativeHandle, owned: bool) -> NativeEvent: ...

    def adopt_kernel(self, module: NativeModule, handle: NativeHandle, owned: bool) -> NativeKernel:
        """One that is owned ends with its module."""

    def describe_memory(self, context: NativeContext, handle: NativeHandle) -> PointerRecord:
        """Describe an allocation; its kind is ``unknown`` where the driver does not know it."""

    def adopt_memory(self, context: NativeContext, handle: NativeHandle, owned: bool) -> PointerRecord:
        """Describe an allocation and its address; an owned one may be passed to ``free`` from now on."""


class ModuleInteropProtocol(Protocol):
    """Modules made from native handles one by one, where a native module is of one device."""

    def adopt_module(
        self, context: NativeContext, device: NativeDevice, handle: NativeHandle, owned: bool
    ) -> NativeModule:
        """``BuildError`` for one whose kernels cannot run yet."""
