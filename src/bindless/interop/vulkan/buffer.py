"""``ExportedBuffer``: a Vulkan buffer with exported memory."""

from __future__ import annotations

from collections.abc import Callable

from ...drivers.common.cffi_types import CData
from ...model.errors import FeatureNotSupportedError, InvalidError
from ...model.image_descriptor import integer
from .binding import OPAQUE_FD_MEMORY, binding, translated
from .export_support import can_export_buffer, check_usage
from .memory import ExportedMemory, give_memory

__all__ = ["ExportedBuffer", "export_buffer"]


class ExportedBuffer(ExportedMemory):
    """A VkBuffer bound to memory of its own, from its first byte on; made by ``Exporter.buffer``.

    Attributes
    ----------
    buffer : VkBuffer
        The VkBuffer.
    nbytes : int
        Bytes of the buffer: what ``map_external_linear_memory`` takes as ``size``; ``size`` of the allocation may be
        more.
    usage : int
        Its VkBufferUsageFlags.
    """

    buffer: CData
    nbytes: int
    usage: int

    def __init__(
        self,
        device: CData,
        buffer: CData,
        nbytes: int,
        usage: int,
        memory: CData,
        size: int,
        dedicated: bool,
        destroy: Callable[[], None],
    ) -> None:
        super().__init__(device, memory, size, dedicated, destroy)
        self.buffer, self.nbytes, self.usage = buffer, nbytes, usage


def export_buffer(
    physical_device: CData, device: CData, nbytes: int, usage: int | None, host_visible: bool
) -> ExportedBuffer:
    """See ``Exporter.buffer``."""
    vk = binding()
    nbytes = integer("nbytes", nbytes)
    if nbytes == 0:
        raise InvalidError("nbytes=0: a buffer has at least one byte")
    if usage is None:
        usage = (
            vk.VK_BUFFER_USAGE_TRANSFER_SRC_BIT
            | vk.VK_BUFFER_USAGE_TRANSFER_DST_BIT
            | vk.VK_BUFFER_USAGE_STORAGE_BUFFER_BIT
            | vk.VK_BUFFER_USAGE_VERTEX_BUFFER_BIT
            | vk.VK_BUFFER_USAGE_INDEX_BUFFER_BIT
            | vk.VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT
        )
    usage = check_usage(usage, "VkBufferUsageFlags")
    exportable, must_be_dedicated = can_export_buffer(physical_device, usage)
    if not exportable:
        raise FeatureNotSupportedError(f"buffers of usage {usage:#x} cannot be exported by this Vulkan device")
    external = vk.VkExternalMemoryBufferCreateInfo(handleTypes=OPAQUE_FD_MEMORY)
    info = vk.VkBufferCreateInfo(pNext=external, size=nbytes, usage=usage, sharingMode=vk.VK_SHARING_MODE_EXCLUSIVE)
    with translated(f"creating a Vulkan buffer of {nbytes} bytes for export"):
        buffer = vk.vkCreateBuffer(device, info, None)
    flags = vk.VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | vk.VK_MEMORY_PROPERTY_HOST_COHERENT_BIT if host_visible else 0
    parts = give_memory(physical_device, device, "Buffer", buffer, must_be_dedicated, flags)
    return ExportedBuffer(device, buffer, nbytes, usage, *parts)
