"""Check that a GPU's Vulkan driver draws: a clear and a blit by Vulkan alone, without this package or CUDA.

python vulkan_alone.py UUID SECONDS   the VkPhysicalDevice's UUID in hex; exit status 3 after the time limit
"""

from __future__ import annotations

import os
import sys
from typing import Any

import vulkan as vk

SIDE = 64
ALL, EVERYTHING = vk.VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, vk.VK_ACCESS_MEMORY_READ_BIT | vk.VK_ACCESS_MEMORY_WRITE_BIT
GENERAL, COLOUR = vk.VK_IMAGE_LAYOUT_GENERAL, vk.VK_IMAGE_ASPECT_COLOR_BIT
WHOLE = vk.VkImageSubresourceRange(aspectMask=COLOUR, levelCount=1, layerCount=1)


def uuid_of(physical: Any) -> str:
    found = vk.VkPhysicalDeviceIDProperties()
    vk.vkGetPhysicalDeviceProperties2(physical, vk.VkPhysicalDeviceProperties2(pNext=found))
    return bytes(found.deviceUUID).hex()


def new_image(physical: Any, device: Any) -> Any:
    image = vk.vkCreateImage(
        device,
        vk.VkImageCreateInfo(
            imageType=vk.VK_IMAGE_TYPE_2D,
            format=vk.VK_FORMAT_R8G8B8A8_UNORM,
            extent=vk.VkExtent3D(SIDE, SIDE, 1),
            mipLevels=1,
            arrayLayers=1,
            samples=vk.VK_SAMPLE_COUNT_1_BIT,
            tiling=vk.VK_IMAGE_TILING_OPTIMAL,
            usage=vk.VK_IMAGE_USAGE_TRANSFER_SRC_BIT | vk.VK_IMAGE_USAGE_TRANSFER_DST_BIT,
        ),
        None,
    )
    needs = vk.vkGetImageMemoryRequirements(device, image)
    kinds = vk.vkGetPhysicalDeviceMemoryProperties(physical)
    kind = next(index for index in range(kinds.memoryTypeCount) if needs.memoryTypeBits >> index & 1)
    info = vk.VkMemoryAllocateInfo(allocationSize=needs.size, memoryTypeIndex=kind)
    vk.vkBindImageMemory(device, image, vk.vkAllocateMemory(device, info, None), 0)
    return image


def barrier(command: Any, image: Any, old: int) -> None:
    change = vk.VkImageMemoryBarrier(
        srcAccessMask=EVERYTHING,
        dstAccessMask=EVERYTHING,
        oldLayout=old,
        newLayout=GENERAL,
        srcQueueFamilyIndex=vk.VK_QUEUE_FAMILY_IGNORED,
        dstQueueFamilyIndex=vk.VK_QUEUE_FAMILY_IGNORED,
        image=image,
        subresourceRange=WHOLE,
    )
    vk.vkCmdPipelineBarrier(command, ALL, ALL, 0, 0, None, 0, None, 1, [change])


def record(command: Any, source: Any, target: Any) -> None:
    """A blit to half the size runs a triangle or two on the GPU's graphics units; a clear runs none."""
    for image in (source, target):
        barrier(command, image, vk.VK_IMAGE_LAYOUT_UNDEFINED)
    vk.vkCmdClearColorImage(command, source, GENERAL, vk.VkClearColorValue(float32=[1, 0, 0, 1]), 1, [WHOLE])
    barrier(command, source, GENERAL)
    layer = vk.VkImageSubresourceLayers(aspectMask=COLOUR, layerCount=1)
    half = vk.VkOffset3D(SIDE // 2, SIDE // 2, 1)
    blit = vk.VkImageBlit(
        srcSubresource=layer,
        srcOffsets=[vk.VkOffset3D(), vk.VkOffset3D(SIDE, SIDE, 1)],
        dstSubresource=layer,
        dstOffsets=[vk.VkOffset3D(), half],
    )
    vk.vkCmdBlitImage(command, source, GENERAL, target, GENERAL, 1, [blit], vk.VK_FILTER_LINEAR)


def main(uuid: str, seconds: str) -> int:
    application = vk.VkApplicationInfo(apiVersion=vk.VK_MAKE_VERSION(1, 1, 0))
    instance = vk.vkCreateInstance(vk.VkInstanceCreateInfo(pApplicationInfo=application), None)
    physical = next(each for each in vk.vkEnumeratePhysicalDevices(instance) if uuid_of(each) == uuid)
    families = vk.vkGetPhysicalDeviceQueueFamilyProperties(physical)
    family = next(i for i, each in enumerate(families) if each.queueFlags & vk.VK_QUEUE_GRAPHICS_BIT)
    queues = [vk.VkDeviceQueueCreateInfo(queueFamilyIndex=family, pQueuePriorities=[1.0])]
    device = vk.vkCreateDevice(physical, vk.VkDeviceCreateInfo(pQueueCreateInfos=queues), None)
    pool = vk.vkCreateCommandPool(device, vk.VkCommandPoolCreateInfo(queueFamilyIndex=family), None)
    info = vk.VkCommandBufferAllocateInfo(commandPool=pool, commandBufferCount=1)
    (command,) = vk.vkAllocateCommandBuffers(device, info)
    vk.vkBeginCommandBuffer(command, vk.VkCommandBufferBeginInfo())
    record(command, new_image(physical, device), new_image(physical, device))
    vk.vkEndCommandBuffer(command)
    fence = vk.vkCreateFence(device, vk.VkFenceCreateInfo(), None)
    vk.vkQueueSubmit(vk.vkGetDeviceQueue(device, family, 0), 1, vk.VkSubmitInfo(pCommandBuffers=[command]), fence)
    try:
        vk.vkWaitForFences(device, 1, [fence], True, int(float(seconds) * 1e9))
    except vk.VkTimeout:
        print(f"a blit of Vulkan alone was not done after {seconds} s")
        return 3
    return 0


if __name__ == "__main__":
    status = main(*sys.argv[1:])
    sys.stdout.flush()
    os._exit(status)  # a normal exit would wait for hanging work
