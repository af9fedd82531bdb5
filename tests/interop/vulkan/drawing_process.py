"""A process that clears an image with Vulkan, frame after frame, and checks the answers of the other process.

python drawing_process.py SOCKET UUID MANIFEST COUNT   a socket's number, a VkPhysicalDevice, a driver or ""

The process sends its image's memory and two semaphores: it signals one after each frame and waits for the other
before the next frame. Its exit status is 0 if every answer is the expected one.
"""

from __future__ import annotations

import socket
import sys

import numpy as np

import bindless as bl
from bindless.interop import vulkan as sharing
from tests.interop.vulkan.vulkan_rig import Instance, Rig, Staging, vk, whole

DESC = bl.ImageDescriptor(32, 16, num_channels=4, channel_type="unorm_int8")


def colour(frame: int, answer: bool) -> tuple[int, int, int, int]:
    """Colour of all pixels of a frame, or of its answer."""
    return (frame & 255, frame >> 8, 2 if answer else 1, 255)


def main(number: str, uuid: str, manifest: str, frames: str) -> int:
    instance, count = Instance(manifest or None), int(frames)
    rig = Rig(next(each for each in instance.physical_devices if sharing.device_uuid(each).hex() == uuid))
    exporter = sharing.Exporter(rig.physical_device, rig.device, sharing.device_for(rig.physical_device))
    image, drawn, answered = exporter.image(DESC), exporter.semaphore(), exporter.semaphore()
    rig.start(image)
    kept = Staging(rig, DESC.nbytes * count)

    def frame(index: int):
        def record(command):
            general = vk.VK_IMAGE_LAYOUT_GENERAL
            rig.become_general(command, image.image)
            rig.copy_to_host(command, image, kept, 0, index * DESC.nbytes)  # the answer to the frame before
            rig.become_general(command, image.image)
            paint = vk.VkClearColorValue(float32=[part / 255 for part in colour(index, False)])
            vk.vkCmdClearColorImage(command, image.image, general, paint, 1, [whole()])
            rig.become_general(command, image.image)

        return record

    commands = [rig.record(frame(index)) for index in range(count)]
    exported = [image.export(), drawn.export(), answered.export()]
    with socket.socket(fileno=int(number)) as link:
        told = f"{exported[0].size_in_bytes} {int(exported[0].dedicated)}".encode()
        socket.send_fds(link, [told], [each.resource.file_descriptor for each in exported])
    for index, command in enumerate(commands):
        rig.submit(command, answered.semaphore if index else None, drawn.semaphore)
    rig.submit(rig.record(lambda command: None), answered.semaphore, None)
    rig.wait()
    found = kept.bytes.reshape(count, -1, 4)[1:]
    wanted = np.array([colour(index, True) for index in range(count - 1)], np.uint8)
    return int(not np.array_equal(found, np.broadcast_to(wanted[:, None], found.shape)))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
