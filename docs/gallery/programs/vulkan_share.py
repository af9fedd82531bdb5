"""Vulkan draws, bindless develops, Vulkan presents: two images, shared in place, without a wait on the host.

Vulkan draws triangles of light, brighter than any screen, into an image of 16-bit floats. A kernel samples it in place,
spreads the light and maps its tones into a second image, which Vulkan copies to host-visible memory. Semaphores order
the two queues; with a Vulkan driver that exports no semaphores (lavapipe), the host waits instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
from common import HERE, Array, load_kernels, main
from vulkan_headless import Canvas, Renderer, Sheet

import bindless as bl
from bindless.interop import vulkan as sharing

FRAMES = 3
LIGHTS = 5
BACKGROUND = (0.006, 0.009, 0.02, 1.0)
EXPOSURE = 0.35
SHADERS = (HERE / "vulkan_share.vert.spv", HERE / "vulkan_share.frag.spv")
LINEAR = bl.BindlessImageSampler("clamp_to_edge", "unnormalized", "linear")


@contextmanager
def shared(image: sharing.ExportedImage, queue: bl.Queue) -> Iterator[bl.ImageMemHandle]:
    """Import a Vulkan image as image memory of the queue's device, for the duration of the block."""
    memory = bl.import_external_memory(image.export(), queue)
    handle = bl.map_external_image_memory(memory, image.desc, queue)
    try:
        yield handle
    finally:
        bl.unmap_external_image_memory(handle, image.desc.type, queue)
        bl.release_external_memory(memory, queue)


class Turns:
    """Synchronisation between Vulkan's queue and the bindless queue.

    With semaphores the host does not wait: the queues wait for each other. Without exported semaphores the host waits.
    """

    def __init__(self, renderer: Renderer, queue: bl.Queue) -> None:
        self.renderer, self.queue = renderer, queue
        self.stack = ExitStack()
        self.theirs, self.ours = zip(*(self._pair() for _ in range(2)))

    def _pair(self) -> tuple[Any, bl.ExternalSemaphore | None]:
        """Return one semaphore as a Vulkan and as a bindless object."""
        if not self.renderer.has_semaphores:
            return None, None
        made = self.stack.enter_context(self.renderer.exporter.semaphore())
        semaphore = bl.import_external_semaphore(made.export(), self.queue)
        self.stack.callback(bl.release_external_semaphore, semaphore, self.queue)
        return made.semaphore, semaphore

    def before_us(self, record: Callable[[Any], None]) -> None:
        """Submit Vulkan commands that precede all later commands of the bindless queue."""
        self.renderer.submit(record, signal=self.theirs[0])
        if self.ours[0] is None:
            self.renderer.wait()
        else:
            self.queue.ext_oneapi_wait_external_semaphore(self.ours[0])

    def after_us(self, record: Callable[[Any], None]) -> None:
        """Submit Vulkan commands that follow all earlier commands of the bindless queue; later Vulkan commands follow
        too.
        """
        if self.ours[1] is None:
            self.queue.wait_and_throw()
        else:
            self.queue.ext_oneapi_signal_external_semaphore(self.ours[1])
        self.renderer.submit(record, wait=self.theirs[1])

    def __enter__(self) -> Turns:
        return self

    def __exit__(self, *_: object) -> None:
        self.queue.wait()
        self.renderer.wait()
        self.stack.close()


def turn_of(frame: int) -> float:
    """Return the rotation of the ring of triangles, in radians."""
    return 0.2 + 0.45 * frame


def render(queue: bl.Queue, size: int) -> Array:
    """Render three frames side by side, float32 (size, 3 * size, 4), as read back by Vulkan."""
    light = bl.ImageDescriptor(size, size, num_channels=4, channel_type="fp16")
    codes = bl.ImageDescriptor(size, size, num_channels=4, channel_type="unsigned_int8")
    with ExitStack() as stack:
        queue = stack.enter_context(bl.Queue(queue.device, queue.context, in_order=True))  # semaphores need in-order
        renderer = stack.enter_context(Renderer(queue))
        scene = stack.enter_context(renderer.exporter.image(light))
        screen = stack.enter_context(renderer.exporter.image(codes))
        sheet = stack.enter_context(Sheet(renderer, codes, FRAMES))
        canvas = stack.enter_context(Canvas(renderer, scene, SHADERS, push_size=4))
        renderer.start(scene, screen)

        develop = load_kernels(queue, "vulkan_share.cl").get_kernel("develop")
        sampled = bl.create_image(stack.enter_context(shared(scene, queue)), light, queue, sampler=LINEAR)
        stack.callback(bl.destroy_image_handle, sampled, queue)
        written = bl.create_image(stack.enter_context(shared(screen, queue)), codes, queue)
        stack.callback(bl.destroy_image_handle, written, queue)

        turns = stack.enter_context(Turns(renderer, queue))
        for frame in range(FRAMES):
            constants = np.array([turn_of(frame)], np.float32)
            turns.before_us(lambda command: canvas.draw(command, BACKGROUND, constants, 3, LIGHTS))  # noqa: B023
            queue.parallel_for((size, size), develop, sampled, written, np.float32(EXPOSURE))
            turns.after_us(lambda command: sheet.copy(command, screen, frame))  # noqa: B023
        queue.wait_and_throw()
        renderer.wait()
        return sheet.pixels().astype(np.float32) / 255


if __name__ == "__main__":
    main(render, __doc__, size=320)
