"""A process that draws with Vulkan and sends its exports to another process by a socket; the test kills it.

python exporting_process.py SOCKET UUID MANIFEST   a socket's number, a VkPhysicalDevice, a driver or ""
"""

from __future__ import annotations

import socket
import sys
import time

import bindless as bl
from bindless.interop import vulkan as sharing
from tests.interop.vulkan.sharing_checks import pixels_for
from tests.interop.vulkan.vulkan_rig import Instance, Rig

DESC = bl.ImageDescriptor(45, 23, num_channels=4, channel_type="unorm_int8")
SEED = 77


def main(number: str, uuid: str, manifest: str) -> None:
    instance = Instance(manifest or None)
    rig = Rig(next(each for each in instance.physical_devices if sharing.device_uuid(each).hex() == uuid))
    exporter = sharing.Exporter(rig.physical_device, rig.device, sharing.device_for(rig.physical_device))
    image = exporter.image(DESC)
    rig.start(image)
    rig.write(image, pixels_for(DESC, SEED))
    memory = image.export()
    files = [memory.resource.file_descriptor]
    if rig.has_semaphores:
        files.append(exporter.semaphore().export().resource.file_descriptor)
    with socket.socket(fileno=int(number)) as link:
        socket.send_fds(link, [f"{memory.size_in_bytes} {int(memory.dedicated)}".encode()], files)
        while True:
            time.sleep(60)


if __name__ == "__main__":
    main(*sys.argv[1:])
