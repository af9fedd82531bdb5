"""A small Vulkan renderer for the examples: a device without a window, commands, and a pipeline that draws.

The module is plain Vulkan over the PyPI package ``vulkan`` (pip install 'bindless[vulkan]'). It creates its device on
the physical device of a bindless queue, with the extensions for sharing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import vulkan as vk

import bindless as bl
from bindless.interop import vulkan as sharing

__all__ = ["Canvas", "Renderer", "Sheet"]

_ALL = vk.VK_PIPELINE_STAGE_ALL_COMMANDS_BIT
_MEMORY = vk.VK_ACCESS_MEMORY_READ_BIT | vk.VK_ACCESS_MEMORY_WRITE_BIT
_GENERAL = vk.VK_IMAGE_LAYOUT_GENERAL
_COLOUR = vk.VK_IMAGE_ASPECT_COLOR_BIT

Box = tuple[int, int, int, int, Sequence[float]]  # x, y, width, height, and the red, green and blue of a rectangle


class Renderer:
    """A VkInstance, a VkDevice and a VkQueue on the device of a bindless queue.

    Images stay in the layout GENERAL, which suits access by another API.
    """

    def __init__(self, queue: bl.Queue) -> None:
        application = vk.VkApplicationInfo(apiVersion=vk.VK_MAKE_VERSION(1, 3, 0))
        self.instance = vk.vkCreateInstance(vk.VkInstanceCreateInfo(pApplicationInfo=application), None)
        self.physical_device = self._physical_device(queue)
        self.has_semaphores = sharing.can_export_semaphore(self.physical_device)
        families = vk.vkGetPhysicalDeviceQueueFamilyProperties(self.physical_device)
        family = next(i for i, each in enumerate(families) if each.queueFlags & vk.VK_QUEUE_GRAPHICS_BIT)
        info = vk.VkDeviceCreateInfo(
            pNext=vk.VkPhysicalDeviceVulkan13Features(dynamicRendering=True),
            pQueueCreateInfos=[vk.VkDeviceQueueCreateInfo(queueFamilyIndex=family, pQueuePriorities=[1.0])],
            ppEnabledExtensionNames=sharing.device_extensions(self.physical_device),
        )
        self.device = vk.vkCreateDevice(self.physical_device, info, None)
        self.queue = vk.vkGetDeviceQueue(self.device, family, 0)
        self.pool = vk.vkCreateCommandPool(self.device, vk.VkCommandPoolCreateInfo(queueFamilyIndex=family), None)
        self.exporter = sharing.Exporter(self.physical_device, self.device, queue)

    def _physical_device(self, queue: bl.Queue) -> Any:
        """Return the same GPU; among several drivers for the processor, prefer one that exports semaphores."""
        refusals, fitting = [], []
        for each in vk.vkEnumeratePhysicalDevices(self.instance):
            try:
                sharing.check_same_device(each, queue)
                fitting.append(each)
            except bl.InvalidError as refusal:
                refusals.append(str(refusal))
        if not fitting:
            raise SystemExit("\n".join(["no Vulkan device is the one of the queue", *refusals]))
        return max(fitting, key=sharing.can_export_semaphore)

    def close(self) -> None:
        self.wait()
        vk.vkDestroyCommandPool(self.device, self.pool, None)
        vk.vkDestroyDevice(self.device, None)
        vk.vkDestroyInstance(self.instance, None)

    def __enter__(self) -> Renderer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------------ commands

    def submit(self, record: Callable[[Any], None], wait: Any = None, signal: Any = None) -> None:
        """Record commands and submit them, without a wait.

        Parameters
        ----------
        record
            Function that receives a VkCommandBuffer.
        wait
            VkSemaphore that these and all later commands wait for.
        signal
            VkSemaphore that the device signals after them.
        """
        info = vk.VkCommandBufferAllocateInfo(commandPool=self.pool, commandBufferCount=1)
        command = vk.vkAllocateCommandBuffers(self.device, info)[0]
        vk.vkBeginCommandBuffer(
            command, vk.VkCommandBufferBeginInfo(flags=vk.VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT)
        )
        self.barrier(command)
        record(command)
        self.barrier(command)
        vk.vkEndCommandBuffer(command)
        batch = vk.VkSubmitInfo(
            pWaitSemaphores=[] if wait is None else [wait],
            pWaitDstStageMask=[] if wait is None else [_ALL],
            pCommandBuffers=[command],
            pSignalSemaphores=[] if signal is None else [signal],
        )
        vk.vkQueueSubmit(self.queue, 1, [batch], None)

    def wait(self) -> None:
        """Wait for all submitted commands."""
        vk.vkQueueWaitIdle(self.queue)

    def barrier(self, command: Any) -> None:
        """Make earlier writes visible to later commands."""
        memory = vk.VkMemoryBarrier(srcAccessMask=_MEMORY, dstAccessMask=_MEMORY)
        vk.vkCmdPipelineBarrier(command, _ALL, _ALL, 0, 1, [memory], 0, None, 0, None)

    def start(self, *images: sharing.ExportedImage) -> None:
        """Transition new images to the layout GENERAL."""

        def change(command: Any) -> None:
            barriers = [
                vk.VkImageMemoryBarrier(
                    dstAccessMask=_MEMORY,
                    oldLayout=vk.VK_IMAGE_LAYOUT_UNDEFINED,
                    newLayout=_GENERAL,
                    srcQueueFamilyIndex=vk.VK_QUEUE_FAMILY_IGNORED,
                    dstQueueFamilyIndex=vk.VK_QUEUE_FAMILY_IGNORED,
                    image=image.image,
                    subresourceRange=_first_level(),
                )
                for image in images
            ]
            vk.vkCmdPipelineBarrier(command, _ALL, _ALL, 0, 0, None, 0, None, len(barriers), barriers)

        self.submit(change)

    def view(self, image: sharing.ExportedImage) -> Any:
        """Create a VkImageView of a two-dimensional image, which the caller destroys."""
        info = vk.VkImageViewCreateInfo(
            image=image.image,
            viewType=vk.VK_IMAGE_VIEW_TYPE_2D,
            format=image.format,
            subresourceRange=_first_level(),
        )
        return vk.vkCreateImageView(self.device, info, None)

    def fill(self, image: sharing.ExportedImage, boxes: Sequence[Box]) -> None:
        """Draw rectangles, each over the earlier ones, and wait."""
        view = self.view(image)
        target = vk.VkRenderingAttachmentInfo(
            imageView=view, imageLayout=_GENERAL, storeOp=vk.VK_ATTACHMENT_STORE_OP_STORE
        )
        area = vk.VkRect2D(vk.VkOffset2D(0, 0), vk.VkExtent2D(image.desc.width, image.desc.height))
        rendering = vk.VkRenderingInfo(renderArea=area, layerCount=1, pColorAttachments=[target])

        def draw(command: Any) -> None:
            vk.vkCmdBeginRendering(command, rendering)
            for x, y, width, height, colour in boxes:
                value = vk.VkClearValue(color=vk.VkClearColorValue(float32=[*colour, 1.0]))
                place = vk.VkRect2D(vk.VkOffset2D(x, y), vk.VkExtent2D(width, height))
                paint = vk.VkClearAttachment(aspectMask=_COLOUR, clearValue=value)
                vk.vkCmdClearAttachments(command, 1, [paint], 1, [vk.VkClearRect(rect=place, layerCount=1)])
            vk.vkCmdEndRendering(command)

        self.submit(draw)
        self.wait()
        vk.vkDestroyImageView(self.device, view, None)


class Sheet:
    """Host-visible pixels of several images of one kind, copied side by side.

    Parameters
    ----------
    desc
        Descriptor of each image.
    columns
        Number of images.
    """

    def __init__(self, renderer: Renderer, desc: bl.ImageDescriptor, columns: int) -> None:
        self.desc, self.columns = desc, columns
        self.device = renderer.device
        self.buffer = renderer.exporter.buffer(desc.nbytes * columns, host_visible=True)

    def copy(self, command: Any, image: sharing.ExportedImage, column: int) -> None:
        """Copy a whole image to its column."""
        region = vk.VkBufferImageCopy(
            bufferOffset=column * self.desc.row_size,
            bufferRowLength=self.columns * self.desc.width,
            imageSubresource=vk.VkImageSubresourceLayers(aspectMask=_COLOUR, layerCount=1),
            imageExtent=vk.VkExtent3D(self.desc.width, self.desc.height, 1),
        )
        vk.vkCmdCopyImageToBuffer(command, image.image, _GENERAL, self.buffer.buffer, 1, [region])

    def pixels(self) -> npt.NDArray[Any]:
        """Return a copy of the pixels, (height, columns * width, channels); call it after submitted commands have
        finished.
        """
        height, width, channels = self.desc.shape
        mapped = vk.vkMapMemory(self.device, self.buffer.memory, 0, self.buffer.nbytes, 0)
        found = np.frombuffer(mapped, self.desc.dtype).reshape(height, self.columns * width, channels).copy()
        vk.vkUnmapMemory(self.device, self.buffer.memory)
        return found

    def __enter__(self) -> Sheet:
        return self

    def __exit__(self, *_: object) -> None:
        self.buffer.close()


class Canvas:
    """A render target: the view of an image, and a pipeline of two shaders without vertex input.

    Parameters
    ----------
    image
        Two-dimensional image with the usage COLOR_ATTACHMENT.
    shaders
        SPIR-V files of the vertex and of the fragment shader.
    push_size
        Bytes of the push constants of the vertex shader.
    """

    def __init__(
        self, renderer: Renderer, image: sharing.ExportedImage, shaders: tuple[Path, Path], push_size: int
    ) -> None:
        self.device, self.image = renderer.device, image
        self.view = renderer.view(image)
        constants = vk.VkPushConstantRange(stageFlags=vk.VK_SHADER_STAGE_VERTEX_BIT, offset=0, size=push_size)
        self.layout = vk.vkCreatePipelineLayout(
            self.device, vk.VkPipelineLayoutCreateInfo(pPushConstantRanges=[constants]), None
        )
        self.pipeline = self._pipeline(shaders)

    def _pipeline(self, shaders: tuple[Path, Path]) -> Any:
        codes = [file.read_bytes() for file in shaders]
        modules = [
            vk.vkCreateShaderModule(self.device, vk.VkShaderModuleCreateInfo(codeSize=len(code), pCode=code), None)
            for code in codes
        ]
        stages = [
            vk.VkPipelineShaderStageCreateInfo(stage=stage, module=module, pName="main")
            for stage, module in zip((vk.VK_SHADER_STAGE_VERTEX_BIT, vk.VK_SHADER_STAGE_FRAGMENT_BIT), modules)
        ]
        extent = vk.VkExtent2D(self.image.desc.width, self.image.desc.height)
        viewport = vk.VkViewport(0, 0, extent.width, extent.height, 0.0, 1.0)
        blend = vk.VkPipelineColorBlendAttachmentState(colorWriteMask=15)
        info = vk.VkGraphicsPipelineCreateInfo(
            pNext=vk.VkPipelineRenderingCreateInfo(pColorAttachmentFormats=[self.image.format]),
            stageCount=2,
            pStages=stages,
            pVertexInputState=vk.VkPipelineVertexInputStateCreateInfo(),
            pInputAssemblyState=vk.VkPipelineInputAssemblyStateCreateInfo(
                topology=vk.VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST
            ),
            pViewportState=vk.VkPipelineViewportStateCreateInfo(
                pViewports=[viewport], pScissors=[vk.VkRect2D(vk.VkOffset2D(0, 0), extent)]
            ),
            pRasterizationState=vk.VkPipelineRasterizationStateCreateInfo(lineWidth=1.0),
            pMultisampleState=vk.VkPipelineMultisampleStateCreateInfo(rasterizationSamples=vk.VK_SAMPLE_COUNT_1_BIT),
            pColorBlendState=vk.VkPipelineColorBlendStateCreateInfo(pAttachments=[blend]),
            layout=self.layout,
        )
        pipeline = vk.vkCreateGraphicsPipelines(self.device, None, 1, [info], None)[0]
        for module in modules:
            vk.vkDestroyShaderModule(self.device, module, None)
        return pipeline

    def draw(
        self, command: Any, background: Sequence[float], constants: npt.NDArray[Any], vertices: int, instances: int
    ) -> None:
        """Clear the image and draw triangles."""
        desc = self.image.desc
        target = vk.VkRenderingAttachmentInfo(
            imageView=self.view,
            imageLayout=_GENERAL,
            loadOp=vk.VK_ATTACHMENT_LOAD_OP_CLEAR,
            storeOp=vk.VK_ATTACHMENT_STORE_OP_STORE,
            clearValue=vk.VkClearValue(color=vk.VkClearColorValue(float32=list(background))),
        )
        area = vk.VkRect2D(vk.VkOffset2D(0, 0), vk.VkExtent2D(desc.width, desc.height))
        vk.vkCmdBeginRendering(command, vk.VkRenderingInfo(renderArea=area, layerCount=1, pColorAttachments=[target]))
        vk.vkCmdBindPipeline(command, vk.VK_PIPELINE_BIND_POINT_GRAPHICS, self.pipeline)
        data = vk.ffi.from_buffer(constants)
        vk.vkCmdPushConstants(command, self.layout, vk.VK_SHADER_STAGE_VERTEX_BIT, 0, constants.nbytes, data)
        vk.vkCmdDraw(command, vertices, instances, 0, 0)
        vk.vkCmdEndRendering(command)

    def __enter__(self) -> Canvas:
        return self

    def __exit__(self, *_: object) -> None:
        vk.vkDestroyPipeline(self.device, self.pipeline, None)
        vk.vkDestroyPipelineLayout(self.device, self.layout, None)
        vk.vkDestroyImageView(self.device, self.view, None)


def _first_level() -> Any:
    return vk.VkImageSubresourceRange(aspectMask=_COLOUR, levelCount=1, layerCount=1)
