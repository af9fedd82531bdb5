"""``Exporter``: makes images, buffers and semaphores on a Vulkan device that a device of this package can import."""

from __future__ import annotations

from ...drivers.common.cffi_types import CData
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

    Parameters
    ----------
    physical_device : VkPhysicalDevice
        The VkPhysicalDevice.
    device : VkDevice
        A VkDevice of it, with the extensions that ``device_extensions`` lists. It is the caller's, and stays until
        all that was made here is closed.
    where : Device | Queue
        The device of this package that is to import, or a queue on it.

    Raises
    ------
    InvalidError
        The two are different devices; the message has both UUIDs. Or one of these is nothing of its kind.
    FeatureNotSupportedError
        The package ``vulkan`` is missing.
    """

    def __init__(self, physical_device: CData, device: CData, where: Device | Queue) -> None:
        check_same_device(physical_device, where)
        require_handle(device, "VkDevice")
        self.physical_device, self.device = physical_device, device

    def image(self, desc: ImageDescriptor, *, tiling: str = "optimal", usage: int | None = None) -> ExportedImage:
        """A VkImage with memory of its own, in the layout VK_IMAGE_LAYOUT_UNDEFINED.

        Parameters
        ----------
        desc : ImageDescriptor
            A standard image or a mipmap of one, two or three dimensions.
        tiling : str, default "optimal"
            ``optimal`` for images of this package, ``linear`` for memory with a pitch.
        usage : int, optional
            VkImageUsageFlags; by default copies and whatever of sampling, storage and (in two dimensions) colour
            attachment the format allows.

        Raises
        ------
        InvalidError
            The descriptor makes no image, or one that is too large; ``usage`` is none.
        FeatureNotSupportedError
            The device cannot make or export such images.
        MemoryAllocationError
            There is not enough memory.
        """
        return export_image(self.physical_device, self.device, desc, tiling, usage)

    def buffer(self, nbytes: int, *, usage: int | None = None, host_visible: bool = False) -> ExportedBuffer:
        """A VkBuffer with memory of its own.

        Parameters
        ----------
        nbytes : int
            Bytes, at least 1.
        usage : int, optional
            VkBufferUsageFlags; by default copies, storage, uniforms, vertices and indices.
        host_visible : bool, default False
            Whether ``vkMapMemory`` has to work on it.

        Raises
        ------
        InvalidError
            ``nbytes`` is no number of bytes, or ``usage`` none of flags.
        FeatureNotSupportedError
            The device cannot export such buffers.
        MemoryAllocationError
            There is not enough memory.
        """
        return export_buffer(self.physical_device, self.device, nbytes, usage, host_visible)

    def semaphore(self, *, timeline: bool = False, initial_value: int = 0) -> ExportedSemaphore:
        """A VkSemaphore: binary and not signalled, or a timeline.

        Parameters
        ----------
        timeline : bool, default False
            Whether it counts; the VkDevice needs the feature ``timelineSemaphore``.
        initial_value : int, default 0
            Where a timeline begins.

        Raises
        ------
        InvalidError
            A value for a binary semaphore.
        FeatureNotSupportedError
            The device exports no such semaphores.
        """
        return export_semaphore(self.physical_device, self.device, timeline, initial_value)
