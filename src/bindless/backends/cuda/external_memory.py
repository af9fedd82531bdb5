"""External memory and semaphores: objects that Vulkan, DirectX and other drivers share with CUDA.

An import takes ownership of a file descriptor: the driver receives a duplicate, which it owns once the import has
succeeded. The caller keeps ownership of Windows handles.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn

from ...drivers import cuda as driver
from ...drivers.common.cffi_types import CData
from ...model.aspects import Aspect
from ...model.enums import Errc, ImageType, UsmKind
from ...model.errors import Error, FeatureNotSupportedError, InvalidError
from ...model.external import (
    ExternalMemDescriptor,
    ExternalMemHandleType,
    ExternalSemaphoreDescriptor,
    ExternalSemaphoreHandleType,
    Resource,
    ResourceFd,
)
from ...model.image_descriptor import ImageDescriptor
from ..common.file_descriptors import handed_over
from ..common.win32_resource import fill_win32
from ..contract.prepared_command import PreparedCommand
from .context import Allocation, Context
from .device import Device, PrimaryContext
from .errors import check, fail, release
from .event import Event
from .fork_guard import in_fork, refuse_in_fork
from .image_format import fits_surfaces, require_channels
from .image_memory import array_descriptor, end_use, free_image
from .image_storage import ImageStorage
from .memory import free
from .prepared_command import address_of, prepared_command
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

_DMA_BUF_SINCE = (13, 0)
_MEMORY_TYPES = {
    ExternalMemHandleType.opaque_fd: lib.CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
    ExternalMemHandleType.dma_buf: lib.CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD,
    ExternalMemHandleType.win32_nt_handle: lib.CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32,
    ExternalMemHandleType.win32_nt_dx12_resource: lib.CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_RESOURCE,
}
_SEMAPHORE_TYPES = {
    ExternalSemaphoreHandleType.opaque_fd: lib.CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD,
    ExternalSemaphoreHandleType.timeline_fd: lib.CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD,
    ExternalSemaphoreHandleType.win32_nt_handle: lib.CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32,
    ExternalSemaphoreHandleType.win32_nt_dx12_fence: lib.CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D12_FENCE,
    ExternalSemaphoreHandleType.timeline_win32_nt_handle: (
        lib.CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_WIN32
    ),
}

_MEMORY_CALLS = (
    "cuImportExternalMemory",
    "cuExternalMemoryGetMappedBuffer",
    "cuExternalMemoryGetMappedMipmappedArray",
    "cuDestroyExternalMemory",
)
_SEMAPHORE_CALLS = (
    "cuImportExternalSemaphore",
    "cuWaitExternalSemaphoresAsync",
    "cuSignalExternalSemaphoresAsync",
    "cuDestroyExternalSemaphore",
)


def aspects() -> frozenset[Aspect]:
    """The aspects of imports, if the driver has their functions."""
    groups = {
        Aspect.ext_oneapi_external_memory_import: _MEMORY_CALLS,
        Aspect.ext_oneapi_external_semaphore_import: _SEMAPHORE_CALLS,
    }
    return frozenset(aspect for aspect, calls in groups.items() if all(map(driver.has, calls)))


def importable_memory(device: Device) -> frozenset[ExternalMemHandleType]:
    """See ``ExternalMemoryProtocol``; dma_buf needs CUDA 13 and depends on the device."""
    if not all(map(driver.has, _MEMORY_CALLS)):
        return frozenset()
    if sys.platform == "win32":
        return frozenset((ExternalMemHandleType.win32_nt_handle, ExternalMemHandleType.win32_nt_dx12_resource))
    takes_dma_buf = driver.version() >= _DMA_BUF_SINCE and device.attribute(lib.CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED)
    return frozenset((ExternalMemHandleType.opaque_fd, *([ExternalMemHandleType.dma_buf] if takes_dma_buf else [])))


class ExternalMemory:
    """A CUexternalMemory and its primary context."""

    __slots__ = ("handle", "primary")

    def __init__(self, primary: PrimaryContext, handle: CData) -> None:
        self.primary, self.handle = primary, handle


class Semaphore:
    """A CUexternalSemaphore and its primary context."""

    __slots__ = ("handle", "primary")

    def __init__(self, primary: PrimaryContext, handle: CData) -> None:
        self.primary, self.handle = primary, handle


@contextmanager
def _handed(handle: CData, resource: Resource) -> Iterator[None]:
    """Put a resource into a descriptor of the driver for one import. A file descriptor is duplicated; the driver owns
    the duplicate if the block ends without an error.
    """
    if isinstance(resource, ResourceFd):
        with handed_over(resource.file_descriptor) as handle.fd:
            yield
    else:
        name = fill_win32(ffi, handle.win32, resource)
        yield
        del name  # the descriptor refers to it until here


def _is_dma_buf(number: int) -> bool:
    try:
        return os.readlink(f"/proc/self/fd/{number}").startswith("/dmabuf:")
    except OSError:
        return False


def _require_dma_buf(desc: ExternalMemDescriptor) -> None:
    """Check for a dma_buf, because the driver returns the same error for a wrong descriptor and for missing support."""
    if isinstance(desc.resource, ResourceFd) and sys.platform == "linux":
        number = desc.resource.file_descriptor
        if not _is_dma_buf(number):
            raise InvalidError(f"file descriptor {number} is no dma_buf; import it as opaque_fd", backend="cuda")


# ---------------------------------------------------------------------- memory


def import_memory(context: Context, device: Device, desc: ExternalMemDescriptor) -> ExternalMemory:
    """See ``ExternalMemoryProtocol``."""
    is_dma_buf = desc.handle_type is ExternalMemHandleType.dma_buf
    if is_dma_buf:
        _require_dma_buf(desc)
    native, slot = ffi.new("CUDA_EXTERNAL_MEMORY_HANDLE_DESC *"), ffi.new("CUexternalMemory *")
    native.type = _MEMORY_TYPES[desc.handle_type]
    native.size = desc.size_in_bytes
    dedicated = desc.dedicated or desc.handle_type is ExternalMemHandleType.win32_nt_dx12_resource
    native.flags = lib.CUDA_EXTERNAL_MEMORY_DEDICATED if dedicated else 0
    primary = context.primary(device)
    with primary, _handed(native.handle, desc.resource):
        result = lib.cuImportExternalMemory(slot, native)
        if is_dma_buf and result in (lib.CUDA_ERROR_INVALID_VALUE, lib.CUDA_ERROR_NOT_SUPPORTED):
            raise FeatureNotSupportedError(
                f"this version of the CUDA driver takes no dma_buf for {device.name}: export the memory as opaque_fd",
                backend="cuda",
                native_code=result,
            )
        check(
            result,
            "cuImportExternalMemory",
            f"{desc.size_in_bytes} bytes{', dedicated' if dedicated else ''}; the size is that of the whole "
            f"allocation, and its exporter is to run on the same GPU, {device.name} ({device.uuid.hex()})",
            Errc.invalid,
        )
    return ExternalMemory(primary, slot[0])


def release_memory(context: Context, memory: ExternalMemory) -> None:
    """See ``ExternalMemoryProtocol``."""
    if not in_fork():
        with memory.primary:
            release(lib.cuDestroyExternalMemory(memory.handle), "cuDestroyExternalMemory")


def map_image(context: Context, device: Device, memory: ExternalMemory, desc: ImageDescriptor) -> int:
    """Map a mipmapped array in the memory; the image memory of a standard image is its single level."""
    require_channels(desc.num_channels)
    primary, writable = memory.primary, fits_surfaces(device, desc)
    native, slot = ffi.new("CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *"), ffi.new("CUmipmappedArray *")
    description = array_descriptor(desc, writable)
    native.arrayDesc = description[0]
    native.numLevels = desc.num_levels
    level = ffi.new("CUarray *")
    with primary:
        result = lib.cuExternalMemoryGetMappedMipmappedArray(slot, memory.handle, native)
        check(
            result,
            "cuExternalMemoryGetMappedMipmappedArray",
            f"{desc}; size, channels and levels are those of the exporter's image, which lies at the memory's begin",
            Errc.invalid,
        )
        if desc.type is not ImageType.mipmap:
            result = lib.cuMipmappedArrayGetLevel(level, slot[0], 0)
            try:
                check(result, "cuMipmappedArrayGetLevel", "level 0 of an external image")
            except Error:
                lib.cuMipmappedArrayDestroy(slot[0])
                raise
    mipmapped = int(ffi.cast("uintptr_t", slot[0]))
    handle = mipmapped if desc.type is ImageType.mipmap else int(ffi.cast("uintptr_t", level[0]))
    context.images[handle] = ImageStorage(primary, desc, description, writable)
    context.mapped[handle] = mipmapped
    return handle


def unmap_image(context: Context, handle: int, desc: ImageDescriptor) -> None:
    """See ``ExternalMemoryProtocol``."""
    mipmapped = context.mapped.pop(handle)
    if mipmapped == handle:
        free_image(context, handle, desc)
        return
    storage = context.images.pop(handle)
    if not in_fork():
        end_use(context, storage, handle)
        with storage.primary:
            result = lib.cuMipmappedArrayDestroy(ffi.cast("CUmipmappedArray", mipmapped))
            release(result, "cuMipmappedArrayDestroy")


def map_linear(context: Context, device: Device, memory: ExternalMemory, offset: int, nbytes: int) -> int:
    """Map a buffer in the memory, at an address of its own."""
    native, slot = ffi.new("CUDA_EXTERNAL_MEMORY_BUFFER_DESC *"), ffi.new("CUdeviceptr *")
    native.offset, native.size = offset, nbytes
    with memory.primary:
        result = lib.cuExternalMemoryGetMappedBuffer(slot, memory.handle, native)
    check(result, "cuExternalMemoryGetMappedBuffer", f"{nbytes} bytes from offset {offset}", Errc.invalid)
    address = int(slot[0])
    context.allocations[address] = Allocation(UsmKind.device, memory.primary, address, nbytes)
    return address


def unmap_linear(context: Context, address: int) -> None:
    """See ``ExternalMemoryProtocol``."""
    free(context, address)


# ---------------------------------------------------------------------- semaphores


def import_semaphore(context: Context, device: Device, desc: ExternalSemaphoreDescriptor) -> Semaphore:
    """See ``ExternalSemaphoreProtocol``."""
    native, slot = ffi.new("CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *"), ffi.new("CUexternalSemaphore *")
    native.type = _SEMAPHORE_TYPES[desc.handle_type]
    primary = context.primary(device)
    with primary, _handed(native.handle, desc.resource):
        check(
            lib.cuImportExternalSemaphore(slot, native),
            "cuImportExternalSemaphore",
            f"a {desc.handle_type} that was exported on the same GPU, {device.name} ({device.uuid.hex()}), is needed",
            Errc.invalid,
        )
    return Semaphore(primary, slot[0])


def release_semaphore(context: Context, semaphore: Semaphore) -> None:
    """See ``ExternalSemaphoreProtocol``."""
    if not in_fork():
        with semaphore.primary:
            release(lib.cuDestroyExternalSemaphore(semaphore.handle), "cuDestroyExternalSemaphore")


def wait_semaphore(queue: Queue, semaphore: Semaphore, value: int | None, waits: Sequence[Event] = ()) -> Event:
    """See ``ExternalSemaphoreProtocol``; the driver waits without a time limit."""
    return _submit(queue, semaphore, True, value, waits)


def signal_semaphore(queue: Queue, semaphore: Semaphore, value: int | None, waits: Sequence[Event] = ()) -> Event:
    """See ``ExternalSemaphoreProtocol``."""
    return _submit(queue, semaphore, False, value, waits)


_CALLS = (
    ("bindless_semaphore_signal", "cuSignalExternalSemaphoresAsync"),
    ("bindless_semaphore_wait", "cuWaitExternalSemaphoresAsync"),
)


def _submit(queue: Queue, semaphore: Semaphore, wait: bool, value: int | None, waits: Sequence[Event]) -> Event:
    name, call = _CALLS[wait]
    described = ffi.new("bindless_semaphore_t *")
    slot = described.value = ffi.new("uint64_t *", value or 0)

    def command(stream: CData, keepalive: object = slot) -> int:
        described.context, described.stream, described.semaphore = queue.primary.handle, stream, semaphore.handle
        return getattr(lib, name)(described)  # type: ignore[no-any-return]

    return queue.run(command, call, waits, f"value {value}")


def prepare_semaphore(queue: Queue, semaphore: Semaphore, wait: bool) -> PreparedCommand | None:
    """See ``ExternalSemaphoreProtocol``."""
    name, call = _CALLS[wait]
    slot = ffi.new("uint64_t *")

    def refused(result: int) -> NoReturn:
        refuse_in_fork()
        fail(result, call, f"value {slot[0]}")

    fields, places = (semaphore.handle, slot), (address_of(slot),)
    return prepared_command(queue, name, "bindless_semaphore_t", fields, refused, (slot, semaphore), places, (8,))
