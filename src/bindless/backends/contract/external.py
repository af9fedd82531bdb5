"""Optional: import of external memory and external semaphores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ...model.external import ExternalMemDescriptor, ExternalMemHandleType, ExternalSemaphoreDescriptor
from ...model.image_descriptor import ImageDescriptor
from .native_objects import NativeContext, NativeDevice, NativeEvent, NativeExternalMemory, NativeQueue, NativeSemaphore
from .prepared_command import PreparedCommand

__all__ = ["ExternalMemoryProtocol", "ExternalSemaphoreProtocol"]


class ExternalMemoryProtocol(Protocol):
    """Import of external memory, with ``Aspect.ext_oneapi_external_memory_import``.

    File descriptors and handles stay the caller's: a driver that takes descriptors over gets a duplicate. The memory
    outlives its mappings. A mapping beyond its end raises ``InvalidError`` with both sizes where the driver reports
    them.
    """

    def import_memory(
        self, context: NativeContext, device: NativeDevice, desc: ExternalMemDescriptor
    ) -> NativeExternalMemory:
        """``FeatureNotSupportedError`` for a kind of handle that the driver does not take."""

    def importable_memory(self, device: NativeDevice) -> frozenset[ExternalMemHandleType]:
        """Types of handles that ``import_memory`` takes on the device."""

    def release_memory(self, context: NativeContext, memory: NativeExternalMemory) -> None:
        """Called like ``free``, after everything mapped of it was unmapped."""

    def map_image(
        self, context: NativeContext, device: NativeDevice, memory: NativeExternalMemory, desc: ImageDescriptor
    ) -> int:
        """Raw handle of image memory, standard or a mipmap, that other methods take like that of ``allocate_image``."""

    def unmap_image(self, context: NativeContext, handle: int, desc: ImageDescriptor) -> None:
        """Called like ``free_image``."""

    def map_linear(
        self, context: NativeContext, device: NativeDevice, memory: NativeExternalMemory, offset: int, nbytes: int
    ) -> int:
        """Address of device memory; the range lies in the memory."""

    def unmap_linear(self, context: NativeContext, address: int) -> None:
        """Called like ``free``."""


class ExternalSemaphoreProtocol(Protocol):
    """Import of external semaphores, with ``Aspect.ext_oneapi_external_semaphore_import``.

    File descriptors stay the caller's as those of memory do. Queues are in order. ``value`` is None for binary
    semaphores.
    """

    def import_semaphore(
        self, context: NativeContext, device: NativeDevice, desc: ExternalSemaphoreDescriptor
    ) -> NativeSemaphore:
        """``FeatureNotSupportedError`` for a kind of handle that the driver does not take."""

    def release_semaphore(self, context: NativeContext, semaphore: NativeSemaphore) -> None:
        """Called like ``free``; no command that is not complete uses it."""

    def wait_semaphore(
        self, queue: NativeQueue, semaphore: NativeSemaphore, value: int | None, waits: Sequence[NativeEvent] = ()
    ) -> NativeEvent:
        """Completes once it is signalled, or has come to the value; a driver may give up after a long time."""

    def signal_semaphore(
        self, queue: NativeQueue, semaphore: NativeSemaphore, value: int | None, waits: Sequence[NativeEvent] = ()
    ) -> NativeEvent: ...

    def prepare_semaphore(self, queue: NativeQueue, semaphore: NativeSemaphore, wait: bool) -> PreparedCommand | None:
        """A wait or signal that is repeated with other values; None where each submission takes Python.

        It has one argument, the value: an integer of 64 bits without a sign.
        """
