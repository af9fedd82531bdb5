"""The sixth example of the specification: two images and two semaphores of another API, and a kernel between them.

The other API is Vulkan. It fills the input image and signals; the kernel halves every colour into the output image and
signals back; Vulkan reads the output. The picture shows Vulkan's input on the left and the output on the right.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import numpy as np
from common import HERE, Array, load_kernels, main
from vulkan_headless import Canvas, Renderer, Sheet

import bindless as bl

SHADERS = (HERE / "vulkan_share.vert.spv", HERE / "vulkan_share.frag.spv")
BACKGROUND = (0.2, 0.3, 0.6, 1.0)
TURN = 0.6


def halve(
    queue: bl.Queue,
    desc: bl.ImageDescriptor,
    input_memory: bl.ExternalMemDescriptor,
    output_memory: bl.ExternalMemDescriptor,
    wait_semaphore: bl.ExternalSemaphoreDescriptor,
    done_semaphore: bl.ExternalSemaphoreDescriptor,
) -> Callable[[], None]:
    """Run the specification's example on four file descriptors of another API, without a wait.

    Returns
    -------
    Callable
        Function that ends the imports; call it after the other API has finished.
    """
    input_import = bl.import_external_memory(input_memory, queue)
    output_import = bl.import_external_memory(output_memory, queue)
    input_pixels = bl.map_external_image_memory(input_import, desc, queue)
    output_pixels = bl.map_external_image_memory(output_import, desc, queue)
    input_image = bl.create_image(input_pixels, desc, queue)
    output_image = bl.create_image(output_pixels, desc, queue)
    wait_for = bl.import_external_semaphore(wait_semaphore, queue)
    done = bl.import_external_semaphore(done_semaphore, queue)

    kernel = load_kernels(queue, "import_memory_and_semaphores.cl").get_kernel("halve")
    queue.ext_oneapi_wait_external_semaphore(wait_for)
    queue.parallel_for((desc.height, desc.width), kernel, input_image, output_image)
    queue.ext_oneapi_signal_external_semaphore(done)

    def release() -> None:
        queue.wait_and_throw()
        for semaphore in (done, wait_for):
            bl.release_external_semaphore(semaphore, queue)
        for image in (output_image, input_image):
            bl.destroy_image_handle(image, queue)
        for pixels in (output_pixels, input_pixels):
            bl.unmap_external_image_memory(pixels, desc.type, queue)
        for memory in (output_import, input_import):
            bl.release_external_memory(memory, queue)

    return release


def render(queue: bl.Queue, size: int) -> Array:
    """Render both pictures, float32 (size, 2 * size, 4)."""
    desc = bl.ImageDescriptor(size, size, num_channels=4, channel_type="fp32")
    with ExitStack() as stack:
        queue = stack.enter_context(bl.Queue(queue.device, queue.context, in_order=True))  # semaphores need in-order
        renderer = stack.enter_context(Renderer(queue))
        if not renderer.has_semaphores:
            raise SystemExit("this Vulkan driver exports no semaphores, which the example is about")
        pictures = [stack.enter_context(renderer.exporter.image(desc)) for _ in range(2)]
        drawn, halved = (stack.enter_context(renderer.exporter.semaphore()) for _ in range(2))
        sheet = stack.enter_context(Sheet(renderer, desc, 2))
        canvas = stack.enter_context(Canvas(renderer, pictures[0], SHADERS, push_size=4))
        renderer.start(*pictures)

        turn = np.array([TURN], np.float32)
        renderer.submit(lambda command: canvas.draw(command, BACKGROUND, turn, 3, 5), signal=drawn.semaphore)
        release = halve(queue, desc, *(each.export() for each in (*pictures, drawn, halved)))

        def read_back(command: Any) -> None:
            for column, picture in enumerate(pictures):
                sheet.copy(command, picture, column)

        renderer.submit(read_back, wait=halved.semaphore)
        renderer.wait()
        release()
        return sheet.pixels()


if __name__ == "__main__":
    main(render, __doc__, size=320)
