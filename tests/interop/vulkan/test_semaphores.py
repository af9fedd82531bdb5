"""Shared semaphores order Vulkan's queue and ours, without a wait on the host."""

from __future__ import annotations

import os
from contextlib import ExitStack

import numpy as np
import pytest

import bindless as bl
from tests.interop.vulkan.sharing_checks import imported_semaphore, mapped_image, open_descriptors
from tests.interop.vulkan.vulkan_rig import Staging, vk, whole
from tests.support.error_checks import raises

pytestmark = pytest.mark.vulkan

WIDTH, HEIGHT = 32, 16
DESC = bl.ImageDescriptor(WIDTH, HEIGHT, num_channels=4, channel_type="unorm_int8")
ITERATIONS = 1000
FRAME = WIDTH * HEIGHT * 4


@pytest.fixture
def ordered(device, context):
    """An in-order queue, which semaphores need (R75)."""
    with bl.Queue(device, context, in_order=True) as queue:
        yield queue


def semaphores(rig, exporter, queue, timeline, count=2):
    """Exportable semaphores of the Vulkan driver. A driver that exports none refuses to make one, and a device that
    imports no timelines refuses to import one: after that check the test is skipped."""
    if timeline and rig.has_timelines and not rig.shares_timelines:
        with exporter.semaphore(timeline=True) as made:
            desc = made.export()
            with raises(bl.FeatureNotSupportedError, names="binary"):
                bl.import_external_semaphore(desc, queue)
            os.close(desc.resource.file_descriptor)
        pytest.skip("the device imports no timelines")
    if rig.has_timelines if timeline else rig.has_semaphores:
        return [exporter.semaphore(timeline=timeline) for _ in range(count)]
    with raises(bl.FeatureNotSupportedError):
        exporter.semaphore(timeline=timeline)
    pytest.skip(f"the Vulkan driver exports no {'timelines' if timeline else 'semaphores'} of type opaque_fd")


def frame_colour(iteration, ours):
    """Four bytes that differ between neighbouring frames and between the two sides."""
    return (iteration & 255, iteration >> 8 & 255, 17 * iteration + 5 & 255, 200 if ours else 100)


class PingPong:
    """Frames exchanged in one image.

    Frame i: Vulkan saves the image's contents, clears it to its own colour and signals; we wait, save the contents,
    fill the image with our colour and signal. Both sides submit all frames ahead: neither waits on the host.
    """

    def __init__(self, rig, exporter, queue, count):
        self.rig, self.queue, self.count = rig, queue, count
        self.stack = ExitStack()
        self.image = self.stack.enter_context(exporter.image(DESC))
        rig.start(self.image)
        rig.clear(self.image, (0, 0, 0, 0))
        self.handle = self.stack.enter_context(mapped_image(self.image, queue))
        self.theirs = self.stack.enter_context(Staging(rig, FRAME * count))
        self.ours = bl.usm_empty((count, HEIGHT, WIDTH, 4), np.uint8, queue)
        colours = np.array([frame_colour(i, True) for i in range(count)], np.uint8)
        paint = np.broadcast_to(colours[:, None, None], (count, HEIGHT, WIDTH, 4))
        self.paint = bl.usm_empty(paint.shape, np.uint8, queue).copy_from(np.ascontiguousarray(paint), queue)
        self.commands = [rig.record(self.frame(index)) for index in range(count)]

    def frame(self, index):
        def record(command):
            self.rig.become_general(command, self.image.image)
            self.rig.copy_to_host(command, self.image, self.theirs, 0, index * FRAME)
            self.rig.become_general(command, self.image.image)
            colour = vk.VkClearColorValue(float32=[part / 255 for part in frame_colour(index, False)])
            general = vk.VK_IMAGE_LAYOUT_GENERAL
            vk.vkCmdClearColorImage(command, self.image.image, general, colour, 1, [whole()])
            self.rig.become_general(command, self.image.image)

        return record

    def our_part(self, index):
        """Submit our commands between our wait and our signal."""
        self.queue.ext_oneapi_copy(self.handle, self.ours[index], src_desc=DESC, dst_desc=DESC)
        self.queue.ext_oneapi_copy(self.paint[index], self.handle, src_desc=DESC, dst_desc=DESC)

    def check(self):
        """Check that every saved frame on either side is the other side's latest."""
        self.queue.wait_and_throw()
        self.rig.wait()
        found = self.theirs.bytes.reshape(self.count, HEIGHT * WIDTH, 4)
        wanted = np.array([(0, 0, 0, 0), *(frame_colour(i, True) for i in range(self.count - 1))], np.uint8)
        np.testing.assert_array_equal(found, np.broadcast_to(wanted[:, None], found.shape))
        found = self.ours.numpy(self.queue).reshape(self.count, HEIGHT * WIDTH, 4)
        wanted = np.array([frame_colour(i, False) for i in range(self.count)], np.uint8)
        np.testing.assert_array_equal(found, np.broadcast_to(wanted[:, None], found.shape))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.queue.wait()
        self.rig.wait()
        self.stack.close()


