"""A small Vulkan program without a window: one device, one queue, and commands that move pixels.

It stands for the application that shares its images and does not use this package. Images stay in the layout GENERAL.
docs/guide/vulkan.md gives the cost of a call through the PyPI package ``vulkan``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from bindless.interop import vulkan as sharing

try:
    import vulkan as vk
except (ImportError, OSError):  # no test runs then: each names the package to install
    vk = None

Array = npt.NDArray[Any]

_API = 1 << 22 | 2 << 12  # Vulkan 1.2
_EVERYTHING = 0x8000 | 0x10000  # VK_ACCESS_MEMORY_READ_BIT, VK_ACCESS_MEMORY_WRITE_BIT
_ALL = 0x10000  # VK_PIPELINE_STAGE_ALL_COMMANDS_BIT
COLOUR = 1  # VK_IMAGE_ASPECT_COLOR_BIT


def whole(level: int = 0, count: int = 1) -> Any:
    return vk.VkImageSubresourceRange(
        aspectMask=COLOUR, baseMipLevel=level, levelCount=count, baseArrayLayer=0, layerCount=1
    )


def one_level(level: int) -> Any:
    return vk.VkImageSubresourceLayers(aspectMask=COLOUR, mipLevel=level, baseArrayLayer=0, layerCount=1)


@contextmanager
def drivers(manifest: str | None) -> Iterator[None]:
    """Restrict the Vulkan loader to this driver for the duration of the block; None leaves the choice to the loader."""
    names = ("VK_ICD_FILENAMES", "VK_DRIVER_FILES")
    before = {name: os.environ.get(name) for name in names}
    if manifest is not None:
        os.environ.pop("VK_DRIVER_FILES", None)
        os.environ["VK_ICD_FILENAMES"] = manifest
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


class Instance:
    """A VkInstance for one driver or for all drivers."""

    def __init__(self, manifest: str | None) -> None:
        application = vk.VkApplicationInfo(pApplicationName="bindless tests", apiVersion=_API)
        with drivers(manifest):
            self.instance = vk.vkCreateInstance(vk.VkInstanceCreateInfo(pApplicationInfo=application), None)
            self.physical_devices = list(vk.vkEnumeratePhysicalDevices(self.instance))

    def close(self) -> None:
        vk.vkDestroyInstance(self.instance, None)


class Staging:
    """A buffer that the host reads and writes."""

    def __init__(self, rig: Rig, nbytes: int) -> None:
        self.rig, self.nbytes = rig, nbytes
        usage = vk.VK_BUFFER_USAGE_TRANSFER_SRC_BIT | vk.VK_BUFFER_USAGE_TRANSFER_DST_BIT
        self.buffer = vk.vkCreateBuffer(rig.device, vk.VkBufferCreateInfo(size=nbytes, usage=usage), None)
        needs = vk.vkGetBufferMemoryRequirements(rig.device, self.buffer)
        flags = vk.VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | vk.VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
        cached = flags | vk.VK_MEMORY_PROPERTY_HOST_CACHED_BIT
        properties = vk.vkGetPhysicalDeviceMemoryProperties(rig.physical_device)
        kinds = [
            index
            for wanted in (cached, flags)
            for index in range(properties.memoryTypeCount)
            if needs.memoryTypeBits >> index & 1 and properties.memoryTypes[index].propertyFlags & wanted == wanted
        ]
        info = vk.VkMemoryAllocateInfo(allocationSize=needs.size, memoryTypeIndex=kinds[0])
        self.memory = vk.vkAllocateMemory(rig.device, info, None)
        vk.vkBindBufferMemory(rig.device, self.buffer, self.memory, 0)
        mapped = vk.vkMapMemory(rig.device, self.memory, 0, nbytes, 0)
        self.bytes = np.frombuffer(mapped, np.uint8)

    def close(self) -> None:
        self.bytes = np.empty(0, np.uint8)
        vk.vkUnmapMemory(self.rig.device, self.memory)
        vk.vkDestroyBuffer(self.rig.device, self.buffer, None)
        vk.vkFreeMemory(self.rig.device, self.memory, None)

    def __enter__(self) -> Staging:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def queue_family(physical_device: Any, *, draws: bool = True) -> int | None:
    """A queue family for graphics, compute and copies, or for copies only; None if the device has none."""
    families = vk.vkGetPhysicalDeviceQueueFamilyProperties(physical_device)
    wanted = vk.VK_QUEUE_GRAPHICS_BIT | vk.VK_QUEUE_COMPUTE_BIT
    if draws:
        return next(i for i, family in enumerate(families) if family.queueFlags & wanted == wanted)
    copies = vk.VK_QUEUE_TRANSFER_BIT
    return next((i for i, family in enumerate(families) if family.queueFlags & (wanted | copies) == copies), None)


class Rig:
    """A VkDevice with the sharing extensions, and one queue for graphics, compute and copies, or one of ``family``.

    Attributes
    ----------
    has_timelines, has_semaphores
        Whether the device exports timelines, and semaphores at all.
    shares_timelines
        Whether the importing device supports timelines, too: OpenCL's semaphores are binary.
    """

    def __init__(self, physical_device: Any, family: int | None = None, *, takes_timelines: bool = True) -> None:
        self.physical_device = physical_device
        self.family = queue_family(physical_device) if family is None else family
        self.has_timelines = sharing.can_export_semaphore(physical_device, timeline=True)
        self.shares_timelines = self.has_timelines and takes_timelines
        self.has_semaphores = sharing.can_export_semaphore(physical_device)
        feature = vk.VkPhysicalDeviceTimelineSemaphoreFeatures(timelineSemaphore=True) if self.has_timelines else None
        info = vk.VkDeviceCreateInfo(
            pNext=feature,
            pQueueCreateInfos=[vk.VkDeviceQueueCreateInfo(queueFamilyIndex=self.family, pQueuePriorities=[1.0])],
            ppEnabledExtensionNames=sharing.device_extensions(physical_device),
        )
        self.device = vk.vkCreateDevice(physical_device, info, None)
        self.queue = vk.vkGetDeviceQueue(self.device, self.family, 0)
        flags = vk.VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT
        pool = vk.VkCommandPoolCreateInfo(flags=flags, queueFamilyIndex=self.family)
        self.pool = vk.vkCreateCommandPool(self.device, pool, None)

    def close(self) -> None:
        vk.vkDeviceWaitIdle(self.device)
        vk.vkDestroyCommandPool(self.device, self.pool, None)
        vk.vkDestroyDevice(self.device, None)

    # ------------------------------------------------------------------ commands

    def record(self, what: Callable[[Any], None]) -> Any:
        """A VkCommandBuffer that may be submitted repeatedly."""
        info = vk.VkCommandBufferAllocateInfo(
            commandPool=self.pool, level=vk.VK_COMMAND_BUFFER_LEVEL_PRIMARY, commandBufferCount=1
        )
        command = vk.vkAllocateCommandBuffers(self.device, info)[0]
        vk.vkBeginCommandBuffer(
            command, vk.VkCommandBufferBeginInfo(flags=vk.VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT)
        )
        what(command)
        vk.vkEndCommandBuffer(command)
        return command

    def batch(
        self,
        command: Any,
        wait: Any = None,
        signal: Any = None,
        wait_value: int | None = None,
        signal_value: int | None = None,
    ) -> Any:
        """A VkSubmitInfo; ``wait`` and ``signal`` are VkSemaphores, with values for timelines."""
        values = None
        if wait_value is not None or signal_value is not None:
            values = vk.VkTimelineSemaphoreSubmitInfo(
                pWaitSemaphoreValues=[wait_value or 0] if wait is not None else [],
                pSignalSemaphoreValues=[signal_value or 0] if signal is not None else [],
            )
        return vk.VkSubmitInfo(
            pNext=values,
            pWaitSemaphores=[wait] if wait is not None else [],
            pWaitDstStageMask=[_ALL] if wait is not None else [],
            pCommandBuffers=[command],
            pSignalSemaphores=[signal] if signal is not None else [],
        )

    def submit_batch(self, batch: Any, fence: Any = None) -> None:
        """Submit and return at once; the VkFence is signalled when the batch is complete."""
        vk.vkQueueSubmit(self.queue, 1, batch, fence)

    @contextmanager
    def fence(self) -> Iterator[Any]:
        made = vk.vkCreateFence(self.device, vk.VkFenceCreateInfo(), None)
        try:
            yield made
        finally:
            vk.vkDestroyFence(self.device, made, None)

    def wait_for(self, fence: Any) -> None:
        """Wait for a VkFence and reset it."""
        vk.vkWaitForFences(self.device, 1, [fence], True, 2**64 - 1)
        vk.vkResetFences(self.device, 1, [fence])

    def submit(self, command: Any, *others: Any, **values: int) -> None:
        """Submit a batch of these arguments; return at once."""
        self.submit_batch(self.batch(command, *others, **values))

    def wait(self) -> None:
        vk.vkQueueWaitIdle(self.queue)

    def run(self, what: Callable[[Any], None], wait: Any = None, signal: Any = None) -> None:
        """Record, submit and wait on the host."""
        command = self.record(what)
        self.submit(command, wait, signal)
        self.wait()
        vk.vkFreeCommandBuffers(self.device, self.pool, 1, [command])

    def become_general(self, command: Any, image: Any, levels: int = 1, *, keep: bool = True) -> None:
        """A full barrier; ``keep=False`` is for the first use, from the layout UNDEFINED."""
        barrier = vk.VkImageMemoryBarrier(
            srcAccessMask=_EVERYTHING,
            dstAccessMask=_EVERYTHING,
            oldLayout=vk.VK_IMAGE_LAYOUT_GENERAL if keep else vk.VK_IMAGE_LAYOUT_UNDEFINED,
            newLayout=vk.VK_IMAGE_LAYOUT_GENERAL,
            srcQueueFamilyIndex=vk.VK_QUEUE_FAMILY_IGNORED,
            dstQueueFamilyIndex=vk.VK_QUEUE_FAMILY_IGNORED,
            image=image,
            subresourceRange=whole(0, levels),
        )
        vk.vkCmdPipelineBarrier(command, _ALL, _ALL, 0, 0, None, 0, None, 1, [barrier])

    def barrier(self, command: Any) -> None:
        memory = vk.VkMemoryBarrier(srcAccessMask=_EVERYTHING, dstAccessMask=_EVERYTHING)
        vk.vkCmdPipelineBarrier(command, _ALL, _ALL, 0, 1, [memory], 0, None, 0, None)

    def start(self, image: sharing.ExportedImage) -> None:
        """Move a new image to the layout GENERAL."""
        self.run(lambda command: self.become_general(command, image.image, image.desc.num_levels, keep=False))

    # ------------------------------------------------------------------ pixels

    def copy_to_image(
        self, command: Any, source: Staging, image: sharing.ExportedImage, level: int, offset: int
    ) -> None:
        vk.vkCmdCopyBufferToImage(
            command, source.buffer, image.image, vk.VK_IMAGE_LAYOUT_GENERAL, 1, [_region(image, level, offset)]
        )

    def copy_to_host(
        self, command: Any, image: sharing.ExportedImage, target: Staging, level: int, offset: int
    ) -> None:
        vk.vkCmdCopyImageToBuffer(
            command, image.image, vk.VK_IMAGE_LAYOUT_GENERAL, target.buffer, 1, [_region(image, level, offset)]
        )

    def write(self, image: sharing.ExportedImage, levels: Sequence[Array], signal: Any = None) -> None:
        """Write all levels of an image; each array has the shape of its level's descriptor."""
        self.move(image, levels, signal=signal)

    def read(self, image: sharing.ExportedImage, wait: Any = None) -> list[Array]:
        """Read all levels of an image."""
        desc = image.desc
        sizes = [desc] if desc.num_levels == 1 else [desc.get_mip_level_desc(i) for i in range(desc.num_levels)]
        levels = [np.zeros(size.shape, size.dtype) for size in sizes]
        self.move(image, levels, wait=wait, to_host=True)
        return levels

    def move(
        self,
        image: sharing.ExportedImage,
        levels: Sequence[Array],
        *,
        to_host: bool = False,
        wait: Any = None,
        signal: Any = None,
    ) -> None:
        # Each level starts at a multiple of 16 bytes: copies require multiples of the pixel size.
        places = np.cumsum([0, *(-(-level.nbytes // 16) * 16 for level in levels)])
        with Staging(self, int(places[-1])) as staging:
            slots = [staging.bytes[at : at + level.nbytes] for at, level in zip(places, levels)]
            if not to_host:
                for slot, level in zip(slots, levels):
                    slot[:] = np.ascontiguousarray(level).reshape(-1).view(np.uint8)

            def copy(command: Any) -> None:
                self.become_general(command, image.image, len(levels))
                for index in range(len(levels)):
                    move = self.copy_to_host if to_host else self.copy_to_image
                    arguments = (image, staging) if to_host else (staging, image)
                    move(command, *arguments, index, int(places[index]))  # type: ignore[arg-type]
                self.become_general(command, image.image, len(levels))

            self.run(copy, wait, signal)
            if to_host:
                for slot, level in zip(slots, levels):
                    level.reshape(-1).view(np.uint8)[:] = slot

    def clear(self, image: sharing.ExportedImage, colour: Sequence[float], signal: Any = None) -> None:
        """Fill a whole float or normalized image with one colour."""

        def what(command: Any) -> None:
            self.become_general(command, image.image)
            vk.vkCmdClearColorImage(
                command,
                image.image,
                vk.VK_IMAGE_LAYOUT_GENERAL,
                vk.VkClearColorValue(float32=list(colour)),
                1,
                [whole()],
            )
            self.become_general(command, image.image)

        self.run(what, signal=signal)

    def reduce(self, image: sharing.ExportedImage) -> None:
        """Fill the levels of a two-dimensional mipmap from level 0, each by a linear blit of the previous one."""

        def what(command: Any) -> None:
            for level in range(1, image.desc.num_levels):
                before, after = (image.desc.get_mip_level_desc(i) for i in (level - 1, level))
                self.become_general(command, image.image, image.desc.num_levels)
                blit = vk.VkImageBlit(
                    srcSubresource=one_level(level - 1),
                    srcOffsets=[vk.VkOffset3D(), vk.VkOffset3D(before.width, before.height, 1)],
                    dstSubresource=one_level(level),
                    dstOffsets=[vk.VkOffset3D(), vk.VkOffset3D(after.width, after.height, 1)],
                )
                general = vk.VK_IMAGE_LAYOUT_GENERAL
                vk.vkCmdBlitImage(command, image.image, general, image.image, general, 1, [blit], vk.VK_FILTER_LINEAR)
            self.become_general(command, image.image, image.desc.num_levels)

        self.run(what)

    def copy_buffer(self, source: Any, target: Any, nbytes: int, from_byte: int = 0, to_byte: int = 0) -> None:
        def what(command: Any) -> None:
            self.barrier(command)
            region = vk.VkBufferCopy(srcOffset=from_byte, dstOffset=to_byte, size=nbytes)
            vk.vkCmdCopyBuffer(command, source, target, 1, [region])
            self.barrier(command)

        self.run(what)


def _region(image: sharing.ExportedImage, level: int, offset: int) -> Any:
    desc = image.desc if image.desc.num_levels == 1 else image.desc.get_mip_level_desc(level)
    return vk.VkBufferImageCopy(
        bufferOffset=offset,
        imageSubresource=one_level(level),
        imageOffset=vk.VkOffset3D(),
        imageExtent=vk.VkExtent3D(*desc.extent),
    )
