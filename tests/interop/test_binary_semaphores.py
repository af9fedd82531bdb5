"""Binary semaphores, which every device with semaphore import supports: order, ownership and refusals.

An eventfd stands for the exporter's semaphore, as in ``test_external_semaphore``; OpenCL devices have no timelines.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import numpy as np
import pytest

import bindless as bl
from tests.support.ctrl_c import INTERRUPTED_WAITS
from tests.support.error_checks import raises
from tests.support.shared_files import (
    SharedFile,
    Timeline,
    descriptors,
    descriptors_return_to,
    import_file,
    import_semaphore,
)

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="file descriptors of semaphores are Linux's"),
    pytest.mark.usefixtures("files"),
]


@pytest.fixture
def event_fds() -> Iterator[tuple[int, int]]:
    made = os.eventfd(0, os.EFD_CLOEXEC), os.eventfd(0, os.EFD_CLOEXEC)
    yield made
    for fd in made:
        os.close(fd)


def test_a_frame_goes_to_and_fro(device: bl.Device, event_fds: tuple[int, int]) -> None:
    """A hundred frames with changing contents, ordered by two semaphores. The two sides share no context, and each
    saves the frame that it finds before it writes the next one."""  # R77, R78
    shared, count = SharedFile.make(4096), 100
    found = np.zeros((2, count, 4096), np.uint8)
    with bl.Context(device) as ours, bl.Context(device) as theirs:
        queues = [bl.Queue(device, context, in_order=True) for context in (ours, theirs)]
        semaphores = [[import_semaphore(fd, "opaque_fd", queue) for fd in event_fds] for queue in queues]
        frames = [bl.map_external_linear_memory(import_file(shared, queue), queue, size=4096) for queue in queues]
        for index in range(count):
            for side, queue in enumerate(queues):
                if index or side:
                    queue.ext_oneapi_wait_external_semaphore(semaphores[side][1 - side])
                queue.memcpy(found[side, index], frames[side], 4096)
                queue.memset(frames[side], 2 * index + side + 1 & 255, 4096)
                queue.ext_oneapi_signal_external_semaphore(semaphores[side][side])
        for queue in queues:
            queue.wait()
    written = np.arange(2 * count).reshape(count, 2).T.astype(np.uint8)
    assert np.array_equal(found, np.broadcast_to(written[:, :, None], found.shape))
    shared.close()


def test_kernels_see_what_the_other_side_wrote(ordered: bl.Queue, event_fds: tuple[int, int]) -> None:
    """Images of the same memory in kernels before and after turns of the other side."""  # R57
    desc = bl.ImageDescriptor(16, 8, num_channels=4, channel_type="fp32")
    shared = SharedFile.make(desc.nbytes)
    pixels = shared.seen(desc.shape, np.float32)
    theirs, ours = (import_semaphore(fd, "opaque_fd", ordered) for fd in event_fds)
    memory = import_file(shared, ordered)
    handle = bl.map_external_image_memory(memory, desc, ordered)
    image = bl.create_image(handle, desc, ordered)
    x, y = np.meshgrid(np.arange(16), np.arange(8))
    places = np.stack([x, y], -1).reshape(-1, 2).astype(np.int32)
    for turn in range(4):
        pixels[...] = np.random.default_rng(turn).random(desc.shape, np.float32)
        os.eventfd_write(event_fds[0], 1)
        ordered.ext_oneapi_wait_external_semaphore(theirs)
        assert np.array_equal(bl.fetch_image(ordered, image, places), pixels.reshape(-1, 4))
        painted = np.full((128, 4), turn + 0.5, np.float32)
        bl.write_image(ordered, image, places, painted)
        ordered.ext_oneapi_signal_external_semaphore(ours)
        assert os.eventfd_read(event_fds[1]) == 1
        assert (pixels == turn + 0.5).all()
    bl.destroy_image_handle(image, ordered)
    bl.unmap_external_image_memory(handle, "standard", ordered)
    shared.close()


def test_a_signal_follows_all_earlier_work(ordered: bl.Queue, event_fds: tuple[int, int]) -> None:
    shared = SharedFile.make(1 << 20)
    semaphore = import_semaphore(event_fds[0], "opaque_fd", ordered)
    pointer = bl.map_external_linear_memory(import_file(shared, ordered), ordered, size=1 << 20)
    gate = threading.Event()
    before = ordered.submit(lambda handler: handler.host_task(gate.wait))
    ordered.memset(pointer, 9, 1 << 20)
    signalled = ordered.ext_oneapi_signal_external_semaphore(semaphore, depends_on=before)
    assert signalled.status != "complete"  # R78
    gate.set()
    assert os.eventfd_read(event_fds[0]) == 1 and (shared.bytes == 9).all()
    signalled.wait()
    shared.close()


def test_an_import_takes_the_descriptor_over(ordered: bl.Queue, event_fds: tuple[int, int]) -> None:
    before = descriptors()
    for _ in range(3):
        fd = os.dup(event_fds[0])
        desc = bl.ExternalSemaphoreDescriptor(bl.ResourceFd(fd), "opaque_fd")
        semaphore = bl.import_external_semaphore(desc, ordered)
        assert semaphore.raw_handle != 0
        with raises(bl.InvalidError):
            bl.import_external_semaphore(desc, ordered)
        ordered.ext_oneapi_signal_external_semaphore(semaphore).wait()
        bl.release_external_semaphore(semaphore, ordered)
        with raises(bl.InvalidError):
            ordered.ext_oneapi_wait_external_semaphore(semaphore)
        ordered.wait()
        assert descriptors_return_to(before)


def test_released_while_work_is_pending(ordered: bl.Queue, event_fds: tuple[int, int]) -> None:
    before = descriptors()
    numbers = bl.usm_empty(64, np.int32, ordered)
    semaphores = [import_semaphore(fd, "opaque_fd", ordered) for fd in event_fds]
    ordered.ext_oneapi_wait_external_semaphore(semaphores[0])
    filled = ordered.fill(numbers, 4)
    ordered.ext_oneapi_signal_external_semaphore(semaphores[1])
    for semaphore in semaphores:
        bl.release_external_semaphore(semaphore, ordered)
    del semaphores, semaphore
    assert filled.status != "complete"
    os.eventfd_write(event_fds[0], 1)
    filled.wait()
    ordered.wait()
    assert os.eventfd_read(event_fds[1]) == 1 and (numbers.numpy(ordered) == 4).all()
    assert descriptors_return_to(before)


def test_descriptors_that_are_none(ordered: bl.Queue, event_fds: tuple[int, int]) -> None:
    """Closed descriptors and descriptors of other kinds raise an error; the import closes none of them."""
    file = SharedFile.make(8)
    before = descriptors()
    reader, writer = os.pipe()
    closed = os.dup(event_fds[0])
    os.close(closed)
    for fd in (reader, writer, file.fd, closed):
        with pytest.raises(bl.InvalidError):
            bl.import_external_semaphore(bl.ExternalSemaphoreDescriptor(bl.ResourceFd(fd), "opaque_fd"), ordered)
    os.close(reader)
    os.close(writer)
    assert descriptors_return_to(before)
    file.close()
    semaphore = import_semaphore(event_fds[0], "opaque_fd", ordered)
    ordered.ext_oneapi_signal_external_semaphore(semaphore).wait()
    assert os.eventfd_read(event_fds[0]) == 1


def test_timelines_of_opencl(device: bl.Device, ordered: bl.Queue) -> None:
    """OpenCL has no timelines: the import refuses them and names the alternative; the descriptor stays open."""
    if device.backend != "opencl":
        pytest.skip("the device has timelines: test_external_semaphore")
    timeline = Timeline.make(8)
    desc = bl.ExternalSemaphoreDescriptor(bl.ResourceFd(timeline.fd), "timeline_fd")
    with raises(bl.FeatureNotSupportedError, names="binary"):
        bl.import_external_semaphore(desc, ordered)
    timeline.close()


def run(device: bl.Device, program: str) -> subprocess.CompletedProcess[str]:
    code = f"""