def test_ping_pong_of_binary_semaphores(rig, exporter, ordered):  # R77, R78
    made = semaphores(rig, exporter, ordered, timeline=False)
    with (
        made[0] as drawn,
        made[1] as painted,
        imported_semaphore(drawn, ordered) as is_drawn,
        imported_semaphore(painted, ordered) as is_painted,
        PingPong(rig, exporter, ordered, ITERATIONS) as frames,
    ):
        for index, command in enumerate(frames.commands):
            rig.submit(command, painted.semaphore if index else None, drawn.semaphore)
            ordered.ext_oneapi_wait_external_semaphore(is_drawn)
            frames.our_part(index)
            ordered.ext_oneapi_signal_external_semaphore(is_painted)
        rig.submit(rig.record(lambda command: None), painted.semaphore, None)  # wait for the last signal too
        frames.check()


def test_ping_pong_of_timelines(rig, exporter, ordered):  # R76, R77, R78
    made = semaphores(rig, exporter, ordered, timeline=True, count=1)
    with (
        made[0] as timeline,
        imported_semaphore(timeline, ordered) as ours,
        PingPong(rig, exporter, ordered, ITERATIONS) as frames,
    ):
        for index, command in enumerate(frames.commands):
            rig.submit(command, timeline.semaphore, timeline.semaphore, 2 * index, 2 * index + 1)
            ordered.ext_oneapi_wait_external_semaphore(ours, 2 * index + 1)
            frames.our_part(index)
            ordered.ext_oneapi_signal_external_semaphore(ours, 2 * index + 2)
        frames.check()
        assert vk.vkGetSemaphoreCounterValue(rig.device, timeline.semaphore) == 2 * frames.count


def test_we_may_wait_before_vulkan_signals(rig, exporter, ordered):  # R78
    """Neither the wait nor later commands block the host, and nothing runs before the signal."""
    made = semaphores(rig, exporter, ordered, timeline=True, count=1)
    value = np.zeros(1, np.uint32)
    memory = bl.malloc_device(4, ordered)
    ordered.fill(memory, np.uint32(1), 1).wait()
    with made[0] as timeline, imported_semaphore(timeline, ordered) as ours:
        waited = ordered.ext_oneapi_wait_external_semaphore(ours, 5)
        after = ordered.fill(memory, np.uint32(2), 1)
        assert waited.status != "complete"
        assert after.status != "complete"
        rig.submit(rig.record(lambda command: None), None, timeline.semaphore, signal_value=5)
        after.wait_and_throw()
        ordered.memcpy(value, memory, 4).wait_and_throw()
        assert value[0] == 2
        ordered.ext_oneapi_wait_external_semaphore(ours, 3).wait_and_throw()  # the value has passed; the wait leaves it
        assert vk.vkGetSemaphoreCounterValue(rig.device, timeline.semaphore) == 5
    bl.free(memory, ordered)


@pytest.mark.parametrize("timeline", [False, True])
def test_values_are_for_timelines(rig, exporter, ordered, timeline):  # R76
    (semaphore,) = semaphores(rig, exporter, ordered, timeline, count=1)
    with semaphore as made, imported_semaphore(made, ordered) as ours:
        with pytest.raises(bl.InvalidError):
            ordered.ext_oneapi_wait_external_semaphore(ours, None if timeline else 1)
        with pytest.raises(bl.InvalidError):
            ordered.ext_oneapi_signal_external_semaphore(ours, None if timeline else 1)


def test_out_of_order_queues_are_refused(rig, exporter, queue):  # R75
    made = semaphores(rig, exporter, queue, timeline=False, count=1)
    with made[0] as semaphore, imported_semaphore(semaphore, queue) as ours, pytest.raises(bl.InvalidError):
        queue.ext_oneapi_wait_external_semaphore(ours)


def test_handlers_take_semaphores(rig, exporter, ordered):
    made = semaphores(rig, exporter, ordered, timeline=False)
    nothing = rig.record(lambda command: None)
    with (
        made[0] as theirs,
        made[1] as back,
        imported_semaphore(theirs, ordered) as drawn,
        imported_semaphore(back, ordered) as painted,
    ):
        for _ in range(3):
            rig.submit(nothing, None, theirs.semaphore)
            ordered.submit(lambda handler: handler.ext_oneapi_wait_external_semaphore(drawn)).wait_and_throw()
            ordered.submit(lambda handler: handler.ext_oneapi_signal_external_semaphore(painted)).wait_and_throw()
            rig.submit(nothing, back.semaphore, None)
            rig.wait()


def test_descriptors_are_counted(rig, exporter, ordered):
    made = semaphores(rig, exporter, ordered, timeline=False, count=1)

    def once():
        with exporter.semaphore() as semaphore, imported_semaphore(semaphore, ordered):
            pass

    made[0].close()
    once()
    before = open_descriptors()
    for _ in range(10):
        once()
    assert open_descriptors() == before
