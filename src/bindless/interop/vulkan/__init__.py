"""Vulkan's side of shared memory and semaphores, over the PyPI package ``vulkan`` (``pip install 'bindless[vulkan]'``).

What Vulkan makes to be shared needs a chain of structs, the driver's own size and often memory of its own. This makes
it right the first time, and gives the descriptors that BI's imports take:

    exporter = Exporter(physical_device, device, queue)          # VkPhysicalDevice, VkDevice, bindless Queue
    with exporter.image(desc) as frame, exporter.semaphore() as drawn:
        memory = bindless.import_external_memory(frame.export(), queue)
        pixels = bindless.map_external_image_memory(memory, frame.desc, queue)
        ready = bindless.import_external_semaphore(drawn.export(), queue)

The objects hold Vulkan's own handles (``frame.image``, ``drawn.semaphore``), which any code for Vulkan takes. They are
closed before the VkDevice; what was imported is released before they are. docs/guide/vulkan.md is the manual.
"""

from .buffer import ExportedBuffer
from .device_match import check_same_device, device_for, device_uuid
from .export_support import device_extensions
from .exporter import Exporter
from .format import format_of
from .image import ExportedImage, LevelLayout
from .memory import ExportedMemory
from .semaphore import ExportedSemaphore, can_export_semaphore

__all__ = [
    "ExportedBuffer",
    "ExportedImage",
    "ExportedMemory",
    "ExportedSemaphore",
    "Exporter",
    "LevelLayout",
    "can_export_semaphore",
    "check_same_device",
    "device_extensions",
    "device_for",
    "device_uuid",
    "format_of",
]
