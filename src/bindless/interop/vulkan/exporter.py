"""``Exporter``: makes images, buffers and semaphores on a Vulkan device that a device of this package can import."""

from __future__ import annotations

from typing import Any

from ...model.image_descriptor import ImageDescriptor
from ...sycl.device.device import Device
from ...sycl.queue.queue import Queue
from .binding import require_handle
from .buffer import ExportedBuffer, export_buffer
from .device_match import check_same_device
from .image import ExportedImage, export_image
from .semaphore import ExportedSemaphore, export_semaphore

__all__ = ["Exporter"]


class Exporter:
    """Makes what is to be shared, on one VkDevice.

    Args:
        physical_device: the VkPhysicalDevice.
        device: a VkDevice of it, with the extensions that ``device_extensions`` lists. It is the caller's, and stays
            until all that was made here is closed.
        where: the device of this package that is to import, or a queue on it.

    Raises:
        InvalidError: the two are different devices; the message has both UUIDs. Or one of these is nothing of its kind.
        FeatureNotSupportedError: the package ``vulkan`` is missing.
    """

    def __init__(self, physical_device: Any, device: Any, where: Device | Queue) -> None:
        check_same_device(physical_device, where)
        require_handle(device, "VkDevice")
        self.physical_device, self.device = physical_device, device

    def image(self, desc: ImageDescriptor, *, tiling: str = "optimal", usage: int | None = None) -> ExportedImage:
        """A VkImage with memory of its own, in the layout VK_IMAGE_LAYOUT_UNDEFINED.

        Args:
            desc: a standard image or a mipmap of one, two or three dimensions.
            tiling: ``optimal`` for images of this package, ``linear`` for memory with a pitch.
            usage: VkImageUsageFlags; by default copies and whatever of sampling, storage and (in two dimensions) colour
                attachment the format allows.

        Raises:
            InvalidError: the descriptor makes no image, or one that is too large; ``usage`` is none.
            FeatureNotSupportedError: the device cannot make or export such images.
            MemoryAllocationError: there is not enough memory.
        """
        return export_image(self.physical_device, self.device, desc, tiling, usage)

    def buffer(self, nbytes: int, *, usage: int | None = None, host_visible: bool = False) -> ExportedBuffer:
        """A VkBuffer with memory of its own.

        Args:
            nbytes: bytes, at least 1.
            usage: VkBufferUsageFlags; by default copies, storage, uniforms, vertices and indices.
            host_visible: whether ``vkMapMemory`` has to work on it.

        Raises:
            InvalidError: ``nbytes`` is no number of bytes, or ``usage`` none of flags.
            FeatureNotSupportedError: the device cannot export such buffers.
            MemoryAllocationError: there is not enough memory.
        """
        return export_buffer(self.physical_device, self.device, nbytes, usage, host_visible)

    def semaphore(self, *, timeline: bool = False, initial_value: int = 0) -> ExportedSemaphore:
        """A VkSemaphore: binary and not signalled, or a timeline.

        Args:
            timeline: whether it counts; the VkDevice needs the feature ``timelineSemaphore``.
            initial_value: where a timeline begins.

        Raises:
            InvalidError: a value for a binary semaphore.
            FeatureNotSupportedError: the device exports no such semaphores.
        """
        return export_semaphore(self.physical_device, self.device, timeline, initial_value)
