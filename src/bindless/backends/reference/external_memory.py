"""External memory and semaphores of the reference driver: objects that processes share by file descriptors."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...drivers import reference as driver
from ...model.aspects import Aspect
from ...model.errors import FeatureNotSupportedError
from ...model.external import (
    ExternalMemDescriptor,
    ExternalMemHandleType,
    ExternalSemaphoreDescriptor,
    ExternalSemaphoreHandleType,
    Resource,
    ResourceFd,
)
from ...model.image_descriptor import ImageDescriptor
from ..contract.prepared_command import PreparedCommand
from .image_structs import image_struct
from .objects import Context, Device, Event, Queue, address_of
from .prepared_command import prepared_command

if TYPE_CHECKING:
    from .driver_access import DriverAccess

__all__ = [
    "ASPECTS",
    "import_memory",
    "import_semaphore",
    "importable_memory",
    "map_image",
    "map_linear",
    "prepare_semaphore",
    "release_memory",
    "release_semaphore",
    "signal_semaphore",
    "unmap_image",
    "unmap_linear",
    "wait_semaphore",
]

lib, ffi = driver.lib, driver.ffi

_SUBMIT = address_of(ffi.addressof(lib, "bindless_semaphore_again"))

# Imports need Linux files.
ASPECTS: frozenset[Aspect] = frozenset(
    (Aspect.ext_oneapi_external_memory_import, Aspect.ext_oneapi_external_semaphore_import)
    if sys.platform == "linux"
    else ()
)

_BINARY, _TIMELINE = 0, 1  # blr_semaphore_type_t


def _descriptor(resource: Resource) -> int:
    if not isinstance(resource, ResourceFd):
        raise FeatureNotSupportedError(f"{resource}: the reference driver takes file descriptors", backend="reference")
    return resource.file_descriptor


# ---------------------------------------------------------------------- memory


def importable_memory(backend: DriverAccess, device: Device) -> frozenset[ExternalMemHandleType]:
    """See ``ExternalMemoryProtocol``: file descriptors with mappable memory."""
    if Aspect.ext_oneapi_external_memory_import not in ASPECTS:
        return frozenset()
    return frozenset((ExternalMemHandleType.opaque_fd, ExternalMemHandleType.dma_buf))


def import_memory(backend: DriverAccess, context: Context, device: Device, desc: ExternalMemDescriptor) -> int:
    """Import memory; an opaque_fd and a dma_buf are treated alike: as mappable files."""
    memory = backend._ffi.new("blr_external_memory_t *")
    result = backend._lib.blrExternalMemoryImport(
        context.handle, _descriptor(desc.resource), desc.size_in_bytes, memory
    )
    backend._check(result, "blrExternalMemoryImport")
    return int(backend._ffi.cast("uintptr_t", memory[0]))


def release_memory(backend: DriverAccess, context: Context, memory: int) -> None:
    """Release the driver's object."""
    handle = backend._ffi.cast("blr_external_memory_t", memory)
    backend._check(backend._lib.blrExternalMemoryRelease(handle), "blrExternalMemoryRelease")


def map_image(backend: DriverAccess, context: Context, device: Device, memory: int, desc: ImageDescriptor) -> int:
    """Map an image over the exporter's pixels."""
    image = backend._ffi.new("blr_image_t *")
    handle = backend._ffi.cast("blr_external_memory_t", memory)
    result = backend._lib.blrExternalMemoryMapImage(handle, image_struct(backend._ffi, desc), image)
    backend._check(result, "blrExternalMemoryMapImage")
    return int(backend._ffi.cast("uintptr_t", image[0]))


def unmap_image(backend: DriverAccess, context: Context, handle: int, desc: ImageDescriptor) -> None:
    """Unmap an image; the driver knows the owner of its pixels."""
    backend.free_image(context, handle, desc)


def map_linear(backend: DriverAccess, context: Context, device: Device, memory: int, offset: int, nbytes: int) -> int:
    """Map the exporter's bytes, at a new address for each call."""
    pointer = backend._ffi.new("void **")
    handle = backend._ffi.cast("blr_external_memory_t", memory)
    result = backend._lib.blrExternalMemoryMapLinear(handle, offset, nbytes, pointer)
    backend._check(result, "blrExternalMemoryMapLinear")
    return int(backend._ffi.cast("uintptr_t", pointer[0]))


def unmap_linear(backend: DriverAccess, context: Context, address: int) -> None:
    """Unmap memory; the driver knows the owner of its bytes."""
    backend.free(context, address)


# ---------------------------------------------------------------------- semaphores


def import_semaphore(backend: DriverAccess, context: Context, device: Device, desc: ExternalSemaphoreDescriptor) -> int:
    """Import an eventfd, a binary semaphore of SwiftShader, or a file that begins with a counter."""
    semaphore = backend._ffi.new("blr_external_semaphore_t *")
    timeline = desc.handle_type is ExternalSemaphoreHandleType.timeline_fd
    result = backend._lib.blrExternalSemaphoreImport(
        context.handle, _TIMELINE if timeline else _BINARY, _descriptor(desc.resource), semaphore
    )
    backend._check(result, "blrExternalSemaphoreImport")
    return int(backend._ffi.cast("uintptr_t", semaphore[0]))


def release_semaphore(backend: DriverAccess, context: Context, semaphore: int) -> None:
    """Release the driver's object."""
    handle = backend._ffi.cast("blr_external_semaphore_t", semaphore)
    backend._check(backend._lib.blrExternalSemaphoreRelease(handle), "blrExternalSemaphoreRelease")


def wait_semaphore(
    backend: DriverAccess, queue: Queue, semaphore: int, value: int | None, waits: Sequence[Event] = ()
) -> Event:
    """Wait on the queue's own thread; device functions of other queues continue."""
    return _submit(backend, queue, "blrEnqueueSemaphoreWait", semaphore, value, waits)


def signal_semaphore(
    backend: DriverAccess, queue: Queue, semaphore: int, value: int | None, waits: Sequence[Event] = ()
) -> Event:
    """Signal a semaphore once everything before it is complete."""
    return _submit(backend, queue, "blrEnqueueSemaphoreSignal", semaphore, value, waits)


def _submit(
    backend: DriverAccess, queue: Queue, call: str, semaphore: int, value: int | None, waits: Sequence[Event]
) -> Event:
    event, handle = ffi.new("blr_event_t *"), ffi.cast("blr_external_semaphore_t", semaphore)
    count, events = backend._waits(waits)
    backend._check(getattr(lib, call)(queue.handle, handle, value or 0, count, events, event), call)
    return Event(event[0], queue.profiling)


def prepare_semaphore(backend: DriverAccess, queue: Queue, semaphore: int, wait: bool) -> PreparedCommand | None:
    """See ``ExternalSemaphoreProtocol``."""
    if queue.profiling:
        return None
    handle = ffi.cast("blr_external_semaphore_t", semaphore)
    described = ffi.new("bindless_semaphore_t *", (queue.handle, handle, 0, wait, queue.ends))
    call = "blrEnqueueSemaphoreWait" if wait else "blrEnqueueSemaphoreSignal"
    place = address_of(ffi.addressof(described, "value"))
    return prepared_command(queue, _SUBMIT, call, described, None, (place,), (8,))
