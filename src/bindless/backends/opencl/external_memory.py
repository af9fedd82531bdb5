"""External memory and semaphores: objects that Vulkan and other drivers share with OpenCL, by cl_khr_external_memory
and cl_khr_external_semaphore.

OpenCL imports memory during the creation of a buffer or an image, and each time takes ownership of a file descriptor.
Therefore an import keeps its own descriptor until its end, and is at once a buffer of the whole memory, in which ranges
are mapped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ...drivers import opencl as driver
from ...drivers.common.cffi_types import CData
from ...model.aspects import Aspect
from ...model.enums import Errc, ImageType
from ...model.errors import FeatureNotSupportedError
from ...model.external import (
    ExternalMemDescriptor,
    ExternalMemHandleType,
    ExternalSemaphoreDescriptor,
    ExternalSemaphoreHandleType,
    Resource,
    ResourceFd,
    ResourceWin32Handle,
    ResourceWin32Name,
)
from ...model.image_descriptor import ImageDescriptor
from ..common.file_descriptors import KeptResource, handed_over
from . import memory_buffers
from .context import Context
from .device import Device
from .errors import SUCCESS, error, release
from .event import Event
from .external_ownership import Handover
from .fork_guard import in_fork, refuse_in_fork
from .image_format import image_desc, image_format, require_format
from .image_memory import free_image, require_images
from .image_objects import ImageStorage
from .memory import free
from .queue import Queue

__all__ = [
    "aspects",
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

_MEMORY_TYPES = {
    ExternalMemHandleType.opaque_fd: lib.CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR,
    ExternalMemHandleType.dma_buf: lib.CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR,
    ExternalMemHandleType.win32_nt_handle: lib.CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_WIN32_KHR,
}
# OpenCL's semaphores are binary: timeline semaphores and fences, which have values, are not supported.
_SEMAPHORE_TYPES = {ExternalSemaphoreHandleType.opaque_fd: lib.CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR}

_MEMORY = "cl_khr_external_memory"
_SEMAPHORES = frozenset(("cl_khr_external_semaphore", "cl_khr_semaphore"))
_MEMORY_CALLS = ("clCreateBufferWithProperties", "clCreateImageWithProperties")
_SEMAPHORE_CALLS = (
    "clCreateSemaphoreWithPropertiesKHR",
    "clEnqueueWaitSemaphoresKHR",
    "clEnqueueSignalSemaphoresKHR",
    "clReleaseSemaphoreKHR",
)


def _imports(device: Device, question: int) -> frozenset[int]:
    """The handle types that a device accepts."""
    return frozenset(device.numbers(question, "cl_uint"))


def _memory_types(device: Device) -> frozenset[int]:
    if _MEMORY not in device.extensions or not all(map(device.platform.offers, _MEMORY_CALLS)):
        return frozenset()
    return _imports(device, lib.CL_DEVICE_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR)


def _semaphore_types(device: Device) -> frozenset[int]:
    if not device.extensions >= _SEMAPHORES or not all(map(device.platform.offers, _SEMAPHORE_CALLS)):
        return frozenset()
    kinds = _imports(device, lib.CL_DEVICE_SEMAPHORE_TYPES_KHR)
    if kinds and lib.CL_SEMAPHORE_TYPE_BINARY_KHR not in kinds:  # NVIDIA's driver does not support the query.
        return frozenset()
    return _imports(device, lib.CL_DEVICE_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR)


def aspects(device: Device) -> frozenset[Aspect]:
    """The aspects of the imports that the driver reports for the device."""
    result = set()
    if not _memory_types(device).isdisjoint(_MEMORY_TYPES.values()):
        result.add(Aspect.ext_oneapi_external_memory_import)
    if not _semaphore_types(device).isdisjoint(_SEMAPHORE_TYPES.values()):
        result.add(Aspect.ext_oneapi_external_semaphore_import)
    return frozenset(result)


def importable_memory(device: Device) -> frozenset[ExternalMemHandleType]:
    """See ``ExternalMemoryProtocol``."""
    listed = _memory_types(device)
    return frozenset(kind for kind, number in _MEMORY_TYPES.items() if number in listed)


class ExternalMemory(KeptResource):
    """Imported memory.

    Attributes
    ----------
    device
        device of the import.
    kind
        OpenCL's name of the handle type.
    base
        number in place of the first byte's address, as for any buffer.
    buffer
        cl_mem of the whole memory.
    """

    __slots__ = ("base", "buffer", "device", "kind")

    def __init__(self, device: Device, kind: int, resource: Resource) -> None:
        super().__init__(resource)
        self.device, self.kind = device, kind
        self.base = 0
        self.buffer: CData = None


class Semaphore:
    """A cl_semaphore_khr, as an array of one."""

    __slots__ = ("array",)

    def __init__(self, handle: CData) -> None:
        self.array = ffi.new("cl_semaphore_khr[]", [handle])


@contextmanager
def _handed(resource: Resource) -> Iterator[int]:
    """The property value of a resource. A file descriptor is duplicated; the driver owns the duplicate if the block
    ends without an error.
    """
    if isinstance(resource, ResourceFd):
        with handed_over(resource.file_descriptor) as duplicate:
            yield duplicate
    else:
        assert isinstance(resource, ResourceWin32Handle)
        yield resource.handle


def _on(context: Context, device: Device, question: int) -> tuple[int, ...]:
    """Properties that name the device if the context has several: an import without them requires support by all."""
    return (question, device.address, 0) if len(context.devices) > 1 else ()


def _create(call: str, context: Context, properties: Sequence[int], *arguments: object, details: str) -> CData:
    """The object that an import creates."""
    listed, slot = ffi.new("cl_properties[]", [*properties, 0]), ffi.new("cl_int *")
    handle = getattr(lib, call)(context.handle, listed, *arguments, slot)
    if slot[0] != SUCCESS or handle == ffi.NULL:
        raise error(slot[0] or lib.CL_INVALID_OPERATION, call, details, Errc.invalid)
    return handle


# ---------------------------------------------------------------------- memory


def import_memory(context: Context, device: Device, desc: ExternalMemDescriptor) -> ExternalMemory:
    """See ``ExternalMemoryProtocol``."""
    refuse_in_fork()
    place = context.device(device)
    kind = _MEMORY_TYPES.get(desc.handle_type)
    if kind is None or kind not in _memory_types(place) or isinstance(desc.resource, ResourceWin32Name):
        raise FeatureNotSupportedError(
            f"{place.name} imports no memory as {desc.handle_type} of {desc.resource}: export it as another type "
            "(CL_DEVICE_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR lists those that it takes)",
            backend="opencl",
        )
    memory = ExternalMemory(place, kind, desc.resource)
    try:
        with _handed(memory.resource) as value:
            memory.buffer = _create(
                "clCreateBufferWithProperties",
                context,
                (kind, value, *_on(context, place, lib.CL_MEM_DEVICE_HANDLE_LIST_KHR)),
                lib.CL_MEM_READ_WRITE,
                desc.size_in_bytes,
                ffi.NULL,
                details=f"{desc.size_in_bytes} bytes; the size is that of the whole allocation, and its exporter is to "
                f"run on the same device, {place.name} ({place.uuid.hex()})",
            )
    except BaseException:
        memory.close()
        raise
    allocation = memory_buffers.around(memory.buffer, place, desc.size_in_bytes)
    memory.base = allocation.base
    context.add(allocation)
    _share(context, memory.buffer)
    return memory


def _share(context: Context, native: CData) -> None:
    """Register a cl_mem for acquisition before its use, if the driver requires that."""
    if context.handover is None and context.platform.offers("clEnqueueAcquireExternalMemObjectsKHR"):
        context.handover = Handover(context)
    if context.handover is not None:
        context.handover.add(native)


def _unshare(context: Context, native: CData) -> None:
    if context.handover is not None:
        context.handover.drop(native)


def release_memory(context: Context, memory: ExternalMemory) -> None:
    """See ``ExternalMemoryProtocol``."""
    memory.close()
    _unshare(context, memory.buffer)
    free(context, memory.base)


def map_image(context: Context, device: Device, memory: ExternalMemory, desc: ImageDescriptor) -> int:
    """Create an image from a second import of the memory; the driver keeps its own references."""
    refuse_in_fork()
    place = memory.device
    require_images(place)
    require_format(place, desc)
    if desc.type is not ImageType.standard:
        raise FeatureNotSupportedError(
            f"{place.name} maps no {desc.type}: ask device.has(Aspect.ext_oneapi_mipmap) first", backend="opencl"
        )
    with _handed(memory.resource) as value:
        native = _create(
            "clCreateImageWithProperties",
            context,
            (memory.kind, value, *_on(context, place, lib.CL_MEM_DEVICE_HANDLE_LIST_KHR)),
            lib.CL_MEM_READ_WRITE if desc.dimensions < 3 or place.writes_3d else lib.CL_MEM_READ_ONLY,
            image_format(desc.channel_type, desc.num_channels),
            image_desc(desc),
            ffi.NULL,
            details=f"{desc}; size and channels are those of the exporter's image, which lies at the memory's begin",
        )
    raw = int(ffi.cast("uintptr_t", native))
    context.images[raw] = ImageStorage(native, place, desc)
    _share(context, native)
    return raw


def unmap_image(context: Context, handle: int, desc: ImageDescriptor) -> None:
    """See ``ExternalMemoryProtocol``."""
    storage = context.images.get(handle)
    if storage is not None:
        _unshare(context, storage.handle)
    free_image(context, handle, desc)


def map_linear(context: Context, device: Device, memory: ExternalMemory, offset: int, nbytes: int) -> int:
    """A range of the buffer of the whole memory."""
    return memory.base + offset


def unmap_linear(context: Context, address: int) -> None:
    """Do nothing: the range ends with the import."""


# ---------------------------------------------------------------------- semaphores


def import_semaphore(context: Context, device: Device, desc: ExternalSemaphoreDescriptor) -> Semaphore:
    """See ``ExternalSemaphoreProtocol``."""
    refuse_in_fork()
    place = context.device(device)
    kind = _SEMAPHORE_TYPES.get(desc.handle_type)
    if kind is None:
        raise FeatureNotSupportedError(
            f"handle_type={desc.handle_type}: OpenCL's semaphores are binary, without values; export a binary one, and "
            "import it as opaque_fd",
            backend="opencl",
        )
    if kind not in _semaphore_types(place):
        raise FeatureNotSupportedError(
            f"{place.name} imports no semaphores as {desc.handle_type} of {desc.resource} "
            "(CL_DEVICE_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR lists what it takes): order the work on the host",
            backend="opencl",
        )
    with _handed(desc.resource) as value:
        native = _create(
            "clCreateSemaphoreWithPropertiesKHR",
            context,
            (
                lib.CL_SEMAPHORE_TYPE_KHR,
                lib.CL_SEMAPHORE_TYPE_BINARY_KHR,
                kind,
                value,
                *_on(context, place, lib.CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR),
            ),
            details=f"a binary semaphore that was exported on the same device, {place.name} ({place.uuid.hex()}), is "
            "needed",
        )
    return Semaphore(native)


def release_semaphore(context: Context, semaphore: Semaphore) -> None:
    """See ``ExternalSemaphoreProtocol``."""
    if not in_fork():
        release(lib.clReleaseSemaphoreKHR(semaphore.array[0]), "clReleaseSemaphoreKHR")


def wait_semaphore(queue: Queue, semaphore: Semaphore, value: int | None, waits: Sequence[Event] = ()) -> Event:
    """See ``ExternalSemaphoreProtocol``; the driver waits without a time limit."""
    return _submit(queue, "clEnqueueWaitSemaphoresKHR", semaphore, waits)


def signal_semaphore(queue: Queue, semaphore: Semaphore, value: int | None, waits: Sequence[Event] = ()) -> Event:
    """See ``ExternalSemaphoreProtocol``."""
    return _submit(queue, "clEnqueueSignalSemaphoresKHR", semaphore, waits)


def prepare_semaphore(queue: Queue, semaphore: Semaphore, wait: bool) -> None:
    """Return None: each submission takes Python; see ``ExternalSemaphoreProtocol``."""


def _submit(queue: Queue, call: str, semaphore: Semaphore, waits: Sequence[Event]) -> Event:
    """Submit a wait or a signal, after the release of shared memory. The queue is in order."""
    if waits:  # The release comes before the semaphore command too.
        queue.run_all((), call, waits)
    handover = queue.context.handover
    if handover is not None and queue.handle is not None:
        handover.give(queue)
    submit, array = getattr(lib, call), semaphore.array

    def command(own: CData, count: int, events: CData, event: CData) -> int:
        return int(submit(own, 1, array, ffi.NULL, count, events, event))

    return queue.run(command, call, uses_memory=False)