import os, signal, sys, threading
import numpy as np
import bindless as bl
import bindless.submission.active_streams as activity
from tests.support.shared_files import import_semaphore
activity._PATIENCE = 0.2
fd = os.eventfd(0)
queue = bl.Queue({f"{device.backend}:*:*"!r}, in_order=True)
other = bl.Queue(queue.device, queue.context, in_order=True)
semaphore = import_semaphore(fd, "opaque_fd", queue)
array = bl.usm_empty(100, np.int32, queue)
queue.ext_oneapi_wait_external_semaphore(semaphore)
event = queue.fill(array, 3)
"""
    return subprocess.run([sys.executable, "-c", code + program], capture_output=True, text=True, timeout=100)


def test_the_wait_can_be_interrupted(device: bl.Device) -> None:
    """Ctrl-C ends the wait of the host; another queue still works, and its signal ends the wait of the device."""
    program = f"""{INTERRUPTED_WAITS}
try:
    event.wait(timeout=0.05)
except bl.WaitTimeoutError as error:
    print("ExternalSemaphore opaque_fd" in str(error))
other.fill(bl.usm_empty(100, np.int32, other), 1).wait()
other.ext_oneapi_signal_external_semaphore(semaphore).wait()
queue.wait()
print(array.numpy(queue)[0])
"""
    done = run(device, program)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["interrupted", "interrupted", "True", "3"]


def test_the_process_ends(device: bl.Device) -> None:
    """The process reports which semaphore was never signalled, and does not hang."""
    done = run(device, "")
    assert done.returncode == 0
    assert "ExternalSemaphore opaque_fd" in done.stderr and "nobody has signalled" in done.stderr
    assert len(done.stderr.splitlines()) == 1
