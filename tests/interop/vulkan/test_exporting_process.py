"""Images and semaphores of another process, and the effects of its death."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bindless as bl
from bindless.interop import vulkan as sharing
from tests.interop.vulkan.drawing_process import DESC as FRAME
from tests.interop.vulkan.drawing_process import colour
from tests.interop.vulkan.exporting_process import DESC, SEED
from tests.interop.vulkan.sharing_checks import open_descriptors, pixels_for, read_by_copies, same, write_by_copies
from tests.support.error_checks import raises

pytestmark = pytest.mark.vulkan

PROGRAM = Path(__file__).with_name("exporting_process.py")


@pytest.fixture
def received(rig, manifest):
    """(descriptor of the memory, descriptor of a semaphore or None, the process)."""
    ours, theirs = socket.socketpair()
    arguments = [str(theirs.fileno()), sharing.device_uuid(rig.physical_device).hex(), manifest or ""]
    process = subprocess.Popen(
        [sys.executable, str(PROGRAM), *arguments],
        pass_fds=[theirs.fileno()],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    theirs.close()
    with ours:
        ours.settimeout(100)
        message, files, _, _ = socket.recv_fds(ours, 64, 2)
    assert files, f"the process ended with {process.wait(60)}"
    size, dedicated = map(int, message.split())
    memory = bl.ExternalMemDescriptor(bl.ResourceFd(files[0]), "opaque_fd", size, dedicated=bool(dedicated))
    semaphore = bl.ExternalSemaphoreDescriptor(bl.ResourceFd(files[1]), "opaque_fd") if files[1:] else None
    yield memory, semaphore, process
    process.kill()
    process.wait(60)


def replaced(descriptor):
    """The same descriptor with a duplicated file descriptor."""
    return replace(descriptor, resource=bl.ResourceFd(os.dup(descriptor.resource.file_descriptor)))


def test_image_of_another_process(received, queue):
    """The image is readable, and stays so when the process is killed before or during its use."""
    descriptor, _, process = received
    before = open_descriptors()
    bl.release_external_memory(bl.import_external_memory(replaced(descriptor), queue), queue)
    assert open_descriptors() == before
    memory = bl.import_external_memory(descriptor, queue)
    with pytest.raises(bl.InvalidError):  # the import owns the file descriptor
        bl.import_external_memory(descriptor, queue)
    handle = bl.map_external_image_memory(memory, DESC, queue)
    same(read_by_copies(handle, DESC, queue), pixels_for(DESC, SEED))
    process.kill()
    process.wait(60)
    same(read_by_copies(handle, DESC, queue), pixels_for(DESC, SEED))
    again = pixels_for(DESC, SEED + 1)
    write_by_copies(handle, DESC, again, queue)
    same(read_by_copies(handle, DESC, queue), again)
    bl.unmap_external_image_memory(handle, DESC.type, queue)
    bl.release_external_memory(memory, queue)


@pytest.mark.usefixtures("exports_semaphores")
def test_semaphore_of_a_process_that_died(received, device, context):
    """A wait with a timeout names the semaphore, and another signal ends the wait."""
    _, descriptor, process = received
    process.kill()
    process.wait(60)
    with bl.Queue(device, context, in_order=True) as waiting, bl.Queue(device, context, in_order=True) as other:
        semaphore = bl.import_external_semaphore(descriptor, waiting)
        event = waiting.ext_oneapi_wait_external_semaphore(semaphore)
        with raises(bl.WaitTimeoutError, names="opaque_fd"):
            event.wait(timeout=0.2)
        other.ext_oneapi_signal_external_semaphore(semaphore).wait_and_throw()
        event.wait_and_throw()
        bl.release_external_semaphore(semaphore, waiting)


FRAMES = 1000


@pytest.mark.usefixtures("exports_semaphores")
def test_frames_of_another_process(rig, manifest, device, context):
    """A thousand frames, drawn there and answered here in place, ordered by semaphores alone."""
    ours, theirs = socket.socketpair()
    program = str(PROGRAM.with_name("drawing_process.py"))
    uuid = sharing.device_uuid(rig.physical_device).hex()
    process = subprocess.Popen(
        [sys.executable, program, str(theirs.fileno()), uuid, manifest or "", str(FRAMES)],
        pass_fds=[theirs.fileno()],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    theirs.close()
    with ours:
        ours.settimeout(100)
        message, files, _, _ = socket.recv_fds(ours, 64, 3)
    assert len(files) == 3, f"the process ended with {process.wait(60)}"
    size, dedicated = map(int, message.split())
    described = bl.ExternalMemDescriptor(bl.ResourceFd(files[0]), "opaque_fd", size, dedicated=bool(dedicated))
    answers = np.array([colour(index, True) for index in range(FRAMES)], np.uint8)
    with bl.Queue(device, context, in_order=True) as queue:
        memory = bl.import_external_memory(described, queue)
        drawn, answered = (
            bl.import_external_semaphore(bl.ExternalSemaphoreDescriptor(bl.ResourceFd(file), "opaque_fd"), queue)
            for file in files[1:]
        )
        handle = bl.map_external_image_memory(memory, FRAME, queue)
        found = bl.usm_empty((FRAMES, *FRAME.shape), np.uint8, queue)
        paint = np.ascontiguousarray(np.broadcast_to(answers[:, None, None], found.shape))
        painted = bl.usm_empty(found.shape, np.uint8, queue).copy_from(paint, queue)
        for index in range(FRAMES):
            queue.ext_oneapi_wait_external_semaphore(drawn)
            queue.ext_oneapi_copy(handle, found[index], src_desc=FRAME, dst_desc=FRAME)
            last = queue.ext_oneapi_copy(painted[index], handle, src_desc=FRAME, dst_desc=FRAME)
            queue.ext_oneapi_signal_external_semaphore(answered)
        try:
            last.wait(timeout=100)
        finally:
            process.kill() if last.status != "complete" else process.wait(100)
        frames = np.array([colour(index, False) for index in range(FRAMES)], np.uint8)
        np.testing.assert_array_equal(found.numpy(queue), np.broadcast_to(frames[:, None, None], found.shape))
        bl.unmap_external_image_memory(handle, "standard", queue)
        bl.release_external_memory(memory, queue)
    assert process.returncode == 0


ENDING = """
import bindless as bl
import bindless.submission.active_streams as activity

activity._PATIENCE = 0.2
queue = bl.Queue("BACKEND:*:*", in_order=True)
semaphore = bl.import_external_semaphore(bl.ExternalSemaphoreDescriptor(bl.ResourceFd(NUMBER), "opaque_fd"), queue)
queue.ext_oneapi_wait_external_semaphore(semaphore)
array = bl.usm_empty(100, "i4", queue)
queue.fill(array, 3)
"""


@pytest.mark.usefixtures("exports_semaphores")
def test_a_process_whose_queue_waits_for_ever_ends(received, device):
    """The driver has the wait on its queue; the process still exits."""
    _, descriptor, _ = received
    number = descriptor.resource.file_descriptor
    program = ENDING.replace("BACKEND", device.backend).replace("NUMBER", str(number))
    command = [sys.executable, "-c", program]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, pass_fds=[number], env=environment, capture_output=True, text=True, timeout=100)
    os.close(number)
    assert done.returncode == 0, done.stderr
    assert "ExternalSemaphore opaque_fd" in done.stderr and len(done.stderr.splitlines()) == 1
