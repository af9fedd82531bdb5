"""External memory and semaphores: objects that Vulkan and other drivers share with Level Zero.

Level Zero imports memory during the creation of an image or an allocation. Therefore an import keeps its own file
descriptor until its end, and is at once an allocation of the whole memory, in which ranges are mapped.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...drivers import level_zero as driver
from ...drivers.common.cffi_types import CData
from ...model.aspects import Aspect
from ...model.enums import Errc
from ...model.errors import FeatureNotSupportedError, InvalidError
from ...model.external import (
    ExternalMemDescriptor,
    ExternalMemHandleType,
    ExternalSemaphoreDescriptor,
    ExternalSemaphoreHandleType,
    Resource,
    ResourceFd,
)
from ...model.image_descriptor import ImageDescriptor
from ..common.file_descriptors import KeptResource
from ..common.win32_resource import fill_win32
from .context import Context
from .device import Device
from .errors import SUCCESS, check, release
from .event import Event
from .fork_guard import in_fork, refuse_in_fork
from .image_format import image_desc, require_format
from .image_memory import bindless_desc, exceeded, free_image, make_resident, require_bindless
from .image_objects import ImageStorage
from .queue import Queue
from .stream import nothing

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

_EXTENSION = "ZE_extension_external_semaphores"
_SINCE = "1.12"

_MEMORY_FLAGS = {
    ExternalMemHandleType.opaque_fd: lib.ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD,
    ExternalMemHandleType.dma_buf: lib.ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF,
    ExternalMemHandleType.win32_nt_handle: lib.ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_WIN32,
    ExternalMemHandleType.win32_nt_dx12_resource: lib.ZE_EXTERNAL_MEMORY_TYPE_FLAG_D3D12_RESOURCE,
}
_SEMAPHORE_FLAGS = {
    ExternalSemaphoreHandleType.opaque_fd: lib.ZE_EXTERNAL_SEMAPHORE_EXT_FLAG_OPAQUE_FD,
    ExternalSemaphoreHandleType.timeline_fd: lib.ZE_EXTERNAL_SEMAPHORE_EXT_FLAG_VK_TIMELINE_SEMAPHORE_FD,
    ExternalSemaphoreHandleType.win32_nt_handle: lib.ZE_EXTERNAL_SEMAPHORE_EXT_FLAG_OPAQUE_WIN32,
    ExternalSemaphoreHandleType.win32_nt_dx12_fence: lib.ZE_EXTERNAL_SEMAPHORE_EXT_FLAG_D3D12_FENCE,
    ExternalSemaphoreHandleType.timeline_win32_nt_handle: (
        lib.ZE_EXTERNAL_SEMAPHORE_EXT_FLAG_VK_TIMELINE_SEMAPHORE_WIN32
    ),
}


def _import_flags(device: Device) -> tuple[int, int]:
    """The handle types that the device accepts for allocations and for images."""
    properties = driver.make_struct("ze_device_external_memory_properties_t")
    if lib.zeDeviceGetExternalMemoryProperties(device.handle, properties) != SUCCESS:
        return 0, 0
    return int(properties.memoryAllocationImportTypes), int(properties.imageImportTypes)


def aspects(device: Device) -> frozenset[Aspect]:
    """The aspects of the imports that the driver reports for the device."""
    result = set()
    memory, image = _import_flags(device)
    if any(flag & memory & image for flag in _MEMORY_FLAGS.values()):
        result.add(Aspect.ext_oneapi_external_memory_import)
    if _EXTENSION in device.driver.extensions and device.driver.function("zeDeviceImportExternalSemaphoreExt"):
        result.add(Aspect.ext_oneapi_external_semaphore_import)
    return frozenset(result)


def importable_memory(device: Device) -> frozenset[ExternalMemHandleType]:
    """See ``ExternalMemoryProtocol``."""
    memory, _ = _import_flags(device)
    return frozenset(kind for kind, flag in _MEMORY_FLAGS.items() if flag & memory)


class ExternalMemory(KeptResource):
    """Imported memory.

    Attributes
    ----------
    device
        device of the import.
    flags
        Level Zero's flag of the handle type.
    pointer
        void * to the whole memory.
    """

    __slots__ = ("device", "flags", "pointer", "text")

    def __init__(self, device: Device, resource: Resource, flags: int) -> None:
        super().__init__(resource)
        self.device, self.flags = device, flags
        self.pointer: CData = ffi.NULL
        self.text: CData = None

    def chained(self, resource: Resource | None = None) -> CData:
        """The struct that names the source of memory: the caller's own handle, while it is open, because the driver's
        messages name it.
        """
        resource = resource or self.resource
        if isinstance(resource, ResourceFd):
            number = resource.file_descriptor
            return driver.make_struct("ze_external_memory_import_fd_t", flags=self.flags, fd=number)
        struct = driver.make_struct("ze_external_memory_import_win32_handle_t", flags=self.flags)
        self.text = fill_win32(ffi, struct, resource)
        return struct


class Semaphore:
    """A ze_external_semaphore_ext_handle_t, as an array of one, and the device of its import."""

    __slots__ = ("array", "device")

    def __init__(self, device: Device, handle: CData) -> None:
        self.device = device
        self.array = ffi.new("ze_external_semaphore_ext_handle_t[]", [handle])


# ---------------------------------------------------------------------- memory


def import_memory(context: Context, device: Device, desc: ExternalMemDescriptor) -> ExternalMemory:
    """See ``ExternalMemoryProtocol``."""
    refuse_in_fork()
    place = context.device(device)
    flags = _MEMORY_FLAGS[desc.handle_type]
    if not flags & _import_flags(place)[0]:
        raise FeatureNotSupportedError(
            f"{place.name} imports no memory as {desc.handle_type}: export it as another type", backend="level_zero"
        )
    memory = ExternalMemory(place, desc.resource, flags)
    slot = ffi.new("void **")
    try:
        chain = driver.make_struct("ze_device_mem_alloc_desc_t", memory.chained(desc.resource))
        result = lib.zeMemAllocDevice(context.handle, chain, desc.size_in_bytes, 0, place.handle, slot)
        check(result, "zeMemAllocDevice", _said(place, f"{desc.size_in_bytes} bytes"), Errc.invalid)
    except BaseException:
        memory.close()
        raise
    memory.pointer = slot[0]
    return memory


def _said(device: Device, details: str) -> str:
    words = device.driver.last_error()
    return f"{details}: {words}" if words else details


def release_memory(context: Context, memory: ExternalMemory) -> None:
    """See ``ExternalMemoryProtocol``."""
    memory.close()
    if not in_fork():
        release(lib.zeMemFree(context.handle, memory.pointer), "zeMemFree")


def map_image(context: Context, device: Device, memory: ExternalMemory, desc: ImageDescriptor) -> int:
    """Create image memory from the import; the driver keeps its own references."""
    refuse_in_fork()
    place = context.device(device)
    require_bindless(place)
    require_format(place, desc)
    reason = exceeded(place, desc)
    if reason:
        raise InvalidError(reason, backend="level_zero")
    slot = ffi.new("ze_image_handle_t *")
    native = image_desc(desc, bindless_desc(memory.chained()))
    result = lib.zeImageCreate(context.handle, place.handle, native, slot)
    check(result, "zeImageCreate", _said(place, f"{desc} in external memory"), Errc.invalid)
    make_resident(context, place, slot[0])
    raw = int(ffi.cast("uintptr_t", slot[0]))
    context.images[raw] = ImageStorage(slot[0], place, desc)
    return raw


def unmap_image(context: Context, handle: int, desc: ImageDescriptor) -> None:
    """See ``ExternalMemoryProtocol``."""
    free_image(context, handle, desc)


def map_linear(context: Context, device: Device, memory: ExternalMemory, offset: int, nbytes: int) -> int:
    """A range of the imported allocation."""
    return int(ffi.cast("uintptr_t", memory.pointer)) + offset


def unmap_linear(context: Context, address: int) -> None:
    """Do nothing: the range ends with the import."""


# ---------------------------------------------------------------------- semaphores


def import_semaphore(context: Context, device: Device, desc: ExternalSemaphoreDescriptor) -> Semaphore:
    """See ``ExternalSemaphoreProtocol``."""
    refuse_in_fork()
    place = context.device(device)
    bring = place.driver.require("zeDeviceImportExternalSemaphoreExt", _SINCE)
    resource, text = desc.resource, None
    if isinstance(resource, ResourceFd):
        handle = driver.make_struct("ze_external_semaphore_fd_ext_desc_t", fd=resource.file_descriptor)
    else:
        handle = driver.make_struct("ze_external_semaphore_win32_ext_desc_t")
        text = fill_win32(ffi, handle, resource)
    native = driver.make_struct("ze_external_semaphore_ext_desc_t", handle, flags=_SEMAPHORE_FLAGS[desc.handle_type])
    slot = ffi.new("ze_external_semaphore_ext_handle_t *")
    result = bring(place.handle, native, slot)
    del text
    check(result, "zeDeviceImportExternalSemaphoreExt", _said(place, str(desc.handle_type)), Errc.invalid)
    return Semaphore(place, slot[0])


def release_semaphore(context: Context, semaphore: Semaphore) -> None:
    """See ``ExternalSemaphoreProtocol``."""
    if not in_fork():
        give_back = semaphore.device.driver.require("zeDeviceReleaseExternalSemaphoreExt", _SINCE)
        release(give_back(semaphore.array[0]), "zeDeviceReleaseExternalSemaphoreExt")


def wait_semaphore(queue: Queue, semaphore: Semaphore, value: int | None, waits: Sequence[Event] = ()) -> Event:
    """See ``ExternalSemaphoreProtocol``."""
    return _run(queue, "Wait", semaphore, value, waits)


def signal_semaphore(queue: Queue, semaphore: Semaphore, value: int | None, waits: Sequence[Event] = ()) -> Event:
    """See ``ExternalSemaphoreProtocol``."""
    return _run(queue, "Signal", semaphore, value, waits)


def prepare_semaphore(queue: Queue, semaphore: Semaphore, wait: bool) -> None:
    """Return None: each submission takes Python; see ``ExternalSemaphoreProtocol``."""


def _run(queue: Queue, what: str, semaphore: Semaphore, value: int | None, waits: Sequence[Event]) -> Event:
    name = f"zeCommandListAppend{what}ExternalSemaphoreExt"
    append = semaphore.device.driver.require(name, _SINCE)
    parameters = driver.make_struct(f"ze_external_semaphore_{what.lower()}_params_ext_t", value=value or 0)

    # Events use calls that every loader supports, because the loader may have to translate the handles.
    def command(own: CData, signal: CData, count: int, array: CData) -> int:
        result: int = lib.zeCommandListAppendWaitOnEvents(own, count, array) if count else SUCCESS
        if result == SUCCESS:
            result = append(own, 1, semaphore.array, parameters, ffi.NULL, 0, ffi.NULL)
        if result == SUCCESS and signal != ffi.NULL:
            result = nothing(own, signal, 0, ffi.NULL)
        return result

    return queue.run(command, name, waits, f"value {value}")
