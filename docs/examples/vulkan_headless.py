"""As much of a Vulkan renderer as the examples need: a device without a window, commands, a pipeline that draws.

It is plain Vulkan over the PyPI package ``vulkan`` (pip install 'bindless[vulkan]'). What is special: the device is the
one that the queue of bindless runs on, and it is made with the extensions that sharing needs.
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


class Renderer:
    """A VkInstance, a VkDevice and a VkQueue on the device that a queue of bindless runs on.

    Images are used in the layout GENERAL throughout: what another API reads and writes has no better one.
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
        """The same GPU; of several drivers for the processor one that exports semaphores, if there is any."""
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
        """Records commands and hands them to the device; returns at once.

        Args:
            record: is called with a VkCommandBuffer.
            wait: a VkSemaphore that these and all later commands wait for.
            signal: a VkSemaphore that is signalled after them.
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
        """Returns when everything submitted is done."""
        vk.vkQueueWaitIdle(self.queue)

    def barrier(self, command: Any) -> None:
        """What comes after sees what was written before."""
        memory = vk.VkMemoryBarrier(srcAccessMask=_MEMORY, dstAccessMask=_MEMORY)
        vk.vkCmdPipelineBarrier(command, _ALL, _ALL, 0, 1, [memory], 0, None, 0, None)

    def start(self, *images: sharing.ExportedImage) -> None:
        """Brings new images to the layout GENERAL."""

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


class Sheet:
    """Pixels where the host reads them: images of one kind, copied side by side.

    Args:
        desc: of each image.
        columns: how many there are.
    """

    def __init__(self, renderer: Renderer, desc: bl.ImageDescriptor, columns: int) -> None:
        self.desc, self.columns = desc, columns
        self.device = renderer.device
        self.buffer = renderer.exporter.buffer(desc.nbytes * columns, host_visible=True)

    def copy(self, command: Any, image: sharing.ExportedImage, column: int) -> None:
        """Copies a whole image to its place."""
        region = vk.VkBufferImageCopy(
            bufferOffset=column * self.desc.row_size,
            bufferRowLength=self.columns * self.desc.width,
            imageSubresource=vk.VkImageSubresourceLayers(aspectMask=_COLOUR, layerCount=1),
            imageExtent=vk.VkExtent3D(self.desc.width, self.desc.height, 1),
        )
        vk.vkCmdCopyImageToBuffer(command, image.image, _GENERAL, self.buffer.buffer, 1, [region])

    def pixels(self) -> npt.NDArray[Any]:
        """A copy of what is there, (height, columns * width, channels); what was submitted must be done."""
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
    """An image to draw into: its view, and a pipeline of two shaders without vertices of their own.

    Args:
        image: of two dimensions, with the usage COLOR_ATTACHMENT.
        shaders: the files of the vertex and of the fragment shader, SPIR-V.
        push_size: bytes of the push constants of the vertex shader.
    """

    def __init__(
        self, renderer: Renderer, image: sharing.ExportedImage, shaders: tuple[Path, Path], push_size: int
    ) -> None:
        self.device, self.image = renderer.device, image
        self.view = vk.vkCreateImageView(
            self.device,
            vk.VkImageViewCreateInfo(
                image=image.image,
                viewType=vk.VK_IMAGE_VIEW_TYPE_2D,
                format=image.format,
                subresourceRange=_first_level(),
            ),
            None,
        )
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
        """Clears the image and draws triangles."""
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
