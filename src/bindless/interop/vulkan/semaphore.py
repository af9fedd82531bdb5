"""``ExportedSemaphore``: a binary or timeline semaphore of Vulkan that can be imported."""

from __future__ import annotations

from types import TracebackType
from typing import NoReturn

from ...drivers.common.cffi_types import CData
from ...model.errors import FeatureNotSupportedError, InvalidError
from ...model.external import ExternalSemaphoreDescriptor, ExternalSemaphoreHandleType, ResourceFd
from ...model.image_descriptor import integer
from .binding import OPAQUE_FD_SEMAPHORE, binding, device_function, require_handle, translated

__all__ = ["ExportedSemaphore", "can_export_semaphore", "export_semaphore"]


def can_export_semaphore(physical_device: CData, *, timeline: bool = False) -> bool:
    """Whether a VkPhysicalDevice exports binary or timeline semaphores by file descriptors."""
    vk = binding()
    require_handle(physical_device, "VkPhysicalDevice")
    kind = vk.VkSemaphoreTypeCreateInfo(semaphoreType=_type_of(timeline))
    question = vk.VkPhysicalDeviceExternalSemaphoreInfo(pNext=kind, handleType=OPAQUE_FD_SEMAPHORE)
    answer = vk.VkExternalSemaphoreProperties()
    vk.vkGetPhysicalDeviceExternalSemaphoreProperties(physical_device, question, answer)
    return bool(answer.externalSemaphoreFeatures & vk.VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT)


def _type_of(timeline: bool) -> int:
    vk = binding()
    return int(vk.VK_SEMAPHORE_TYPE_TIMELINE if timeline else vk.VK_SEMAPHORE_TYPE_BINARY)


class ExportedSemaphore:
    """A VkSemaphore; made by ``Exporter.semaphore``.

    Attributes
    ----------
    device : VkDevice
        The VkDevice, which the caller keeps until this is closed.
    semaphore : VkSemaphore
        The VkSemaphore.
    is_timeline : bool
        Whether it counts.
    """

    device: CData
    semaphore: CData
    is_timeline: bool

    def __init__(self, device: CData, semaphore: CData, is_timeline: bool) -> None:
        self.device, self.semaphore, self.is_timeline = device, semaphore, is_timeline
        self._open = True

    def export(self) -> ExternalSemaphoreDescriptor:
        """The descriptor for ``import_external_semaphore``, with a new file descriptor at each call; it is the
        caller's until an import succeeds.

        Raises
        ------
        InvalidError
            This is closed.
        FeatureNotSupportedError
            The VkDevice was made without ``VK_KHR_external_semaphore_fd``.
        """
        if not self._open:
            raise InvalidError("this semaphore of Vulkan's is closed: make another with the Exporter")
        vk = binding()
        get = device_function(self.device, "vkGetSemaphoreFdKHR", "VK_KHR_external_semaphore_fd")
        request = vk.VkSemaphoreGetFdInfoKHR(semaphore=self.semaphore, handleType=OPAQUE_FD_SEMAPHORE)
        with translated("exporting a semaphore of Vulkan's"):
            fd = get(self.device, request)
        kinds = ExternalSemaphoreHandleType
        return ExternalSemaphoreDescriptor(
            ResourceFd(int(fd)), kinds.timeline_fd if self.is_timeline else kinds.opaque_fd
        )

    def __reduce__(self) -> NoReturn:
        # Also what copy.copy asks: a copy would destroy Vulkan's objects a second time.
        raise InvalidError("a semaphore of Vulkan's has one owner and is not copied: share this object, or export() it")

    def close(self) -> None:
        """Destroys the VkSemaphore; no command of either side uses it any more. Again, it does nothing."""
        if self._open:
            self._open = False
            binding().vkDestroySemaphore(self.device, self.semaphore, None)

    def __enter__(self) -> ExportedSemaphore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def export_semaphore(physical_device: CData, device: CData, timeline: bool, initial_value: int) -> ExportedSemaphore:
    """See ``Exporter.semaphore``."""
    vk = binding()
    initial_value = integer("initial_value", initial_value)
    if initial_value and not timeline:
        raise InvalidError(
            f"initial_value={initial_value}: a binary semaphore has no value; timeline=True makes one that has"
        )
    word = "timeline" if timeline else "binary"
    if not can_export_semaphore(physical_device, timeline=timeline):
        raise FeatureNotSupportedError(
            f"this Vulkan device does not export {word} semaphores by file descriptors "
            "(can_export_semaphore asks before): order the work on the host with vkQueueWaitIdle and queue.wait"
        )
    kind = vk.VkSemaphoreTypeCreateInfo(semaphoreType=_type_of(timeline), initialValue=initial_value)
    export = vk.VkExportSemaphoreCreateInfo(pNext=kind if timeline else None, handleTypes=OPAQUE_FD_SEMAPHORE)
    with translated(f"creating a {word} semaphore of Vulkan's for export"):
        semaphore = vk.vkCreateSemaphore(device, vk.VkSemaphoreCreateInfo(pNext=export), None)
    return ExportedSemaphore(device, semaphore, timeline)
